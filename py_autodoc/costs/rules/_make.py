"""Factories for rules, so that operator families read as tables."""

from __future__ import annotations

from collections.abc import Callable

from py_autodoc.costs.registry import BYTES_UNKNOWN, FREE, Cost, NodeView, Rule, UnknownSize, cost

Bytes = Callable[[NodeView], int]


def per_output(flops: int) -> Rule:
    """Create a rule of ``flops`` per element of output 0."""

    def rule(v: NodeView) -> Cost:
        return Cost(0, flops * v.out_numel())

    return rule


def per_input(flops: int, i: int = 0) -> Rule:
    """Create a rule of ``flops`` per element of input ``i``."""

    def rule(v: NodeView) -> Cost:
        return Cost(0, flops * v.numel(i))

    return rule


def movement(read: Bytes | None = None, write: Bytes | None = None) -> Rule:
    """Create a rule without arithmetic. ``read`` and ``write`` replace "all inputs" and "all outputs"."""
    if read is None and write is None:
        return lambda v: FREE

    def rule(v: NodeView) -> Cost:
        return Cost(0, 0, traffic(read, v), traffic(write, v))

    return rule


def traffic(count: Bytes | None, v: NodeView) -> int | None:
    """Return ``count(v)``, or ``BYTES_UNKNOWN`` if a size it needs is unknown (MACs stay known)."""
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
    """Register one rule for several operators, given as a space-separated list."""
    cost(domain, *ops.split())(rule)


def in_bytes(v: NodeView, *inputs: int) -> int:
    """Return the bytes of the given inputs, skipping absent ones."""
    return sum(v.bytes_in(i) for i in inputs if v.has(i))


def rows_read(*data: int) -> Bytes:
    """Count the bytes of output 0, plus every input that is not one of the tables ``data``."""

    def count(v: NodeView) -> int:
        return v.bytes_out(0) + in_bytes(v, *(i for i in range(v.n_inputs) if i not in data))

    return count
