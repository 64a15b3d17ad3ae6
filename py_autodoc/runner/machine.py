"""Describe the machine of a measurement."""

from __future__ import annotations

import os
import platform

import msgspec

from py_autodoc.hardware.detect import cpu
from py_autodoc.ort import onnxruntime
from py_autodoc.version import version

_BUSY = 0.5
"""Runnable processes per CPU from which the machine counts as busy."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Processor, versions and load."""

    cpu: str
    flags: list[str]
    """Instruction sets that affect the speed of products, and saturation of int8 products."""
    processors: int
    system: str
    load: float | None
    """Load average of the last minute before the measurement; null if unknown."""
    busy: bool
    onnxruntime: str
    autodoc: str


def machine() -> Machine:
    """Return the current machine. Raises: RequirementError if ONNX Runtime is missing."""
    facts = cpu()
    count = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Machine(
        cpu=facts["name"],
        flags=facts["flags"],
        processors=count,
        system=f"{platform.system()} {platform.machine()}",
        load=load,
        busy=load is not None and load > _BUSY * count,
        onnxruntime=onnxruntime("A run").__version__,
        autodoc=version(),
    )
