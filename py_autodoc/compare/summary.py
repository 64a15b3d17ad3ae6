"""A comparison in a few lines: the relation of the models, and counts of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from py_autodoc.compare.align import Alignment, AlignmentVerdict, Pair
from py_autodoc.compare.changes import Change, Detail
from py_autodoc.compare.impact import Evaluations, Impact, evaluation_rows
from py_autodoc.compare.measures import (
    MEASURES,
    Measure,
    Number,
    lower_bounds,
    measured,
    percent,
    precision,
    relative,
)
from py_autodoc.compare.parts import ComparedPart, parts
from py_autodoc.report.encode.labels import node_label
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.units import UNKNOWN, plural

_NAMED = 3
"""Maximum number of locations named for a change."""
_TITLES = (
    (Change.INPUTS, "inputs"),
    (Change.OPERATOR, "operators"),
    (Change.ATTRIBUTES, "attributes"),
    (Change.SHAPES, "shapes"),
    (Change.PRECISION, "precision"),
    (Change.WEIGHTS, "weights"),
    (Change.FUSED, "fused"),
    (Change.MOVES, "moves"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of changes: kind, number of core operators, description."""

    kind: str
    count: int
    what: str


def verdict_line(found: Alignment) -> str:
    """Return the relation of the models in one line."""
    left, right = found.units
    most = max(left, right)
    counted = f"{found.matched:,} of {most:,} core operators correspond"
    if found.same:
        return f"Same architecture, nothing changed: {counted}."
    share = "" if found.score_macs is None else f", with {_share(found.score_macs)} of the MACs"
    resized = sum(
        any(one.what == "weight" and one.kind is Change.SHAPES for one in p.details) for p in found.pairs
    )
    if resized and found.verdict is not AlignmentVerdict.DIFFERENT:
        share = f", {resized:,} with weights of other sizes"
    text = found.verdict.value
    return f"{text[0].upper()}{text[1:]}: {counted}{share}."


def relation(found: Alignment) -> str:
    """Return how the second model derives from the first, if known: quantized, fused, other number types."""
    if found.verdict is not AlignmentVerdict.SAME or found.same:
        return ""
    a, b = (precision(side.analysis) for side in found.sides)
    kinds = Change(0)
    for pair in found.pairs:
        kinds |= pair.changes
    if kinds & (Change.OPERATOR | Change.ATTRIBUTES | Change.SHAPES | Change.INPUTS):
        return ""
    if a[1] == "none" and b[1] != "none":
        return f"The second model is the first, quantized to {b[0]} ({b[1]})."
    if a[1] != "none" and b[1] == "none":
        return f"The first model is the second, quantized to {a[0]} ({a[1]})."
    if a[0] != b[0]:
        return f"The second model is the first in {b[0]} instead of {a[0]}."
    if Change.FUSED in kinds:
        return "The second model is the first with fused or decomposed operators."
    return ""


def rows(found: Alignment, most: int = 4) -> list[Row]:
    """Return the changes, a few rows per kind; similar ones are counted."""
    made: list[Row] = [
        Row("interface", 1, f"{one.what} {one.left} → {one.right}") for one in found.interface[:most]
    ]
    if len(found.interface) > most:
        made.append(Row("interface", len(found.interface) - most, "other inputs and outputs"))
    if found.verdict is AlignmentVerdict.DIFFERENT:
        return made
    for kind, title in _TITLES:
        if kind is Change.WEIGHTS:
            made += _weights(found)
            continue
        seen: dict[tuple[str, str, str], list[Pair]] = {}
        touched: set[int] = set()
        for at, pair in enumerate(found.pairs):
            for one in _told(pair, kind):
                seen.setdefault((one.what, one.left, one.right), []).append(pair)
                touched.add(at)
        kept = sorted(seen.items(), key=lambda item: -len(item[1]))
        for (what, left, right), pairs in kept[:most]:
            named = f"{left} → {right}" if kind in _WORDLESS else f"{what} {left} → {right}"
            places = "" if kind in _COUNTED or len(pairs) > _NAMED else f" ({_places(found, pairs)})"
            made.append(Row(title, len(pairs), named + places))
        rest = sum(len(pairs) for _, pairs in kept[most:])
        if rest:
            made.append(Row(title, rest, f"{plural(len(kept) - most, 'other kind')} of change"))
    return made


def _weights(found: Alignment) -> list[Row]:
    """Return rows on different weights: count, distance, the largest, and those not comparable."""
    apart: list[tuple[float, Pair]] = []
    other: Counter[str] = Counter()
    for pair in found.pairs:
        for one in pair.details:
            if one.kind is not Change.WEIGHTS:
                continue
            if one.distance is None:
                other[one.what] += 1
            else:
                apart.append((one.distance, pair))
    made = [Row("weights", count, what) for what, count in other.most_common(3)]
    if apart:
        apart.sort(key=lambda item: -item[0])
        span = f"{apart[-1][0]:.3g} to {apart[0][0]:.3g}" if len(apart) > 1 else f"{apart[0][0]:.3g}"
        made.insert(0, Row(
            "weights", len(apart),
            f"other values, relative distance {span}, most in {_places(found, [apart[0][1]])}",
        ))  # fmt: skip
    return made


