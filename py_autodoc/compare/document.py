"""The JSON document of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.block_differences import block_differences
from py_autodoc.compare.changes import NAMES, Detail
from py_autodoc.compare.evaluation import Evaluation
from py_autodoc.compare.impact import Evaluations, impact
from py_autodoc.compare.measures import (
    Number,
    deltas,
    estimates,
    lower_bounds,
    metric_values,
    precision,
    precision_breakdown,
)
from py_autodoc.compare.run_difference import RunDifference
from py_autodoc.compare.summary import not_compared
from py_autodoc.compare.variants import core_precisions
from py_autodoc.report.builders.shared_parts import generator
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema.estimates import HardwareEstimates
from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.comparison/1.0"


class ComparedChange(Wire, frozen=True, kw_only=True):
    """One change of a pair."""

    kind: str
    """operator, attributes, shapes, precision, weights, fused, moves, inputs, name, order or file."""
    what: str
    """Its subject: the attribute's name, ``result``, ``weight``, ``activation`` …"""
    left: str
    """Value in the first model; for weights the beginning of their SHA-256."""
    right: str
    distance: float | None
    """For weights: norm of the difference over the norm of the left; null if unknown."""
    largest: float | None
    """For weights: the largest difference between two values."""


class ComparedPair(Wire, frozen=True, kw_only=True):
    """Nodes that do the same work. Ids are ``layers[].id`` in the reports of the two models."""

    left: list[int]
    right: list[int]
    core: str
    """The operator that both compute: ``Conv`` for a QLinearConv."""
    changes: list[ComparedChange]


class ComparedBlock(Wire, frozen=True, kw_only=True):
    """A block of the left model, its counterpart, and the differences."""

    left: str | None
    """Path of its module; null if only the right model has it."""
    right: str | None
    pairs: int
    changed: dict[str, int]
    """Kind of change → pairs."""
    only_left: int
    """Nodes without a counterpart."""
    only_right: int
    macs_left: int
    """Known MACs of one inference."""
    macs_right: int


class AlignmentInfo(Wire, frozen=True, kw_only=True):
    """Structural correspondence of two models."""

    left: int
    """Index into ``variants``."""
    right: int
    score_macs: float | None
    """Twice the MACs of matched nodes over those of both models; null when no MACs are known."""
    score_nodes: float
    """The same, counting core operators."""
    verdict: str
    """``same architecture`` (at least 0.98, no unmatched product with weights, the same edges), ``similar
    architecture`` (at least 0.5, or 0.9 of the core operators match, whatever their dimensions) or
    ``different architectures``."""
    core_operators: list[int]
    """Core operators of the left and of the right model."""
    core_matched: int
    pairs: list[ComparedPair]
    only_left: list[int]
    only_right: list[int]
    interface: list[ComparedChange]
    """Changes of the declared inputs and outputs: names, order, types, dimensions."""
    file: list[ComparedChange]
    """Statements of the files that differ: opset, IR version, labels, preprocessing, licence, producer."""
    weights_read: bool
    """True if the values of weights were compared (``--weights``)."""
    run: RunDifference | None
    """How far the outputs are apart for one input; null without ``--run``."""
    not_compared: list[str]
    """What a report among the two models does not show, so that it may differ; empty for two model files."""
    same: bool
    """True if no difference was found, as far as the models were compared; another producer is none."""
    blocks: list[ComparedBlock]


class Variant(Wire, frozen=True, kw_only=True):
    """One model. The first is the baseline for the others."""

    precision: str
    """fp32, fp16, int8 …"""
    quantization_scheme: str
    """none, QDQ, QOperator, dynamic or weight-only."""
    model_path: str
    """Name of the file."""
    size_bytes: int
    """Including external weights."""
    metrics: dict[str, float | int | None]
    """Per inference, including those of an evaluation; null if unknown or only partly known."""
    evaluation: str | None
    """Name of the evaluation file."""
    precision_breakdown: dict[str, int] | None
    """Stored type → parameters; null if unknown."""
    lower_bounds: dict[str, float | int | None]
    """For metrics that are only partly known: the known sum."""
    hardware_estimates: HardwareEstimates | None
    deltas_vs_baseline: dict[str, float | int | None] | None
    """This model's value minus that of the first; null for the first."""


class VariantImpact(Wire, frozen=True, kw_only=True):
    """A variant compared with the first."""

    model_path: str
    size_ratio: float
    """Its size divided by that of the first."""
    latency_ms: float | None
    speedup: float | None
    """Time of the first divided by its own."""
    quality: float | None
    quality_change: float | None
    on_front: bool
    """True if no other variant is at least as good in everything and better in something."""
    core_operators: dict[str, int]
    """Precision → number of core operators that compute in it."""


class ImpactInfo(Wire, frozen=True, kw_only=True):
    """Gains and losses of the variants."""

    quality_metric: str | None
    """The primary metric of the evaluations; null unless every variant has it."""
    lower_is_better: bool
    latency_metric: str | None
    """A measured time that every variant has, else ``estimated_latency_ms``; null if there is neither."""
    front_of: list[str]
    """The metrics that ``on_front`` compares."""
    variants: list[VariantImpact]


class FailedCondition(Wire, frozen=True, kw_only=True):
    """A ``--fail-on`` condition that is met."""

    condition: str
    model_path: str
    reason: str


