"""A comparison in a few lines: the relation of the models, and counts of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from py_autodoc.compare.align import Alignment, AlignmentVerdict, Pair
from py_autodoc.compare.block_differences import BlockDifference, block_differences
from py_autodoc.compare.changes import Change, Detail
from py_autodoc.compare.impact import Evaluations, Impact, evaluation_rows
from py_autodoc.compare.measures import (
    MEASURES,
    Measure,
    Number,
    lower_bounds,
    metric_values,
    percent,
    precision,
    relative,
)
from py_autodoc.compare.run_difference import ROUNDING
from py_autodoc.report.builders.quantization_section import quantization
from py_autodoc.report.encode.labels import node_label
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.units import UNKNOWN, plural

_MAX_LOCATIONS = 3
"""Maximum number of locations named for a change."""
_ROUNDINGS = {"fp16": 2.0**-6, "bf16": 2.0**-3}
"""Largest relative difference, of weights or outputs, that counts as rounding: sixteen units in the last
place, since errors add up over layers."""
_FLOAT_ROUNDING, _QUANTIZED_ROUNDING = 1e-3, 0.25
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


def headline(alignment: Alignment, with_run: bool = True) -> str:
    """Return the relation of the models, how one derives from the other, and what could not be seen."""
    run = alignment.run if with_run else None
    ran = "" if run is None else f"{run.text[0].upper()}{run.text[1:]}."
    sentences = (verdict_line(alignment), relation(alignment), ran, unseen(alignment))
    return " ".join(sentence for sentence in sentences if sentence)


def unseen(alignment: Alignment) -> str:
    """Return what a report among the two does not show; empty for two models."""
    missing = not_compared(alignment)
    return f"A report does not show {' and '.join(missing)}, so these were not compared." if missing else ""


def not_compared(alignment: Alignment) -> list[str]:
    """Return what was not compared because a report does not have it."""
    stored = [side.analysis.stored for side in alignment.sides]
    return list(dict.fromkeys(what for figures in stored if figures is not None for what in figures.unseen))


def verdict_line(alignment: Alignment) -> str:
    """Return the relation of the models in one line."""
    left_units, right_units = alignment.units
    total = max(left_units, right_units)
    counted = f"{alignment.matched:,} of {total:,} core operators correspond"
    if alignment.same_graph:
        weights = (
            "."
            if alignment.weights_read or not_compared(alignment)
            else "; values of weights were not compared."
        )
        if alignment.same:
            return f"Same architecture, nothing changed: {counted}{weights}"
        other = "statements in the file" if alignment.run is None or alignment.run.same else "results"
        return f"Same graph, other {other}: {counted}{weights}"
    if (only := _only_weights(alignment)) is not None:
        return f"Same architecture, {only}: {counted}."
    share = "" if alignment.score_macs is None else f", with {_share(alignment.score_macs)} of the MACs"
    resized = sum(
        any(detail.what == "weight" and detail.kind is Change.SHAPES for detail in pair.details)
        for pair in alignment.pairs
    )
    if resized and alignment.verdict is not AlignmentVerdict.DIFFERENT:
        share = f", {resized:,} with weights of other sizes"
    text = alignment.verdict.value
    return f"{text[0].upper()}{text[1:]}: {counted}{share}."


def _only_weights(alignment: Alignment) -> str | None:
    """Return how weights differ if nothing else does, else None."""
    details = [detail for pair in alignment.pairs for detail in pair.details]
    if (
        alignment.only_left
        or alignment.only_right
        or alignment.interface
        or any(detail.kind is not Change.WEIGHTS for detail in details)
    ):
        return None
    changed = sum(bool(pair.changes & Change.WEIGHTS) for pair in alignment.pairs)
    distances = [detail.distance for detail in details]
    known = [distance for distance in distances if distance is not None]
    if len(known) == len(distances) and max(known) <= ROUNDING:
        return f"equal within rounding ({max(known):.1g})"
    return f"only weights differ, in {plural(changed, 'operator')}"


def relation(alignment: Alignment) -> str:
    """Return how the second model derives from the first, if known: quantized, fused, other number types."""
    if alignment.verdict is not AlignmentVerdict.SAME or alignment.same:
        return ""
    a, b = (precision(side.analysis) for side in alignment.sides)
    kinds = Change(0)
    for pair in alignment.pairs:
        kinds |= pair.changes
    if kinds & (Change.OPERATOR | Change.ATTRIBUTES | Change.SHAPES | Change.INPUTS):
        return ""
    if a[1] == "none" and b[1] != "none":
        how = f", quantized to {b[0]} ({b[1]}){_float_layers(alignment, 1)}"
        return _derived(alignment, ("second", "first"), how, _QUANTIZED_ROUNDING, None)
    if a[1] != "none" and b[1] == "none":
        how = f", quantized to {a[0]} ({a[1]}){_float_layers(alignment, 0)}"
        return _derived(alignment, ("first", "second"), how, _QUANTIZED_ROUNDING, None)
    rounding = max(_ROUNDINGS.get(side[0], _FLOAT_ROUNDING) for side in (a, b))
    if a[0] != b[0]:
        how = f" in {b[0]} instead of {a[0]}"
        return _derived(alignment, ("second", "first"), how, rounding, rounding)
    if Change.FUSED in kinds:
        how = " with fused or decomposed operators"
        return _derived(alignment, ("second", "first"), how, rounding, rounding)
    return ""


def _derived(
    alignment: Alignment, names: tuple[str, str], how: str, weights: float, outputs: float | None
) -> str:
    """Return how one model derives from the other; that it is the other only if weights and outputs allow it.

    ``weights`` and ``outputs`` are the largest relative differences that the derivation explains; None: any.
    """
    details = [detail for pair in alignment.pairs for detail in pair.details]
    distances = [detail.distance for detail in details if detail.kind is Change.WEIGHTS]
    other_weights = any(distance is not None and distance > weights for distance in distances)
    other_outputs = alignment.run is not None and outputs is not None and alignment.run.exceeds(outputs)
    if alignment.weights_read and not other_weights and not other_outputs:
        return f"The {names[0]} model is the {names[1]}{how}."
    reasons = []
    if other_weights:
        reasons.append("weights differ by more than that explains")
    elif not alignment.weights_read and not not_compared(alignment):
        reasons.append("weights were not compared")
    if other_outputs:
        reasons.append("outputs differ by more than rounding")
    because = f"; {', and '.join(reasons)}" if reasons else ""
    return f"The {names[0]} model has the architecture of the {names[1]}{how}{because}."


def _float_layers(alignment: Alignment, side: int) -> str:
    """Return which layers of the quantized model stay float, if some do."""
    compared = alignment.sides[side]
    kept = quantization(compared.analysis).not_quantized
    if not kept:
        return ""
    names = ", ".join(node_label(compared.model.nodes[node]) for node in kept[:_MAX_LOCATIONS])
    more = f" and {len(kept) - _MAX_LOCATIONS:,} more" if len(kept) > _MAX_LOCATIONS else ""
    return f"; {names}{more} {'stays' if len(kept) == 1 else 'stay'} float"


def rows(alignment: Alignment, max_rows: int = 4) -> list[Row]:
    """Return the changes, a few rows per kind; similar ones are counted."""
    rows: list[Row] = [
        Row("interface", 1, f"{detail.what} {detail.left} → {detail.right}")
        for detail in alignment.interface[:max_rows]
    ]
    if len(alignment.interface) > max_rows:
        rows.append(Row("interface", len(alignment.interface) - max_rows, "other inputs and outputs"))
    rows += [Row("file", 1, f"{detail.what} {detail.left} → {detail.right}") for detail in alignment.file]
    if alignment.verdict is AlignmentVerdict.DIFFERENT:
        return rows
    for kind, title in _TITLES:
        if kind is Change.WEIGHTS:
            rows += _weights(alignment)
            continue
        pairs_by_change: dict[tuple[str, str, str], list[Pair]] = {}
        touched: set[int] = set()
        for index, pair in enumerate(alignment.pairs):
            for detail in _details_of_kind(pair, kind):
                pairs_by_change.setdefault((detail.what, detail.left, detail.right), []).append(pair)
                touched.add(index)
        changes = sorted(pairs_by_change.items(), key=lambda item: -len(item[1]))
        for (what, left, right), pairs in changes[:max_rows]:
            named = f"{left} → {right}" if kind in _WITHOUT_SUBJECT else f"{what} {left} → {right}"
            if kind not in _WITHOUT_NAMES and len(pairs) <= _MAX_LOCATIONS:
                named += f" ({_node_names(alignment, pairs)})"
            rows.append(Row(title, len(pairs), named))
        other_changes = sum(len(pairs) for _, pairs in changes[max_rows:])
        if other_changes:
            rows.append(
                Row(title, other_changes, f"{plural(len(changes) - max_rows, 'other kind')} of change")
            )
    return rows


def _weights(alignment: Alignment) -> list[Row]:
    """Return rows on different weights: count, distance, the largest, and those not comparable."""
    distances: list[tuple[float, Pair]] = []
    other_reasons: Counter[str] = Counter()
    for pair in alignment.pairs:
        for detail in pair.details:
            if detail.kind is not Change.WEIGHTS:
                continue
            if detail.distance is None:
                other_reasons[detail.what] += 1
            else:
                distances.append((detail.distance, pair))
    rows = [Row("weights", count, what) for what, count in other_reasons.most_common(3)]
    if distances:
        distances.sort(key=lambda item: -item[0])
        largest, smallest = distances[0][0], distances[-1][0]
        span = f"{smallest:.3g} to {largest:.3g}" if len(distances) > 1 else f"{largest:.3g}"
        most = _node_names(alignment, [distances[0][1]])
        rows.insert(
            0, Row("weights", len(distances), f"other values, relative distance {span}, most in {most}")
        )
    return rows


_WITHOUT_SUBJECT = (Change.PRECISION, Change.FUSED, Change.MOVES)
_WITHOUT_NAMES = (Change.PRECISION, Change.FUSED, Change.MOVES)


def _details_of_kind(pair: Pair, kind: Change) -> list[Detail]:
    """Return the changes of one kind; for a fused pair the most informative one."""
    details = [detail for detail in pair.details if detail.kind is kind]
    if kind is Change.FUSED and len(details) > 1:
        return [detail for detail in details if detail.what == "activation"][:1] or details[:1]
    return list(dict.fromkeys(details))


def unmatched_nodes(alignment: Alignment, side: int, blocks: list[BlockDifference]) -> str:
    """Return what only one model has: number of nodes, operators and blocks. Empty for nothing."""
    nodes = (alignment.only_left, alignment.only_right)[side]
    if not nodes:
        return ""
    model = alignment.sides[side].model
    kinds = Counter(model.nodes[n].op_type for n in nodes)
    operators = ", ".join(f"{count:,} {name}" for name, count in kinds.most_common(5))
    other_operators = f", {len(kinds) - 5} other operators" if len(kinds) > 5 else ""
    block_counts = [
        (block.left if side == 0 else block.right, (block.only_left, block.only_right)[side])
        for block in blocks
        if (block.only_left, block.only_right)[side]
    ]
    locations = [path for path, _ in sorted(block_counts, key=lambda item: -item[1]) if path]
    common = _common_module(alignment.sides[side].analysis, nodes)
    if common and len(locations) < 2:
        locations = [common]
    location = f" in {', '.join(locations[:_MAX_LOCATIONS])}" if locations else ""
    location += (
        f" and {plural(len(locations) - _MAX_LOCATIONS, 'other block')}"
        if len(locations) > _MAX_LOCATIONS
        else ""
    )
    return f"{plural(len(nodes), 'node')}{location}: {operators}{other_operators}"


def table(analyses: Iterable[Analysis], evaluations: Evaluations = ()) -> list[tuple[str, list[str]]]:
    """Return (label, cells) of the metrics: the value of each model, with the change from the first.

    Metrics of evaluations come last. Changes in quality are differences, others are percentages.
    """
    numbers = [(metric_values(analysis), lower_bounds(analysis)) for analysis in analyses]
    rows = [(measure.label, _cells(numbers, measure)) for measure in MEASURES]
    for name, values, quality in evaluation_rows(evaluations):
        rows.append(
            (name, [_evaluated(values[0], value, quality, not index) for index, value in enumerate(values)])
        )
    return rows


def _evaluated(first: float | None, value: float | None, quality: bool, is_first: bool) -> str:
    if value is None:
        return UNKNOWN
    if is_first or first is None:
        return f"{value:.6g}"
    if value == first:
        return f"{value:.6g} (same)"
    change = f"{value - first:+.4g}".replace("-", "−") if quality else percent(relative(first, value))
    return f"{value:.6g} ({change})"


def front_line(impact: Impact, names: list[str]) -> str:
    """Return the variants on the Pareto front; empty if only sizes are known."""
    if len(impact.axes) < 2:
        return ""
    best = [name for name, point in zip(names, impact.points, strict=True) if point.on_front]
    return f"On the Pareto front ({', '.join(impact.axes)}): {', '.join(best)}."


def _cells(numbers: list[tuple[dict[str, Number], dict[str, Number]]], measure: Measure) -> list[str]:
    """Return one metric of every model as text; a partly known one is a lower bound without a change."""
    first = numbers[0][0][measure.id]
    cells = []
    for index, (values, bounds) in enumerate(numbers):
        value = values[measure.id]
        if value is None:
            bound = bounds.get(measure.id)
            cells.append(measure.write(None) if bound is None else f"≥ {measure.write(bound)}")
        elif not index or first is None:
            cells.append(measure.write(value))
        else:
            change = "same" if value == first else percent(relative(first, value))
            cells.append(f"{measure.write(value)} ({change})")
    return cells


def changed_blocks(alignment: Alignment) -> list[BlockDifference]:
    """Return the blocks with differences."""
    return [block for block in block_differences(alignment) if not block.same]


def _common_module(analysis: Analysis, nodes: tuple[int, ...]) -> str:
    """Return the innermost module that contains all of these nodes."""
    scopes = [analysis.model.nodes[n].scope for n in nodes]
    first, last = min(scopes), max(scopes)  # what these two share, all between them share
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "/".join(name for name, _ in same)


def _node_names(alignment: Alignment, pairs: list[Pair]) -> str:
    model = alignment.sides[0].model
    return ", ".join(node_label(model.nodes[pair.left[0]]) for pair in pairs)


def _share(score: float) -> str:
    """Return a score in percent, never rounded up to 100."""
    percentage = int(score * 1000) / 10
    return "all" if score == 1 else f"{percentage:g} %"
