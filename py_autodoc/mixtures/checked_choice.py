"""Check the target of a sensitivity measurement on the file that ``quantize`` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from py_autodoc.errors import AutodocError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.outputs import scratch
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.sensitivity import Sensitivity
from py_autodoc.sensitivity.document import Choice, Quality
from py_autodoc.sensitivity.float_layers import target
from py_autodoc.sensitivity.scores import Score

_MOST_FILES = 8
_BYTES_SAVED = 3
"""Bytes that a weight in 8 bits takes less than one in float32."""


def with_checked_choice(
    model: PathLike,
    found: Sensitivity,
    data: Any = None,
    *,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
) -> Sensitivity:
    """Return the sensitivity with a choice whose file reaches the target.

    A file also quantizes products of two computed tensors and rounds results between layers, so it can be
    less accurate than the mixture. More of the most sensitive layers then stay in float, up to twice as
    many with each of at most eight files, until one reaches the target.

    Args:
        model: the float model of ``found``.
        found: result of ``sensitivity`` with a target; without one it is returned as it is.
        data: as for ``sensitivity``.
        bindings: values of symbolic dimensions.
        input_shapes: full shapes of inputs.
    """
    choice = found.choice
    if choice is None:
        return found
    goal = target(choice.target)
    if goal.name == "kl" or found.weights == "s4":
        what = "the file's KL divergence is not measured" if goal.name == "kl" else "no file has s4 weights"
        return replace(found, choice=replace(choice, not_checked=what))
    ranking = [layer.output for layer in found.layers]
    count = choice.point.float_layers
    checked = choice
    for _ in range(_MOST_FILES):
        if count >= len(ranking):
            break  # The file would be the float model.
        try:
            quality = _written(model, found, ranking[:count], data, bindings, input_shapes)
            reached = goal.met(Score(quality.sqnr_db, quality.relative_error, quality.kl, quality.agreement))
        except AutodocError as error:
            return replace(found, choice=replace(choice, not_checked=str(error)))
        checked = _choice(found, choice, count, quality, reached)
        if checked.reached:
            break
        count = min(max(count + 1, 2 * count), len(ranking))
    return replace(found, choice=checked)


def _choice(found: Sensitivity, choice: Choice, count: int, quality: Quality, reached: bool) -> Choice:
    """Return the choice with so many float layers and the figures of its file."""
    before = choice.point.float_layers
    more = sum(layer.weight_values for layer in found.layers[before:count])
    point = next((point for point in found.curve if point.float_layers == count), None)
    if count == before:
        point = choice.point
    if point is None:
        weight_bytes = choice.point.weight_bytes + _BYTES_SAVED * more
        point = replace(
            choice.point,
            float_layers=count,
            weight_bytes=weight_bytes,
            latency_ms=None,
            quality=quality,
        )
    outputs = [layer.output for layer in found.layers[:count]]
    return replace(choice, reached=reached, float_layers=outputs, point=point, written=quality)


def _written(
    model: PathLike,
    found: Sensitivity,
    float_layers: list[str],
    data: Any,
    bindings: Mapping[str, int] | None,
    input_shapes: Mapping[str, Sequence[int]] | None,
) -> Quality:
    """Return the figures of a file as the target, this machine, computes it."""
    recipe = Recipe(
        activations=found.activations,
        # s8 weights are refused where their sums saturate; the recipe has its own default there.
        weights=found.weights if found.kernels_here == "exact" or found.weights != "s8" else "",
        per_channel=found.per_channel,
        exclude=float_layers,
    )
    with scratch() as folder:
        result = quantize(
            model,
            folder / "quantized.onnx",
            data,
            recipe,
            samples=found.samples,
            random_data=data is None,
            bindings=bindings,
            input_shapes=input_shapes,
            tags=False,
        )
    output = next(output for output in result.outputs if output.reference == found.output)
    error = output.error_fused or output.error
    return Quality(
        sqnr_db=error.sqnr_db,
        relative_error=error.relative_error_or_inf,
        kl=None,
        agreement=output.agreement,
    )
