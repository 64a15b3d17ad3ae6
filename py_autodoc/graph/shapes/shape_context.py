"""Interface of shape rules, and their registry."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import Diagnostic, Dim, Model, Node, Shape
from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.graph.operators.node_reader import NodeReader
from py_autodoc.graph.protobuf.tensor_protos import MAX_RANK
from py_autodoc.graph.symbolic_dims import dim_arithmetic
from py_autodoc.graph.symbolic_dims.poly import Poly
from py_autodoc.graph.symbolic_dims.poly_bounds import lower

MAX_VALUE = 1024
"""Maximum elements of a tensor whose value is propagated."""
MAX_FOLLOWED = 1 << 22
"""Maximum elements of all propagated values together; beyond it only the smallest are propagated."""
HUGE_BYTES = 1 << 36
"""Outputs of more than 64 GiB get a diagnostic."""

MAX_DTYPE = 1 << 16
FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE = 1, 2, 3, 6, 7, 8, 9, 10, 11


class InvalidNode(Exception):
    """A node violates the operator's definition; its outputs stay unknown."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class InferenceState:
    """Results so far, indexed by tensor id."""

    def __init__(self, model: Model) -> None:
        n = len(model.tensors)
        self.model = model
        self.dtypes: list[int] = [0] * n
        self.shapes: list[Shape | None] = [None] * n
        self.values: dict[int, Any] = {}
        """numpy arrays of at most ``MAX_VALUE`` elements; object arrays hold ints, expressions
        and None for an unknown element."""
        self.elements: dict[int, Element] = {}
        self.diagnostics: list[Diagnostic] = []
        self.reported: set[tuple[int, str]] = set()
        self.minted: dict[str, int] = {}
        """Generated symbol → depth of the graph that defined it."""
        self.steps: dict[str, int | None] = {}
        """Symbols that number the iterations of a loop → iteration count, None if unknown."""
        self.reserved: set[str] = set()
        self.depth = 0
        self.branches = 0
        """Current nesting depth of If branches."""
        self.visits = 0
        self.budget = MAX_FOLLOWED
        self.run_graph: Callable[[int], None] = _no_runner

    def report(self, code: str, severity: str, message: str, node: Node) -> None:
        """Add a diagnostic once per node and code."""
        if severity == "warning" and self.branches:
            severity = "info"  # an error may be intended in a branch that is never taken
        if (node.id, code) not in self.reported:
            self.reported.add((node.id, code))
            label = node.name or f"{node.op_type} #{node.id}"
            self.diagnostics.append(Diagnostic(code, severity, f"{label}: {message}", label, node=node.id))

    def fresh(self, stem: str) -> str:
        """Return a symbol for a data-dependent size; the same stem returns the same symbol."""
        name = stem if stem not in self.reserved else f"{stem}_"
        self.minted.setdefault(name, self.depth)
        return name

    def charge(self, value: Any) -> bool:
        """Account for a propagated value; scalars and shapes are always kept."""
        self.budget -= value.size * (16 if value.dtype == object else 1)
        return self.budget > 0 or value.size <= 16

    def is_inner(self, dim: str) -> bool:
        """True if an expression contains a symbol defined in a subgraph deeper than the current graph."""
        minted, depth = self.minted, self.depth
        return any(minted.get(s, 0) > depth for s in dim_arithmetic.symbols_of(dim))

    def is_exhausted(self) -> bool:
        """True if nested loops were visited so often that precision is given up."""
        return self.visits > 4 * len(self.model.nodes) + 10_000


class Element:
    """Element type of a sequence or optional."""

    __slots__ = ("container", "dtype", "items", "shape")

    def __init__(
        self,
        container: str,
        dtype: int,
        shape: Shape | None,
        items: tuple[tuple[int, Shape | None], ...] | None = None,
    ) -> None:
        self.container = container
        self.dtype = dtype
        self.shape = shape
        self.items = items
        """Type of each item if the length is known."""


def _no_runner(graph: int) -> None:
    raise RuntimeError("the engine is not running")


