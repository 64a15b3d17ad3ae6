"""A verification as text."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.units import plural
from py_autodoc.verify.document import AGREES, Error, Verification, VerifiedLayer

SHOWN = 12
"""Layers that are listed unless all are asked for."""
_GAP_DB = 3.0
"""Loss of ONNX Runtime's own kernels from which it is told."""
_WIDTH = 56


def verification_lines(found: Verification, every: bool = False, listed: bool = True) -> Iterator[str]:
    """Verdict, outputs, the first layer that diverges, and the layers with the largest errors.

    Args:
        found: what to tell of.
        every: list all layers.
        listed: list layers at all.
    """
    yield (
        f"{found.model} {found.verdict} with {found.reference}."
        if found.verdict == AGREES
        else (f"{found.model} diverges from {found.reference}.")
    )
    yield (
        f"Tolerance: a relative error of {found.tolerance:g} ({found.tolerance_reason}). "
        f"Data: {plural(found.samples, 'sample')}, {found.data}."
    )
    yield ""
    yield "Outputs"
    for one in found.outputs:
        name = one.name if one.name == one.reference else f"{one.name} ({one.reference})"
        agreement = "" if one.agreement is None else f", largest value in the same place {one.agreement:.1%}"
        yield f"  {name}: {error_text(one.error)}{agreement}"
        lost = _lost(one.error, one.error_fused)
        if lost:
            yield f"    {lost}"
    yield ""
    if found.first is not None:
        first = found.layers[found.first]
        yield f"First layer that diverges: {first.name} ({first.op}): {error_text(first.error)}."
        yield f"  Tensor {first.tensor}, in the reference {first.reference_tensor}."
    elif found.layers:
        yield "No layer diverges."
    chosen = [] if not listed else list(found.layers) if every else worst(found.layers)
    if chosen:
        yield "Layers" if every else "Layers that add the largest errors"
        for layer in chosen:
            mark = "!" if layer.diverges else " "
            yield f"{mark} {_cut(f'{layer.name} ({layer.op})'):<{_WIDTH}}  {error_text(layer.error)}"
    yield f"Compared: {found.compared} of {plural(found.pairs, 'layer')} that both have."
    for reason, count in found.not_compared.items():
        yield f"  {count} not: {reason}"


def worst(layers: list[VerifiedLayer]) -> list[VerifiedLayer]:
    """Those whose error grew the most over that of their inputs, in the order in which the model runs."""
    grown = sorted(layers, key=lambda one: one.error_before - one.error.size)[:SHOWN]
    kept = {id(one) for one in grown if one.error.size > one.error_before}
    return [one for one in layers if id(one) in kept]


def error_text(one: Error) -> str:
    """Relative error, decibels, largest difference."""
    if one.exact:
        return "equal"
    if one.not_finite:
        return f"{plural(one.not_finite, 'value')} NaN or infinite on one side only, or of other sizes"
    if one.relative_error is None:
        return f"the reference is all zero, largest difference {one.largest_difference:.3g}"
    decibels = "" if one.sqnr_db is None else f", SQNR {one.sqnr_db:.1f} dB"
    largest = f"largest difference {one.largest_difference:.3g}"
    return f"relative error {one.relative_error:.2g}{decibels}, {largest}"


def _lost(plain: Error, fused: Error | None) -> str:
    """What ONNX Runtime's fused kernels lose over the file as it stands."""
    if fused is None or fused.sqnr_db is None:
        return ""
    if plain.sqnr_db is not None and plain.sqnr_db - fused.sqnr_db < _GAP_DB:
        return ""
    if plain.sqnr_db is None and fused.sqnr_db > 100:
        return ""
    return (
        f"As ONNX Runtime runs it on this CPU: {error_text(fused)}. Its fused or integer kernels lose more "
        "than the file does; 8-bit weights saturate on CPUs without VNNI."
    )


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