class Comparison(Wire, frozen=True, kw_only=True):
    """Two or more models, compared with the first."""

    schema_version: str
    generator: Generator
    model_family_id: str
    """Name of the first file without its extension."""
    baseline_precision: str
    variants: list[Variant]
    alignment: AlignmentInfo
    """The first two models."""
    other_alignments: list[AlignmentInfo]
    """The first model with the third, the fourth …"""
    failed: list[FailedCondition]
    impact: ImpactInfo

    def to_json(self, pretty: bool = False) -> str:
        """Return the document as text."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=2) if pretty else data).decode()


def comparison(
    analyses: Sequence[Analysis],
    alignments: Sequence[Alignment],
    failed: Sequence[FailedCondition] = (),
    evaluations: Evaluations = (),
) -> Comparison:
    """Build the document; ``alignments[i]`` aligns the first model with model ``i + 1``."""
    by_model = [*evaluations, *[None] * (len(analyses) - len(evaluations))]
    numbers = [
        _with_evaluation(metric_values(analysis), evaluation)
        for analysis, evaluation in zip(analyses, by_model, strict=True)
    ]
    variants = []
    for index, (analysis, values, evaluation) in enumerate(zip(analyses, numbers, by_model, strict=True)):
        kind, scheme = precision(analysis)
        variants.append(
            Variant(
                precision=kind,
                quantization_scheme=scheme,
                model_path=shorten_middle(analysis.model.file.name),
                size_bytes=analysis.model.file.bytes + analysis.model.file.external_bytes,
                metrics=dict(values),
                lower_bounds=dict(lower_bounds(analysis)),
                evaluation=None if evaluation is None else shorten_middle(evaluation.file),
                precision_breakdown=precision_breakdown(analysis),
                hardware_estimates=estimates(analysis),
                deltas_vs_baseline=dict(deltas(numbers[0], values)) if index else None,
            )
        )
    infos = [_alignment(alignment, index + 1) for index, alignment in enumerate(alignments)]
    return Comparison(
        schema_version=SCHEMA,
        generator=generator(),
        model_family_id=shorten_middle(PurePath(analyses[0].model.file.name).stem),
        baseline_precision=variants[0].precision,
        variants=variants,
        alignment=infos[0],
        other_alignments=infos[1:],
        failed=list(failed),
        impact=_impact(analyses, by_model, alignments),
    )


def _with_evaluation(values: dict[str, Number], evaluation: Evaluation | None) -> dict[str, Number]:
    """Add the metrics of an evaluation; names that are already used get the prefix ``eval.``."""
    if evaluation is None:
        return values
    metrics = dict(values)
    for name, value in [*evaluation.metrics.items(), *evaluation.perf.items()]:
        metrics[f"eval.{name}" if name in metrics else name] = value
    return metrics


def _impact(
    analyses: Sequence[Analysis], evaluations: Evaluations, alignments: Sequence[Alignment]
) -> ImpactInfo:
    gains = impact(analyses, evaluations)
    counts = core_precisions(alignments)
    first = gains.points[0]
    return ImpactInfo(
        quality_metric=gains.quality,
        lower_is_better=gains.lower_is_better,
        latency_metric=gains.latency,
        front_of=list(gains.axes),
        variants=[
            VariantImpact(
                model_path=shorten_middle(analysis.model.file.name),
                size_ratio=point.size / first.size if first.size else 1.0,
                latency_ms=point.latency,
                speedup=gains.speedup(index),
                quality=point.quality,
                quality_change=_change_from(point.quality, first.quality),
                on_front=point.on_front,
                core_operators=counts[index],
            )
            for index, (analysis, point) in enumerate(zip(analyses, gains.points, strict=True))
        ],
    )


def _change_from(value: float | None, first: float | None) -> float | None:
    return None if value is None or first is None else value - first


def _alignment(alignment: Alignment, right: int) -> AlignmentInfo:
    return AlignmentInfo(
        left=0,
        right=right,
        score_macs=alignment.score_macs,
        score_nodes=alignment.score_nodes,
        verdict=alignment.verdict.value,
        core_operators=list(alignment.units),
        core_matched=alignment.matched,
        pairs=[
            ComparedPair(
                left=list(pair.left),
                right=list(pair.right),
                core=shorten_middle(pair.core),
                changes=[_change(detail) for detail in pair.details],
            )
            for pair in alignment.pairs
        ],
        only_left=list(alignment.only_left),
        only_right=list(alignment.only_right),
        interface=[_change(detail) for detail in alignment.interface],
        file=[_change(detail) for detail in alignment.file],
        weights_read=alignment.weights_read,
        run=alignment.run,
        not_compared=not_compared(alignment),
        same=alignment.same,
        blocks=[
            ComparedBlock(
                left=None if block.left is None else shorten_middle(block.left),
                right=None if block.right is None else shorten_middle(block.right),
                pairs=block.pairs,
                changed=dict(block.changed),
                only_left=block.only_left,
                only_right=block.only_right,
                macs_left=block.macs[0],
                macs_right=block.macs[1],
            )
            for block in block_differences(alignment)
        ],
    )


def _change(detail: Detail) -> ComparedChange:
    return ComparedChange(
        kind=NAMES[detail.kind],
        what=shorten_middle(detail.what),
        left=shorten_middle(detail.left),
        right=shorten_middle(detail.right),
        distance=detail.distance,
        largest=detail.largest,
    )
