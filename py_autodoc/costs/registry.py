"""Cost rules: shapes of one node → MACs, FLOPs and bytes.

Conventions (one place, every rule follows them):

* 1 MAC = one multiply-accumulate = 2 FLOPs. ``macs`` covers Conv, Gemm, MatMul, Einsum,
  attention, recurrent operators and their quantized or packed forms.
* ``flops = 2·macs +`` the arithmetic of the rest (a bias add, a normalization, an activation).
* Data movement (Reshape, Transpose, Gather, Concat, Cast …) has 0 of both, but bytes.
* A rule sees sizes through ``NodeView``; asking for a size that is not a number raises
  ``UnknownSize`` and the cost becomes ``None`` with that reason. A rule never guesses.
* Rules use only ``+ - * //``, ``prod``, ``ceil_div``, ``minimum``, ``maximum`` on sizes, so that
  they also work on symbolic sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from py_autodoc.costs.symbolic import UnknownSize, as_int, ceil_quotient, extreme
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, Node, Shape, TypeTable
from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.graph.operators.node_reader import NodeReader

__all__ = [
    "BYTES_UNKNOWN",
    "FREE",
    "VIEW",
    "Cost",
    "NodeView",
    "Rule",
    "UnknownSize",
    "broadcast",
    "carries_macs",
    "ceil_div",
    "cost",
    "maximum",
    "minimum",
    "plain",
    "prod",
    "registered",
    "rule_for",
]


class Cost(msgspec.Struct, frozen=True, gc=False):
    """What one execution of a node costs.

    From a rule, ``read_bytes`` / ``write_bytes`` of ``None`` mean "all inputs once / all outputs
    once at their stored dtypes" and ``BYTES_UNKNOWN`` that they cannot be known. The engine fills
    them in: in its answer ``None`` means unknown.
    """

    macs: int = 0
    flops: int = 0
    read_bytes: int | None = None
    write_bytes: int | None = None

    @staticmethod
    def of(macs: int = 0, extra: int = 0, **kw: Any) -> Cost:
        """``flops`` = 2·``macs`` + ``extra``."""
        return Cost(macs, 2 * macs + extra, **kw)


FREE = Cost(0, 0)
VIEW = Cost(0, 0, 0, 0)
"""Nothing moves: the output is the input under another shape."""

BYTES_UNKNOWN = -1
"""A rule's answer for traffic that depends on something unknown."""

Rule = Callable[["NodeView"], Cost]
_RULES: dict[tuple[str, str], Rule] = {}
_MAC_OPS: set[tuple[str, str]] = set()


def cost(domain: str, *ops: str, macs: bool = False) -> Callable[[Rule], Rule]:
    """Register a rule for operators of a domain (``""`` = ai.onnx). Duplicates raise.

    ``macs`` marks operators that belong to the multiply-accumulate class; coverage counts them.
    """

    def add(rule: Rule) -> Rule:
        for op in ops:
            key = (domain, op)
            if key in _RULES:
                raise ValueError(f"two cost rules for {domain or 'ai.onnx'}::{op}")
            _RULES[key] = rule
            if macs:
                _MAC_OPS.add(key)
        return rule

    return add


def carries_macs(domain: str, op: str) -> bool:
    """True for operators of the multiply-accumulate class (Conv, MatMul, Attention, LSTM …)."""
    return (domain, op) in _MAC_OPS


def rule_for(domain: str, op: str) -> Rule | None:
    """The rule of an operator, or None when there is none."""
    return _RULES.get((domain, op))


def registered() -> frozenset[tuple[str, str]]:
    """Every (domain, op) that has a rule."""
    return frozenset(_RULES)


@answers("cost")
def _links() -> Mapping[Key, Link]:
    return {key: link_to(rule, "MACs" if key in _MAC_OPS else "") for key, rule in _RULES.items()}


def prod(sizes: Iterable[int]) -> int:
    """Product of sizes; 1 for a scalar."""
    return math.prod(sizes)


