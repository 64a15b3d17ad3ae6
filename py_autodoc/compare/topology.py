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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from py_autodoc.errors import InputError
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.loading.external_data import external_facts
from py_autodoc.graph.loading.first_pass import collect_and_sanitize
from py_autodoc.graph.loading.load import parse_structure
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.tags.model_files import load_structure, to_ir

Model: TypeAlias = PathLike | onnx.ModelProto | ir.Model

_PIECE = 1 << 24
_SHOWN = 80
_LARGE = 1 << 12
"""Minimum bytes of a tensor to count as weights, as in ``graph.load``."""
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
    b: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.a} | {self.b}"


def same_topology(a: Model, b: Model, limit: int = 100, *, weights: bool = True) -> list[Difference]:
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
    found: list[Difference] = []
    comparison = _Comparison(weights)
    for difference in comparison.models(_open(a, weights), _open(b, weights)):
        found.append(difference)
        if len(found) >= limit:
            break
    return found


def input_names(path: PathLike) -> tuple[set[str], set[str]]:
    """Return the names of a model's inputs and of their symbolic dimensions. Raises: as ``same_topology``."""
    inputs = load_structure(path).graph.inputs
    sizes = [str(size.value) for one in inputs for size in one.shape or () if not isinstance(size, int)]
    parts = (part for size in sizes for part in (size, *_NAMES.findall(size)))
    return {str(one.name) for one in inputs}, set(parts)


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
        _check_weights(source, name)
        # Loaded as onnx_ir does, except that texts need not be UTF-8.
        model = to_ir(onnx.load(source, load_external_data=False), name)
        ir.external_data.set_base_dir(model.graph, os.path.dirname(os.fspath(source)))
        return model
    except (ValueError, TypeError, KeyError, OSError, ir.serde.SerdeError) as fault:
        line = str(fault.__cause__ or fault).strip().partition("\n")[0]
        raise InputError("graph-inconsistent", f"{name}: the graph is invalid: {line}") from fault


def _check_weights(path: PathLike, name: str) -> None:
    """Raises unless external weights are regular files in the model's folder."""
    with regular_file(path) as (fd, status):
        proto = parse_structure(WireSource(status.st_size, fd), name)
    notes = DiagnosticCollector()
    external_facts(collect_and_sanitize(proto, DiagnosticCollector()).external, os.fspath(path), notes)
    faults = notes.diagnostics()
    if faults:
        raise InputError(faults[0].code, f"{name}: {faults[0].message}")


