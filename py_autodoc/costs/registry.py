"""Cost rules: from the shapes of one node to MACs, FLOPs and bytes.

Conventions for every rule:

* 1 MAC = one multiply-accumulate = 2 FLOPs. ``macs`` covers Conv, Gemm, MatMul, Einsum,
    attention, recurrent operators and their quantized or packed forms.
* ``flops = 2·macs +`` other arithmetic (a bias addition, a normalization, an activation).
* Data movement (Reshape, Transpose, Gather, Concat, Cast …) has 0 of both, but bytes.
* A rule reads sizes through ``NodeView``. Reading a size that is not a number raises
    ``UnknownSize``, and the cost becomes ``None`` with that reason. A rule never guesses.
* Rules apply only ``+ - * //``, ``prod``, ``ceil_div``, ``minimum`` and ``maximum`` to sizes, so that
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
    "is_number",
    "maximum",
    "may_carry_macs",
    "minimum",
    "prod",
    "registered",
    "rule_for",
]


class Cost(msgspec.Struct, frozen=True, gc=False):
    """Cost of one execution of a node.

    In the result of a rule, ``read_bytes`` / ``write_bytes`` of ``None`` mean "all inputs once / all outputs
    once at their stored dtypes" and ``BYTES_UNKNOWN`` means unknown. The engine fills them in; in its results
    ``None`` means unknown.
    """

    macs: int = 0
    flops: int = 0
    read_bytes: int | None = None
    write_bytes: int | None = None
    data_flops: int = 0
    """FLOPs that the data may add at most: suppression among boxes, regions of any size."""

    @staticmethod
    def of(macs: int = 0, extra: int = 0, **kw: Any) -> Cost:
        """Create a cost with ``flops`` = 2·``macs`` + ``extra``."""
        return Cost(macs, 2 * macs + extra, **kw)


FREE = Cost(0, 0)
VIEW = Cost(0, 0, 0, 0)
"""Nothing moves: the output is a view of the input."""

BYTES_UNKNOWN = -1
"""Result of a rule for traffic that depends on an unknown size."""

Rule = Callable[["NodeView"], Cost]
_RULES: dict[tuple[str, str], Rule] = {}
_MAC_OPS: set[tuple[str, str]] = set()


def cost(domain: str, *ops: str, macs: bool = False) -> Callable[[Rule], Rule]:
    """Register a rule for operators of a domain (``""`` = ai.onnx). Duplicates raise.

    ``macs`` marks operators of the multiply-accumulate class, which coverage counts separately.
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


def may_carry_macs(domain: str, op: str) -> bool:
    """True for the multiply-accumulate class, and for operators without a rule: nobody knows what they do."""
    return (domain, op) in _MAC_OPS or (domain, op) not in _RULES


def rule_for(domain: str, op: str) -> Rule | None:
    """Return the rule of an operator, or None."""
    return _RULES.get((domain, op))


def registered() -> frozenset[tuple[str, str]]:
    """Return every (domain, op) with a rule."""
    return frozenset(_RULES)


@answers("cost")
def _links() -> Mapping[Key, Link]:
    return {key: link_to(rule, "MACs" if key in _MAC_OPS else "") for key, rule in _RULES.items()}


