"""Values of one constant tensor, read on request.

Supports dense and sparse initializers of any graph, and Constant nodes. The bytes are read in chunks, at most
twice; at most about 100 MB are in memory, however large the tensor is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import onnx

from py_autodoc.errors import CorruptModel, ExternalDataError, InputError
from py_autodoc.graph.building import structure_checks
from py_autodoc.graph.building.node_protos import graph_proto, node_proto
from py_autodoc.graph.ir.model import Model, Tensor, TensorKind
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.tensor_protos import BITS, element_count
from py_autodoc.graph.tensor_data.tensor_bytes import CHANGED, DAMAGED, TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import Array, decode
from py_autodoc.graph.tensor_data.weight_distribution import CodeCounter, Distribution, ValueCounter
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, chunks, content_of
from py_autodoc.graph.tensor_data.weight_stats import StatsAccumulator, TensorFacts

_T = onnx.TensorProto
MAX_FIRST_VALUES = 200
"""Maximum number of values that are listed."""
NOTHING = "it has none that can be understood"
"""Reason for a Constant node without a value."""
_COMPLEX = (_T.COMPLEX64, _T.COMPLEX128)
Check = Callable[[], None]
"""Called between chunks. An exception it raises aborts the reading."""


@dataclass(frozen=True, slots=True)
class WeightView:
    """The content of a constant tensor. ``facts`` and ``spread`` are None for text."""

    dtype: int
    shape: tuple[int, ...]
    stored: int
    """Elements in the file: all, or those listed by a sparse tensor. Statistics cover these."""
    sparse: bool
    first: Any
    """The first ``MAX_FIRST_VALUES`` stored values: a numpy array, or a list of ``str``."""
    indices: tuple[int, ...] | None
    """Position of each of them in the tensor, in C order; None if they are simply the first."""
    facts: TensorFacts | None
    spread: Distribution | None


@dataclass(frozen=True, slots=True)
class StoredConstant:
    """A constant as stored in the file; ``indices`` for a sparse one."""

    values: onnx.TensorProto
    dims: tuple[int, ...]
    indices: onnx.TensorProto | None = None


def view_weight(
    loaded: LoadedModel, model: Model, source: str | bytes, number: int, check: Check | None = None
) -> WeightView:
    """Read a constant tensor; ``source`` is the path or bytes that ``loaded`` was created from.

    Raises:
        ExternalDataError: the data file is missing, outside the model's folder, or unreadable.
        CorruptModel: the data do not match type and shape.
        InputError: the model changed since it was loaded.
    """
    tensor = model.tensors[number]
    constant = stored_constant(loaded, model, tensor)
    try:
        if constant is None:
            raise UnreadableTensor(NOTHING)
        if constant.values.data_type == _T.STRING:
            return _text(constant)
        with TensorFiles(source, loaded.facts.bytes) as files:
            return _numbers(constant, files, number, check or no_check)
    except UnreadableTensor as why:
        raise unread_error(why, loaded, tensor) from None


def no_check() -> None:
    """Check that never aborts the reading."""


def unread_error(why: UnreadableTensor, loaded: LoadedModel, tensor: Tensor) -> InputError:
    """Return the error that explains why the values of a constant cannot be read."""
    subject = f"{loaded.facts.name}: the values of {tensor.name[:200]!r} cannot be read"
    if why.code == DAMAGED:
        return CorruptModel(f"{subject}: {why}.", why.hint or "Export the model again.")
    kind = InputError if why.code == CHANGED else ExternalDataError
    return kind(why.code, f"{subject}: {why}.", why.hint)


def stored_constant(loaded: LoadedModel, model: Model, tensor: Tensor) -> StoredConstant | None:
    """Return the constant from the protobuf; None for a Constant node without a value."""
    if tensor.kind == TensorKind.INITIALIZER:
        proto = graph_proto(loaded, model, tensor.graph)
        index = model.graphs[tensor.graph].initializers.index(tensor.id)
        dense = len(proto.initializer)
        return (
            _dense(proto.initializer[index])
            if index < dense
            else _sparse(proto.sparse_initializer[index - dense])
        )
    node = node_proto(loaded, model, tensor.producer)
    for attribute in node.attribute:
        name = decode_text(attribute.name)
        if name == "value" and attribute.HasField("t"):
            return _dense(attribute.t)
        if name == "sparse_value" and attribute.HasField("sparse_tensor"):
            return _sparse(attribute.sparse_tensor)
        value = structure_checks.attribute_constant(name, model.nodes[tensor.producer].attributes.get(name))
        if value is not None:
            array = value[1]
            if value[0] == _T.STRING:
                items = [item.encode() if isinstance(item, str) else item for item in array.reshape(-1)]
                return _dense(onnx.helper.make_tensor("", _T.STRING, array.shape, items))
            return _dense(onnx.numpy_helper.from_array(array))
    return None


def _dense(proto: onnx.TensorProto) -> StoredConstant:
    return StoredConstant(proto, tuple(proto.dims))


def _sparse(proto: onnx.SparseTensorProto) -> StoredConstant:
    return StoredConstant(proto.values, tuple(proto.dims), proto.indices)


def _text(constant: StoredConstant) -> WeightView:
    """Show text that is in the structure (less than 4 KiB); longer text is not read."""
    proto = constant.values
    first = [decode_text(item) for item in proto.string_data[:MAX_FIRST_VALUES]]
    stored = element_count(tuple(proto.dims))
    if stored is None:
        raise UnreadableTensor("its shape is impossible")
    return WeightView(_T.STRING, constant.dims, stored, constant.indices is not None, first, None, None, None)


def _numbers(constant: StoredConstant, files: TensorFiles, number: int, check: Check) -> WeightView:
    content = content_of(constant.values, files)
    facts, narrow, first = _read(content, number, check)
    spread = narrow.result() if narrow else _read_again(content, facts, check)
    positions = None if constant.indices is None else _first_positions(constant, content.elements, files)
    return WeightView(
        content.dtype,
        constant.dims,
        content.elements,
        constant.indices is not None,
        first,
        positions,
        facts,
        spread,
    )


def _read(content: TensorContent, number: int, check: Check) -> tuple[TensorFacts, CodeCounter | None, Array]:
    """Read once: statistics, codes of narrow types and the first values."""
    stats = StatsAccumulator(content.dtype)
    narrow = CodeCounter(content.dtype) if BITS[content.dtype] <= 16 else None
    first: Array | None = None
    for data, elements in chunks(content):
        check()
        stats.add(data, elements)
        if narrow is not None:
            narrow.add(data, elements)
        if first is None:
            first = decode(data, content.dtype, elements)[:MAX_FIRST_VALUES].copy()
    assert first is not None, "there is always a last chunk"
    return stats.result(number), narrow, first


def _read_again(content: TensorContent, facts: TensorFacts, check: Check) -> Distribution:
    """Read again, for types wider than 16 bits."""
    if content.dtype in _COMPLEX or facts.minimum is None:
        return Distribution()
    kind = "f" if content.dtype in (_T.FLOAT, _T.DOUBLE) else "i"
    counter = ValueCounter(facts, kind, BITS[content.dtype] // 8)
    for data, elements in chunks(content):
        check()
        if not counter.add(decode(data, content.dtype, elements)):
            break
    spread = counter.result()
    if spread is None:
        raise UnreadableTensor(
            "its values changed while they were read", CHANGED, "Try again when no program is writing them."
        )
    return spread


def _first_positions(constant: StoredConstant, stored: int, files: TensorFiles) -> tuple[int, ...]:
    """Return the positions, in C order, of the first stored values of a sparse tensor.

    Raises: UnreadableTensor.
    """
    proto = constant.indices
    assert proto is not None
    rank = len(constant.dims)
    shape = tuple(proto.dims)
    if proto.data_type != _T.INT64 or shape not in ((stored,), (stored, rank)):
        raise UnreadableTensor("its indices do not fit its values")
    content = content_of(proto, files)
    data, elements = next(chunks(content))
    indices = decode(data, proto.data_type, elements)[
        : MAX_FIRST_VALUES * (rank if len(shape) == 2 else 1)
    ].tolist()
    if len(shape) == 1:
        return _checked_positions(indices, constant)
    steps = [element_count(constant.dims[axis + 1 :]) or 0 for axis in range(rank)]
    rows = [indices[offset : offset + rank] for offset in range(0, len(indices), rank)]
    return _checked_positions(
        [sum(i * step for i, step in zip(row, steps, strict=True)) for row in rows], constant
    )


def _checked_positions(positions: list[int], constant: StoredConstant) -> tuple[int, ...]:
    if any(not 0 <= position < (element_count(constant.dims) or 0) for position in positions):
        raise UnreadableTensor("its indices lie outside its shape")
    return tuple(positions)
