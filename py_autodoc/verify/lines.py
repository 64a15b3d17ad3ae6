"""The result of a verification as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.text import (
    SATURATING_HERE,
    kernel_sentence,
    kind_text,
    not_measured,
    target_text,
)
from py_autodoc.units import plural
from py_autodoc.verify.document import (
    AGREES,
    DIVERGES,
    NOT_COMPARED,
    Error,
    Verification,
    VerifiedLayer,
    VerifiedOutput,
)
from py_autodoc.verify.half_range import half_notes

MAX_LAYERS = 12
"""Number of layers that are listed by default."""
_FUSION_LOSS_DB = 3.0
"""Loss of SQNR by fused kernels from which it is reported."""
_NEGLIGIBLE_DB = 100
"""SQNR above which the loss by fused kernels is not reported for an output that is equal otherwise."""
_RELATION = {
    AGREES: "agrees with",
    DIVERGES: "diverges from",
    NOT_COMPARED: "was not verified: it has no output in common with",
}
_FILE = "with every operator as in the file"
_FUSED = "Fused or integer kernels are less accurate than the operators of the file."
_MAX_NAMES = 10
"""Number of outputs that a line names."""
_WIDTH = 56
"""Maximum width of the column of layers."""


def verification_lines(
    result: Verification, every_layer: bool = False, list_layers: bool = True
) -> Iterator[str]:
    """Yield the verdict, the outputs, the first diverging layer and the layers that add the largest errors.

    Args:
        result: the verification.
        every_layer: list all layers instead of those that add the largest errors.
        list_layers: False omits the list.
    """
    here = " with exact sums, but not on this machine" if _diverges_here(result) else ""
    yield f"{result.model} {_RELATION[result.verdict]} {result.reference}{here}."
    yield f"Tolerance: relative error {result.tolerance:g} ({result.tolerance_reason})"
    yield f"Data: {plural(result.samples, 'sample')}, {result.data}"
    if result.kernels is not None:
        yield kernel_sentence(result.kernels)
    yield ""
    yield "Outputs"
    for output in result.outputs:
        name = output.name if output.name == output.reference else f"{output.name} ({output.reference})"
        yield from (f"  {text}" for text in output_lines(name, output, result.kernels))
    if not result.outputs:
        yield "  None was compared. Name the outputs as in the reference, or give both equally many."
    for names, side in (
        (result.outputs_only_model, result.model),
        (result.outputs_only_reference, result.reference),
    ):
        if names:
            more = f" and {len(names) - _MAX_NAMES:,} others" if len(names) > _MAX_NAMES else ""
            yield f"  Not compared, only in {side}: {', '.join(names[:_MAX_NAMES])}{more}"
    yield ""
    if result.first is not None:
        first = result.layers[result.first]
        yield f"First diverging layer: {first.name} ({first.op}): {error_text(first.error)}"
        same = first.tensor == first.reference_tensor
        yield f"  Tensor: {first.tensor}" + ("" if same else f" (reference: {first.reference_tensor})")
        if result.saturation_is_the_cause and result.first_exact is not None:
            yield (
                f"  Cause: {SATURATING_HERE} in this layer. With exact sums it agrees: "
                f"{error_text(result.first_exact)}."
            )
    elif result.layers:
        yield "No layer diverges."
    listed = list(result.layers) if every_layer else largest_added_errors(result.layers)
    if list_layers and listed:
        yield ""
        mark = " (!: exceeds the tolerance)" if any(layer.diverges for layer in listed) else ""
        yield f"{'Layers' if every_layer else 'Layers that add the largest errors'}{mark}"
        names = [_shorten(f"{layer.name} ({layer.op})") for layer in listed]
        width = max(map(len, names))
        for name, layer in zip(names, listed, strict=True):
            yield f"{'!' if layer.diverges else ' '} {name:<{width}}  {error_text(layer.error)}"
        yield ""
    yield f"Compared layers: {result.compared:,} of {result.pairs:,}"
    for reason, count in result.not_compared.items():
        yield f"  Not compared: {count:,} ({reason})"
    yield from (
        f"! {note}"
        for note in half_notes(result.half, "Keep these nodes and those that read them in float32.")
    )


def _diverges_here(result: Verification) -> bool:
    """True if the model agrees, but exceeds the tolerance with the saturating kernels of this machine."""
    if result.verdict != AGREES or result.kernels is None or result.kernels.here != "pairs":
        return False
    fused = [output.error_fused for output in result.outputs if output.error_fused is not None]
    return any(not error.exact and error.relative_error_or_inf > result.tolerance for error in fused)


def largest_added_errors(layers: list[VerifiedLayer]) -> list[VerifiedLayer]:
    """Return the layers whose error exceeds that of their inputs the most, in execution order."""
    ranked = sorted(layers, key=lambda layer: layer.error_before - layer.error.relative_error_or_inf)
    ranked = ranked[:MAX_LAYERS]
    chosen = {id(layer) for layer in ranked if layer.error.relative_error_or_inf > layer.error_before}
    return [layer for layer in layers if id(layer) in chosen]


def error_text(error: Error) -> str:
    """Return relative error, SQNR and largest difference, or why there is no relative error."""
    if error.exact:
        return f"equal ({plural(error.texts, 'text')})" if error.texts else "equal"
    if error.not_finite:
        values = plural(error.not_finite, "value")
        return f"{values} cannot be compared (NaN or infinity on one side only, or different shapes)"
    if error.texts:
        texts = f"{error.equal_texts:,} of {plural(error.texts, 'text')} equal"
        numbers = f", largest difference of the numbers {error.largest_difference:.3g}"
        return f"{texts}{numbers if error.largest_difference else ''}"
    if error.relative_error is None:
        return f"the reference is all zero, largest difference {error.largest_difference:.3g}"
    sqnr = "" if error.sqnr_db is None else f", SQNR {error.sqnr_db:.1f} dB"
    return (
        f"relative error {error.relative_error:.2g}{sqnr}, largest difference {error.largest_difference:.3g}"
    )


def agreement_text(agreement: float | None) -> str:
    """Return the top-1 agreement as the end of a line; empty if there are no classes."""
    return "" if agreement is None else f", top-1 agreement {agreement:.1%}"


def output_lines(name: str, output: VerifiedOutput, kernels: IntegerKernels | None) -> Iterator[str]:
    """Yield the errors of an output, each figure once, with what computed it.

    First is the error that users of this machine get: with kernels that saturate, not that of exact sums.
    """
    fused, differs = output.error_fused, kernels is not None and kernels.differs
    file = f"{error_text(output.error)}{agreement_text(output.agreement)}"
    figures: list[tuple[Error, str]] = [(output.error, _FILE)]
    saturates = kernels is not None and kernels.here == "pairs" and kernels.saturating_operators != 0
    if fused is not None and (differs or saturates or _loses(output.error, fused)):
        here = "with the optimizations of ONNX Runtime on this CPU"
        if kernels is not None and (differs or saturates):
            here = f"on this machine ({SATURATING_HERE if saturates else kind_text(kernels.here)})"
        figures.insert(0 if saturates else 1, (fused, here))
    if kernels is not None and differs and output.error_target is not None:
        figures.append((output.error_target, target_text(kernels)))
    groups: dict[str, list[str]] = {}
    for error, label in figures:
        groups.setdefault(error_text(error), []).append(label)
    for index, (text, labels) in enumerate(groups.items()):
        shown = file if _FILE in labels else text
        if index:
            joined = ", ".join(labels)
            line = f"  {joined[:1].upper()}{joined[1:]}: {shown}"
            yield line + ("" if differs or saturates else f". {_FUSED}")
        else:
            yield f"{name}: {shown}" + (f"; {', '.join(labels)}" if labels != [_FILE] else "")
    if kernels is not None and differs and kernels.not_measured and output.error_target is None:
        text = not_measured(kernels)
        yield f"  {text[:1].upper()}{text[1:]}"


def _loses(error: Error, fused: Error) -> bool:
    """Return whether the fused kernels of ONNX Runtime are considerably less accurate than the file."""
    if fused.sqnr_db is None:
        return False
    if error.sqnr_db is None:
        return fused.sqnr_db <= _NEGLIGIBLE_DB
    return error.sqnr_db - fused.sqnr_db >= _FUSION_LOSS_DB


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
