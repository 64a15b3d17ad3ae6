"""The numbers of a model at other dimensions, from one analysis and its cost expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from py_autodoc.costs.expressions import Expressions
from py_autodoc.costs.symbolic import Number, Symbolic
from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.symbolic_dims import dim_arithmetic
from py_autodoc.graph.symbolic_dims.poly import Poly
from py_autodoc.graph.symbolic_dims.poly_values import EvaluationError, PolyValues
from py_autodoc.hardware.estimate_inputs import EstimateInputs
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.report.builders.runnable_section import sizes_verdict
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs
from py_autodoc.units import plural

TOTALS = ("macs", "flops", "read_bytes", "write_bytes")


@dataclass(frozen=True, slots=True)
class SweepNumbers:
    """Totals of one inference at given dimensions, and the inputs of an estimate."""

    macs: int | None
    flops: int | None
    read_bytes: int | None
    write_bytes: int | None
    peak: int | None
    model: EstimateInputs
    stored: Sequence[int | None]
    """Bytes by tensor, as stored in the model."""
    kernels: Kernels | None
    reason: str = ""
    analysis: Analysis | None = field(default=None, compare=False)
    """The analysis whose kernels these are."""


def numbers_of_analysis(analysis: Analysis) -> SweepNumbers:
    """Return the numbers of an analysis, as in its report."""
    sums, peak = analysis.totals, analysis.peak
    broken = analysis.contradiction is not None
    return SweepNumbers(
        macs=sums.macs,
        flops=sums.flops,
        read_bytes=sums.read_bytes,
        write_bytes=sums.write_bytes,
        peak=None if peak is None or broken else peak.inplace,
        model=estimate_inputs(analysis),
        stored=analysis.sizes.bytes,
        kernels=analysis.kernels,
        reason=missing_reason(analysis),
        analysis=analysis,
    )


def missing_reason(analysis: Analysis) -> str:
    """Return why numbers are missing or only lower bounds; empty if none are."""
    verdict = sizes_verdict(analysis)
    if verdict.verdict != "yes":
        return verdict.reason
    sums = analysis.totals
    if sums.nodes_known == sums.nodes_total:
        return ""
    return f"costs are known for {sums.nodes_known:,} of {plural(sums.nodes_total, 'node')}"


class Evaluator:
    """Evaluates one analysed model at many dimensions."""

    def __init__(self, analysis: Analysis, costs: Expressions, with_memory: bool) -> None:
        self._base = estimate_inputs(analysis)
        self._stored = analysis.sizes.bytes
        self._storage = [tensor.storage is not None for tensor in analysis.model.tensors]
        self._dense = [tensor.container == "tensor" for tensor in analysis.model.tensors]
        self._costs, self._with_memory = costs, with_memory
        self._polys: list[Poly] = []
        self._slots: dict[object, int] = {}
        self._totals = {name: self._number(costs.totals.get(f"total_{name}")) for name in TOTALS}
        self._peak = self._number(costs.peak.get("inplace")) if with_memory else None
        self._macs = [self._number(node.macs) for node in costs.nodes]
        self._shapes = [None if shape is None else tuple(map(self._dim, shape)) for shape in costs.shapes]
        self._names = costs.original
        self._analysis = analysis
        self._reason = missing_reason(analysis)

    @classmethod
    def of(cls, analysis: Analysis, costs: Expressions | None, with_memory: bool = True) -> Evaluator | None:
        """Return an evaluator; None if a number of the model has no expression.

        Without ``with_memory``, only what latency needs: shapes, MACs and FLOPs; dimensions may then be 0.
        """
        if costs is None or len(analysis.model.graphs) > 1:
            return None  # the number of loop iterations also depends on the dimensions
        if len(costs.shapes) != len(analysis.model.tensors):
            return None  # rewritten for this batch in a way that does not apply to others
        if any(costs.totals.get(f"total_{name}") is None for name in (TOTALS if with_memory else ("flops",))):
            return None
        if (with_memory and costs.peak.get("inplace") is None) or len(costs.nodes) != len(analysis.costs):
            return None
        missing = (
            node.macs is None and entry.cost is not None and entry.cost.macs is not None
            for node, entry in zip(costs.nodes, analysis.costs, strict=True)
        )
        return None if any(missing) else cls(analysis, costs, with_memory)

    def evaluate(self, sizes: Mapping[str, int]) -> SweepNumbers | None:
        """Return the numbers for dimensions named as in the file; None if the expressions do not hold."""
        bindings = {name: sizes[own_name] for name, own_name in self._names.items() if own_name in sizes}
        least = int(self._with_memory)
        values = PolyValues(bindings, least)
        try:
            self._costs.check(bindings, in_place=self._with_memory, least=least)
            slot_values = [values.of(poly) for poly in self._polys]
        except EvaluationError:
            return None
        reader = _PointReader(slot_values)
        shapes = [None if s is None else tuple(map(reader.dim, s)) for s in self._shapes]
        model = replace(self._base, shapes=shapes, macs=[reader.number(slot) for slot in self._macs])
        totals = {name: reader.number(slot) for name, slot in self._totals.items()}
        return SweepNumbers(
            **totals,
            peak=reader.number(self._peak),
            model=model,
            stored=self._bytes(shapes),
            kernels=self._analysis.kernels,
            reason=self._reason,
            analysis=self._analysis,
        )

    def _bytes(self, shapes: Sequence[Shape | None]) -> list[int | None]:
        """Return the bytes by tensor: stored size of constants, computed size of the others."""
        sizes: list[int | None] = []
        for number, shape in enumerate(shapes):
            if self._storage[number] or not self._dense[number]:
                sizes.append(self._stored[number])
                continue
            bits = BITS.get(self._base.dtypes[number])
            count: int | None = 1
            for size in shape if shape is not None else (None,):
                count = count * size if count is not None and isinstance(size, int) else None
            sizes.append(None if bits is None or count is None else (count * bits + 7) // 8)
        return sizes

    def _number(self, value: Number | None) -> int | _PointSizes | None:
        return self._slot(value.poly) if isinstance(value, Symbolic) else value

    def _dim(self, dim: Dim) -> int | _PointSizes | None:
        return self._slot(dim_arithmetic.parse(dim)) if isinstance(dim, str) else dim

    def _slot(self, poly: Poly) -> _PointSizes:
        """Return the slot for the value of a polynomial; equal ones share a slot."""
        key = tuple(poly.terms.items())
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = len(self._polys)
            self._polys.append(poly)
        return _PointSizes(slot)


@dataclass(frozen=True, slots=True)
class _PointSizes:
    """Slot of a value that depends on the dimensions."""

    index: int


class _PointReader:
    def __init__(self, values: Sequence[int]) -> None:
        self._values = values

    def number(self, value: int | _PointSizes | None) -> int | None:
        return self._values[value.index] if isinstance(value, _PointSizes) else value

    dim = number
