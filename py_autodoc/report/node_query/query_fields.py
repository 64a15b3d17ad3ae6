"""The fields that a query can compare, and their values for the nodes of a payload."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from py_autodoc import units
from py_autodoc.metrics import METRICS, Metric, derived
from py_autodoc.report.builders.node_numbers import COSTS, column_in_inference
from py_autodoc.report.node_query.node_latency import node_seconds
from py_autodoc.report.schema import AttributeItem, DimValue, GraphPayload

Value = float | list[str] | None
"""A number, texts of which any may match, or None if unknown."""


class Nodes:
    """A payload's columns in the form that queries use."""

    def __init__(self, payload: GraphPayload) -> None:
        self.payload = payload
        self._scopes: dict[int, list[str]] = {}
        self._columns: dict[str, list[int | None]] = {}
        self._attributes: dict[str, dict[int, AttributeItem | list[AttributeItem]]] | None = None

    def column(self, name: str) -> list[int | None]:
        """Return a metric for every node; costs are per inference."""
        values = self._columns.get(name)
        if values is None:
            nodes = self.payload.nodes
            values = column_in_inference(nodes, name) if name in COSTS else getattr(nodes, name)
            self._columns[name] = values
        return values

    @cached_property
    def shape_texts(self) -> list[str]:
        """Return ``1×64×56×56``, ``scalar``, or ``?`` for an unknown rank or dimension, by shape."""
        return [shape_text(shape) for shape in self.payload.shapes]

    @cached_property
    def seconds(self) -> list[float | None]:
        """Return the estimated latency per node on the device of the analysis."""
        return node_seconds(self.payload)

    def op(self, node: int) -> str:
        """Return the operator type."""
        return self.payload.ops[self.payload.nodes.op[node]].type

    def domain(self, node: int) -> str:
        """Return the domain, ``ai.onnx`` spelt out."""
        return self.payload.ops[self.payload.nodes.op[node]].domain

    def inputs(self, node: int) -> list[int]:
        """Return the tensors read, -1 for an omitted optional input."""
        columns = self.payload.nodes
        return columns.inputs[columns.input_offsets[node] : columns.input_offsets[node + 1]]

    def outputs(self, node: int) -> list[int]:
        """Return the tensors written."""
        columns = self.payload.nodes
        return columns.outputs[columns.output_offsets[node] : columns.output_offsets[node + 1]]

    def dtype(self, tensor: int) -> str:
        """Return the element type, such as ``float32``."""
        return self.payload.dtypes[self.payload.tensors.dtype[tensor]]

    def shape(self, tensor: int) -> list[DimValue] | None:
        """Return numbers, symbols and None; None for an unknown rank."""
        return self.payload.shapes[self.payload.tensors.shape[tensor]]

    def shape_text(self, tensor: int) -> str:
        """Return the shape as text."""
        return self.shape_texts[self.payload.tensors.shape[tensor]]

    def attribute(self, name: str) -> dict[int, AttributeItem | list[AttributeItem]]:
        """Return the values of the attribute with this name (lower case), by node."""
        if self._attributes is None:
            self._attributes = {}
            for node, attribute_name, item in self._attribute_items():
                self._attributes.setdefault(attribute_name.lower(), {}).setdefault(node, item)
        return self._attributes.get(name, {})

    @cached_property
    def attribute_texts(self) -> dict[int, list[str]]:
        """Return the searchable texts of the attributes per node: names, and values that are text."""
        texts_of_node: dict[int, list[str]] = {}
        for node, name, value in self._attribute_items():
            items = value if isinstance(value, list) else [value]
            texts = [item for item in items if isinstance(item, str) and item]
            texts_of_node.setdefault(node, []).extend([name, *texts])
        return texts_of_node

    def _attribute_items(self) -> Iterator[tuple[int, str, AttributeItem | list[AttributeItem]]]:
        """Yield node, name and value of every attribute."""
        columns = self.payload.attributes
        if columns is not None:
            for node, entry in zip(columns.node, columns.entry, strict=True):
                yield node, columns.name[entry], columns.value[entry]

    def scope_labels(self, scope: int) -> list[str]:
        """Return the labels of the enclosing modules, outermost first."""
        return self._up(scope, self.payload.scopes.label)

    def scope_texts(self, node: int) -> list[str]:
        """Return labels, classes and paths of the modules that enclose a node."""
        scope = self.payload.nodes.scope[node]
        texts = self._scopes.get(scope)
        if texts is None:
            labels, classes = self.scope_labels(scope), self._up(scope, self.payload.scopes.type)
            paths = ["/".join(name for name in names if name) for names in (labels, classes)]
            texts = self._scopes[scope] = [*labels, *classes, *paths]
        return texts

    def _up(self, scope: int, column: list[str]) -> list[str]:
        values = []
        while scope >= 0:
            values.append(column[scope])
            scope = self.payload.scopes.parent[scope]
        return values[::-1]


@dataclass(frozen=True, slots=True)
class Field:
    """A field. ``kind`` is number, text, or size: a dimension, which is a number or a symbol name."""

    kind: str
    value: Callable[[Nodes, int], Value]
    has: Callable[[Nodes, int], bool] = lambda nodes, node: True
    """Whether a node has this at all, known or not: an attribute, an input with that index."""


def shape_text(shape: list[DimValue] | None) -> str:
    """Format a shape as the viewer does."""
    return units.shape(shape)


def _float(nodes: Nodes, name: str, node: int) -> float | None:
    """Return a number as JavaScript represents it."""
    number = nodes.column(name)[node]
    return None if number is None else float(number)


def _column(name: str) -> Field:
    return Field("number", lambda nodes, node: _float(nodes, name, node))


