"""Measured latencies for the points of a sensitivity curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from py_autodoc.errors import OptionError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.outputs import scratch
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.runner import compare_precisions
from py_autodoc.sensitivity import Sensitivity
from py_autodoc.sensitivity.document import CurvePoint

MOST = 8
"""Maximum number of files, not counting the one for the target."""
RUNS, WARMUP = 30, 5
_RANGES = 32
"""Number of samples for ranges, on which latency does not depend."""
Step = Callable[[str, int, int], None]


def measure_mixtures(
    model: PathLike,
    found: Sensitivity,
    data: Any = None,
    *,
    runs: int = RUNS,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    progress: Step | None = None,
) -> Sensitivity:
    """Return the sensitivity with the measured latency of mixtures.

    Each mixture is quantized to a file with its layers in float. All files run in turn with the float model,
    on one sample after another. If the curve has more than eight points, eight spread over it are measured,
    and the one of the target.

    Args:
        model: the float model of ``found``.
        found: result of ``sensitivity`` with a curve.
        data: as for ``sensitivity``.
        runs: timed runs of each file.
        bindings: values of symbolic dimensions.
        input_shapes: full shapes of inputs.
        progress: called with each step.

    Raises:
        OptionError: there is no curve.
        InputError, AnalysisError: as ``quantize`` and ``compare_precisions``.
    """
    tell = progress or (lambda step, done, total: None)
    if not found.curve:
        raise OptionError(
            "no-mixtures",
            "Mixtures can only be measured if all layers fit into memory.",
            "Allow more memory (--memory) or time (--budget).",
        )
    count = len(found.layers)
    points = [one for one in found.curve if one.float_layers < count]
    places = np.unique(np.linspace(0, len(points) - 1, min(MOST, len(points))).round().astype(int))
    chosen = {points[at].float_layers for at in places}
    if found.choice is not None and found.choice.reached and found.choice.point.float_layers < count:
        chosen.add(found.choice.point.float_layers)
    recipe = Recipe(
        activations=found.activations,
        weights="s7" if found.weights == "s7" else "",
        per_channel=found.per_channel,
    )
    ranking = [one.output for one in found.layers]
    with scratch() as folder:
        files: dict[str, PathLike] = {"float": model}
        for done, number in enumerate(sorted(chosen)):
            tell("quantizing", done, len(chosen))
            path = folder / f"{number}.onnx"
            quantize(
                model,
                path,
                data,
                replace(recipe, exclude=ranking[:number]),
                samples=_RANGES,
                random_data=data is None,
                bindings=bindings,
                input_shapes=input_shapes,
                compare=False,
            )
            files[str(number)] = path
        ran = compare_precisions(
            files,
            data,
            runs=runs,
            warmup=WARMUP,
            bindings=bindings,
            input_shapes=input_shapes,
            memory=False,
            progress=lambda done, total: tell("running", done, total),
        )
    times = {one.name: one.latency.low_ms for one in ran.variants}

    def timed(point: CurvePoint) -> CurvePoint:
        ms = times["float"] if point.float_layers == count else times.get(str(point.float_layers))
        return replace(point, measured_ms=ms)

    choice = found.choice
    return replace(
        found,
        curve=[timed(one) for one in found.curve],
        choice=None if choice is None else replace(choice, point=timed(choice.point)),
        measured_on=ran.machine.cpu,
        measured_float_ms=times["float"],
    )
