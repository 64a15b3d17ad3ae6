"""Sentences about the kernels of a measurement, the same in all commands."""

from __future__ import annotations

from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.targets import COMPUTATIONS
from py_autodoc.units import plural

SATURATING_HERE = "this processor's int8 kernels saturate"
WITHOUT_VNNI = tuple(name for name, target in COMPUTATIONS.items() if target.kernel == "pairs")
REMEDY = "Use --target cpu-avx2 or --weights s7, whose sums do not saturate."
_WITHOUT_TARGET = "Use --weights u8 or s7, whose sums do not saturate."
_KINDS = {"exact": "exact int8 sums", "pairs": "int8 sums that saturate"}


def remedy(target: str) -> str:
    """Return what to do about saturated sums; not to use the target in use."""
    return _WITHOUT_TARGET if target in WITHOUT_VNNI else REMEDY


def kind_text(kernel: str) -> str:
    """Return what kernels compute, as a noun: ``exact int8 sums``."""
    return _KINDS.get(kernel, kernel)


def machine_text(kernels: IntegerKernels | None) -> str:
    """Return ``, exact int8 sums`` for a line that names the machine; empty without integer products."""
    return "" if kernels is None else f", {kind_text(kernels.here)}"


def target_text(kernels: IntegerKernels) -> str:
    """Return ``as cpu-avx2 computes (int8 sums that saturate)``, or ``with exact int8 sums``."""
    kind = kind_text(kernels.target_computes)
    return f"as {kernels.target} computes ({kind})" if kernels.target else f"with {kind}"


def decibels(sqnr_db: float | None) -> str:
    """Return a signal-to-noise ratio; None is no difference."""
    return "no difference" if sqnr_db is None else f"{sqnr_db:.1f} dB"


def both_figures(kernels: IntegerKernels, here: float | None, target: float | None) -> str:
    """Return the figures of this machine and of the target as a sentence without its full stop."""
    reason = SATURATING_HERE if kernels.here == "pairs" else "exact int8 sums"
    return f"{decibels(here)} here ({reason}), {decibels(target)} {target_text(kernels)}"


def not_measured(kernels: IntegerKernels) -> str:
    """Return that there is no figure for the target, and why."""
    return f"{target_text(kernels)}: not measured ({kernels.not_measured})"


def kernel_sentence(kernels: IntegerKernels | None) -> str:
    """Return on which kernels results were measured; empty without integer products."""
    if kernels is None:
        return ""
    count = kernels.saturating_operators
    if count is None:
        where = "saturate" if kernels.here == "pairs" else "are exact"
        return f"Int8 sums {where} on this processor; which operators can saturate is unknown."
    operators = plural(count, "operator")
    if kernels.here == "pairs" and count:
        return f"The int8 sums of {operators} can saturate on this processor, and do not with VNNI or on ARM."
    if kernels.here == "pairs":
        return "No int8 sums of this model saturate on this processor."
    if count:
        return f"Int8 sums are exact on this processor; without VNNI those of {operators} can saturate."
    return "Int8 sums are exact on this processor, and on those without VNNI."
