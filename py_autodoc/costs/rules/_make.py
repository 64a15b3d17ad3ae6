"""Factories that let families of rules read as tables."""

from __future__ import annotations

from collections.abc import Callable

from py_autodoc.costs.registry import BYTES_UNKNOWN, FREE, Cost, NodeView, Rule, UnknownSize, cost

Bytes = Callable[[NodeView], int]


def per_output(flops: int) -> Rule:
    """``flops`` for each element of output 0."""

    def rule(v: NodeView) -> Cost:
        return Cost(0, flops * v.out_numel())

    return rule


def per_input(flops: int, i: int = 0) -> Rule:
    """``flops`` for each element of input ``i``."""

    def rule(v: NodeView) -> Cost:
        return Cost(0, flops * v.numel(i))

    return rule


def movement(read: Bytes | None = None, write: Bytes | None = None) -> Rule:
    """No arithmetic. ``read`` and ``write`` replace "all inputs" and "all outputs"."""
    if read is None and write is None:
        return lambda v: FREE

    def rule(v: NodeView) -> Cost:
        return Cost(0, 0, traffic(read, v), traffic(write, v))

    return rule


def traffic(count: Bytes | None, v: NodeView) -> int | None:
    """``count(v)``, or ``BYTES_UNKNOWN`` when a size it needs is unknown (MACs stay known)."""
    if count is None:
        return None
    try:
        return count(v)
    except UnknownSize:
        return BYTES_UNKNOWN


def nothing(v: NodeView) -> int:
    """No bytes."""
    return 0


def register(domain: str, ops: str, rule: Rule) -> None:
    """Register one rule for several operators, given as words."""
    cost(domain, *ops.split())(rule)


def in_bytes(v: NodeView, *inputs: int) -> int:
    """Bytes of the given inputs, leaving out those that are absent."""
    return sum(v.bytes_in(i) for i in inputs if v.has(i))


def rows_read(*data: int) -> Bytes:
    """As many bytes as output 0 has, plus every input that is not one of the tables ``data``."""

    def count(v: NodeView) -> int:
        return v.bytes_out(0) + in_bytes(v, *(i for i in range(v.n_inputs) if i not in data))

    return count
