"""``NodeDetails`` of a node: what the inspector shows in addition to the payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from py_autodoc.graph.building.node_protos import STACK_TRACE, node_text
from py_autodoc.graph.building.operator_docs import FormalDoc, OpDoc, op_doc
from py_autodoc.graph.ir.model import Model, Node, TypeTable
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.report.encode.json_values import MAX_TEXT, first_values, json_value, node_attributes
from py_autodoc.report.encode.labels import domain_name, dtype_name, node_label, shorten_middle, wire_shape
from py_autodoc.report.schema import AttributeInfo, ConstantInfo, ModuleOrigin, NodeDetails, OperatorDoc

MAX_CONSTANTS = 64
"""Maximum number of constant inputs listed per node."""
MAX_MODULE_ORIGINS = 64
"""Maximum number of modules listed per node."""
MAX_DOC = 32_768
"""Maximum number of characters of an operator's documentation."""


class NodeFacts(NamedTuple):
    """The details that depend on this node alone."""

    attributes: list[AttributeInfo]
    constants: list[ConstantInfo]
    doc_string: str
    metadata: dict[str, str]
    stack_trace: str
    documented: OpDoc | None
    """Documentation of the operator from onnx."""


def node_facts(loaded: LoadedModel, model: Model, types: TypeTable, node_id: int) -> NodeFacts:
    """Return the details that depend on this node alone. Raises: IndexError if there is no such node."""
    node = model.nodes[node_id]
    raw = node_text(loaded, model, node_id)
    documented = op_doc(node.domain, node.op_type, node.opset)
    return NodeFacts(
        _attributes(model, node, raw.attribute_types, documented),
        _constants(model, types, node),
        shorten_middle(raw.doc_string, MAX_TEXT),
        {shorten_middle(k): shorten_middle(v, MAX_TEXT) for k, v in raw.metadata.items() if k != STACK_TRACE},
        shorten_middle(raw.metadata.get(STACK_TRACE, ""), MAX_TEXT),
        documented,
    )


def node_details(loaded: LoadedModel, model: Model, types: TypeTable, node_id: int) -> NodeDetails:
    """Return the details of a node. Raises: IndexError if there is no such node."""
    node = model.nodes[node_id]
    facts = node_facts(loaded, model, types, node_id)
    return NodeDetails(
        id=node.id,
        name=node_label(node),
        type=shorten_middle(node.op_type),
        domain=shorten_middle(domain_name(node.domain)),
        opset=node.opset,
        tag=shorten_middle(node.tag),
        scope=[shorten_middle(level) for level in node.scope],
        classes=[shorten_middle(level) for level in node.classes],
        doc_string=facts.doc_string,
        metadata=facts.metadata,
        attributes=facts.attributes,
        constants=facts.constants,
        operator=operator_info(facts.documented) if facts.documented else None,
        stack_trace=facts.stack_trace,
        module=module_origin(node),
    )


def module_origin(node: Node) -> ModuleOrigin | None:
    """Return what is recorded about a node's module."""
    record = node.record
    if record is None:
        return None
    return ModuleOrigin(
        scope=shorten_middle(record.scope),
        via=shorten_middle(record.via),
        scopes=[shorten_middle(entry) for entry in record.scopes[:MAX_MODULE_ORIGINS]],
        calls={
            shorten_middle(path): number for path, number in list(record.call.items())[:MAX_MODULE_ORIGINS]
        },
        stack=[shorten_middle(entry) for entry in record.stack[:MAX_MODULE_ORIGINS]],
    )


def _attributes(
    model: Model, node: Node, declared: Mapping[str, str], documented: OpDoc | None
) -> list[AttributeInfo]:
    """Return the attributes in file order, then the defaults that apply."""
    docs = documented.attributes if documented else {}
    if not docs and not node.attributes:
        return []
    stated = [
        AttributeInfo(
            name=name,
            type=declared.get(name, ""),
            value=value,
            description=docs[name].description if name in docs else "",
        )
        for name, value in node_attributes(model, node).items()
    ]
    present = set(node.attributes)
    defaults = [
        AttributeInfo(
            name=name,
            type=doc.type,
            value=json_value(doc.default),
            default=True,
            description=doc.description,
        )
        for name, doc in docs.items()
        if name not in present and doc.default is not None
    ]
    return stated + defaults


def _constants(model: Model, types: TypeTable, node: Node) -> list[ConstantInfo]:
    """Return the constant inputs, each once, with their first values if the structure holds them."""
    constants = []
    for tensor in dict.fromkeys(node.inputs):
        if tensor < 0 or not model.tensors[tensor].is_constant:
            continue
        entry, array = model.tensors[tensor], model.constants.get(tensor)
        constants.append(
            ConstantInfo(
                tensor=tensor,
                name=shorten_middle(entry.name),
                elem_type=dtype_name(types.dtypes[tensor]),
                shape=wire_shape(types.shapes[tensor]),
                bytes=entry.storage.bytes if entry.storage else None,
                location=shorten_middle(entry.storage.location) if entry.storage else "",
                values=None if array is None else first_values(array),
            )
        )
        if len(constants) == MAX_CONSTANTS:
            break
    return constants


def operator_info(doc: OpDoc) -> OperatorDoc:
    """Return an operator's documentation in wire format."""
    return OperatorDoc(
        type=doc.type,
        domain=domain_name(doc.domain),
        since_version=doc.since_version,
        deprecated=doc.deprecated,
        doc=shorten_middle(doc.doc, MAX_DOC),
        inputs=[_formal(item) for item in doc.inputs],
        outputs=[_formal(item) for item in doc.outputs],
        url=doc.url,
    )


def _formal(item: FormalDoc) -> dict[str, str]:
    return {"name": item.name, "type": item.types, "option": item.option, "description": item.description}
