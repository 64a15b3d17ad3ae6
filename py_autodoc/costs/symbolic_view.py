"""Views of a model with symbolic sizes for the cost rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from py_autodoc.costs.control_flow import TripFacts, Trips
from py_autodoc.costs.engine import CostRun
from py_autodoc.costs.registry import BYTES_UNKNOWN, Cost, NodeView
from py_autodoc.costs.symbolic import Number, UndecidedComparison, UnknownSize, as_int, wrap
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Dim, Model, Node, Shape
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.symbolic_dims import dim_arithmetic

if TYPE_CHECKING:  # shape inference is slow to import
    from py_autodoc.graph.shapes import SymbolicTypes

_MEASURES = frozenset({"Shape", "Size", "Constant"})


class SymbolicDims:
    """Converts the dimensions of one model to numbers."""

    def __init__(self, model: Model, types: SymbolicTypes) -> None:
        self.model = model
        self.types = types
        self.symbols = frozenset(types.symbols)
        self._numbers: dict[str, Number | str] = {}
        """Text of a dimension → its number, or the reason it has none."""
        self._computed: list[bool] | None = None

    def number(self, dim: Dim) -> Number:
        """Return a dimension as a number over the symbols. Raises: UnknownSize, UndecidedComparison."""
        if isinstance(dim, int):
            return dim
        if dim is None:
            raise UnknownSize("a dimension is unknown")
        value = self._numbers.get(dim)
        if value is None:
            value = self._numbers[dim] = self._read(dim)
        if isinstance(value, str):
            raise UndecidedComparison(value)
        return value

    def _read(self, dim: str) -> Number | str:
        try:
            poly = dim_arithmetic.parse(dim)
        except dim_arithmetic.ExprError:
            return f"the size {dim[:60]} is not an expression"
        strange = sorted(poly.names() - self.symbols)
        return (
            wrap(poly)
            if not strange
            else f"the size {strange[0][:60]} is not an expression of the input sizes"
        )

    def dims(self) -> set[str]:
        """Return every distinct expression in a shape."""
        names: set[str] = set()
        for shape in set(self.types.types.shapes):
            names.update(d for d in shape or () if isinstance(d, str))
        return names

    def computable(self, tensor: int) -> bool:
        """True if the value of a tensor is determined by sizes alone, without data."""
        if self.model.tensors[tensor].producer < 0:
            return False  # given, or otherwise already known
        if self._computed is None:
            self._computed = self._spread()
        return self._computed[tensor]

    def _spread(self) -> list[bool]:
        """Return, for every tensor, whether it depends on no data. Subgraph inputs count as data."""
        model = self.model
        is_known = [t.is_constant for t in model.tensors]
        for number in (n for graph in model.graphs for n in graph.nodes):  # subgraphs come after their node
            node = model.nodes[number]
            free = node.op_type in _MEASURES and not node.domain
            if free or node.subgraphs or all(i < 0 or is_known[i] for i in node.inputs):
                for t in node.outputs:
                    if t >= 0:
                        is_known[t] = True
        return is_known


class SymbolicSizes(TensorSizes):
    """``numel`` and ``bytes`` of every tensor as symbolic numbers; None if unknown."""

    def __init__(self, dims: SymbolicDims) -> None:
        types, memo = dims.types.types, dict[tuple[Shape | None, int], tuple[Any, Any]]()
        counts: list[Any] = []
        sizes: list[Any] = []
        for tensor, shape, dtype in zip(dims.model.tensors, types.shapes, types.dtypes, strict=True):
            key = (shape, dtype)
            measured = memo.get(key)
            if measured is None:
                measured = memo[key] = _measured(dims, shape, dtype)
            counts.append(measured[0])
            if tensor.storage is not None and tensor.storage.bytes is not None:
                sizes.append(tensor.storage.bytes)
            else:
                sizes.append(measured[1] if tensor.container in ("tensor", "sparse") else None)
        self.numel = counts
        self.bytes = sizes


def _measured(dims: SymbolicDims, shape: Shape | None, dtype: int) -> tuple[Number | None, Number | None]:
    """Return elements and dense bytes of a type."""
    if shape is None or any(isinstance(d, int) and d < 0 for d in shape):
        return None, None
    count: Number = 1
    try:
        for d in shape:
            count = count * dims.number(d)
        bits = BITS.get(dtype)
        return count, None if bits is None else (count * bits + 7) // 8
    except UnknownSize:
        return None, None


class SymbolicView(NodeView):
    """A node with symbolic shapes."""

    __slots__ = ("symbolic_dims",)

    def __init__(self, dims: SymbolicDims, node: Node, sizes: SymbolicSizes) -> None:
        super().__init__(dims.model, dims.types.types, node, sizes)
        self.symbolic_dims = dims

    def value(self, i: int) -> Any | None:
        """Like ``NodeView.value``. Raises: UndecidedComparison for a value that depends on sizes."""
        value = super().value(i)
        if value is None:
            if self.has(i) and self.symbolic_dims.computable(self.node.inputs[i]):
                raise UndecidedComparison(f"the value of input {i} depends on the sizes")
        elif value.dtype == object:
            raise UndecidedComparison(f"the value of input {i} depends on the sizes")
        return value

    def scalar(self, i: int) -> int | None:
        """Like ``NodeView.scalar``, symbols included."""
        array = self.types.values.get(self.node.inputs[i]) if self.has(i) else None
        if array is None or array.dtype != object or not array.size:
            return super().scalar(i)
        return as_int(symbolic_element(self.symbolic_dims, array, 0))

    def _numbers(self, tensor: int, role: str) -> tuple[int, ...]:
        shape = self.types.shapes[tensor]
        if shape is None:
            raise UnknownSize(f"shape of {role} is unknown")
        if any(isinstance(d, int) and d < 0 for d in shape):
            raise UnknownSize(f"{role} has a negative dimension")
        return tuple(as_int(self.symbolic_dims.number(d)) for d in shape)


def symbolic_element(dims: SymbolicDims, array: Any, i: int) -> Any:
    """Return an element of a propagated value.

    Raises: UndecidedComparison if it is not an expression of the sizes.
    """
    element = array.reshape(-1)[i]
    if array.dtype != object:
        return element
    if element is None:
        raise UndecidedComparison("a value depends on the sizes")
    return dims.number(element)


class SymbolicRun(CostRun):
    """The cost engine over symbolic sizes."""

    def __init__(self, dims: SymbolicDims, sizes: SymbolicSizes) -> None:
        super().__init__(dims.model, dims.types.types, sizes)
        self.symbolic_dims = dims
        self.symbolic = sizes
        self._too_large = ""

    def cost_of(self, node: Node) -> tuple[Cost | None, str]:
        """Return (cost, reason) of a node."""
        self._too_large = ""
        return super().cost_of(node)

    def traffic(self, tensors: Sequence[int]) -> int:
        """Like ``CostRun.traffic``; a sum that is too large is unknown."""
        try:
            return super().traffic(tensors)
        except UndecidedComparison as error:
            self._too_large = f"bytes: {error}"
            return BYTES_UNKNOWN

    def unsized(self, node: Node, reading: bool) -> str:
        """Return the reason for traffic without an expression."""
        return self._too_large or super().unsized(node, reading)

    def view(self, node: Node) -> NodeView:
        """Return the view of a node for its rule."""
        return SymbolicView(self.symbolic_dims, node, self.symbolic)

    def real(self, cost: Cost, read: int, write: int) -> bool:
        """True, since sizes are not known yet; the numeric engine checks numbers."""
        return True


class SymbolicFacts(TripFacts):
    """Trip counts and conditions with symbols. Undecided ones are recorded as reasons, by graph."""

    def __init__(self, dims: SymbolicDims) -> None:
        super().__init__(dims.model, dims.types.types)
        self.symbolic_dims = dims
        self.undecided: dict[int, str] = {}
        """Graph → reason why its number of executions is not an expression."""

    def value(self, tensor: int) -> Any | None:
        """Like ``TripFacts.value``. Raises: UndecidedComparison."""
        value = super().value(tensor)
        if value is None and tensor >= 0 and self.symbolic_dims.computable(tensor):
            raise UndecidedComparison("a loop count or condition depends on the sizes")
        return value

    def element(self, array: Any, i: int) -> Any:
        """Return an element of a known value. Raises: UndecidedComparison."""
        return symbolic_element(self.symbolic_dims, array, i)

    def number(self, tensor: int) -> int | None:
        """Return the single integer of a known tensor, symbols included. Raises: UndecidedComparison."""
        value = self.value(tensor)
        return value if value is None or hasattr(value, "poly") else int(value)

    def size(self, dim: Dim) -> int | None:
        """Return a dimension as a number. Raises: UndecidedComparison."""
        return None if dim is None else as_int(self.symbolic_dims.number(dim))

    def trips(self, node: Node, body: int) -> Trips:
        """Like ``TripFacts.trips``; an undecided count is unknown, with the reason recorded."""
        try:
            return super().trips(node, body)
        except UndecidedComparison as error:
            self.undecided[body] = str(error)
            return Trips(None)

    def branch(self, node: Node, total: dict[int, Any]) -> int:
        """Like ``TripFacts.branch``; -1 if undecided, with the reason recorded for every branch."""
        try:
            return super().branch(node, total)
        except UndecidedComparison as error:
            for _, body in node.subgraphs:
                self.undecided[body] = f"which branch of If counts depends on the sizes ({error})"
            return -1