def prod(sizes: Iterable[int]) -> int:
    """Return the product of sizes; 1 for a scalar."""
    return math.prod(sizes)


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up."""
    return -(-a // b) if is_number(a, b) else as_int(ceil_quotient(a, b))


def minimum(a: int, b: int) -> int:
    """Return the smaller size."""
    return min(a, b) if is_number(a, b) else as_int(extreme(False, a, b))


def maximum(a: int, b: int) -> int:
    """Return the larger size."""
    return max(a, b) if is_number(a, b) else as_int(extreme(True, a, b))


def broadcast(a: int, b: int) -> int:
    """Return the broadcast of two sizes: they are equal, or one of them is 1."""
    if is_number(a, b):
        return b if a == 1 else a
    for number, size in ((a, b), (b, a)):
        if is_number(number, 0):  # a size broadcast with another number is that number, or 1
            return size if number == 1 else number
    return maximum(a, b)


def is_number(a: object, b: object = 0) -> bool:
    """True for numbers without symbols."""
    return isinstance(a, int) and isinstance(b, int)


class NodeView(NodeReader):
    """The view of a node for its rule: shapes, dtypes, attributes, small constant inputs."""

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
        """Opset version of the node's domain, 0 if the model does not import it."""
        return self.node.opset

    @property
    def n_inputs(self) -> int:
        """Number of inputs, omitted ones included."""
        return len(self.node.inputs)

    @property
    def n_outputs(self) -> int:
        """Number of outputs, omitted ones included."""
        return len(self.node.outputs)

    def dtype_of(self, tensor: int) -> int:
        """Return the inferred type."""
        return self.types.dtypes[tensor]

    def value_of(self, tensor: int) -> Any | None:
        """Return its array if it is small and known, else None."""
        return self.types.values.get(tensor)

    def malformed(self, message: str) -> UnknownSize:
        """Return the error that makes the cost unknown."""
        return UnknownSize(message)

    def shape(self, i: int) -> tuple[int, ...]:
        """Return the shape of input ``i``. Raises: UnknownSize if it is absent or not all numbers."""
        return self._numbers(self._tensor(self.node.inputs, i, "input"), f"input {i}")

    def dims(self, i: int, rank: int) -> tuple[int, ...]:
        """Return the shape of input ``i``, which must have ``rank`` dimensions. Raises: UnknownSize."""
        shape = self.shape(i)
        if len(shape) != rank:
            raise UnknownSize(f"input {i} has {len(shape)} dimensions, not {rank}")
        return shape

    def dim(self, i: int, axis: int) -> int:
        """Return the size of input ``i`` along ``axis``. Raises: UnknownSize if there is no such axis."""
        shape = self.shape(i)
        if not -len(shape) <= axis < len(shape):
            raise UnknownSize(f"input {i} has {len(shape)} dimensions, no axis {axis}")
        return shape[axis]

    def out(self, i: int = 0) -> tuple[int, ...]:
        """Return the shape of output ``i``. Raises: UnknownSize if it is absent or not all numbers."""
        return self._numbers(self._tensor(self.node.outputs, i, "output"), f"output {i}")

    def numel(self, i: int) -> int:
        """Return the number of elements of input ``i``."""
        n = self.sizes.numel[self._tensor(self.node.inputs, i, "input")]
        return prod(self.shape(i)) if n is None else n

    def out_numel(self, i: int = 0) -> int:
        """Return the number of elements of output ``i``."""
        n = self.sizes.numel[self._tensor(self.node.outputs, i, "output")]
        return prod(self.out(i)) if n is None else n

    def bytes_in(self, i: int) -> int:
        """Return the stored bytes of input ``i``. Raises: UnknownSize."""
        n = self.sizes.bytes[self._tensor(self.node.inputs, i, "input")]
        if n is None:
            raise UnknownSize(f"size of input {i} is unknown")
        return n

    def bytes_out(self, i: int = 0) -> int:
        """Return the bytes of output ``i``. Raises: UnknownSize."""
        n = self.sizes.bytes[self._tensor(self.node.outputs, i, "output")]
        if n is None:
            raise UnknownSize(f"size of output {i} is unknown")
        return n

    def raw_shape(self, i: int) -> Shape | None:
        """Return the shape of input ``i`` with symbols; None if unknown or absent."""
        return self.types.shapes[self.node.inputs[i]] if self.has(i) else None

    def positive_attr(self, name: str, default: int | None = None) -> int:
        """Return an integer attribute of at least 1. Raises: UnknownSize if it is absent or smaller."""
        value = self.attr(name, default)
        if not isinstance(value, int):
            raise UnknownSize(f"attribute {name} is {'missing' if value is None else 'not an integer'}")
        if value < 1:
            raise UnknownSize(f"attribute {name} is {value}")
        return value

    def scalar(self, i: int) -> int | None:
        """Return the first element of input ``i`` as an integer; None if it is absent, unknown or empty."""
        value = self.value(i)
        if value is None or not getattr(value, "size", 0):
            return None
        try:
            return int(value.reshape(-1)[0])
        except (TypeError, ValueError, OverflowError):
            return None  # a symbol or an infinity

    def _tensor(self, ids: Sequence[int], i: int, role: str) -> int:
        if i >= len(ids) or ids[i] < 0:
            raise UnknownSize(f"{role} {i} is missing")
        return ids[i]

    def _numbers(self, tensor: int, role: str) -> tuple[int, ...]:
        shape = self.types.shapes[tensor]
        if shape is None:
            raise UnknownSize(f"shape of {role} is unknown")
        for d in shape:
            if not isinstance(d, int):
                raise UnknownSize(
                    f"{role} has the dimension {d}" if d else f"{role} has an unknown dimension"
                )
            if d < 0:
                raise UnknownSize(f"{role} has the negative dimension {d}")
        return shape  # type: ignore[return-value]
