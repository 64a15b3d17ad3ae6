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
from py_autodoc.quantize.reference.operators import ACCUMULATORS
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

    ``sizes`` are bytes of tensors by name. Raises: AnalysisError, InputError: as ``ort.open_session``.
    """
    fed = {one.name for one in proto.graph.input}
    for group in _groups(operations, sizes):
        wanted = dict.fromkeys(name for at in group for name in _tensors(operations[at]) if name not in fed)
        session = open_session(path, WHAT, proto=_exposed(proto, wanted), fuse=True)
        seen = {at: ReplayResult() for at in group}
        for number, sample in enumerate(samples):
            values = dict(
                zip(wanted, run_session(session, list(wanted), sample, base_name(path)), strict=True)
            )
            values.update(sample)
            for at in group:
                _watch(seen[at], operations[at], values, kernel, first=number == 0)
        yield from seen.items()


def _groups(operations: Sequence[QuantizedOperation], sizes: Mapping[str, int]) -> Iterator[list[int]]:
    group: list[int] = []
    held = 0
    for at, one in enumerate(operations):
        size = sum(sizes.get(name, UNKNOWN_BYTES) for name in _tensors(one))
        if group and held + size > GROUP_BYTES:
            yield group
            group, held = [], 0
        group.append(at)
        held += size
    if group:
        yield group


def _tensors(one: QuantizedOperation) -> Iterator[str]:
    yield from (operand.tensor for operand in one.operands if operand is not None and operand.value is None)
    yield from (name for name in one.outputs if name)


def _exposed(proto: onnx.ModelProto, names: Iterable[str]) -> onnx.ModelProto:
    made = onnx.ModelProto()
    made.CopyFrom(proto)
    have = {one.name for one in made.graph.output}
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in have)
    return made


def _watch(
    seen: ReplayResult, one: QuantizedOperation, values: Mapping[str, Array], kernel: Kernel, first: bool
) -> None:
    inputs = [
        None if operand is None else operand.value if operand.value is not None else values[operand.tensor]
        for operand in one.operands
    ]
    given = [values[name] for name in one.outputs if name]
    try:
        made = evaluate(one.op_type, inputs, one.attributes, kernel)
        exact = made if kernel == "exact" else evaluate(one.op_type, inputs, one.attributes)
        sums = (
            ACCUMULATORS[one.op_type](inputs, one.attributes, "exact")
            if one.op_type in ACCUMULATORS
            else None
        )
    except (ValueError, IndexError, KeyError, TypeError) as fault:
        seen.fault = f"The reference cannot compute it: {str(fault)[:120] or type(fault).__name__}."
        return
    for expected, found in zip(given, made, strict=False):
        _compare(seen, expected, found)
    _extend(seen, [*inputs, *given])
    if sums is not None and sums.size:
        least, most = int(sums.min()), int(sums.max())
        before = seen.accumulator or (least, most)
        seen.accumulator = (min(least, before[0]), max(most, before[1]))
    if first:
        seen.inputs, seen.outputs = inputs, list(exact)
        seen.shapes = [None if value is None else value.shape for value in (*inputs, *given)]
        seen.types = [None if value is None else value.dtype.name for value in (*inputs, *given)]
        seen.sums = sums


def _compare(seen: ReplayResult, expected: Array, found: Array) -> None:
    if expected.shape != found.shape:
        seen.fault = "ONNX Runtime gives another shape."
        return
    same = (expected == found) | ((expected != expected) & (found != found))
    seen.values += expected.size
    differing = int(expected.size - np.count_nonzero(same))
    if differing:
        seen.differing += differing
        apart = np.abs(expected.astype(np.float64) - found.astype(np.float64))
        seen.largest = max(seen.largest, float(np.nanmax(apart)))


def _extend(seen: ReplayResult, values: Sequence[Array | None]) -> None:
    ends = [
        None if value is None or not value.size else (float(value.min()), float(value.max()))
        for value in values
    ]
    if not seen.codes:
        seen.codes = ends
        return
    seen.codes = [
        new if old is None else old if new is None else (min(old[0], new[0]), max(old[1], new[1]))
        for old, new in zip(seen.codes, ends, strict=True)
    ]