class ShapeContext(NodeReader):
    """A node during inference. Values may contain symbols."""

    __slots__ = ("attrs", "opset", "state")

    def __init__(self, state: InferenceState, node: Node) -> None:
        super().__init__(node)
        self.state = state
        self.attrs = node.attributes
        self.opset = node.opset or 999

    def dtype_of(self, tensor: int) -> int:
        """Return the type inferred so far."""
        return self.state.dtypes[tensor]

    def value_of(self, tensor: int) -> Any:
        """Return the value as an array, possibly with symbols; None if not propagated."""
        return self.state.values.get(tensor)

    def malformed(self, message: str) -> InvalidNode:
        """Return the exception for a violation of the operator's definition."""
        return InvalidNode("bad-attribute", message)

    def shape(self, i: int) -> Shape | None:
        """Return the shape of input ``i``; None if absent or of unknown rank."""
        return self.state.shapes[self.inputs[i]] if self.has(i) else None

    def rank(self, i: int) -> int | None:
        """Return the rank of input ``i``."""
        shape = self.shape(i)
        return None if shape is None else len(shape)

    def ints_in(self, i: int) -> tuple[int, ...] | None:
        """Return the value of input ``i`` as plain integers, or None."""
        value = self.value(i)
        if value is None:
            return None
        flat = value.reshape(-1).tolist()
        return tuple(flat) if all(isinstance(v, int) for v in flat) else None

    def dims_in(self, i: int) -> tuple[Dim, ...] | None:
        """Return the value of input ``i`` as dimensions, all unknown if only its length is known."""
        value = self.value(i)
        if value is not None:
            flat = value.reshape(-1).tolist()
            return tuple(v if isinstance(v, (int, str)) else None for v in flat)
        shape = self.shape(i)
        if shape is not None and len(shape) == 1 and isinstance(shape[0], int) and shape[0] <= 64:
            return (None,) * shape[0]
        return None

    def axis(self, rank: int, name: str = "axis", default: int = 0, extra: int = 0) -> int:
        """Return a checked, non-negative axis. Raises: InvalidNode if out of range."""
        return norm_axis(self.int_attr(name, default), rank + extra)

    def set(self, i: int, shape: Shape | None, dtype: int = 0) -> None:
        """Set the type of output ``i``; unknown parts do not overwrite known ones."""
        if self.has_out(i):
            t = self.outputs[i]
            if dtype:
                if not 0 < dtype < MAX_DTYPE:
                    raise InvalidNode("bad-attribute", f"{dtype} is not an element type")
                self.state.dtypes[t] = dtype
            if shape is not None:
                self.state.shapes[t] = shape

    def set_value(self, i: int, value: Any) -> None:
        """Set the value of output ``i``; ignored if None or too large."""
        if value is None or not self.has_out(i):
            return
        if not isinstance(value, np.ndarray):
            # Indexing one element of an object array returns the bare element.
            value = dims_array([value]).reshape(()) if isinstance(value, str) else np.asarray(value)
        if value.size <= MAX_VALUE and value.ndim <= MAX_RANK and self.state.charge(value):
            self.state.values[self.outputs[i]] = to_numeric(value)

    def same(self, i: int = 0, src: int = 0) -> None:
        """Set the type of output ``i`` to that of input ``src``."""
        self.set(i, self.shape(src), self.dtype(src))

    def fresh(self, axis: int = 0, out: int = 0) -> str:
        """Return a symbol for a data-dependent size of this node."""
        suffix = f"_{axis}" if out == 0 else f"_{out}_{axis}"
        return self.state.fresh(f"{self.node.op_type.lower()}_{self.node.id}{suffix}")


Rule = Callable[[ShapeContext], None]
RULES: dict[tuple[str, str], Rule] = {}
FOLDS: set[tuple[str, str]] = set()
"""Operators whose rule also computes values of small constants and sizes."""
MS = "com.microsoft"


def rule(*ops: str, domain: str = "", folds: bool | Collection[str] = False) -> Callable[[Rule], Rule]:
    """Register a shape rule for operators of a domain. Duplicates raise.

    ``folds``: True, or the operators whose output values are computed from known input values.
    """

    def add(fn: Rule) -> Rule:
        for name in ops:
            if (domain, name) in RULES:
                raise ValueError(f"two shape rules for {domain}::{name}")
            RULES[domain, name] = fn
            if folds is True or (folds and name in folds):
                FOLDS.add((domain, name))
        return fn

    return add


@answers("shape")
def _rules() -> Mapping[Key, Link]:
    return {key: link_to(rule) for key, rule in RULES.items()}


@answers("folding")
def _folds() -> Mapping[Key, Link]:
    return {key: link_to(RULES[key]) for key in FOLDS}


