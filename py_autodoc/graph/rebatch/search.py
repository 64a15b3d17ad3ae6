"""Runs passes until one succeeds; if a pass is blocked, choices are revised, latest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.rebatch import rules  # noqa: F401  (importing registers the rules)
from py_autodoc.graph.rebatch.layout import BatchBlocked, BatchEdit, Layout
from py_autodoc.graph.rebatch.prepare import PreparedStructure, StructureFacts
from py_autodoc.graph.rebatch.trace import BatchTrace

MAX_TRIES = 400
"""Maximum number of passes."""

Axes = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class BatchRefusal:
    """Why the batch cannot be changed: the node that would mix items, the tensor, the reason and a hint."""

    node: str
    tensor: str
    reason: str
    hint: str = ""
    node_id: int = -1
    """Index of the node in ``PreparedStructure.nodes``; -1 if no node is responsible."""

    @property
    def message(self) -> str:
        """The refusal as one line."""
        if self.node:
            return f"{self.node}: {self.reason}."
        if self.tensor and self.reason.startswith(self.tensor):  # a name is shown as it is
            return f"{self.reason}."
        return f"{self.reason[:1].upper()}{self.reason[1:]}."


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Position of the batch in every tensor, and the required edits."""

    batch: int
    """Batch size of the file."""
    layouts: Mapping[str, Layout]
    size_dependent: frozenset[str]
    """Tensors whose factor folded with the batch depends on other symbolic dimensions."""
    edits: tuple[BatchEdit, ...]
    notes: tuple[tuple[str, str], ...]
    """(node, note for the user)."""
    inputs: Mapping[str, int]
    """Input → batch axis."""
    outputs: Mapping[str, Layout | None] = field(default_factory=dict)
    followed: frozenset[str] = frozenset()
    """Tensors that were visited; those in branches that are never taken are missing."""
    tries: int = 1
    confirmed: bool = False
    """True if an operator confirms that axis 0 is the batch."""


def search(
    structure: PreparedStructure,
    facts: Sequence[StructureFacts],
    batch: int,
    axes: Axes,
    max_tries: int = MAX_TRIES,
) -> BatchPlan | BatchRefusal:
    """Search for a layout that keeps all items apart.

    ``axes``: input → its batch axis; None: the same for all items.
    """
    names = [decode_text(i.name) for i in structure.inputs]
    if not names:
        return BatchRefusal("", "", "the model has no inputs", "")
    picks: dict[str, int] = {}
    first: BatchBlocked | None = None
    for tries in range(1, max_tries + 1):
        traces = [
            BatchTrace(structure, assignment_facts, batch, picks, len(facts) > 1)
            for assignment_facts in facts
        ]
        try:
            for trace in traces:
                _seed(trace, names, axes)
                trace.run(structure.graph)
            _outputs(structure, traces[0])
            _agree(traces)
        except BatchBlocked as error:
            first = first or error
            following = _next_choices(picks, traces, error, names)
            if following is None:
                break
            picks = following
            continue
        return _plan(structure, traces, batch, names, tries)
    return _refusal(structure, first)


