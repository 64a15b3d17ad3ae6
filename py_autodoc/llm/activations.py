"""Live activation memory while a fusing runtime runs a model, without weights and caches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from py_autodoc.costs.expressions import Expressions
from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.symbolic_dims import dim_arithmetic
from py_autodoc.graph.symbolic_dims.poly_values import EvaluationError, PolyValues
from py_autodoc.hardware.estimate_inputs import EstimateInputs, tensor_bytes
from py_autodoc.hardware.kernel_fusion import Kernels


class Shapes:
    """The shapes of tensors between kernels for any dimensions, from the expressions of one analysis.

    Totals require an expression for every tensor; here those in ``caches``, counted elsewhere, need none.
    """

    def __init__(
        self, kernels: Kernels, sized: EstimateInputs, costs: Expressions, caches: frozenset[int]
    ) -> None:
        self._sized, self._names = sized, costs.original
        crossing = {
            t for tensors in (*kernels.reads, *kernels.writes) for t in tensors if not sized.weight[t]
        }
        self._shapes = {tensor: costs.shapes[tensor] for tensor in crossing - caches}
        self._parsed = {
            dim: dim_arithmetic.parse(dim)
            for shape in self._shapes.values()
            for dim in shape or ()
            if isinstance(dim, str)
        }

    def at_sizes(self, sizes: Mapping[str, int]) -> EstimateInputs | None:
        """Return the model with those shapes; None if an expression does not hold."""
        values = PolyValues(
            {name: sizes[declared] for name, declared in self._names.items() if declared in sizes}
        )
        try:
            dims: dict[str, Dim] = {dim: values.of(poly) for dim, poly in self._parsed.items()}
        except EvaluationError:
            return None
        shapes = list(self._sized.shapes)
        for tensor, shape in self._shapes.items():
            resolved = shape and tuple(dims[dim] if isinstance(dim, str) else dim for dim in shape)
            shapes[tensor] = resolved
        return replace(self._sized, shapes=shapes)


def live_bytes(kernels: Kernels, sized: EstimateInputs, width: int, caches: frozenset[int]) -> int | None:
    """Return the peak of live bytes between kernels; tensors inside a kernel are never in memory.

    Kernels run in the order of their last nodes. A tensor is live from the kernel that writes it (model
    inputs: from the start) to the last one that reads it. ``caches`` are tensors counted elsewhere. None if a
    size is unknown.
    """
    order = sorted(range(len(kernels.kind)), key=lambda kernel: max(kernels.members[kernel], default=-1))
    first_step: dict[int, int] = {}
    last_step: dict[int, int] = {}
    for step, kernel in enumerate(order):
        for tensor in kernels.reads[kernel]:
            if not sized.weight[tensor]:
                first_step.setdefault(tensor, 0)
                last_step[tensor] = step
        for tensor in kernels.writes[kernel]:
            first_step.setdefault(tensor, step)
            last_step[tensor] = max(last_step.get(tensor, step), step)
    change = [0] * (len(order) + 1)
    for tensor, first in first_step.items():
        if tensor in caches:
            continue
        size = tensor_bytes(sized, tensor, width)
        if size is None:
            return None
        change[first] += size
        change[last_step[tensor] + 1] -= size
    most = current = 0
    for difference in change:
        current += difference
        most = max(most, current)
    return most