def norm_axis(axis: int, rank: int) -> int:
    """Return a non-negative axis. Raises: InvalidNode if out of range."""
    if not -rank <= axis < max(rank, 1):
        raise InvalidNode("bad-attribute", f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def to_numeric(value: Any) -> Any:
    """Convert an object array of plain integers to int64."""
    if value.dtype == object and all(type(v) is int for v in value.reshape(-1).tolist()):
        try:
            return value.astype(np.int64)
        except OverflowError:
            return value
    return value


def dims_array(dims: tuple[Dim, ...] | list[Dim]) -> Any:
    """Return a one-dimensional array of dimensions."""
    if all(type(d) is int and -(1 << 63) <= d < 1 << 63 for d in dims):
        return np.array(dims, dtype=np.int64)
    out = np.empty(len(dims), dtype=object)
    out[:] = dims
    return out


def numeric(value: Any) -> bool:
    """True for an array without symbols."""
    return value is not None and value.dtype != object


class Assumptions:
    """Assumptions about symbolic dimensions: polynomials that must be 0, or at least 1.

    They only concern ``symbols``, the symbols of the inputs.
    """

    def __init__(self, symbols: Iterable[str]) -> None:
        self.symbols = frozenset(symbols)
        self.zero: dict[Poly, None] = {}
        self.positive: dict[Poly, None] = {}
        self.either: dict[tuple[Poly, Poly], None] = {}
        """Pairs of which one is 0: the factors of products that a broadcast added to ``zero``."""
        self.certain: dict[Poly, None] = {}
        """Expressions in ``zero`` that are required on every path, not only in a branch."""

    def is_zero(self, p: Poly) -> bool:
        """Assume that a polynomial is 0; return False if that cannot be checked."""
        if p.names() <= self.symbols:
            if p.terms:
                self.zero[p] = self.certain[p] = None
            return True
        return False

    def join(self, branches: Sequence[Assumptions]) -> None:
        """Add the assumptions of alternative branches; only those of all branches are certain."""
        for branch in branches:
            self.zero.update(branch.zero)
            self.positive.update(branch.positive)
            self.either.update(branch.either)
        first = branches[0].certain if branches else {}
        self.certain.update((p, None) for p in first if all(p in branch.certain for branch in branches))

    def require_ascending(self, *sizes: int | str) -> bool:
        """Assume that sizes do not decrease; return False if that cannot be checked."""
        for a, b in pairwise(sizes):
            gap = dim_arithmetic.poly(b) - dim_arithmetic.poly(a)
            if not gap.names() <= self.symbols:
                return False
            low = lower(gap)
            if low is None or low < 0:
                self.positive[gap + Poly.const(1)] = None
        return True

    def broadcast(self, a: int | str, b: int | str) -> Dim:
        """Return the broadcast of two sizes: the number, or the shorter text. The other is equal or 1."""
        if isinstance(b, int) or (isinstance(a, str) and (len(b), b) < (len(a), a)):
            a, b = b, a
        x, y = dim_arithmetic.poly(a), dim_arithmetic.poly(b)
        difference, minus_one = x - y, y - Poly.const(1)
        checked = self.is_zero(difference * minus_one)
        if checked:
            self.either[difference, minus_one] = None
        return a if checked or isinstance(a, int) else None


_ASSUMED: ContextVar[Assumptions | None] = ContextVar("assumed", default=None)


@contextmanager
def assuming(assumed: Assumptions | None) -> Iterator[None]:
    """Allow assumptions about undecided sizes inside the block, recorded in ``assumed`` (None: forbidden)."""
    token = _ASSUMED.set(assumed)
    try:
        yield
    finally:
        _ASSUMED.reset(token)


def assumptions() -> Assumptions | None:
    """Return the current assumptions; None if none are allowed."""
    return _ASSUMED.get()


def agree(a: Dim, b: Dim) -> bool:
    """Assume, if allowed, that two sizes are equal in any model that runs.

    Returns False if assumptions are allowed and this one cannot be checked.
    """
    assumed = _ASSUMED.get()
    if assumed is None or a is None or b is None or a == b:
        return True
    return assumed.is_zero(dim_arithmetic.poly(a) - dim_arithmetic.poly(b))


def broadcast_dim(a: Dim, b: Dim) -> Dim:
    """Return one dimension of a broadcast. Raises: InvalidNode if the sizes differ."""
    if a == b:
        return a
    if a == 1:
        return b
    if b == 1:
        return a
    if isinstance(a, int) and isinstance(b, int):
        raise InvalidNode("shape-mismatch", f"sizes {a} and {b} cannot be broadcast")
    assumed = _ASSUMED.get()
    if assumed is not None and a is not None and b is not None:
        return assumed.broadcast(a, b)
    return a if isinstance(a, int) else b if isinstance(b, int) else None


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the multidirectional broadcast of two shapes. Raises: InvalidNode if they differ."""
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    return a[:lead] + tuple(broadcast_dim(x, y) for x, y in zip(a[lead:], b, strict=True))


def numel(shape: Shape | None) -> Dim:
    """Return the number of elements."""
    return None if shape is None else dim_arithmetic.product(shape)


def small_sizes(shape: Shape | None) -> tuple[int, ...] | None:
    """Return the shape as integers if a tensor of it is small enough to create, else None."""
    if (
        shape is None
        or len(shape) > MAX_RANK
        or not all(isinstance(d, int) and 0 <= d <= MAX_VALUE for d in shape)
    ):
        return None
    sizes = tuple(d for d in shape if isinstance(d, int))
    return sizes if math.prod(sizes) <= MAX_VALUE else None
