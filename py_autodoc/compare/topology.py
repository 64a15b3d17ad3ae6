"""Check whether two models are the same graph, byte for byte, apart from metadata.

Compared are operator set versions, inputs and outputs with their types, initializers with their bytes, and,
in file order, every node with its operator, inputs, outputs and attributes, including subgraphs and
functions. Documentation, metadata and the producer are not compared.

Weights are read one tensor at a time, also from external files. Without them, only type and shape are
compared for tensors of at least 4 KiB or in external files.

A symbolic dimension that is renamed throughout is one difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

import onnx
import onnx_ir as ir

from py_autodoc.compare.stored_tensors import equal_bytes, is_weight
from py_autodoc.compare.topology_text import (
    attribute_type_text,
    bytes_texts,
    declaration_text,
    element_type_text,
    list_texts,
    only_texts,
    operator_text,
    opset_text,
    shape_text,
    short,
    type_text,
    value_text,
)
from py_autodoc.errors import InputError
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.loading.external_data import external_facts
from py_autodoc.graph.loading.first_pass import external_tensors
from py_autodoc.graph.protobuf.probe import PathLike, base_name, probe
from py_autodoc.graph.protobuf.tensor_protos import type_text as declared_text
from py_autodoc.tags.map_types import TYPE
from py_autodoc.tags.model_files import load_structure, to_ir

Model: TypeAlias = PathLike | onnx.ModelProto | ir.Model

LIMIT = 100
"""Maximum number of differences that are listed."""
_NAMES = re.compile(r"([^\W\d]\w*)")
"""Names in the text of a dimension, which may be an expression."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference."""

    where: str
    """Location, such as ``node 3 (Conv_7)`` or ``initializer weight``."""
    what: str
    """Subject: ``operator``, ``inputs``, ``attribute axis``, ``bytes`` …"""
    a: str
    """The first model's side as text: ``Conv``, ``com.microsoft.Gelu``, ``float32 1×16``; – for nothing."""
    b: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.a} → {self.b}"


def same_topology(a: Model, b: Model, limit: int = LIMIT, *, weights: bool = True) -> list[Difference]:
    """Return the differences between two models; empty if they are the same graph.

    Args:
        a: path, protobuf, or onnx_ir model.
        b: the other model.
        limit: maximum number of differences; the comparison then stops.
        weights: compare the bytes of weights, which must then be present.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: a file cannot be read.
        InputError: a graph is invalid, or external weights cannot be read.
    """
    differences: list[Difference] = []
    comparison = _Comparison(weights)
    for difference in comparison.models(_open(a, weights), _open(b, weights)):
        differences.append(difference)
        if len(differences) >= limit:
            break
    return differences


def input_names(path: PathLike) -> tuple[set[str], set[str]]:
    """Return the names of a model's inputs and of their symbolic dimensions. Raises: as ``same_topology``."""
    inputs = load_structure(path).graph.inputs
    dimensions = [
        str(dimension.value)
        for value in inputs
        for dimension in value.shape or ()
        if not isinstance(dimension, int)
    ]
    names = (name for dimension in dimensions for name in (dimension, *_NAMES.findall(dimension)))
    return {str(value.name) for value in inputs}, set(names)


def _open(source: Model, weights: bool) -> ir.Model:
    if isinstance(source, ir.Model):
        return source
    name = "The model"
    try:
        if isinstance(source, onnx.ModelProto):
            return to_ir(source)
        name = base_name(source)
        if not weights:
            return load_structure(source)
        probe(source)  # raises the better errors
        # Loaded as onnx_ir does, except that texts need not be UTF-8.
        proto = onnx.load(os.fspath(source), format="protobuf", load_external_data=False)
        model = to_ir(_checked(proto, source, name), name)
        for graph in (model.graph, *(function.graph for function in model.functions.values())):
            ir.external_data.set_base_dir(graph, os.path.dirname(os.fspath(source)))
        return model
    except (ValueError, TypeError, KeyError, OSError, ir.serde.SerdeError) as fault:
        line = str(fault.__cause__ or fault).strip().partition("\n")[0]
        raise InputError("graph-inconsistent", f"{name}: the graph is invalid: {line}") from fault


def _checked(proto: onnx.ModelProto, path: PathLike, name: str) -> onnx.ModelProto:
    """Return it. Raises unless external weights are regular files in the model's folder."""
    notes = DiagnosticCollector()
    external_facts(external_tensors(proto), os.fspath(path), notes)
    faults = notes.diagnostics()
    if faults:
        raise InputError(faults[0].code, f"{name}: {faults[0].message}")
    return proto