_WORDLESS = (Change.PRECISION, Change.FUSED, Change.MOVES)
_COUNTED = (Change.PRECISION, Change.FUSED, Change.MOVES)


def _told(pair: Pair, kind: Change) -> list[Detail]:
    """Return the changes of one kind; for a fused pair the most informative one."""
    of = [one for one in pair.details if one.kind is kind]
    if kind is Change.FUSED and len(of) > 1:
        return [one for one in of if one.what == "activation"][:1] or of[:1]
    return list(dict.fromkeys(of))


def lone(found: Alignment, side: int, blocks: list[ComparedPart]) -> str:
    """Return what only one model has: number of nodes, operators and blocks. Empty for nothing."""
    nodes = (found.only_left, found.only_right)[side]
    if not nodes:
        return ""
    model = found.sides[side].model
    kinds = Counter(model.nodes[n].op_type for n in nodes)
    shown = ", ".join(f"{count:,} {name}" for name, count in kinds.most_common(5))
    more = f", {len(kinds) - 5} other operators" if len(kinds) > 5 else ""
    where = [
        (one.left if side == 0 else one.right, (one.only_left, one.only_right)[side])
        for one in blocks
        if (one.only_left, one.only_right)[side]
    ]
    places = [path for path, _ in sorted(where, key=lambda item: -item[1]) if path]
    common = _common(found.sides[side].analysis, nodes)
    if common and len(places) < 2:
        places = [common]
    told = f" in {', '.join(places[:_NAMED])}" if places else ""
    told += f" and {plural(len(places) - _NAMED, 'other block')}" if len(places) > _NAMED else ""
    return f"{plural(len(nodes), 'node')}{told}: {shown}{more}"


def table(analyses: Iterable[Analysis], evaluations: Evaluations = ()) -> list[tuple[str, list[str]]]:
    """Return (label, cells) of the metrics: the value of each model, with the change from the first.

    Metrics of evaluations come last. Changes in quality are differences, others are percentages.
    """
    numbers = [(measured(one), lower_bounds(one)) for one in analyses]
    made = [(one.label, _cells(numbers, one)) for one in MEASURES]
    for name, values, quality in evaluation_rows(evaluations):
        made.append(
            (name, [_evaluated(values[0], value, quality, not at) for at, value in enumerate(values)])
        )
    return made


def _evaluated(first: float | None, value: float | None, quality: bool, alone: bool) -> str:
    if value is None:
        return UNKNOWN
    if alone or first is None:
        return f"{value:.6g}"
    if value == first:
        return f"{value:.6g} (same)"
    change = f"{value - first:+.4g}".replace("-", "−") if quality else percent(relative(first, value))
    return f"{value:.6g} ({change})"


def front_line(found: Impact, names: list[str]) -> str:
    """Return the variants on the Pareto front; empty if only sizes are known."""
    if len(found.axes) < 2:
        return ""
    best = [name for name, one in zip(names, found.points, strict=True) if one.on_front]
    return f"On the Pareto front ({', '.join(found.axes)}): {', '.join(best)}."


def _cells(numbers: list[tuple[dict[str, Number], dict[str, Number]]], one: Measure) -> list[str]:
    """Return one metric of every model as text; a partly known one is a lower bound without a change."""
    first = numbers[0][0][one.id]
    found = []
    for at, (values, least) in enumerate(numbers):
        value = values[one.id]
        if value is None:
            known = least.get(one.id)
            found.append(one.write(None) if known is None else f"≥ {one.write(known)}")
        elif not at or first is None:
            found.append(one.write(value))
        else:
            told = "same" if value == first else percent(relative(first, value))
            found.append(f"{one.write(value)} ({told})")
    return found


def changed_blocks(found: Alignment) -> list[ComparedPart]:
    """Return the blocks with differences."""
    return [one for one in parts(found) if not one.same]


def _common(analysis: Analysis, nodes: tuple[int, ...]) -> str:
    """Return the innermost module that contains all of these nodes."""
    scopes = [analysis.model.nodes[n].scope for n in nodes]
    first, last = min(scopes), max(scopes)  # what these two share, all between them share
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "/".join(name for name, _ in same)


def _places(found: Alignment, pairs: list[Pair]) -> str:
    model = found.sides[0].model
    return ", ".join(node_label(model.nodes[pair.left[0]]) for pair in pairs)


def _share(score: float) -> str:
    """Return a score in percent, never rounded up to 100."""
    shown = int(score * 1000) / 10
    return "all" if score == 1 else f"{shown:g} %"
