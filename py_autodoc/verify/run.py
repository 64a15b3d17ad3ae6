"""Runs a model and its reference on the same samples and compares what they compute, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from py_autodoc.errors import AnalysisError
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import Sample
from py_autodoc.verify.capture import CapturedTensors, Scaled, groups
from py_autodoc.verify.distance import Agreement, Distance
from py_autodoc.verify.document import (
    AGREES,
    DIVERGES,
    Verification,
    VerifiedLayer,
    VerifiedOutput,
    error_of,
    output_of,
)
from py_autodoc.verify.references import Array, Reference, ReferencePoint, ReferencePoints

Progress = Callable[[int, int], None]
_OTHER_SIZES = "other sizes"


@dataclass(slots=True)
class _Sums:
    """Of each layer the sums over all samples; None where sizes differ after all."""

    layers: list[Distance | None]
    outputs: list[Distance]
    fused: list[Distance]
    agreements: list[Agreement]
    not_alike: set[int] = field(default_factory=set)


def verified(
    analysis: Analysis,
    captured: CapturedTensors,
    reference: Reference,
    samples: Sequence[Sample],
    data: str,
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Compare a model with a reference on some samples.

    Every operator runs as it stands in the file, so that both compute what they say; the outputs are compared
    once more as ONNX Runtime runs the model, with its fused kernels. Tensors of 256 MB are kept at a time, so
    both run once for each such group of layers and each sample.

    Args:
        analysis: of the model, with all sizes known.
        captured: the model's file.
        reference: what it is compared with.
        samples: values of the inputs.
        data: where these are from, in words.
        tolerance: relative error that is accepted; None: by the precision of both.
        progress: told how many passes are done, of how many.

    Raises:
        InputError: inputs do not correspond, or there is nothing to compare.
        AnalysisError: ONNX Runtime refuses a model, or fails on a sample.
    """
    points = reference.points(analysis, captured)
    accepted, why = (tolerance, "given") if tolerance is not None else reference.tolerance(analysis)
    sums = _measured(points, captured, reference, samples, progress or (lambda done, total: None))
    if not sums.outputs and not sums.layers:
        raise AnalysisError(
            "nothing-to-compare", f"{captured.name} and {reference.name} have nothing in common."
        )
    layers = _layers(analysis, points, sums, accepted)
    missed = dict(points.missed)
    alike = sum(one is None for one in sums.layers)
    if alike:
        missed[_OTHER_SIZES] = missed.get(_OTHER_SIZES, 0) + alike
    outputs = _outputs(points, sums)
    wrong = any(one.error.size > accepted for one in outputs) or (
        not outputs and any(one.diverges for one in layers)
    )
    return Verification(
        model=captured.name,
        reference=reference.name,
        verdict=DIVERGES if wrong else AGREES,
        tolerance=accepted,
        tolerance_reason=why,
        samples=len(samples),
        data=data,
        outputs=outputs,
        first=next(
            (at for at, one in enumerate(layers) if one.diverges and one.error_before <= accepted), None
        ),
        layers=layers,
        compared=len(layers),
        pairs=len(points.layers) + sum(points.missed.values()),
        not_compared=dict(sorted(missed.items(), key=lambda one: (-one[1], one[0]))),
    )