def ceil_div(a: int, b: int) -> int:
    """A / b rounded up."""
    return -(-a // b) if plain(a, b) else as_int(ceil_quotient(a, b))


def minimum(a: int, b: int) -> int:
    """The smaller size."""
    return min(a, b) if plain(a, b) else as_int(extreme(False, a, b))


def maximum(a: int, b: int) -> int:
    """The larger size."""
    return max(a, b) if plain(a, b) else as_int(extreme(True, a, b))


def broadcast(a: int, b: int) -> int:
    """The size of two that are broadcast together: equal, or one of them 1."""
    if plain(a, b):
        return b if a == 1 else a
    for number, size in ((a, b), (b, a)):
        if plain(number, 0):  # a size beside another number is that number, or 1
            return size if number == 1 else number
    return maximum(a, b)


def plain(a: object, b: object = 0) -> bool:
    """True for numbers without symbols."""
    return isinstance(a, int) and isinstance(b, int)


class NodeView(NodeReader):
    """What a rule may know of a node: shapes, dtypes, attributes, small constant inputs."""

    __slots__ = ("model", "sizes", "types")

    def __init__(self, model: Model, types: TypeTable, node: Node, sizes: TensorSizes | None = None) -> None:
        super().__init__(node)
        self.model = model
        self.types = types
        self.sizes = sizes or TensorSizes(model, types)

    @property
    def op(self) -> str:
        """Operator type."""
        return self.node.op_type

    @property
    def opset(self) -> int:
        """Version of the node's domain, 0 when the model imports none."""
        return self.node.opset

    @property
    def n_inputs(self) -> int:
        """Inputs written, omitted ones included."""
        return len(self.node.inputs)

    @property
    def n_outputs(self) -> int:
        """Outputs written, omitted ones included."""
        return len(self.node.outputs)

    def dtype_of(self, tensor: int) -> int:
        """As inferred."""
        return self.types.dtypes[tensor]

    def value_of(self, tensor: int) -> Any | None:
        """Its array when it is small and known, else None."""
        return self.types.values.get(tensor)

    def malformed(self, message: str) -> UnknownSize:
        """The cost of such a node is unknown."""
        return UnknownSize(message)

    def shape(self, i: int) -> tuple[int, ...]:
        """Shape of input ``i``. Raises: UnknownSize when it is absent or not all numbers."""
        return self._numbers(self._tensor(self.node.inputs, i, "input"), f"input {i}")

    def dims(self, i: int, rank: int) -> tuple[int, ...]:
        """Shape of input ``i``, which must have ``rank`` dimensions. Raises: UnknownSize."""
        shape = self.shape(i)
        if len(shape) != rank:
            raise UnknownSize(f"input {i} has {len(shape)} dimensions, not {rank}")
        return shape

    def dim(self, i: int, axis: int) -> int:
        """Size of input ``i`` along ``axis``. Raises: UnknownSize when there is no such axis."""
        shape = self.shape(i)
        if not -len(shape) <= axis < len(shape):
            raise UnknownSize(f"input {i} has {len(shape)} dimensions, no axis {axis}")
        return shape[axis]

    def out(self, i: int = 0) -> tuple[int, ...]:
        """Shape of output ``i``. Raises: UnknownSize when it is absent or not all numbers."""
        return self._numbers(self._tensor(self.node.outputs, i, "output"), f"output {i}")

    def numel(self, i: int) -> int:
        """Elements of input ``i``."""
        n = self.sizes.numel[self._tensor(self.node.inputs, i, "input")]
        return prod(self.shape(i)) if n is None else n

    def out_numel(self, i: int = 0) -> int:
        """Elements of output ``i``."""
        n = self.sizes.numel[self._tensor(self.node.outputs, i, "output")]
        return prod(self.out(i)) if n is None else n

    def bytes_in(self, i: int) -> int:
        """Stored bytes of input ``i``. Raises: UnknownSize."""
        n = self.sizes.bytes[self._tensor(self.node.inputs, i, "input")]
        if n is None:
            raise UnknownSize(f"size of input {i} is unknown")
        return n

    def bytes_out(self, i: int = 0) -> int:
        """Bytes of output ``i``. Raises: UnknownSize."""
        n = self.sizes.bytes[self._tensor(self.node.outputs, i, "output")]
        if n is None:
            raise UnknownSize(f"size of output {i} is unknown")
        return n

    def raw_shape(self, i: int) -> Shape | None:
        """Shape of input ``i`` with symbols kept; None when unknown or absent."""
        return self.types.shapes[self.node.inputs[i]] if self.has(i) else None

    def positive_attr(self, name: str, default: int | None = None) -> int:
        """An integer attribute of at least 1. Raises: UnknownSize when it is absent or smaller."""
        value = self.attr(name, default)
        if not isinstance(value, int):
            raise UnknownSize(f"attribute {name} is {'missing' if value is None else 'not an integer'}")
        if value < 1:
            raise UnknownSize(f"attribute {name} is {value}")
        return value

    def scalar(self, i: int) -> int | None:
        """The first element of input ``i`` as an integer; None when it is absent, unknown or empty."""
        value = self.value(i)
        if value is None or not getattr(value, "size", 0):
            return None
        try:
            return int(value.reshape(-1)[0])
        except (TypeError, ValueError, OverflowError):
            return None  # a symbol, an infinity

    def _tensor(self, ids: Sequence[int], i: int, what: str) -> int:
        if i >= len(ids) or ids[i] < 0:
            raise UnknownSize(f"{what} {i} is missing")
        return ids[i]

    def _numbers(self, tensor: int, what: str) -> tuple[int, ...]:
        shape = self.types.shapes[tensor]
        if shape is None:
            raise UnknownSize(f"shape of {what} is unknown")
        for d in shape:
            if not isinstance(d, int):
                raise UnknownSize(
                    f"{what} has the dimension {d}" if d else f"{what} has an unknown dimension"
                )
            if d < 0:
                raise UnknownSize(f"{what} has the negative dimension {d}")
        return shape  # type: ignore[return-value]
