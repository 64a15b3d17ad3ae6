"""Errors of a model as a target computes it, where this machine's integer kernels give something else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from py_autodoc.errors import AutodocError
from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.judge import exact_run, judge
from py_autodoc.int8_kernels.model_run import NotMeasured
from py_autodoc.int8_kernels.saturating import saturating_nodes
from py_autodoc.ort import read_model
from py_autodoc.samples import Sample
from py_autodoc.verify.capture import CapturedTensors, dequantize, values_of
from py_autodoc.verify.distance import Distance, add_values
from py_autodoc.verify.document import Error, error_of
from py_autodoc.verify.references import Reference, ReferencePoint, ReferencePoints


def target_errors(
    captured: CapturedTensors,
    reference: Reference,
    points: ReferencePoints,
    samples: Sequence[Sample],
    target: str,
) -> tuple[IntegerKernels | None, list[Distance] | None]:
    """Return the kernels of the measurement, and the errors of the outputs as the target computes them.

    The errors are None if they are those of this machine, or cannot be measured; ``kernels`` says which.
    """
    judgement = judge(captured.path, captured.proto, len(samples), target)
    if judgement is None or judgement.run is None:
        return (None if judgement is None else judgement.kernels), None
    names = [name for name, _, _ in points.outputs]
    distances = [Distance() for _ in names]
    other = reference.session([key for _, _, key in points.outputs])
    try:
        for number, sample in enumerate(samples):
            actual = judgement.run.values(sample, names)
            for distance, expected, value in zip(
                distances, other.values(sample, number), actual, strict=True
            ):
                add_values(expected, values_of(value), distance)
    except NotMeasured as why:
        return judgement.without_run(why).kernels, None
    except AutodocError as error:
        return judgement.without_run(NotMeasured(f"ONNX Runtime fails: {error}")).kernels, None
    return judgement.kernels, distances


def exact_error(
    captured: CapturedTensors,
    reference: Reference,
    point: ReferencePoint,
    samples: Sequence[Sample],
    kernels: IntegerKernels,
) -> Error | None:
    """Return the error of a layer with exact sums; None if this machine's do not saturate in the file."""
    if kernels.here == "exact":
        return None
    model = read_model(captured.path, weights=True)
    if not any(saturating_nodes(model)):
        return None
    request, distance = point.model, Distance()
    names = [request.tensor]
    names += [name for name in (request.scale, request.zero_point) if name and name not in captured.constants]
    other = reference.session([point.key])
    try:
        run = exact_run(captured.path, model, len(samples))
        for number, sample in enumerate(samples):
            values = dict(zip(names, run.values(sample, names), strict=True))
            actual = dequantize(request, {**captured.constants, **values})
            if point.permutation and actual.ndim == len(point.permutation):
                actual = np.transpose(actual, point.permutation)
            expected = next(iter(other.values(sample, number)))
            add_values(expected, actual.reshape(expected.shape), distance)
    except (NotMeasured, AutodocError, ValueError):
        return None
    return error_of(distance)
