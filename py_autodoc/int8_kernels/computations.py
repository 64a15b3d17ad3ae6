"""What the targets of a quantization compute. The server asks for their names: nothing heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from py_autodoc.errors import OptionError

if TYPE_CHECKING:
    from py_autodoc.quantize.reference.products import Kernel


@dataclass(frozen=True, slots=True)
class Computation:
    """How a target computes products of 8-bit operands."""

    kernel: Kernel
    """``pairs`` if sums of two products of u8 and s8 saturate at 16 bits, else ``exact``."""
    keeps_s8: bool = False
    """Signed activations stay signed. ONNX Runtime on x86 makes them unsigned, which gives u8·s8."""


COMPUTATIONS: Final = {
    "cpu-vnni": Computation("exact"),
    "cpu-avx2": Computation("pairs"),
    "cpu-arm": Computation("exact", keeps_s8=True),
    "tensorrt": Computation("exact", keeps_s8=True),
}
EXACT_TARGET: Final = "cpu-vnni"
"""A target that runs the same graph as this machine, with exact sums."""
EXACT: Final = COMPUTATIONS[EXACT_TARGET]


def computation(target: str) -> Computation:
    """Return what a target computes; of an unknown or empty one, exact sums."""
    return COMPUTATIONS.get(target, EXACT)


def checked_target(target: str) -> str:
    """Return the target; empty for none. Raises: OptionError: there is no such target."""
    if target and target not in COMPUTATIONS:
        raise OptionError(
            "unknown-target", f"Unknown target {target[:80]!r}.", f"Choose one of {', '.join(COMPUTATIONS)}."
        )
    return target