def _derived_field(metric: Metric) -> Field:
    return Field("number", lambda nodes, node: derived(metric, lambda cost: _float(nodes, cost, node)))


def _number(metric: Metric) -> Field:
    if metric.device:
        return Field("number", lambda nodes, node: nodes.seconds[node])
    return _derived_field(metric) if metric.over else _column(metric.id)


def _dtype(nodes: Nodes, node: int) -> list[str] | None:
    outputs = nodes.outputs(node)
    return [nodes.dtype(outputs[0])] if outputs and outputs[0] >= 0 else None


def _tag(nodes: Nodes, node: int) -> list[str]:
    """Return labels and classes of the enclosing modules, and the tag recorded by an exporter."""
    texts, modules = nodes.scope_texts(node), nodes.payload.modules
    module = modules.node[node] if modules else -1
    return [*texts, modules.tag[module]] if modules and module >= 0 else texts


def _scope(nodes: Nodes, node: int) -> list[str] | None:
    """Return the full paths of the recorded modules."""
    modules = nodes.payload.modules
    module = modules.node[node] if modules else -1
    return modules.scopes[module] if modules and module >= 0 else None


_FIELDS = {
    "name": Field("text", lambda nodes, node: [nodes.payload.nodes.name[node]]),
    "op": Field("text", lambda nodes, node: [nodes.op(node)]),
    "tag": Field("text", _tag),
    "module": Field("text", _tag),
    "scope": Field("text", _scope),
    "domain": Field("text", lambda nodes, node: [nodes.domain(node)]),
    "dtype": Field("text", _dtype),
    **{name: _number(metric) for metric in METRICS for name in metric.query},
}
_ALIASES = {name for metric in METRICS for name in metric.query[1:]}
FIELD_NAMES = (
    *(name for name in _FIELDS if name not in _ALIASES),
    "in[i].shape[j]",
    "out[i].shape[j]",
    "attr.name",
)
"""Field names, for messages."""
_TENSOR_PATTERN = re.compile(
    r"(in|out)\[([0-9]{1,4})\]\.(?:(shape)(?:\[(-?[0-9]{1,3})\])?|(dtype|name|rank))"
)

_ATTRIBUTE = re.compile(r"attr\.([^\[\]]+)(?:\[(-?[0-9]{1,4})\])?")


def field_of(text: str) -> Field | None:
    """Return the field with this name; indices in ``in[0].shape[1]`` start at 0, axes may be negative."""
    lower = text.lower()
    match = _TENSOR_PATTERN.fullmatch(lower)
    if match:
        return _tensor_field(match)
    attribute = _ATTRIBUTE.fullmatch(lower)
    return _attribute_field(attribute) if attribute else _FIELDS.get(lower)


def _attribute_field(match: re.Match[str]) -> Field:
    """Return the field ``attr.axis`` or ``attr.pads[0]``: a number or texts.

    A list of integers or texts is compared as ``3,3``, ``[3,3]`` or ``3x3``; of a list with fractions only
    items can be compared.
    """
    name, index = match.groups()

    def value(nodes: Nodes, node: int) -> Value:
        attribute = nodes.attribute(name).get(node)
        if isinstance(attribute, list) and index is not None:
            position = int(index)
            attribute = attribute[position] if -len(attribute) <= position < len(attribute) else None
        elif index is not None:
            return None
        if isinstance(attribute, list):
            if any(isinstance(item, float) for item in attribute):
                return None
            items = [str(item) for item in attribute]
            return [mark.join(items) for mark in (",", "x", "×")] + [f"[{','.join(items)}]"]
        return None if attribute is None else [attribute] if isinstance(attribute, str) else float(attribute)

    return Field("size", value, lambda nodes, node: node in nodes.attribute(name))


def _tensor_field(match: re.Match[str]) -> Field:
    direction, index, shape, axis, tensor_property = match.groups()
    position = int(index)

    def tensor_of(nodes: Nodes, node: int) -> int:
        tensors = nodes.inputs(node) if direction == "in" else nodes.outputs(node)
        return tensors[position] if position < len(tensors) else -1

    def of(kind: str, read: Callable[[Nodes, int], Value]) -> Field:
        def value(nodes: Nodes, node: int) -> Value:
            tensor = tensor_of(nodes, node)
            return None if tensor < 0 else read(nodes, tensor)

        return Field(kind, value, lambda nodes, node: tensor_of(nodes, node) >= 0)

    if axis is not None:
        return of("size", lambda nodes, tensor: _dim(nodes.shape(tensor), int(axis)))
    if shape:
        return of("text", _shape_value)
    if tensor_property == "rank":
        return of("number", _rank)
    if tensor_property == "dtype":
        return of("text", lambda nodes, tensor: [nodes.dtype(tensor)])
    return of("text", lambda nodes, tensor: [nodes.payload.tensors.name[tensor]])


def _shape_value(nodes: Nodes, tensor: int) -> Value:
    """Return the shape as shown, and its variant with expressions out of their brackets."""
    shape = nodes.shape(tensor)
    if shape is None:
        return None
    return [nodes.shape_text(tensor), "×".join("?" if dim is None else str(dim) for dim in shape)]


def _rank(nodes: Nodes, tensor: int) -> Value:
    shape = nodes.shape(tensor)
    return None if shape is None else float(len(shape))


def _dim(shape: list[DimValue] | None, axis: int) -> Value:
    if shape is None:
        return None
    position = len(shape) + axis if axis < 0 else axis
    dim = shape[position] if 0 <= position < len(shape) else None
    return None if dim is None else [dim] if isinstance(dim, str) else float(dim)
