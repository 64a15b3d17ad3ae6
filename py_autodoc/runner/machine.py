"""What a measurement was made on."""

from __future__ import annotations

import os
import platform

import msgspec

from py_autodoc.hardware.detect import cpu
from py_autodoc.ort import onnxruntime
from py_autodoc.version import version

_BUSY = 0.5
"""Processes that want a processor, for each processor, from which the machine is busy."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Processor, versions and load."""

    cpu: str
    flags: list[str]
    """Instruction sets that decide how fast products are, and whether those of int8 saturate."""
    processors: int
    system: str
    load: float | None
    """Processes that wanted a processor in the last minute, before the measurement; null where not known."""
    busy: bool
    onnxruntime: str
    autodoc: str


def machine() -> Machine:
    """This machine, now. Raises: RequirementError: ONNX Runtime is missing."""
    known = cpu()
    count = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Machine(
        cpu=known["name"],
        flags=known["flags"],
        processors=count,
        system=f"{platform.system()} {platform.machine()}",
        load=load,
        busy=load is not None and load > _BUSY * count,
        onnxruntime=onnxruntime("A run").__version__,
        autodoc=version(),
    )
