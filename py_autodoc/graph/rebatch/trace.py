"""One pass over the model: the batch axis of each tensor under the current choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.graph.rebatch.layout import END_OF_AXIS, BatchBlocked, BatchEdit, Layout
from py_autodoc.graph.rebatch.prepare import PreparedStructure, StructureFacts, StructureGraph, StructureNode
from py_autodoc.graph.rebatch.sizes import PROBES, computed

Layouts = Sequence[Layout | None]
Rule = Callable[["BatchTrace", StructureNode], Layouts]
RULES: dict[tuple[str, str], Rule] = {}
"""(domain, operator) → batch rule."""
SIZE_WRITERS = frozenset({"Expand", "Tile", "ConstantOfShape"})
READ_SIZES = frozenset({"Reshape", "Slice", "Resize", "Pad", "Squeeze", "Unsqueeze"}) | SIZE_WRITERS
"""Operators that may read the batch size as a number besides data."""
RAGGED = frozenset({"Identity", "Cast"})
SHARED_RANGE = "all items share one quantization range, so results differ slightly from those of single items"
T = TypeVar("T")


def rule(*operators: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for operators."""

    def add(fn: Rule) -> Rule:
        RULES.update({(domain, name): fn for name in operators})
        return fn

    return add


@answers("rebatch")
def _answer() -> Mapping[Key, Link]:
    return {key: link_to(rule) for key, rule in RULES.items()}


