"""The accuracy of the file that ``quantize`` writes, where integer kernels make it another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from py_autodoc.errors import AutodocError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.int8_kernels.targets import EXACT_TARGET
from py_autodoc.outputs import scratch
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.sensitivity import Sensitivity
from py_autodoc.sensitivity.document import WrittenFigures


def with_written(
    model: PathLike,
    found: Sensitivity,
    data: Any = None,
    *,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
) -> Sensitivity:
    """Return the sensitivity with the figures of the written file, if sums saturate on this machine.

    The scores of layers compute products in float. The file is less accurate where sums saturate.

    Args:
        model: the float model of ``found``.
        found: result of ``sensitivity``.
        data: as for ``sensitivity``.
        bindings: values of symbolic dimensions.
        input_shapes: full shapes of inputs.
    """
    if found.kernels_here != "pairs" or found.weights != "s8":
        return found
    recipe = Recipe(
        activations=found.activations,
        weights=found.weights,
        per_channel=found.per_channel,
        target=EXACT_TARGET,
    )
    try:
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
            )
    except AutodocError as error:
        return replace(found, written=WrittenFigures(here_db=None, exact_db=None, not_measured=str(error)))
    output = next((output for output in result.outputs if output.reference == found.output), None)
    if output is None or output.error_fused is None or output.error_target is None:
        why = result.kernels.not_measured if result.kernels is not None else ""
        why = why or "the output cannot be compared"
        return replace(found, written=WrittenFigures(here_db=None, exact_db=None, not_measured=why))
    figures = WrittenFigures(
        here_db=output.error_fused.sqnr_db, exact_db=output.error_target.sqnr_db, not_measured=""
    )
    return replace(found, written=figures)
