"""Documentation of operators, from the schemas that ship with onnx."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import onnx
from onnx import defs

from py_autodoc.graph.building.attributes import attribute_type, decode
from py_autodoc.graph.operators.aspects import Key, Link, answers, row_of

_PAGES = {
    "": "onnx__{op}.html",
    "ai.onnx.ml": "onnx_aionnxml_{op}.html",
    "ai.onnx.preview.training": "onnx_aionnxpreviewtraining_{op}.html",
}
_SITE = "https://onnx.ai/onnx/operators/"


@dataclass(frozen=True, slots=True)
class AttributeDoc:
    """An attribute of an operator. ``default`` is None if it has none."""

    type: str
    description: str
    required: bool
    default: Any = None


@dataclass(frozen=True, slots=True)
class FormalDoc:
    """An input or output. ``option``: single, optional or variadic."""

    name: str
    types: str
    option: str
    description: str


@dataclass(frozen=True, slots=True)
class OpDoc:
    """Documentation of one operator version, in Markdown."""

    type: str
    domain: str
    since_version: int
    deprecated: bool
    doc: str
    url: str
    inputs: tuple[FormalDoc, ...] = ()
    outputs: tuple[FormalDoc, ...] = ()
    attributes: Mapping[str, AttributeDoc] = field(default_factory=dict)


@lru_cache(maxsize=256)
def op_doc(domain: str, op: str, opset: int) -> OpDoc | None:
    """Return the documentation of an operator; the newest if ``opset`` is 0, None if unknown.

    An opset newer than the installed onnx gets the newest available documentation.
    """
    newest = defs.onnx_opset_version() if not domain else 1 << 30
    version = min(opset, newest) if opset > 0 else newest
    # The C++ schema registry rejects names with NUL characters.
    if "\x00" in op or "\x00" in domain:
        return None
    try:
        schema = defs.get_schema(op, min(version, (1 << 31) - 1), domain)
    except (defs.SchemaError, UnicodeEncodeError):
        return None
    page = _PAGES.get(domain)
    return OpDoc(
        type=schema.name,
        domain=domain,
        since_version=schema.since_version,
        deprecated=schema.deprecated,
        doc=inspect.cleandoc(schema.doc or ""),
        url=_SITE + page.format(op=schema.name) if page else "",
        inputs=tuple(_formal(item) for item in schema.inputs),
        outputs=tuple(_formal(item) for item in schema.outputs),
        attributes={name: _attribute(item) for name, item in schema.attributes.items()},
    )


def defined(deprecated: bool = False) -> list[Key]:
    """Return all operators at the newest opsets of the installed onnx; ``deprecated`` includes those."""
    schemas = (schema for schema in defs.get_all_schemas() if deprecated or not schema.deprecated)
    return sorted({(schema.domain, schema.name) for schema in schemas})


@answers("inputs")
def _input_names() -> Mapping[Key, Link]:
    links = {}
    for domain, op in defined():
        names = ", ".join(item.name for item in defs.get_schema(op, domain=domain).inputs)
        links[domain, op] = row_of(__name__, "op_doc", names)
    return links


def _formal(item: Any) -> FormalDoc:
    return FormalDoc(item.name, item.type_str, item.option.name.lower(), item.description.strip())


def _attribute(item: Any) -> AttributeDoc:
    default = item.default_value
    kind = attribute_type(default) if default is not None and default.name else 0
    value = decode(default, kind, item.name, _no_graph) if kind else None
    return AttributeDoc(item.type.name.lower(), item.description.strip(), item.required, value)


def _no_graph(name: str, body: onnx.GraphProto) -> int:
    """Reject graphs: no schema has a graph as a default."""
    return -1