def _measured(
    points: ReferencePoints,
    captured: CapturedTensors,
    reference: Reference,
    samples: Sequence[Sample],
    progress: Progress,
) -> _Sums:
    sums = _Sums(
        [Distance() for _ in points.layers],
        [Distance() for _ in points.outputs],
        [Distance() for _ in points.outputs],
        [Agreement() for _ in points.outputs],
    )
    parts = list(groups([one.bytes for one in points.layers]))
    total, done = (len(parts) + 2) * len(samples), 0
    for part in parts:
        chosen = [points.layers[at] for at in part]
        mine = [one.model for one in chosen]
        session, other = captured.session(mine), reference.session([one.key for one in chosen])
        for at, sample in enumerate(samples):
            pairs = zip(other.values(sample, at), session.values(sample, mine), strict=True)
            for number, (theirs, ours) in zip(part, pairs, strict=True):
                _add(sums, number, points.layers[number], theirs, ours)
            done += 1
            progress(done, total)
    outputs = [Scaled(one[0]) for one in points.outputs]
    for fuse, held in ((False, sums.outputs), (True, sums.fused)):
        captured.fuse = fuse
        session, other = captured.session(outputs), reference.session([one[2] for one in points.outputs])
        for at, sample in enumerate(samples):
            pairs = zip(other.values(sample, at), session.values(sample, outputs), strict=True)
            for number, (theirs, ours) in enumerate(pairs):
                _add_output(theirs, ours, held[number], None if fuse else sums.agreements[number])
            done += 1
            progress(done, total)
    captured.fuse = False
    return sums


def _add(sums: _Sums, number: int, point: ReferencePoint, theirs: Array, ours: Array) -> None:
    held = sums.layers[number]
    if held is None:
        return
    turned = ours
    if point.permuted and ours.ndim == len(point.permuted):
        turned = np.transpose(ours, point.permuted)
    same = [size for size in theirs.shape if size != 1] == [size for size in turned.shape if size != 1]
    if not same or theirs.dtype == object:
        sums.layers[number] = None
    else:
        held.add(theirs, turned)


def _add_output(theirs: Array, ours: Array, held: Distance, agreement: Agreement | None) -> None:
    if theirs.shape != ours.shape or theirs.dtype.kind not in "biufV" or ours.dtype.kind not in "biufV":
        held.broken += 1
        held.exact = False
        held.count += 1
        return
    held.add(theirs, ours)
    if agreement is not None and theirs.dtype.kind == "f":
        agreement.add(theirs, ours)


def _layers(analysis: Analysis, points: ReferencePoints, sums: _Sums, accepted: float) -> list[VerifiedLayer]:
    """The layers in the order in which the model runs, each with the error that it began with."""
    model = analysis.model
    order = {node: at for at, node in enumerate(model.graphs[0].nodes)}
    known = [
        (point, held) for point, held in zip(points.layers, sums.layers, strict=True) if held is not None
    ]
    known.sort(key=lambda one: order.get(one[0].node, -1))
    tensors = {t.name: t.id for t in model.tensors if t.graph == 0}
    errors = {tensors[point.model.tensor]: held.relative for point, held in known}
    before = _before(analysis, errors)
    found = []
    for point, held in known:
        node, relative = model.nodes[point.node], held.relative
        found.append(
            VerifiedLayer(
                name=".".join(node.scope) or node.name or node.op_type,
                op=node.op_type,
                tensor=point.model.tensor,
                reference_tensor=point.shown,
                nodes=list(point.nodes),
                reference_nodes=list(point.reference_nodes),
                error=error_of(held),
                error_before=before[tensors[point.model.tensor]],
                diverges=relative is not None and relative > accepted,
            )
        )
    return found


def _before(analysis: Analysis, errors: dict[int, float | None]) -> dict[int, float]:
    """Compared tensor → the largest finite error of the compared tensors that it is computed from."""
    model = analysis.model
    carried: dict[int, float] = {}
    before: dict[int, float] = {}
    for number in model.graphs[0].nodes:
        node = model.nodes[number]
        brought = max((carried.get(tensor, 0.0) for tensor in node.inputs if tensor >= 0), default=0.0)
        for tensor in node.outputs:
            if tensor < 0:
                continue
            if tensor in errors:
                before[tensor] = brought
                carried[tensor] = _finite(errors[tensor])
            else:
                carried[tensor] = brought
    return before


def _finite(error: float | None) -> float:
    return 1e9 if error is None or math.isinf(error) else error


def _outputs(points: ReferencePoints, sums: _Sums) -> list[VerifiedOutput]:
    return [
        output_of(mine, theirs, sums.outputs[at], sums.fused[at], sums.agreements[at])
        for at, (mine, theirs, _) in enumerate(points.outputs)
    ]