class _Comparison:
    def __init__(self, weights: bool) -> None:
        self._weights = weights
        self._symbols: tuple[dict[str, str], dict[str, str]] = {}, {}
        """Names of dimensions, from each model to the other."""

    def models(self, a: ir.Model, b: ir.Model) -> Iterator[Difference]:
        yield from _same("model", "ir_version", a.ir_version, b.ir_version)
        yield from _same(
            "model", "operator versions", sorted(a.opset_imports.items()), sorted(b.opset_imports.items())
        )
        pending: list[tuple[str, ir.Graph, ir.Graph]] = [("", a.graph, b.graph)]
        yield from _same("model", "functions", sorted(a.functions), sorted(b.functions))
        for key in sorted(a.functions.keys() & b.functions.keys()):
            one, other = a.functions[key], b.functions[key]
            yield from _same(f"function {key[1]}", "attributes", list(one.attributes), list(other.attributes))
            pending.append((f"function {key[1]}: ", one.graph, other.graph))
        while pending:  # subgraphs are appended as they are found, without recursion
            place, one, other = pending.pop()
            yield from self._graphs(place, one, other, pending)

    def _graphs(
        self, place: str, a: ir.Graph, b: ir.Graph, pending: list[tuple[str, ir.Graph, ir.Graph]]
    ) -> Iterator[Difference]:
        for kind in ("inputs", "outputs"):
            pairs = zip_longest(getattr(a, kind), getattr(b, kind))
            for number, (one, other) in enumerate(pairs):
                yield from self._values(f"{place}{kind[:-1]} {number}", "declaration", [one], [other])
        yield from self._initializers(place, a, b)
        for number, (one, other) in enumerate(zip_longest(a, b)):
            yield from self._nodes(place, number, one, other, pending)

    def _initializers(self, place: str, a: ir.Graph, b: ir.Graph) -> Iterator[Difference]:
        yield from _same(f"{place}graph", "initializers", list(a.initializers), list(b.initializers))
        for name in a.initializers.keys() & b.initializers.keys():
            yield from self._tensors(
                f"{place}initializer {name}",
                a.initializers[name].const_value,
                b.initializers[name].const_value,
            )

    def _nodes(
        self,
        place: str,
        number: int,
        a: ir.Node | None,
        b: ir.Node | None,
        pending: list[tuple[str, ir.Graph, ir.Graph]],
    ) -> Iterator[Difference]:
        here = a or b
        where = f"{place}node {number} ({here.name or here.op_type})" if here is not None else place
        if a is None or b is None:
            yield Difference(where, "present", str(a is not None), str(b is not None))
            return
        yield from _same(where, "name", a.name, b.name)
        yield from _same(where, "operator", a.op_identifier(), b.op_identifier())
        yield from _same(where, "inputs", _names(a.inputs), _names(b.inputs))
        yield from _same(where, "outputs", _names(a.outputs), _names(b.outputs))
        yield from self._values(where, "types of outputs", a.outputs, b.outputs)
        yield from _same(where, "attributes", list(a.attributes), list(b.attributes))
        for name in a.attributes.keys() & b.attributes.keys():
            yield from self._attributes(
                f"{where} attribute {name}", a.attributes[name], b.attributes[name], pending
            )

    def _attributes(
        self, where: str, a: ir.Attr, b: ir.Attr, pending: list[tuple[str, ir.Graph, ir.Graph]]
    ) -> Iterator[Difference]:
        if a.type != b.type or a.ref_attr_name != b.ref_attr_name:
            yield Difference(
                where, "type", f"{a.type.name} {a.ref_attr_name}", f"{b.type.name} {b.ref_attr_name}"
            )
            return
        kinds = ir.AttributeType
        if a.value is None or b.value is None:
            yield from _same(where, "value", a.value, b.value)
        elif a.type in (kinds.TENSOR, kinds.TENSORS):
            many = a.type == kinds.TENSORS
            for one, other in zip_longest(_items(a.value, many), _items(b.value, many)):
                yield from self._tensors(where, one, other)
        elif a.type in (kinds.GRAPH, kinds.GRAPHS):
            many = a.type == kinds.GRAPHS
            one, other = _items(a.value, many), _items(b.value, many)
            yield from _same(where, "bodies", len(one), len(other))
            pending.extend((f"{where}: ", x, y) for x, y in zip(one, other, strict=False))
        else:
            yield from _same(where, "value", _plain(a.value), _plain(b.value))

    def _tensors(self, where: str, a: Any, b: Any) -> Iterator[Difference]:
        if a is None or b is None:
            yield from _same(where, "value", a is not None, b is not None)
            return
        same = True
        for what, one, other in (("type", _type(a), _type(b)), ("shape", list(a.shape), list(b.shape))):
            for difference in _same(where, what, str(one), str(other)):
                same = False
                yield difference
        if same and (self._weights or not (_apart(a) or _apart(b))) and not _equal(a, b):
            yield Difference(where, "bytes", f"{_nbytes(a):,} bytes", "others")

    def _values(
        self, where: str, what: str, a: Sequence[ir.Value | None], b: Sequence[ir.Value | None]
    ) -> Iterator[Difference]:
        """Compare names, types and shapes. A renamed dimension is reported where it first occurs."""
        renamed: dict[str, str] = {}
        if len(a) == len(b) and all(
            self._alike(one, other, renamed) for one, other in zip(a, b, strict=True)
        ):
            there, back = self._symbols
            for one, other in renamed.items():
                there[one], back[other] = other, one
                yield from _same(f"dimension {one}", "name", one, other)
            return
        yield Difference(where, what, _short(_told(a)), _short(_told(b)))

    def _alike(self, a: ir.Value | None, b: ir.Value | None, renamed: dict[str, str]) -> bool:
        """Return whether declarations are equal up to dimension names; new pairs go to ``renamed``."""
        if a is None or b is None:
            return a is b
        if a.name != b.name or str(a.type) != str(b.type) or (a.shape is None) != (b.shape is None):
            return False
        one, other = list(a.shape or ()), list(b.shape or ())
        return len(one) == len(other) and all(
            self._sizes(x, y, renamed) for x, y in zip(one, other, strict=True)
        )

    def _sizes(self, a: Any, b: Any, renamed: dict[str, str]) -> bool:
        if isinstance(a, int) or isinstance(b, int):
            return bool(a == b)
        if a.value is None or b.value is None:
            return bool(a.value == b.value)
        first, second = _NAMES.split(a.value), _NAMES.split(b.value)
        return len(first) == len(second) and all(
            self._names(x, y, renamed) if at % 2 else x == y
            for at, (x, y) in enumerate(zip(first, second, strict=True))
        )

    def _names(self, a: str, b: str, renamed: dict[str, str]) -> bool:
        """Return whether ``a`` can be renamed to ``b``: consistently, and without clashes."""
        there, back = self._symbols
        known = there.get(a, renamed.get(a))
        if known is not None:
            return known == b
        if b in back or b in renamed.values():
            return False
        renamed[a] = b
        return True


