"""Run a model and its reference on the same samples and compare the results, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from py_autodoc.errors import AnalysisError
from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import Sample
from py_autodoc.verify.as_target import exact_error, target_errors
from py_autodoc.verify.capture import CapturedTensors, TensorRequest, groups
from py_autodoc.verify.distance import Agreement, Distance, add_values
from py_autodoc.verify.document import (
    AGREES,
    DIVERGES,
    NOT_COMPARED,
    Verification,
    VerifiedLayer,
    VerifiedOutput,
    error_of,
    output_of,
)
from py_autodoc.verify.matched_tensors import OTHER_SHAPES
from py_autodoc.verify.references import Array, Reference, ReferencePoint, ReferencePoints

Progress = Callable[[int, int], None]
"""Called with the number of passes done and the number of all passes."""
_INFINITE = 1e9
"""Replaces an infinite relative error as the error of an input."""


@dataclass(slots=True)
class _Distances:
    """Differences over all samples."""

    layers: list[Distance | None]
    """Per layer; None if the shapes turned out to differ."""
    outputs: list[Distance]
    fused: list[Distance]
    """Per output, with the optimizations of ONNX Runtime."""
    agreements: list[Agreement]


def compare_with_reference(
    analysis: Analysis,
    captured: CapturedTensors,
    reference: Reference,
    samples: Sequence[Sample],
    data: str,
    tolerance: float | None = None,
    progress: Progress | None = None,
    target: str = "",
) -> Verification:
    """Compare a model with a reference on some samples.

    Every operator runs as in the file. The outputs are compared a second time as ONNX Runtime normally runs
    the model, with fused kernels, and a third time as the target computes, if that differs. Tensors are
    captured in groups of at most 256 MB; model and reference run once per group and sample.

    Args:
        analysis: the analysis of the model, with all dimensions known.
        captured: runs the model.
        reference: the source of the expected values.
        samples: values of the inputs.
        data: description of their source.
        tolerance: accepted relative error; None: determined by the precision of both.
        progress: called with the number of passes done and of all.
        target: whose integer kernels the results are judged for; empty takes that of the model's recipe.

    Raises:
        InputError: the inputs do not correspond.
        AnalysisError: nothing can be compared, ONNX Runtime rejects a model, or a sample fails.
    """
    points = reference.points(analysis, captured)
    accepted, reason = (tolerance, "given") if tolerance is not None else reference.tolerance(analysis)
    distances = _measure(points, captured, reference, samples, progress or (lambda done, total: None))
    if not distances.outputs and not distances.layers:
        raise AnalysisError(
            "nothing-to-compare", f"{captured.name} and {reference.name} have no layer or output in common."
        )
    layers = _layers(analysis, points, distances, accepted)
    skipped = dict(points.skipped)
    other_shapes = sum(distance is None for distance in distances.layers)
    if other_shapes:
        skipped[OTHER_SHAPES] = skipped.get(OTHER_SHAPES, 0) + other_shapes
    kernels, as_target = target_errors(captured, reference, points, samples, target)
    outputs = _outputs(points, distances, kernels, as_target)
    # An output without values is equal, and has no relative error.
    diverges = any(
        not output.error.exact and output.error.relative_error_or_inf > accepted for output in outputs
    ) or (not outputs and any(layer.diverges for layer in layers))
    verdict = DIVERGES if diverges else AGREES if outputs else NOT_COMPARED
    first = next(
        (index for index, layer in enumerate(layers) if layer.diverges and layer.error_before <= accepted),
        None,
    )
    return Verification(
        model=captured.name,
        reference=reference.name,
        verdict=verdict,
        tolerance=accepted,
        tolerance_reason=reason,
        samples=len(samples),
        data=data,
        outputs=outputs,
        outputs_only_model=points.only_model,
        outputs_only_reference=points.only_reference,
        first=first,
        layers=layers,
        compared=len(layers),
        pairs=len(points.layers) + sum(points.skipped.values()),
        not_compared=dict(sorted(skipped.items(), key=lambda item: (-item[1], item[0]))),
        kernels=kernels,
        first_exact=(
            None
            if first is None or kernels is None
            else exact_error(captured, reference, _point_of(points, layers[first]), samples, kernels)
        ),
    )


def _point_of(points: ReferencePoints, layer: VerifiedLayer) -> ReferencePoint:
    return next(point for point in points.layers if point.model.tensor == layer.tensor)


def _measure(
    points: ReferencePoints,
    captured: CapturedTensors,
    reference: Reference,
    samples: Sequence[Sample],
    progress: Progress,
) -> _Distances:
    """Run all passes: the layers in groups, then the outputs, without and with optimizations."""
    distances = _Distances(
        [Distance() for _ in points.layers],
        [Distance() for _ in points.outputs],
        [Distance() for _ in points.outputs],
        [Agreement() for _ in points.outputs],
    )
    layer_groups = list(groups([point.bytes for point in points.layers]))
    total, done = (len(layer_groups) + 2) * len(samples), 0
    for group in layer_groups:
        chosen = [points.layers[index] for index in group]
        requests = [point.model for point in chosen]
        session, other = captured.session(requests), reference.session([point.key for point in chosen])
        for number, sample in enumerate(samples):
            pairs = zip(other.values(sample, number), session.values(sample, requests), strict=True)
            for index, (expected, actual) in zip(group, pairs, strict=True):
                _add_layer(distances, index, points.layers[index], expected, actual)
            done += 1
            progress(done, total)
    requests = [TensorRequest(name) for name, _, _ in points.outputs]
    for fuse, outputs in ((False, distances.outputs), (True, distances.fused)):
        captured.fuse = fuse
        session, other = captured.session(requests), reference.session([key for _, _, key in points.outputs])
        for number, sample in enumerate(samples):
            pairs = zip(other.values(sample, number), session.values(sample, requests), strict=True)
            for index, (expected, actual) in enumerate(pairs):
                agreement = None if fuse else distances.agreements[index]
                add_values(expected, actual, outputs[index], agreement)
            done += 1
            progress(done, total)
    captured.fuse = False
    return distances


def _add_layer(
    distances: _Distances, index: int, point: ReferencePoint, expected: Array, actual: Array
) -> None:
    distance = distances.layers[index]
    if distance is None:
        return
    if point.permutation and actual.ndim == len(point.permutation):
        actual = np.transpose(actual, point.permutation)
    same = [size for size in expected.shape if size != 1] == [size for size in actual.shape if size != 1]
    if not same:
        distances.layers[index] = None
    else:
        distance.add(expected, actual)


def _layers(
    analysis: Analysis, points: ReferencePoints, distances: _Distances, accepted: float
) -> list[VerifiedLayer]:
    """Return the compared layers in execution order, each with the error of its inputs."""
    model = analysis.model
    order = {node: position for position, node in enumerate(model.graphs[0].nodes)}
    compared = [
        (point, distance)
        for point, distance in zip(points.layers, distances.layers, strict=True)
        if distance is not None
    ]
    compared.sort(key=lambda item: order.get(item[0].node, -1))
    ids = {tensor.name: tensor.id for tensor in model.tensors if tensor.graph == 0}
    errors = {ids[point.model.tensor]: distance.relative for point, distance in compared}
    before = _input_errors(analysis, errors)
    layers = []
    for point, distance in compared:
        node, relative = model.nodes[point.node], distance.relative
        layers.append(
            VerifiedLayer(
                name=".".join(node.scope) or node.name or node.op_type,
                op=node.op_type,
                tensor=point.model.tensor,
                reference_tensor=point.reference_name,
                nodes=list(point.nodes),
                reference_nodes=list(point.reference_nodes),
                error=error_of(distance),
                error_before=before[ids[point.model.tensor]],
                diverges=relative is not None and relative > accepted,
            )
        )
    return layers


def _input_errors(analysis: Analysis, errors: dict[int, float | None]) -> dict[int, float]:
    """Map each compared tensor to the largest error of the compared tensors that it is computed from.

    ``errors`` maps compared tensors to their relative errors. Infinite ones count as ``_INFINITE``.
    """
    model = analysis.model
    latest: dict[int, float] = {}
    before: dict[int, float] = {}
    for number in model.graphs[0].nodes:
        node = model.nodes[number]
        inputs = max((latest.get(tensor, 0.0) for tensor in node.inputs if tensor >= 0), default=0.0)
        for tensor in node.outputs:
            if tensor < 0:
                continue
            if tensor in errors:
                before[tensor] = inputs
                latest[tensor] = _finite(errors[tensor])
            else:
                latest[tensor] = inputs
    return before


def _finite(error: float | None) -> float:
    return _INFINITE if error is None or math.isinf(error) else error


def _outputs(
    points: ReferencePoints,
    distances: _Distances,
    kernels: IntegerKernels | None,
    as_target: Sequence[Distance] | None,
) -> list[VerifiedOutput]:
    if as_target is None and kernels is not None and kernels.target and not kernels.differs:
        as_target = distances.fused
    return [
        output_of(
            name,
            other,
            distances.outputs[index],
            distances.fused[index],
            distances.agreements[index],
            None if as_target is None else as_target[index],
        )
        for index, (name, other, _) in enumerate(points.outputs)
    ]
