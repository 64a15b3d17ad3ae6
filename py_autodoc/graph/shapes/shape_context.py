"""What a shape rule sees, and where rules are registered."""

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
"""Most elements of a tensor whose value is followed."""
MAX_FOLLOWED = 1 << 22
"""Most elements of all followed values together; beyond it only the smallest are followed."""
HUGE_BYTES = 1 << 36
"""An output above 64 GiB gets a diagnostic."""

MAX_DTYPE = 1 << 16
FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE = 1, 2, 3, 6, 7, 8, 9, 10, 11


class InvalidNode(Exception):
    """A node contradicts the operator's definition; its outputs stay unknown."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class InferenceState:
    """Everything known so far, indexed by tensor id."""

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
        """Generated symbol → depth of the graph it was made in."""
        self.steps: dict[str, int | None] = {}
        """Symbols that number the iterations of a loop → their count, None where it is not known."""
        self.reserved: set[str] = set()
        self.depth = 0
        self.branches = 0
        """How many If branches we are in."""
        self.visits = 0
        self.budget = MAX_FOLLOWED
        self.run_graph: Callable[[int], None] = _no_runner

    def report(self, code: str, severity: str, message: str, node: Node) -> None:
        """Add a diagnostic once per node and code."""
        if severity == "warning" and self.branches:
            severity = "info"  # a branch that is never taken may well be impossible
        if (node.id, code) not in self.reported:
            self.reported.add((node.id, code))
            label = node.name or f"{node.op_type} #{node.id}"
            self.diagnostics.append(Diagnostic(code, severity, f"{label}: {message}", label, node=node.id))

    def fresh(self, stem: str) -> str:
        """A symbol for a size that depends on data; the same stem gives the same symbol."""
        name = stem if stem not in self.reserved else f"{stem}_"
        self.minted.setdefault(name, self.depth)
        return name

    def charge(self, value: Any) -> bool:
        """Account for a followed value; scalars and shapes are always kept."""
        self.budget -= value.size * (16 if value.dtype == object else 1)
        return self.budget > 0 or value.size <= 16

    def is_inner(self, dim: str) -> bool:
        """True when an expression holds a symbol made in a body deeper than the present graph."""
        minted, depth = self.minted, self.depth
        return any(minted.get(s, 0) > depth for s in dim_arithmetic.symbols_of(dim))

    def is_exhausted(self) -> bool:
        """True when loops inside loops were visited so often that precision is given up."""
        return self.visits > 4 * len(self.model.nodes) + 10_000


class Element:
    """What a sequence or optional holds."""

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
        """Type of each item when the length is known."""


def _no_runner(graph: int) -> None:
    raise RuntimeError("the engine is not running")


class ShapeContext(NodeReader):
    """One node under inference. Values may hold symbols."""

    __slots__ = ("attrs", "opset", "state")

    def __init__(self, state: InferenceState, node: Node) -> None:
        super().__init__(node)
        self.state = state
        self.attrs = node.attributes
        self.opset = node.opset or 999

    def dtype_of(self, tensor: int) -> int:
        """As inferred so far."""
        return self.state.dtypes[tensor]

    def value_of(self, tensor: int) -> Any:
        """Its array, symbols possible; None when it is not followed."""
        return self.state.values.get(tensor)

    def malformed(self, message: str) -> InvalidNode:
        """A contradiction to the operator's definition."""
        return InvalidNode("bad-attribute", message)

    def shape(self, i: int) -> Shape | None:
        """Shape of input ``i``; None when absent or its rank is unknown."""
        return self.state.shapes[self.inputs[i]] if self.has(i) else None

    def rank(self, i: int) -> int | None:
        """Rank of input ``i``."""
        shape = self.shape(i)
        return None if shape is None else len(shape)

    def ints_in(self, i: int) -> tuple[int, ...] | None:
        """Value of input ``i`` as plain integers, or None."""
        value = self.value(i)
        if value is None:
            return None
        flat = value.reshape(-1).tolist()
        return tuple(flat) if all(isinstance(v, int) for v in flat) else None

    def dims_in(self, i: int) -> tuple[Dim, ...] | None:
        """Value of input ``i`` as dimensions; when only its length is known, that many unknowns."""
        value = self.value(i)
        if value is not None:
            flat = value.reshape(-1).tolist()
            return tuple(v if isinstance(v, (int, str)) else None for v in flat)
        shape = self.shape(i)
        if shape is not None and len(shape) == 1 and isinstance(shape[0], int) and shape[0] <= 64:
            return (None,) * shape[0]
        return None

    def axis(self, rank: int, name: str = "axis", default: int = 0, extra: int = 0) -> int:
        """A checked, non-negative axis. Raises: InvalidNode when it is out of range."""
        return norm_axis(self.int_attr(name, default), rank + extra)

    def set(self, i: int, shape: Shape | None, dtype: int = 0) -> None:
        """Type of output ``i``; unknown parts do not overwrite known ones of this visit."""
        if self.has_out(i):
            t = self.outputs[i]
            if dtype:
                if not 0 < dtype < MAX_DTYPE:
                    raise InvalidNode("bad-attribute", f"{dtype} is not an element type")
                self.state.dtypes[t] = dtype
            if shape is not None:
                self.state.shapes[t] = shape

    def set_value(self, i: int, value: Any) -> None:
        """Value of output ``i``; ignored when it is None or too large."""
        if value is None or not self.has_out(i):
            return
        if not isinstance(value, np.ndarray):
            # Picking one element of an object array gives the bare element.
            value = dims_array([value]).reshape(()) if isinstance(value, str) else np.asarray(value)
        if value.size <= MAX_VALUE and value.ndim <= MAX_RANK and self.state.charge(value):
            self.state.values[self.outputs[i]] = tidy(value)

    def same(self, i: int = 0, src: int = 0) -> None:
        """Output ``i`` has the type of input ``src``."""
        self.set(i, self.shape(src), self.dtype(src))

    def fresh(self, axis: int = 0, out: int = 0) -> str:
        """A symbol for a data-dependent size of this node."""
        suffix = f"_{axis}" if out == 0 else f"_{out}_{axis}"
        return self.state.fresh(f"{self.node.op_type.lower()}_{self.node.id}{suffix}")


