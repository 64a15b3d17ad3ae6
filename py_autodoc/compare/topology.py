"""Are two models the same graph, byte for byte? What differs, apart from metadata.

Compared are operator versions, inputs and outputs with their types, initializers with their bytes, and,
in file order, every node with its operator, inputs, outputs and attributes; bodies and functions
included. Not compared are names of nodes' documentation, metadata, and who made the file.

Weights are read one tensor at a time, also from files beside the model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from py_autodoc.errors import InputError
from py_autodoc.graph.external import external_facts
from py_autodoc.graph.load import parse_structure
from py_autodoc.graph.notes import Notes
from py_autodoc.graph.probe import PathLike, base_name, regular_file
from py_autodoc.graph.survey import survey
from py_autodoc.graph.wire import Source

Model: TypeAlias = PathLike | onnx.ModelProto | ir.Model

_PIECE = 1 << 24
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same."""

    where: str
    """The place, as ``node 3 (Conv_7)`` or ``initializer weight``."""
    what: str
    """What of it: ``operator``, ``inputs``, ``attribute axis``, ``bytes`` …"""
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.a} | {self.b}"


def same_topology(a: Model, b: Model, limit: int = 100) -> list[Difference]:
    """What differs between two models; empty when they are the same graph.

    Args:
        a: a file, a protobuf, or a model of onnx_ir.
        b: the other one.
        limit: how many differences to list; the comparison ends there.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: a file cannot be read.
        InputError: a graph makes no sense, or weights beside a model cannot be had.
    """
    found: list[Difference] = []
    for difference in _models(_open(a), _open(b)):
        found.append(difference)
        if len(found) >= limit:
            break
    return found


def _open(source: Model) -> ir.Model:
    if isinstance(source, ir.Model):
        return source
    name = "The model"
    try:
        if isinstance(source, onnx.ModelProto):
            return ir.from_proto(source)
        name = base_name(source)
        _check_weights(source, name)
        return ir.load(source)
    except (ValueError, TypeError, KeyError, OSError, ir.serde.SerdeError) as fault:
        line = str(fault.__cause__ or fault).strip().partition("\n")[0]
        raise InputError("graph-inconsistent", f"{name}: its graph makes no sense: {line}") from fault


def _check_weights(path: PathLike, name: str) -> None:
    """Weights may only be read from regular files in the model's folder."""
    with regular_file(path) as (fd, status):
        proto = parse_structure(Source(status.st_size, fd), name)
    notes = Notes()
    external_facts(survey(proto, Notes()).external, os.fspath(path), notes)
    faults = notes.done()
    if faults:
        raise InputError(faults[0].code, f"{name}: {faults[0].message}")


def _models(a: ir.Model, b: ir.Model) -> Iterator[Difference]:
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
    while pending:  # bodies are added as they are met; no recursion
        place, one, other = pending.pop()
        yield from _graphs(place, one, other, pending)


def _graphs(
    place: str, a: ir.Graph, b: ir.Graph, pending: list[tuple[str, ir.Graph, ir.Graph]]
) -> Iterator[Difference]:
    for kind in ("inputs", "outputs"):
        pairs = zip_longest(getattr(a, kind), getattr(b, kind))
        for number, (one, other) in enumerate(pairs):
            yield from _same(f"{place}{kind[:-1]} {number}", "declaration", _value(one), _value(other))
    yield from _initializers(place, a, b)
    for number, (one, other) in enumerate(zip_longest(a, b)):
        yield from _nodes(place, number, one, other, pending)


def _initializers(place: str, a: ir.Graph, b: ir.Graph) -> Iterator[Difference]:
    yield from _same(f"{place}graph", "initializers", list(a.initializers), list(b.initializers))
    for name in a.initializers.keys() & b.initializers.keys():
        yield from _tensors(
            f"{place}initializer {name}", a.initializers[name].const_value, b.initializers[name].const_value
        )


def _nodes(
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
    yield from _same(
        where, "types of outputs", [_value(v) for v in a.outputs], [_value(v) for v in b.outputs]
    )
    yield from _same(where, "attributes", list(a.attributes), list(b.attributes))
    for name in a.attributes.keys() & b.attributes.keys():
        yield from _attributes(f"{where} attribute {name}", a.attributes[name], b.attributes[name], pending)


def _attributes(
    where: str, a: ir.Attr, b: ir.Attr, pending: list[tuple[str, ir.Graph, ir.Graph]]
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
            yield from _tensors(where, one, other)
    elif a.type in (kinds.GRAPH, kinds.GRAPHS):
        many = a.type == kinds.GRAPHS
        one, other = _items(a.value, many), _items(b.value, many)
        yield from _same(where, "bodies", len(one), len(other))
        pending.extend((f"{where}: ", x, y) for x, y in zip(one, other, strict=False))
    else:
        yield from _same(where, "value", _plain(a.value), _plain(b.value))


def _plain(value: Any) -> Any:
    """Floats by their bits: NaN is equal to itself, and -0.0 is not 0.0."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (int, str, bytes)) else str(value)


def _items(value: Any, many: bool) -> list[Any]:
    return list(value) if many else [value]


def _tensors(where: str, a: Any, b: Any) -> Iterator[Difference]:
    if a is None or b is None:
        yield from _same(where, "value", a is not None, b is not None)
        return
    same = True
    for what, one, other in (("type", a.dtype, b.dtype), ("shape", list(a.shape), list(b.shape))):
        for difference in _same(where, what, str(one), str(other)):
            same = False
            yield difference
    if same and not _equal(a, b):
        yield Difference(where, "bytes", f"{a.nbytes:,} bytes", "others")


def _equal(a: Any, b: Any) -> bool:
    if a.dtype == ir.DataType.STRING:
        return bool(np.array_equal(a.numpy(), b.numpy()))
    one, other = memoryview(a.tobytes()), memoryview(b.tobytes())
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


def _value(value: ir.Value | None) -> str:
    return "" if value is None else f"{value.name}: {value.type} {value.shape}"
