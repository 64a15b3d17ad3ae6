"""Experts that run only on tokens routed to them, the number of which is known only at run time.

Exporters write a mixture of experts as one feed-forward block per expert, on rows selected by NonZero. Its
output size is assumed to be tokens · chosen / experts, as for fused operators: tokens are distributed evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from py_autodoc.graph.ir.model import Model, Node, Shape
from py_autodoc.hardware.fusion_roles import ROLES, FusionRole
from py_autodoc.hardware.kernel_products import GEMM

_MEMORY = 0


@dataclass(frozen=True, slots=True)
class Mixture:
    """A recognised mixture of experts."""

    nodes: tuple[int, ...]
    router: int
    """Tensor with its routing, tokens × experts."""
    chosen: int
    """Number of experts per token."""


class RoutedExperts(NamedTuple):
    """The kernels of a mixture whose sizes depend on the routing; the last three fields are parallel."""

    router: int
    chosen: int
    dims: tuple[str, ...]
    """The dimensions that count the tokens of one expert."""
    kernels: tuple[int, ...]
    macs: tuple[int, ...]
    """MACs per token; 0 for kernels that only move memory."""
    depth: tuple[int, ...]
    """Terms per sum of a product, else 0."""


def routed(
    model: Model,
    shapes: Sequence[Shape | None],
    members: Sequence[Sequence[int]],
    crossing: Sequence[Sequence[int]],
    kinds: Sequence[int],
    mixtures: Iterable[Mixture],
) -> list[RoutedExperts]:
    """Return, per mixture, the kernels that process one expert's tokens; ``crossing`` are their tensors."""
    mixtures_found = []
    for mixture in mixtures:
        inside = set(mixture.nodes)
        dims = {dim for number in mixture.nodes for dim in _picked(model.nodes[number], shapes)}
        if not dims:
            continue
        rows = []
        for kernel, kernel_nodes in enumerate(members):
            if inside.isdisjoint(kernel_nodes) or not _sized_by(dims, crossing[kernel], shapes):
                continue
            macs, depth = 0, 0
            if kinds[kernel] == GEMM:
                work = [_product(model.nodes[number], shapes, dims) for number in kernel_nodes]
                macs, depth = sum(entry[0] for entry in work), max(entry[1] for entry in work)
            if macs or kinds[kernel] == _MEMORY:
                rows.append((kernel, macs, depth))
        if rows:
            kernels, macs_of, depths = zip(*rows, strict=True)
            mixtures_found.append(
                RoutedExperts(mixture.router, mixture.chosen, tuple(sorted(dims)), kernels, macs_of, depths)
            )
    return mixtures_found


def _picked(node: Node, shapes: Sequence[Shape | None]) -> list[str]:
    """Return the symbolic dimension of a NonZero output."""
    if node.op_type != "NonZero" or node.domain or not node.outputs:
        return []
    shape = shapes[node.outputs[0]]
    return [dim for dim in (shape or ())[-1:] if isinstance(dim, str)]


def _sized_by(dims: set[str], tensors: Iterable[int], shapes: Sequence[Shape | None]) -> bool:
    return any(dim in dims for tensor in tensors for dim in shapes[tensor] or () if isinstance(dim, str))


def _product(node: Node, shapes: Sequence[Shape | None], dims: set[str]) -> tuple[int, int]:
    """Return (MACs per token, terms per sum) for rows times a matrix; zeros for other nodes."""
    if (
        node.domain
        or ROLES.get(node.op_type) != FusionRole.PRODUCT
        or len(node.inputs) < 2
        or not node.outputs
    ):
        return 0, 0
    rows, matrix = shapes[node.inputs[0]], shapes[node.inputs[1]]
    if not rows or not matrix or len(matrix) != 2 or not set(rows) & dims:
        return 0, 0
    depth, width = matrix if not node.attributes.get("transB") else matrix[::-1]
    return (depth * width, depth) if isinstance(depth, int) and isinstance(width, int) else (0, 0)