def _seed(trace: BatchTrace, names: Sequence[str], axes: Axes) -> None:
    """Set the layouts of the inputs. Raises: BatchBlocked."""
    for name in names:
        shape = trace.facts.shapes.get(name)
        if name in axes:
            axis = axes[name]
            if axis is None:
                continue
            if shape is None or not -len(shape) <= axis < len(shape):
                raise BatchBlocked(f"the input {name} has no axis {axis}", name)
            axis %= len(shape)
            size = shape[axis]
            if size % trace.batch:
                why = f"axis {axis} of the input {name} has {size} entries, not a multiple of {trace.batch}"
                raise BatchBlocked(why, name)
            trace.layouts[name] = Layout(axis, 1, size // trace.batch)
            continue
        if shape is None:
            raise BatchBlocked(f"the shape of the input {name} is unknown", name)
        options = [Layout(a) for a, d in enumerate(shape) if d == trace.batch]
        if options:
            pick, choices = trace.choose(name, options)
            trace.layouts[name] = replace(pick, choices=choices)
    if not any(name in trace.layouts for name in names):
        listed = ", ".join(f"{name} {list(trace.facts.shapes.get(name, ()))}" for name in names[:3])
        raise BatchBlocked(
            f"no input has an axis of size {trace.batch}, the batch of the file: {listed}",
            names[0],
            "Pass the current batch size with --from, or the batch axis with --axis.",
        )


def _outputs(structure: PreparedStructure, trace: BatchTrace) -> None:
    for name in structure.graph.outputs:
        if name in trace.sizes:
            raise BatchBlocked(f"the output {name} is the batch size itself", name)
    if not any(name in trace.layouts for name in structure.graph.outputs):
        raise BatchBlocked(
            "no output depends on an input that holds the batch",
            structure.graph.outputs[0] if structure.graph.outputs else "",
        )


def _agree(traces: Sequence[BatchTrace]) -> None:
    """Raises: BatchBlocked if an edit contains a number that depends on symbolic dimensions."""
    first, *others = traces
    for other in others:
        if len(other.edits) != len(first.edits):
            raise BatchBlocked("the required edits depend on symbolic dimensions", hint=_BIND)
        for a, b in zip(first.edits, other.edits, strict=True):
            if a != b:
                blocked = BatchBlocked("the required edit depends on symbolic dimensions", hint=_BIND)
                blocked.node = a.node
                raise blocked
        for name in (*first.structure.graph.inputs, *first.structure.graph.outputs):
            a_at, b_at = first.layouts.get(name), other.layouts.get(name)
            if (a_at and a_at.axis) != (b_at and b_at.axis):
                raise BatchBlocked(f"the batch of {name} depends on symbolic dimensions", name, _BIND)


_BIND = "Set the other dimensions with --bind."


def _next_choices(
    picks: Mapping[str, int], traces: Sequence[BatchTrace], error: BatchBlocked, names: Sequence[str]
) -> dict[str, int] | None:
    """Return the next choices: the latest that caused the fault, or else an input. None: all were tried."""
    choices: dict[str, int] = {}
    for trace in traces:
        choices.update(trace.choices)
    open_choices = [c for c in choices if picks.get(c, 0) + 1 < choices[c]]
    responsible = [c for c in open_choices if c in error.choices] or [c for c in open_choices if c in names]
    if not responsible:
        return None
    chosen, order = responsible[-1], list(choices)
    earlier = {c: picks[c] for c in order[: order.index(chosen)] if c in picks}
    return {**earlier, chosen: picks.get(chosen, 0) + 1}


def _plan(
    structure: PreparedStructure, traces: Sequence[BatchTrace], batch: int, names: Sequence[str], tries: int
) -> BatchPlan:
    trace = traces[0]
    size_dependent = frozenset(
        name
        for name, layout in trace.layouts.items()
        for other in traces[1:]
        if name not in other.layouts or other.layouts[name].key != layout.key
    )
    equal_tensors = [(f"input {n}", "the same for all items") for n in names if n not in trace.layouts]
    same = [n for n in structure.graph.outputs if n not in trace.layouts]
    equal_tensors += [(f"output {n}", "the same for all items") for n in same]
    return BatchPlan(
        batch=batch,
        layouts=trace.layouts,
        size_dependent=size_dependent,
        edits=tuple(trace.edits),
        notes=tuple(dict.fromkeys([*equal_tensors, *trace.notes])),
        inputs={name: trace.layouts[name].axis for name in names if name in trace.layouts},
        outputs={name: trace.layouts.get(name) for name in structure.graph.outputs},
        followed=frozenset(trace.followed),
        tries=tries,
        confirmed=trace.confirmed,
    )


def _refusal(structure: PreparedStructure, error: BatchBlocked | None) -> BatchRefusal:
    if error is None:
        return BatchRefusal("", "", "no suitable edits were found", "")
    label = structure.nodes[error.node].label if error.node >= 0 else ""
    return BatchRefusal(label, error.tensor, error.why, error.hint, error.node)
