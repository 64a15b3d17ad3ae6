"""The target of a quantization that this machine is."""

from __future__ import annotations

import platform

from py_autodoc.errors import RequirementError
from py_autodoc.ort_kernels import saturates

__all__ = ["current_runtime", "saturates"]
_ARM = ("arm", "aarch64")


def current_runtime() -> str:
    """Return the target of this machine: ``cpu-arm``, ``cpu-avx2`` where sums saturate, or ``cpu-vnni``.

    Without ONNX Runtime, which is asked, it is ``cpu-avx2``: its defaults are exact on every processor.
    """
    if platform.machine().lower().startswith(_ARM):
        return "cpu-arm"
    try:
        return "cpu-avx2" if saturates() else "cpu-vnni"
    except RequirementError:
        return "cpu-avx2"
