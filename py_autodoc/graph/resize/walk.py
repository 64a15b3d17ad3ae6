"""One pass over the model at its original and its requested sizes, under the current choices.

Shapes at the requested sizes come from the rules of ``graph.shapes``. The rules here first determine the
edits of a node: numbers that represent old sizes, and stored tables to cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np

from py_autodoc.graph.ir.model import Model, Node, Shape, TensorKind, TypeTable
from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.graph.resize.axes import (
    Axis,
    axes_of_sizes,
    changes_size,
    fixed_axis,
    is_prefix,
    new_size,
    old_size,
)
from py_autodoc.graph.shapes.engine import Engine, seed
from py_autodoc.graph.shapes.shape_context import InferenceState

Rule = Callable[["SizePass", Node], None]
RULES: dict[tuple[str, str], Rule] = {}
"""(domain, operator) → resize rule."""
T = TypeVar("T")
_MAX_VALUES = 4
"""Tables shorter than this may have any pattern by chance."""


SCALES: set[tuple[str, str]] = set()
"""Operators that scale a sum or pass it on."""
SIZE_WRITERS = frozenset({"Expand", "Resize", "Upsample"})
"""Operators whose stored numbers may represent sizes that their data does not have yet."""


def rule(*operators: str, domain: str = "", scales: bool = False) -> Callable[[Rule], Rule]:
    """Register a rule for operators; ``scales``: the rule also handles small sums."""

    def add(fn: Rule) -> Rule:
        RULES.update({(domain, name): fn for name in operators})
        if scales:
            SCALES.update((domain, name) for name in operators)
        return fn

    return add


@answers("resize")
def _answer() -> Mapping[Key, Link]:
    return {key: link_to(rule) for key, rule in RULES.items()}


@dataclass(frozen=True, slots=True)
class SizeEdit:
    """An edit of a node of the main graph: ``const``, ``cut`` or ``ints``, implemented by ``rewrite``."""

    kind: str
    node: int
    data: tuple[Any, ...]


class SizeBlocked(Exception):
    """A node does not support the requested sizes, or has no rule. The text is a clause about the node."""

    def __init__(self, why: str, tensor: str = "", hint: str = "") -> None:
        super().__init__(why)
        self.why, self.tensor, self.hint = why, tensor, hint
        self.node = -1


class SizePass(Engine):
    """A pass. Rules query it for facts and record edits in it.

    ``run`` raises SizeBlocked, which names the node.
    """

    def __init__(self, model: Model, old: TypeTable, picks: Mapping[str, int]) -> None:
        super().__init__(InferenceState(model), use_declared=False)
        self.model, self.old, self.picks = model, old, picks
        self.axes: dict[int, tuple[Axis, ...]] = {}
        """Tensors whose shape changes."""
        self.data_dependent: set[int] = set()
        """Tensors computed from data; the others are stored, or computed from stored values and sizes."""
        self.changing_values: set[int] = set()
        """Tensors whose values depend on changing sizes."""
        self.sums: dict[int, frozenset[int]] = {}
        """Sums over changing axes, and positions on them → the sizes of these axes in the file."""
        self.spans: set[int] = set()
        """Sizes in the file that change."""
        self.roots: set[int] = set()
        """Sizes of the inputs that change."""
        self.lengths: dict[int, list[Axis]] = {}
        """Size in the file → changing axes of that many positions, counted from the start."""
        self.edits: list[SizeEdit] = []
        self.choices: dict[str, tuple[int, int]] = {}
        """Choice → (number of candidates, node), in order of occurrence."""
        self.notes: list[tuple[str, str]] = []
        self.bodies = {t: graph.id for graph in model.graphs[1:] for t in graph.inputs}

    def start(self, inputs: Mapping[int, tuple[Axis, ...]]) -> None:
        """Start with the axes of the inputs that change."""
        shapes: dict[int, Shape | None] = {t: self.old.shapes[t] for t in self.model.graphs[0].inputs}
        for t, axes in inputs.items():
            shapes[t] = tuple(map(new_size, axes))
            self._put(t, axes)
        self.roots = set(self.spans)
        seed(self.state, shapes)
        for t in self.model.graphs[0].inputs:
            if self.tensors[t].kind == TensorKind.INPUT:
                self.data_dependent.add(t)

    def run(self) -> None:
        """Follow the sizes through the main graph. Raises: SizeBlocked."""
        for i in self.graphs[0].nodes:
            self._node(self.nodes[i])

    # What is known

    def name(self, t: int) -> str:
        """Return the name of a tensor."""
        return self.tensors[t].name

    def label(self, node: Node) -> str:
        """Return the name of a node for messages."""
        name = node.name or next((self.name(t) for t in node.outputs if t >= 0), "")
        return f"{node.op_type} {name}".strip()[:160]

    def has(self, node: Node, i: int) -> bool:
        """True if the optional input is present."""
        return i < len(node.inputs) and node.inputs[i] >= 0

    def old_shape(self, t: int) -> tuple[int, ...]:
        """Return the shape in the file. Raises: SizeBlocked."""
        return self._resolved(self.old.shapes[t], t)

    def new_shape(self, t: int) -> tuple[int, ...]:
        """Return the shape at the requested sizes. Raises: SizeBlocked."""
        return self._resolved(self.state.shapes[t], t)

    def _resolved(self, shape: Shape | None, t: int) -> tuple[int, ...]:
        if shape is None or not all(type(d) is int for d in shape):
            raise SizeBlocked(f"the shape of {self.name(t)} is unknown", self.name(t))
        return tuple(d for d in shape if isinstance(d, int))

    def axes_of(self, t: int) -> tuple[Axis, ...]:
        """Return the axes of a tensor."""
        return self.axes.get(t) or tuple(map(fixed_axis, self.old_shape(t)))

    def is_changed(self, t: int) -> bool:
        """True if the shape of a tensor changes."""
        return t in self.axes

    def is_stored(self, t: int) -> bool:
        """True if a tensor does not depend on data: a stored table, or computed from one."""
        return t not in self.data_dependent

    def numbers(self, t: int) -> list[int] | None:
        """Return the integers at the requested sizes; None if unknown."""
        return _ints(self.state.values.get(t))

    def old_numbers(self, t: int) -> list[int] | None:
        """Return the integers in the file; None if unknown."""
        return _ints(self.old.values.get(t))

    def scalar(self, t: int) -> float | None:
        """Return the number in a stored tensor of one element; None otherwise."""
        value = self.old.values.get(t)
        if value is None or np.size(value) != 1 or t in self.data_dependent or t in self.changing_values:
            return None
        return float(np.ravel(value)[0])

    # Decisions and requirements

    def choose(self, node: Node, options: Sequence[T], subject: str = "") -> T:
        """Return one of several readings of a node, which later nodes may revise."""
        if len(options) == 1:
            return options[0]
        key = f"{node.id}{subject}"
        self.choices.setdefault(key, (len(options), node.id))
        return options[min(self.picks.get(key, 0), len(options) - 1)]

    def note(self, node: Node, text: str) -> None:
        """Add a note about a node to the result."""
        self.notes.append((self.label(node), text))

    @contextmanager
    def _override_input(
        self, t: int, value: Any = None, shape: tuple[int, ...] | None = None
    ) -> Iterator[None]:
        """Replace the value or shape of an input for one node."""
        state = self.state
        old_shape, old_value = state.shapes[t], state.values.get(t)
        if value is not None:
            state.values[t], state.shapes[t] = value, tuple(value.shape)
        elif shape is not None:
            state.values.pop(t, None)
            state.shapes[t] = shape
        try:
            yield
        finally:
            state.shapes[t] = old_shape
            state.values.pop(t, None)
            if old_value is not None:
                state.values[t] = old_value

    def infer(
        self,
        node: Node,
        consts: Mapping[int, Any] | None = None,
        cuts: Mapping[int, Mapping[int, int]] | None = None,
        ints: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """Infer the shapes of a node's outputs after edits.

        ``consts``: input → replacement values; ``cuts``: input → axis → remaining entries;
        ``ints``: attribute → numbers. Raises: SizeBlocked.
        """
        with ExitStack() as stack:
            for i, values in (consts or {}).items():
                t, array = node.inputs[i], np.asarray(values, np.int64)
                numbers = tuple(array.ravel().tolist())
                self.edits.append(SizeEdit("const", node.id, (i, numbers, array.shape, self.state.dtypes[t])))
                stack.enter_context(self._override_input(t, array))
            for i, sizes in (cuts or {}).items():
                t = node.inputs[i]
                shape, value = list(self.new_shape(t)), self.state.values.get(t)
                for axis, size in sizes.items():
                    self.edits.append(SizeEdit("cut", node.id, (i, axis, size)))
                    shape[axis] = size
                    value = None if value is None else np.take(value, range(size), axis=axis)
                stack.enter_context(self._override_input(t, value, tuple(shape)))
            for name, values in (ints or {}).items():
                self.edits.append(SizeEdit("ints", node.id, (name, tuple(values))))
                attributes = {**node.attributes, name: list(values)}
                node = msgspec.structs.replace(node, attributes=attributes)
            self._inferred(node)

    def _inferred(self, node: Node) -> None:
        previous = len(self.state.diagnostics)
        super()._node(node)
        for diagnostic in self.state.diagnostics[previous:]:
            if diagnostic.severity != "info":
                text = diagnostic.message.partition(": ")[2] or diagnostic.message
                raise SizeBlocked(text.rstrip("."))
        for t in node.outputs:
            is_tensor = t >= 0 and self.tensors[t].container == "tensor" and t not in self.state.elements
            if is_tensor and len(self.new_shape(t)) != len(self.old_shape(t)):
                raise SizeBlocked(f"the rank of {self.name(t)} would change", self.name(t))

    def put(self, node: Node, k: int, axes: Sequence[Axis] | None = None, front: bool = False) -> None:
        """Set the axes of output ``k``; None: only their sizes are known. Raises: SizeBlocked."""
        if k >= len(node.outputs) or node.outputs[k] < 0:
            return
        t = node.outputs[k]
        old, new = self.old_shape(t), self.new_shape(t)
        if axes is None:
            axes = axes_of_sizes(old, new, front)
        if tuple(map(old_size, axes)) != old or tuple(map(new_size, axes)) != new:
            raise SizeBlocked(f"{self.name(t)} does not have the shape that its rule expects", self.name(t))
        if min(new, default=1) < 1 <= min(old, default=1):
            raise SizeBlocked(f"{self.name(t)} {list(new)} would be empty", self.name(t))
        self._put(t, tuple(axes))

    def _put(self, t: int, axes: tuple[Axis, ...]) -> None:
        self.axes.pop(t, None)
        if any(map(changes_size, axes)):
            self.axes[t] = axes
            for axis in filter(changes_size, axes):
                self.spans.add(old_size(axis))
                lengths = self.lengths.setdefault(old_size(axis), [])
                if is_prefix(axis) and axis not in lengths:
                    lengths.append(axis)

    def unchanged(self, node: Node) -> None:
        """Infer the outputs; only the sizes of their axes are known."""
        self.infer(node)
        self.require_rest_steady(node, 0)

    def require_rest_steady(self, node: Node, first: int = 1) -> None:
        """Set the outputs from ``first`` on by their sizes."""
        for k in range(first, len(node.outputs)):
            self.put(node, k)

    def fit(self, node: Node, i: int, axis: int, target: Axis) -> int:
        """Return the remaining entries on an axis of a stored input that lies along ``target``.

        Raises: SizeBlocked.
        """
        t = node.inputs[i]
        size, has = new_size(target), self.new_shape(t)[axis]
        name = self.name(t)
        table = f"{name} {list(self.old_shape(t))}"
        if not self.is_stored(t):
            raise SizeBlocked(f"{name} has {has} entries on axis {axis}, but {size} are needed", name)
        if not is_prefix(target):
            raise SizeBlocked(
                f"the stored table {table} has {old_size(target)} positions that are not a sequence counted "
                "from its start, so no part of it can be reused",
                name,
                "Export the model at this size.",
            )
        if size != has and _spanning(self.old.values.get(t), axis):
            raise SizeBlocked(
                f"the stored table {table} seems to span the whole length, like a window or a ramp",
                name,
                "Export the model at this size.",
            )
        if size > has:
            raise SizeBlocked(
                f"the stored table {table} has only {has} entries, but {size} are needed",
                name,
                "Choose a smaller size, or export the model at this one.",
            )
        return size

    # The pass

    def _node(self, node: Node) -> None:
        try:
            self._visit(node)
        except SizeBlocked as error:
            if error.node < 0:
                error.node = node.id
            raise
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            blocked = SizeBlocked(
                f"it does not have the form that its rule expects ({type(error).__name__}: {error})"
            )
            blocked.node = node.id
            raise blocked from error

    def _visit(self, node: Node) -> None:
        inputs = [t for t in node.inputs if t >= 0]
        reads = [*inputs, *self._captured(node)]
        live = any(t in self.data_dependent for t in reads)
        touched = any(t in self.axes or t in self.changing_values for t in reads)
        kind = node.domain, node.op_type
        summed = kind in SCALES and any(t in self.sums for t in inputs)
        writes_size = live and not node.domain and node.op_type in SIZE_WRITERS and node.graph == 0
        if not (touched or summed or writes_size):
            super()._node(node)
        elif node.op_type in ("Shape", "Size") and not node.domain:
            self.infer(node)
            live = False
        else:
            fn = RULES.get(kind)
            if fn is None or node.subgraphs or node.graph:
                operator = "::".join(filter(None, kind))
                raise SizeBlocked(f"{operator} cannot be resized: it has no rule", self.name(inputs[0]))
            fn(self, node)
        for t in node.outputs:
            if t < 0:
                continue
            if live:
                self.data_dependent.add(t)
            elif touched:
                self.changing_values.add(t)

    def _captured(self, node: Node) -> Iterator[int]:
        """Yield tensors of outer graphs that subgraphs read."""
        for _, body in node.subgraphs:
            yield from self.graphs[body].outputs
            for i in self.graphs[body].nodes:
                inner = self.nodes[i]
                yield from (t for t in inner.inputs if t >= 0)
                yield from self._captured(inner)


def _spanning(value: Any, axis: int) -> bool:
    """True for known floats that span the axis: symmetric, antisymmetric, or a ramp up to 1."""
    if value is None or np.asarray(value).dtype.kind != "f" or np.shape(value)[axis] < _MAX_VALUES:
        return False
    rows = np.moveaxis(np.asarray(value, np.float64), axis, -1)
    if not np.isfinite(rows).all() or np.allclose(rows, rows[..., :1]):
        return False
    steps = np.diff(rows)
    ramp = np.allclose(steps, steps[..., :1]) and np.allclose(np.abs(rows).max(axis=-1), 1)
    back = rows[..., ::-1]
    return bool(ramp or np.allclose(rows, back, atol=1e-6) or np.allclose(rows, -back, atol=1e-6))


def _ints(value: Any) -> list[int] | None:
    if value is None:
        return None
    flat = np.ravel(value).tolist()
    if not all(isinstance(v, (int, bool)) or (isinstance(v, float) and math.isfinite(v)) for v in flat):
        return None
    return [int(v) for v in flat]
