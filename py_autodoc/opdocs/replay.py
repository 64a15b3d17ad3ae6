"""Run a model, capture the integers each operation reads and returns, and recompute them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx

from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.opdocs.integer_operations import QuantizedOperation
from py_autodoc.ort import open_session, run_session
from py_autodoc.quantize.reference import Kernel, evaluate
from py_autodoc.quantize.reference.arithmetic import Array
from py_autodoc.quantize.reference.block_weights import MATMUL_NBITS, matmul_nbits, tolerance
from py_autodoc.quantize.reference.operators import ACCUMULATORS
from py_autodoc.quantize.reference.saturation import FACTORS, as_unsigned, saturates_pairs
from py_autodoc.samples import Sample

WHAT = "The operation reference"
GROUP_BYTES = 1 << 28
"""Maximum bytes of tensors kept at a time."""
UNKNOWN_BYTES = 1 << 22
VARIANT_VALUES = 1 << 20
"""Maximum number of accumulators of an operation on which rounding modes are compared."""


@dataclass
class ReplayResult:
    """Observations of one operation over all samples."""

    shapes: list[tuple[int, ...] | None] = field(default_factory=list)
    """Shapes of its operands, then of its outputs."""
    types: list[str | None] = field(default_factory=list)
    codes: list[tuple[float, float] | None] = field(default_factory=list)
    accumulator: tuple[int, int] | None = None
    sums: Array | None = None
    """Accumulators of the first sample, limited to ``VARIANT_VALUES`` in whole leading items."""
    differing: int = 0
    values: int = 0
    largest: float = 0.0
    inputs: list[Array | None] = field(default_factory=list)
    """Inputs in the first sample."""
    outputs: list[Array] = field(default_factory=list)
    """Outputs in the first sample, from the reference with exact sums."""
    saturating: tuple[int, float] | None = None
    """Number of outputs that saturation changes, and the largest change; None where nothing saturates."""
    fault: str = ""


def replayed(
    path: PathLike,
    proto: onnx.ModelProto,
    operations: Sequence[QuantizedOperation],
    samples: Sequence[Sample],
    sizes: Mapping[str, int],
    kernel: Kernel,
) -> Iterator[tuple[int, ReplayResult]]:
    """Yield (index of the operation, observations), running a group of operations at a time.

    ``sizes`` are bytes of tensors by name. Raises: InputError: as ``ort.open_session``.
    """
    graph_inputs = {value.name for value in proto.graph.input}
    for group in _groups(operations, sizes):
        names = dict.fromkeys(
            name for index in group for name in _tensors(operations[index]) if name not in graph_inputs
        )
        session = open_session(path, WHAT, proto=_exposed(proto, names), fuse=True)
        results = {index: ReplayResult() for index in group}
        for number, sample in enumerate(samples):
            values = dict(zip(names, run_session(session, list(names), sample, base_name(path)), strict=True))
            values.update(sample)
            for index in group:
                _watch(results[index], operations[index], values, kernel, first=number == 0)
        yield from results.items()


def _groups(operations: Sequence[QuantizedOperation], sizes: Mapping[str, int]) -> Iterator[list[int]]:
    group: list[int] = []
    group_bytes = 0
    for index, operation in enumerate(operations):
        size = sum(sizes.get(name, UNKNOWN_BYTES) for name in _tensors(operation))
        if group and group_bytes + size > GROUP_BYTES:
            yield group
            group, group_bytes = [], 0
        group.append(index)
        group_bytes += size
    if group:
        yield group


def _tensors(operation: QuantizedOperation) -> Iterator[str]:
    yield from (
        operand.tensor for operand in operation.operands if operand is not None and operand.value is None
    )
    yield from (name for name in operation.outputs if name)


def _exposed(proto: onnx.ModelProto, names: Iterable[str]) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    outputs = {output.name for output in copy.graph.output}
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in outputs)
    return copy


def _watch(
    result: ReplayResult,
    operation: QuantizedOperation,
    values: Mapping[str, Array],
    kernel: Kernel,
    first: bool,
) -> None:
    inputs = [
        None if operand is None else operand.value if operand.value is not None else values[operand.tensor]
        for operand in operation.operands
    ]
    outputs = [values[name] for name in operation.outputs if name]
    try:
        results = _evaluated(operation, inputs, kernel)
        exact = results if kernel == "exact" else _evaluated(operation, inputs, "exact")
        sums = (
            ACCUMULATORS[operation.op_type](inputs, operation.attributes, "exact")
            if operation.op_type in ACCUMULATORS
            else None
        )
    except (ValueError, IndexError, KeyError, TypeError) as fault:
        result.fault = f"The reference cannot compute it: {str(fault)[:120] or type(fault).__name__}."
        return
    accepted = tolerance(inputs, operation.attributes) if operation.op_type == MATMUL_NBITS else 0.0
    for expected, computed in zip(outputs, results, strict=False):
        _compare(result, expected, computed, accepted)
    if kernel == "pairs" and _saturates(operation, inputs):
        unsigned = as_unsigned(operation.op_type, inputs, operation.unsigned)
        found = evaluate(operation.op_type, unsigned, operation.attributes, kernel)
        _count_saturating(result, exact[0], found[0])
    _extend(result, [*inputs, *outputs])
    if sums is not None and sums.size:
        least, most = int(sums.min()), int(sums.max())
        before = result.accumulator or (least, most)
        result.accumulator = (min(least, before[0]), max(most, before[1]))
    if first:
        result.inputs, result.outputs = inputs, list(exact)
        result.shapes = [None if value is None else value.shape for value in (*inputs, *outputs)]
        result.types = [None if value is None else value.dtype.name for value in (*inputs, *outputs)]
        result.sums = sums


def _evaluated(
    operation: QuantizedOperation, inputs: Sequence[Array | None], kernel: Kernel
) -> tuple[Array, ...]:
    if operation.op_type == MATMUL_NBITS:
        return (matmul_nbits(inputs, operation.attributes),)
    return evaluate(operation.op_type, inputs, operation.attributes, kernel)


def _saturates(operation: QuantizedOperation, inputs: Sequence[Array | None]) -> bool:
    """Return whether the kernels of an optimized session saturate sums of these operands without VNNI."""
    for factors in FACTORS.get(operation.op_type, ()):
        a, b = inputs[factors.a], inputs[factors.b]
        if a is None or b is None:
            return False
        a_type = a.dtype if factors.a_quantized and factors.a not in operation.unsigned else np.uint8
        b_type = np.uint8 if factors.b in operation.unsigned else b.dtype
        group = int(operation.attributes.get("group", 1))
        return saturates_pairs(operation.op_type, a_type, b_type, b.shape, group)
    return False


def _count_saturating(result: ReplayResult, exact: Array, found: Array) -> None:
    count, largest = result.saturating or (0, 0.0)
    difference = np.abs(exact.astype(np.float64) - found.astype(np.float64))
    most = float(difference.max(initial=0.0))
    result.saturating = count + int(np.count_nonzero(difference)), max(largest, most)


def _compare(result: ReplayResult, expected: Array, computed: Array, accepted: float) -> None:
    """Count the values that differ by more than ``accepted`` times the largest one."""
    if expected.shape != computed.shape:
        result.fault = "ONNX Runtime gives another shape."
        return
    same = (expected == computed) | ((expected != expected) & (computed != computed))
    if accepted and expected.size:
        most = accepted * float(np.abs(expected.astype(np.float64)).max())
        same |= np.abs(expected.astype(np.float64) - computed.astype(np.float64)) <= most
    result.values += expected.size
    differing = int(expected.size - np.count_nonzero(same))
    if differing:
        result.differing += differing
        difference = np.abs(expected.astype(np.float64) - computed.astype(np.float64))
        result.largest = max(result.largest, float(np.nanmax(difference)))


def _extend(result: ReplayResult, values: Sequence[Array | None]) -> None:
    ends = [
        None if value is None or not value.size else (float(value.min()), float(value.max()))
        for value in values
    ]
    if not result.codes:
        result.codes = ends
        return
    result.codes = [
        new if old is None else old if new is None else (min(old[0], new[0]), max(old[1], new[1]))
        for old, new in zip(result.codes, ends, strict=True)
    ]