class BatchTrace:
    """A pass. Rules query it for facts and record edits in it."""

    def __init__(
        self,
        structure: PreparedStructure,
        facts: StructureFacts,
        batch: int,
        picks: Mapping[str, int],
        free: bool = False,
    ) -> None:
        self.structure, self.facts, self.batch, self.picks = structure, facts, batch, picks
        self.free = free
        """True if dimensions other than the batch are symbolic."""
        self.opset = structure.opset
        self.layouts: dict[str, Layout] = {}
        self.sizes: dict[str, dict[int, Any]] = {}
        """Values computed from the batch size, at each probe."""
        self.bound: dict[str, Any] = dict(facts.bound)
        self.edits: list[BatchEdit] = []
        self.choices: dict[str, int] = {}
        """Choice → number of candidates, in order of occurrence."""
        self.notes: list[tuple[str, str]] = []
        self.followed: set[str] = set()
        """Tensors of visited nodes; those in branches that are never taken are missing."""
        self.confirmed = False
        """True if an operator with a defined batch axis 0 was seen."""

    # What is known

    def layout(self, node: StructureNode, i: int) -> Layout | None:
        """Return the layout of an input."""
        return self.layouts.get(node.inputs[i]) if node.has(i) else None

    def first_layout(self, node: StructureNode, *inputs: int) -> Layout:
        """Return the layout of the first given input (default: any) with the batch. Raises: BatchBlocked."""
        for i in inputs or range(len(node.inputs)):
            layout = self.layout(node, i)
            if layout is not None:
                return layout
        raise BatchBlocked("the batch is in an input that only configures the operator")

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape in the file. Raises: BatchBlocked."""
        shape = self.facts.shapes.get(name)
        if shape is None:
            raise BatchBlocked(f"the shape of {name} is unknown", name)
        return shape

    def const(self, name: str) -> Any:
        """Return the value of a tensor that does not depend on the batch; None if unknown."""
        return None if name in self.sizes or name in self.layouts else self.facts.values.get(name)

    def ints(self, node: StructureNode, i: int, attr: str = "") -> list[int] | None:
        """Return the integers of an input or, in old opsets, an attribute. Raises: BatchBlocked for data."""
        if node.has(i):
            value = self.const(node.inputs[i])
            if value is None:
                raise BatchBlocked(f"{node.inputs[i]} is computed", node.inputs[i])
            return [int(v) for v in np.ravel(value)]
        attribute = node.attr(attr) if attr else None
        return None if attribute is None else [int(v) for v in np.ravel(attribute)]

    def requested_sizes(self, node: StructureNode, i: int, attr: str = "") -> dict[int, list[int]] | None:
        """Return the values of an input at every probe; None if they depend on data."""
        if not node.has(i):
            attribute = node.attr(attr) if attr else None
            return None if attribute is None else {p: [int(d) for d in attribute] for p in PROBES}
        name = node.inputs[i]
        if name in self.sizes:
            return {p: [int(x) for x in np.ravel(v)] for p, v in self.sizes[name].items()}
        value = None if name in self.layouts else self.bound.get(name)
        return None if value is None else {p: [int(x) for x in np.ravel(value)] for p in PROBES}

    # Decisions and requirements

    def choose(self, key: str, options: Sequence[T]) -> tuple[T, frozenset[str]]:
        """Return one of several options, and the key of the choice if there was one."""
        if len(options) == 1:
            return options[0], frozenset()
        self.choices.setdefault(key, len(options))
        return options[min(self.picks.get(key, 0), len(options) - 1)], frozenset([key])

    def edit(self, kind: str, node: StructureNode, *data: Any) -> None:
        """Record an edit."""
        self.edits.append(BatchEdit(kind, node.index, data))

    def note(self, node: StructureNode, text: str) -> None:
        """Add a note about a node to the result."""
        self.notes.append((node.label, text))

    def require_layout(self, node: StructureNode, i: int, required: Layout) -> None:
        """Require the batch at this position of input ``i``; an input equal for all items is repeated.

        Raises: BatchBlocked if impossible.
        """
        if not node.has(i):
            return
        layout, name = self.layout(node, i), node.inputs[i]
        if layout is not None:
            if layout.key != required.key:
                why = f"{name} holds the batch on axis {layout.axis}, the others on axis {required.axis}"
                raise BatchBlocked(why, name)
            return
        shape = self.shape(name)
        if (
            not 0 <= required.axis < len(shape)
            or required.outer != 1
            or self.batch != 1
            or shape[required.axis] != required.inner
        ):
            raise BatchBlocked(
                f"{name} {list(shape)} cannot be repeated for each item on axis {required.axis}", name
            )
        if name in self.sizes:
            raise BatchBlocked(f"{name} is the batch size itself", name)
        if self.opset < 6:
            raise BatchBlocked(f"{name} cannot be repeated for each item before opset 6", name)
        self.edit("repeat", node, i, required.axis, len(shape))

    def require_equal(self, node: StructureNode, *inputs: int) -> None:
        """Require these inputs to be equal for all items. Raises: BatchBlocked."""
        for i in inputs:
            if node.has(i) and (node.inputs[i] in self.layouts or node.inputs[i] in self.sizes):
                name = node.inputs[i]
                raise BatchBlocked(
                    f"{name} differs between items, which {node.op_type} does not support", name
                )

    def require_equal_from(self, node: StructureNode, first: int) -> None:
        """Require inputs from ``first`` on to be equal for all items. Raises: BatchBlocked."""
        self.require_equal(node, *range(first, len(node.inputs)))

    def require_no_batch_on(
        self, node: StructureNode, layout: Layout, axes: Iterable[int], rank: int | None = None
    ) -> None:
        """Require that ``axes``, along which the operator works, lack the batch. Raises: BatchBlocked."""
        rank = len(self.shape(node.inputs[0])) if rank is None else rank
        if layout.axis in [a + rank if a < 0 else a for a in axes]:
            raise BatchBlocked(f"{node.op_type} works along axis {layout.axis}, which holds the batch")

    def broadcast(self, node: StructureNode, inputs: Sequence[int] | None = None) -> Layout | None:
        """Return the layout of inputs broadcast against each other. Raises: BatchBlocked."""
        live = [i for i in (range(len(node.inputs)) if inputs is None else inputs) if node.has(i)]
        layouts = [(i, layout) for i in live if (layout := self.layout(node, i)) is not None]
        if not layouts:
            return None
        number, first = layouts[0]
        right = first.axis - len(self.shape(node.inputs[number]))
        for i, layout in layouts[1:]:
            aligned = (layout.axis - len(self.shape(node.inputs[i])), layout.outer, layout.inner)
            if aligned != (right, first.outer, first.inner):
                names = f"{node.inputs[number]} and {node.inputs[i]}"
                raise BatchBlocked(f"{names} hold the batch on different axes", node.inputs[i])
        for i in live:
            shape = self.shape(node.inputs[i])
            if self.layout(node, i) is None and len(shape) >= -right and shape[right] != 1:
                self.require_layout(node, i, first.on(right + len(shape)))
        return first.on(right + max(len(self.shape(node.inputs[i])) for i in live))

    # The pass

    def run(self, graph: StructureGraph) -> None:
        """Follow the batch through a graph. Raises: BatchBlocked, which names the node."""
        for node in graph.nodes:
            try:
                self._node(node)
            except BatchBlocked as error:
                if error.node < 0:
                    error.node = node.index
                for name in node.inputs:
                    if name in self.layouts:
                        error.choices |= self.layouts[name].choices
                raise
            except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
                error_text = f"{type(error).__name__}: {error}"
                blocked = BatchBlocked(f"it does not have the form that its rule expects ({error_text})")
                blocked.node = node.index
                raise blocked from error

    def body(self, graph: StructureGraph, layouts: Sequence[Layout | None]) -> list[Layout | None]:
        """Follow the batch through a subgraph with the given input layouts; return those of its outputs."""
        for name, layout in zip(graph.inputs, layouts, strict=False):
            self._put(name, layout)
        self.run(graph)
        for name in graph.outputs:
            if name in self.sizes:
                raise BatchBlocked(f"{name} is the batch size itself", name)
        return [self.layouts.get(name) for name in graph.outputs]

    def _put(self, name: str, layout: Layout | None) -> None:
        if layout is None:
            self.layouts.pop(name, None)
        else:
            self.layouts[name] = layout

    def _node(self, node: StructureNode) -> None:
        inputs = [name for name in node.inputs if name]
        live = [name for name in inputs if name in self.layouts]
        counted = [name for name in inputs if name in self.sizes]
        self.followed.update(node.outputs)
        for name in node.outputs:  # a subgraph is followed several times
            self.layouts.pop(name, None)
            self.sizes.pop(name, None)
        ragged = [name for name in live if self.layouts[name].ragged]
        if ragged and node.op_type not in RAGGED:
            raise BatchBlocked(
                f"the rows of {ragged[0]} are split among the items depending on the data", ragged[0]
            )
        if node.op_type in ("Shape", "Size") and not node.domain:
            if live:
                self._follow_size_operator(node)
            return
        maker = node.op_type in SIZE_WRITERS and inputs and inputs[-1] in self.sizes
        if counted and not live and not node.bodies and not maker:
            self._count(node, counted[0])
            return
        if not live and not counted and not node.bodies:
            return
        self._follow(node, live, counted)

    def _follow(self, node: StructureNode, live: list[str], counted: list[str]) -> None:
        fn = RULES.get((node.domain, node.op_type))
        if fn is None:
            kind = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
            raise BatchBlocked(f"{kind} has no rule and may mix items", live[0] if live else "")
        if counted and (node.bodies or node.op_type not in READ_SIZES or node.domain):
            raise BatchBlocked(
                f"data is computed from {counted[0]}, which is the batch size",
                counted[0],
                "Export the model with a symbolic batch.",
            )
        choices = frozenset[str]().union(*(self.layouts[name].choices for name in live))
        for name, layout in zip(node.outputs, fn(self, node), strict=False):
            if layout is None or not name:
                continue
            shape = self.facts.shapes.get(name)
            fits = (
                shape is None
                or layout.ragged
                or shape[layout.axis : layout.axis + 1] == (layout.size(self.batch),)
            )
            if not fits or layout.axis < 0:
                raise BatchBlocked(f"{name} does not hold the batch where its rule expects it", name)
            self.layouts[name] = replace(layout, choices=layout.choices | choices)

    def _follow_size_operator(self, node: StructureNode) -> None:
        layout, dims = self.layouts[node.inputs[0]], self.shape(node.inputs[0])
        if layout.ragged:
            raise BatchBlocked(f"the size of {node.inputs[0]} depends on the data", node.inputs[0])
        first, last = node.attr("start", 0), node.attr("end")
        numbers: dict[int, Any] = {}
        for p in PROBES:
            real = [layout.size(p) if a == layout.axis else d for a, d in enumerate(dims)]
            is_size = node.op_type == "Size"
            numbers[p] = np.array(math.prod(real) if is_size else real[first:last], np.int64)
        self._store_size(node.outputs[0], numbers)

    def _count(self, node: StructureNode, name: str) -> None:
        """Evaluate shape arithmetic at every probe."""
        inputs = [n if n else None for n in node.inputs]
        numbers: dict[int, Any] = {}
        for p in PROBES:
            values = [n and (self.sizes[n][p] if n in self.sizes else self.bound.get(n)) for n in inputs]
            if any(v is None and n is not None for n, v in zip(inputs, values, strict=True)):
                raise BatchBlocked(f"data is computed from {name}, which depends on the batch size", name)
            out = computed(node, values, self.opset)
            if out is None or len([o for o in node.outputs if o]) != 1:
                raise BatchBlocked(f"data is created from {name}, which depends on the batch size", name)
            numbers[p] = out
        self._store_size(node.outputs[0], numbers)

    def _store_size(self, name: str, numbers: dict[int, Any]) -> None:
        """Store values that change with the batch."""
        if all(np.array_equal(numbers[PROBES[0]], numbers[p]) for p in PROBES):
            self.bound[name] = numbers[PROBES[0]]
        else:
            self.sizes[name] = numbers


def full_cut(first: int, last: int, step: int, size: int) -> bool:
    """True for a slice that takes a whole axis."""
    return first in (0, -size) and step == 1 and (last >= size or last >= END_OF_AXIS >> 33)