Rule = Callable[[ShapeContext], None]
RULES: dict[tuple[str, str], Rule] = {}
FOLDS: set[tuple[str, str]] = set()
"""Operators whose rule also follows values: small constants and sizes are computed through them."""
MS = "com.microsoft"


def rule(*ops: str, domain: str = "", folds: bool | Collection[str] = False) -> Callable[[Rule], Rule]:
    """Register a shape rule for operators of a domain. Duplicates raise.

    ``folds``: True, or those of the operators, whose outputs get values where the inputs' are known.
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
    """A non-negative axis. Raises: InvalidNode when it is out of range."""
    if not -rank <= axis < max(rank, 1):
        raise InvalidNode("bad-attribute", f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def tidy(value: Any) -> Any:
    """An object array of plain integers becomes int64."""
    if value.dtype == object and all(type(v) is int for v in value.reshape(-1).tolist()):
        try:
            return value.astype(np.int64)
        except OverflowError:
            return value
    return value


def dims_array(dims: tuple[Dim, ...] | list[Dim]) -> Any:
    """One-dimensional array of dimensions."""
    if all(type(d) is int and -(1 << 63) <= d < 1 << 63 for d in dims):
        return np.array(dims, dtype=np.int64)
    out = np.empty(len(dims), dtype=object)
    out[:] = dims
    return out


def numeric(value: Any) -> bool:
    """True for an array without symbols."""
    return value is not None and value.dtype != object


class Assumptions:
    """What was taken for granted of symbolic sizes: polynomials that must be 0, or at least 1.

    Nothing that matters is taken for granted of sizes beyond ``symbols``, the free ones of the inputs.
    """

    def __init__(self, symbols: Iterable[str]) -> None:
        self.symbols = frozenset(symbols)
        self.zero: dict[Poly, None] = {}
        self.positive: dict[Poly, None] = {}
        self.either: dict[tuple[Poly, Poly], None] = {}
        """Pairs of which one is 0: the factors of what a broadcast put into ``zero``."""
        self.certain: dict[Poly, None] = {}
        """Those of ``zero`` that are not merely needed by a branch which may not be taken."""

    def is_zero(self, p: Poly) -> bool:
        """Write down that a polynomial is 0; False when that cannot be checked."""
        if p.names() <= self.symbols:
            if p.terms:
                self.zero[p] = self.certain[p] = None
            return True
        return False

    def join(self, branches: Sequence[Assumptions]) -> None:
        """Add what branches take for granted, one of which will be taken: certain is what all need."""
        for branch in branches:
            self.zero.update(branch.zero)
            self.positive.update(branch.positive)
            self.either.update(branch.either)
        first = branches[0].certain if branches else {}
        self.certain.update((p, None) for p in first if all(p in branch.certain for branch in branches))

    def rise(self, *sizes: int | str) -> bool:
        """Write down that sizes rise (or stay); False when that cannot be checked."""
        for a, b in pairwise(sizes):
            gap = dim_arithmetic.poly(b) - dim_arithmetic.poly(a)
            if not gap.names() <= self.symbols:
                return False
            low = lower(gap)
            if low is None or low < 0:
                self.positive[gap + Poly.const(1)] = None
        return True

    def broadcast(self, a: int | str, b: int | str) -> Dim:
        """The size of two that are broadcast: the number, or the shorter text. The other one is it, or 1."""
        if isinstance(b, int) or (isinstance(a, str) and (len(b), b) < (len(a), a)):
            a, b = b, a
        x, y = dim_arithmetic.poly(a), dim_arithmetic.poly(b)
        same, one = x - y, y - Poly.const(1)
        checked = self.is_zero(same * one)
        if checked:
            self.either[same, one] = None
        return a if checked or isinstance(a, int) else None


_ASSUMED: ContextVar[Assumptions | None] = ContextVar("assumed", default=None)


@contextmanager
def assuming(assumed: Assumptions | None) -> Iterator[None]:
    """Inside, undecided sizes may be settled by an assumption, which is written down (None: they may not)."""
    token = _ASSUMED.set(assumed)
    try:
        yield
    finally:
        _ASSUMED.reset(token)


def assumptions() -> Assumptions | None:
    """Where assumptions are written down; None when none may be made."""
    return _ASSUMED.get()


def agree(a: Dim, b: Dim) -> bool:
    """Write down, where assumptions are made, that two sizes are equal in any model that runs.

    False when they are made and this one cannot be checked.
    """
    assumed = _ASSUMED.get()
    if assumed is None or a is None or b is None or a == b:
        return True
    return assumed.is_zero(dim_arithmetic.poly(a) - dim_arithmetic.poly(b))


def broadcast_dim(a: Dim, b: Dim) -> Dim:
    """One dimension of a broadcast. Raises: InvalidNode when the sizes disagree."""
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
    """Multidirectional broadcast of two shapes. Raises: InvalidNode when they disagree."""
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    return a[:lead] + tuple(broadcast_dim(x, y) for x, y in zip(a[lead:], b, strict=True))


def numel(shape: Shape | None) -> Dim:
    """Number of elements."""
    return None if shape is None else dim_arithmetic.product(shape)


def small_sizes(shape: Shape | None) -> tuple[int, ...] | None:
    """The shape as integers when a tensor of it may be made here, else None."""
    if (
        shape is None
        or len(shape) > MAX_RANK
        or not all(isinstance(d, int) and 0 <= d <= MAX_VALUE for d in shape)
    ):
        return None
    sizes = tuple(d for d in shape if isinstance(d, int))
    return sizes if math.prod(sizes) <= MAX_VALUE else None
