"""Opsets older than torch's operator library: export at its own opset, then convert and keep the records.

``torch.onnx.export`` converts such exports itself with ONNX's version converter, whose graph has neither the
exporter's metadata nor the FX nodes, so no module of any node would be known.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx
import onnx_ir as ir
import onnx_ir.passes.common as passes

from py_autodoc.errors import OptionError

LIBRARY_OPSET = 18
"""Opset of torch's operator library (``torch.onnx._constants.TORCHLIB_OPSET``): lower ones are converted."""


def exported_opset(opset: int | None) -> int | None:
    """Return the opset to export with, for a requested one."""
    return opset if opset is None else max(opset, LIBRARY_OPSET)


def convert(model: ir.Model, opset: int | None) -> None:
    """Convert a new export to an older opset in place; nothing happens if ONNX cannot convert it.

    Nodes are recognised by the names of their outputs. Nodes that the converter adds have no records.

    Raises: OptionError: a node needs an attribute that the older opset does not have.
    """
    if opset is None or opset >= LIBRARY_OPSET:
        return
    from onnxscript.version_converter import ConvertVersionPass

    # The converter inlines functions; the nodes that then exist are the ones to recognise.
    passes.InlinePass()(model)
    before, exported = model.graph, model.graph.opset_imports[""]
    ConvertVersionPass(opset, fallback=True)(model)
    if model.graph is not before:
        model.graph.metadata_props.update(before.metadata_props)
        _restore(before, model.graph)
        _remove_newer_attributes(model.graph, exported, opset)


def _restore(before: Iterable[ir.Node], after: Iterable[ir.Node]) -> None:
    """Copy the records of nodes and of their values, also in subgraphs."""
    originals = {value.name: node for node in before for value in node.outputs if value.name}
    for node in after:
        found = (originals[value.name] for value in node.outputs if value.name in originals)
        original = next(found, None)
        if original is None:
            continue
        node.metadata_props.update(original.metadata_props)
        node.meta.update(original.meta)
        for old, new in zip(original.outputs, node.outputs, strict=False):
            new.metadata_props.update(old.metadata_props)
            new.meta.update(old.meta)
        for name, attribute in original.attributes.items():
            converted = node.attributes.get(name)
            if attribute.type == ir.AttributeType.GRAPH and converted is not None:
                _restore(attribute.as_graph(), converted.as_graph())


def _remove_newer_attributes(graph: ir.Graph, exported: int, opset: int) -> None:
    """Remove attributes that the older opset does not know, which the converter leaves in place.

    ONNX Runtime rejects a ReduceMean of opset 17 with ``noop_with_empty_axes`` even at its default value.
    """
    for node in graph.all_nodes():
        if node.domain or not onnx.defs.has(node.op_type, max_inclusive_version=opset):
            continue
        known = onnx.defs.get_schema(node.op_type, opset).attributes
        newer = onnx.defs.get_schema(node.op_type, exported).attributes
        for name in [name for name in node.attributes if name in newer and name not in known]:
            default = newer[name].default_value
            if onnx.helper.get_attribute_value(default) != node.attributes[name].value:
                raise OptionError(
                    "opset",
                    f"Opset {opset} cannot express this model: its {node.op_type} has no {name}.",
                    f"Use opset {exported}, or --exporter torchscript for older opsets.",
                )
            node.attributes.pop(name)
