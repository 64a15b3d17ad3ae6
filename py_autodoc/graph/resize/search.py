"""Runs passes until one succeeds and no other reading of a node gives a different result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from py_autodoc.graph.ir.model import Model, Shape, TypeTable
from py_autodoc.graph.rebatch import BatchRefusal
from py_autodoc.graph.resize import rules  # noqa: F401  (importing registers the rules)
from py_autodoc.graph.resize.axes import Axis
from py_autodoc.graph.resize.walk import SizeBlocked, SizeEdit, SizePass

MAX_TRIES = 200
"""Maximum number of passes."""
MAX_DOUBTS = 100
"""Maximum number of alternative readings checked against the result."""


@dataclass(frozen=True, slots=True)
class SizePlan:
    """The required edits and the resulting shapes."""

    edits: tuple[SizeEdit, ...]
    notes: tuple[tuple[str, str], ...]
    """(node, note for the user)."""
    shapes: Mapping[str, tuple[Shape | None, Shape]]
    """Tensor → its shape in the file and at the requested sizes, where they differ."""
    tries: int = 1


def search(model: Model, old: TypeTable, inputs: Mapping[int, tuple[Axis, ...]]) -> SizePlan | BatchRefusal:
    """Search for edits with which a model runs at other sizes.

    ``inputs``: tensor → axes, for inputs whose sizes change.
    """
    picks: dict[str, int] = {}
    furthest, refusal = -2, BatchRefusal("", "", "no suitable edits were found")
    for tries in range(1, MAX_TRIES + 1):
        walk = SizePass(model, old, picks)
        error = _run_pass(walk, inputs)
        if error is None:
            return _find_ambiguity(walk, model, old, inputs, picks) or _plan(walk, tries)
        if error.node > furthest:
            furthest, refusal = error.node, _refusal(walk, error)
        following = _next_choices(picks, walk)
        if following is None:
            break
        picks = following
    return refusal


def _run_pass(walk: SizePass, inputs: Mapping[int, tuple[Axis, ...]]) -> SizeBlocked | None:
    walk.start(inputs)
    try:
        walk.run()
    except SizeBlocked as error:
        return error
    return None


def _next_choices(picks: Mapping[str, int], walk: SizePass) -> dict[str, int] | None:
    """Revise the latest choice; None if all were tried."""
    order = list(walk.choices)
    for choice in reversed(order):
        count, _ = walk.choices[choice]
        if picks.get(choice, 0) + 1 < count:
            earlier = {c: picks[c] for c in order[: order.index(choice)] if c in picks}
            return {**earlier, choice: picks.get(choice, 0) + 1}
    return None


def _find_ambiguity(
    walk: SizePass,
    model: Model,
    old: TypeTable,
    inputs: Mapping[int, tuple[Axis, ...]],
    picks: Mapping[str, int],
) -> BatchRefusal | None:
    """Return a refusal if a node has another reading with a different result."""
    doubts = [(c, k) for c, (count, _) in walk.choices.items() for k in range(count) if k != picks.get(c, 0)]
    if len(doubts) > MAX_DOUBTS:
        return BatchRefusal("", "", f"{len(doubts)} ambiguous stored sizes are too many to distinguish")
    flips = [{**picks, choice: k} for choice, k in doubts]
    if len(walk.choices) > 1:
        flips.append({c: _another_pick(picks.get(c, 0), count) for c, (count, _) in walk.choices.items()})
    for flip in flips:
        flipped = SizePass(model, old, flip)
        if _run_pass(flipped, inputs) is None and flipped.edits != walk.edits:
            node = model.nodes[next(walk.choices[c][1] for c in flip if flip[c] != picks.get(c, 0))]
            why = "its stored sizes have more than one meaning that fits the new sizes"
            return BatchRefusal(walk.label(node), "", why, "Export the model at this size.", node.id)
    return None


def _another_pick(pick: int, count: int) -> int:
    return (pick + 1) % count


def _plan(walk: SizePass, tries: int) -> SizePlan:
    shapes = {walk.name(t): (walk.old.shapes[t], walk.new_shape(t)) for t in walk.axes}
    return SizePlan(tuple(walk.edits), tuple(dict.fromkeys(walk.notes)), shapes, tries)


def _refusal(walk: SizePass, error: SizeBlocked) -> BatchRefusal:
    label = walk.label(walk.nodes[error.node]) if error.node >= 0 else ""
    return BatchRefusal(label, error.tensor, error.why, error.hint, error.node)