class _Comparison:
    def __init__(self, weights: bool) -> None:
        self._weights = weights
        self._symbols: tuple[dict[str, str], dict[str, str]] = {}, {}
        """Names of dimensions, from each model to the other."""

    def models(self, a: ir.Model, b: ir.Model) -> Iterator[Difference]:
        yield from _same("model", "ir_version", a.ir_version, b.ir_version)
        yield from _same_items(
            "model",
            "operator versions",
            [opset_text(*opset) for opset in sorted(a.opset_imports.items())],
            [opset_text(*opset) for opset in sorted(b.opset_imports.items())],
        )
        pending: list[tuple[str, ir.Graph, ir.Graph]] = [("", a.graph, b.graph)]
        yield from _same_items(
            "model",
            "functions",
            [operator_text(key) for key in sorted(a.functions)],
            [operator_text(key) for key in sorted(b.functions)],
        )
        for key in sorted(a.functions.keys() & b.functions.keys()):
            function_a, function_b = a.functions[key], b.functions[key]
            yield from _same_items(
                f"function {key[1]}", "attributes", list(function_a.attributes), list(function_b.attributes)
            )
            pending.append((f"function {key[1]}: ", function_a.graph, function_b.graph))
        while pending:  # subgraphs are appended as they are found, without recursion
            prefix, graph_a, graph_b = pending.pop()
            yield from self._graphs(prefix, graph_a, graph_b, pending)

    def _graphs(
        self, prefix: str, a: ir.Graph, b: ir.Graph, pending: list[tuple[str, ir.Graph, ir.Graph]]
    ) -> Iterator[Difference]:
        for kind in ("inputs", "outputs"):
            pairs = zip_longest(getattr(a, kind), getattr(b, kind))
            for number, (value_a, value_b) in enumerate(pairs):
                yield from self._values(
                    f"{prefix}{kind[:-1]} {number}", "declaration", [value_a], [value_b], declaration_text
                )
        yield from self._initializers(prefix, a, b)
        for number, (node_a, node_b) in enumerate(zip_longest(a, b)):
            yield from self._nodes(prefix, number, node_a, node_b, pending)

    def _initializers(self, prefix: str, a: ir.Graph, b: ir.Graph) -> Iterator[Difference]:
        yield from _same_items(f"{prefix}graph", "initializers", list(a.initializers), list(b.initializers))
        for name in a.initializers:
            if name not in b.initializers:
                continue
            yield from self._tensors(
                f"{prefix}initializer {name}",
                a.initializers[name].const_value,
                b.initializers[name].const_value,
            )

    def _nodes(
        self,
        prefix: str,
        number: int,
        a: ir.Node | None,
        b: ir.Node | None,
        pending: list[tuple[str, ir.Graph, ir.Graph]],
    ) -> Iterator[Difference]:
        node = a or b
        location = f"{prefix}node {number} ({node.name or node.op_type})" if node is not None else prefix
        if a is None or b is None:
            yield Difference(location, "present", "no" if a is None else "yes", "no" if b is None else "yes")
            return
        yield from _same(location, "name", a.name, b.name)
        yield from _same(
            location, "operator", operator_text(a.op_identifier()), operator_text(b.op_identifier())
        )
        yield from _same_lists(location, "inputs", _names(a.inputs), _names(b.inputs))
        yield from _same_lists(location, "outputs", _names(a.outputs), _names(b.outputs))
        yield from self._output_types(location, a, b)
        yield from _same_items(location, "attributes", list(a.attributes), list(b.attributes))
        for name in a.attributes:
            if name in b.attributes:
                yield from self._attributes(
                    f"{location} attribute {name}", a.attributes[name], b.attributes[name], pending
                )

    def _attributes(
        self, location: str, a: ir.Attr, b: ir.Attr, pending: list[tuple[str, ir.Graph, ir.Graph]]
    ) -> Iterator[Difference]:
        if a.type != b.type or a.ref_attr_name != b.ref_attr_name:
            yield Difference(location, "type", attribute_type_text(a), attribute_type_text(b))
            return
        kinds = ir.AttributeType
        if a.value is None or b.value is None:
            yield from _same(location, "value", value_text(a.value), value_text(b.value))
        elif a.type in (kinds.TENSOR, kinds.TENSORS):
            many = a.type == kinds.TENSORS
            for tensor_a, tensor_b in zip_longest(_items(a.value, many), _items(b.value, many)):
                yield from self._tensors(location, tensor_a, tensor_b)
        elif a.type in (kinds.GRAPH, kinds.GRAPHS):
            many = a.type == kinds.GRAPHS
            graphs_a, graphs_b = _items(a.value, many), _items(b.value, many)
            yield from _same(location, "subgraphs", len(graphs_a), len(graphs_b))
            pending.extend(
                (f"{location}: ", graph_a, graph_b)
                for graph_a, graph_b in zip(graphs_a, graphs_b, strict=False)
            )
        elif _exact(a.value) != _exact(b.value):
            yield Difference(location, "value", value_text(a.value), value_text(b.value))

    def _tensors(self, location: str, a: Any, b: Any) -> Iterator[Difference]:
        if a is None or b is None:
            texts = ["missing" if tensor is None else "stored" for tensor in (a, b)]
            yield from _same(location, "value", *texts)
            return
        same = True
        types = element_type_text(a.dtype), element_type_text(b.dtype)
        for what, text_a, text_b in (("type", *types), ("shape", shape_text(a.shape), shape_text(b.shape))):
            for difference in _same(location, what, text_a, text_b):
                same = False
                yield difference
        if same and (self._weights or not (is_weight(a) or is_weight(b))) and not equal_bytes(a, b):
            yield Difference(location, "bytes", *bytes_texts(a, b))

    def _values(
        self,
        location: str,
        what: str,
        a: Sequence[ir.Value | None],
        b: Sequence[ir.Value | None],
        text: Callable[[ir.Value | None], str],
    ) -> Iterator[Difference]:
        """Compare names, types and shapes. A renamed dimension is reported where it first occurs."""
        renamed: dict[str, str] = {}
        if len(a) == len(b) and all(
            self._alike(value_a, value_b, renamed) for value_a, value_b in zip(a, b, strict=True)
        ):
            a_to_b, b_to_a = self._symbols
            for name_a, name_b in renamed.items():
                a_to_b[name_a], b_to_a[name_b] = name_b, name_a
                yield from _same(f"dimension {name_a}", "name", name_a, name_b)
            return
        yield Difference(
            location, what, *list_texts([text(value) for value in a], [text(value) for value in b])
        )

    def _output_types(self, location: str, a: ir.Node, b: ir.Node) -> Iterator[Difference]:
        """Compare the types of the outputs of two nodes. Their names are compared elsewhere."""
        what = "types of outputs"
        if _names(a.outputs) == _names(b.outputs):
            yield from self._values(location, what, a.outputs, b.outputs, type_text)
        else:  # other values, whose dimensions need not correspond
            types_a, types_b = (
                [type_text(value) for value in a.outputs],
                [type_text(value) for value in b.outputs],
            )
            yield from _same_lists(location, what, types_a, types_b)

    def _alike(self, a: ir.Value | None, b: ir.Value | None, renamed: dict[str, str]) -> bool:
        """Return whether declarations are equal up to dimension names; new pairs go to ``renamed``."""
        if a is None or b is None:
            return a is b
        if a.name != b.name or _type(a) != _type(b) or (a.shape is None) != (b.shape is None):
            return False
        shape_a, shape_b = list(a.shape or ()), list(b.shape or ())
        return len(shape_a) == len(shape_b) and all(
            self._sizes(x, y, renamed) for x, y in zip(shape_a, shape_b, strict=True)
        )

    def _sizes(self, a: Any, b: Any, renamed: dict[str, str]) -> bool:
        if isinstance(a, int) or isinstance(b, int):
            return bool(a == b)
        if a.value is None or b.value is None:
            return bool(a.value == b.value)
        parts_a, parts_b = _NAMES.split(a.value), _NAMES.split(b.value)
        return len(parts_a) == len(parts_b) and all(
            self._names(x, y, renamed) if index % 2 else x == y
            for index, (x, y) in enumerate(zip(parts_a, parts_b, strict=True))
        )

    def _names(self, a: str, b: str, renamed: dict[str, str]) -> bool:
        """Return whether ``a`` can be renamed to ``b``: consistently, and without clashes."""
        a_to_b, b_to_a = self._symbols
        current = a_to_b.get(a, renamed.get(a))
        if current is not None:
            return current == b
        if b in b_to_a or b in renamed.values():
            return False
        renamed[a] = b
        return True


def _exact(value: Any) -> Any:
    """Represent floats by their bits: NaN equals itself, and -0.0 differs from 0.0."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return value if isinstance(value, (int, str, bytes)) else str(value)


def _items(value: Any, many: bool) -> list[Any]:
    return list(value) if many else [value]


def _same(location: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    if a != b:
        yield Difference(location, what, short(a), short(b))


def _same_lists(
    location: str, what: str, a: Sequence[str | None], b: Sequence[str | None]
) -> Iterator[Difference]:
    if a != b:
        yield Difference(location, what, *list_texts(a, b))


def _same_items(location: str, what: str, a: Sequence[str], b: Sequence[str]) -> Iterator[Difference]:
    """Compare two lists of which only the items that differ are of interest."""
    if a != b:
        yield Difference(location, what, *only_texts(a, b))


def _names(values: Sequence[ir.Value | None]) -> list[str | None]:
    return [value.name if value is not None else None for value in values]


def _type(value: ir.Value) -> str:
    return str(value.type) if TYPE not in value.meta else declared_text(value.meta[TYPE])