def _plain(value: Any) -> Any:
    """Represent floats by their bits: NaN equals itself, and -0.0 differs from 0.0."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (int, str, bytes)) else str(value)


def _items(value: Any, many: bool) -> list[Any]:
    return list(value) if many else [value]


def _type(tensor: Any) -> ir.DataType:
    """Return the type of a tensor; undefined for numbers outside of ONNX."""
    try:
        return ir.DataType(tensor.dtype)
    except ValueError:
        return ir.DataType.UNDEFINED


def _texts(tensor: Any) -> list[Any]:
    """Return the strings of a tensor, even if their count does not match its shape."""
    held = getattr(tensor, "string_data", None)
    return list(held()) if held is not None else list(np.ravel(tensor.numpy()))


def _nbytes(tensor: Any) -> int:
    if _type(tensor) != ir.DataType.UNDEFINED:
        return int(tensor.nbytes)
    raw = getattr(tensor, "raw", None)
    return len(raw.raw_data) if raw is not None else 0


def _equal(a: Any, b: Any) -> bool:
    if _type(a) == ir.DataType.UNDEFINED:
        # The type is unknown, so raw bytes are compared.
        return bool(getattr(a, "raw", a) == getattr(b, "raw", b))
    if a.dtype == ir.DataType.STRING:
        return _texts(a) == _texts(b)
    try:
        one, other = memoryview(a.tobytes()), memoryview(b.tobytes())
    except (AssertionError, ValueError, TypeError):
        # The data do not fit the type or the shape.
        return bool(getattr(a, "raw", a) == getattr(b, "raw", b))
    return len(one) == len(other) and all(
        one[at : at + _PIECE] == other[at : at + _PIECE] for at in range(0, len(one), _PIECE)
    )


def _same(where: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    if a != b:
        yield Difference(where, what, _short(a), _short(b))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _names(values: Sequence[ir.Value | None]) -> list[str | None]:
    return [value.name if value is not None else None for value in values]


def _told(values: Sequence[ir.Value | None]) -> str:
    return ", ".join("" if one is None else f"{one.name}: {one.type} {one.shape}" for one in values)


def _apart(tensor: Any) -> bool:
    """Return whether a tensor is skipped when weights are not compared."""
    return isinstance(tensor, ir.ExternalTensor) or _nbytes(tensor) >= _LARGE
