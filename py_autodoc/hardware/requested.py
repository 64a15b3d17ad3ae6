"""The profile of a requested device: an id, a file, or ``auto`` for this machine."""

from __future__ import annotations

from py_autodoc.errors import OptionError
from py_autodoc.hardware.detect import cpu, gpus
from py_autodoc.hardware.profile import Profile, estimable, find_profile, user_profile

AUTO = "auto"
THIS_MACHINE = "this-machine"
"""Name of the profile that ``hardware calibrate`` writes."""


def requested_profile(requested: str) -> Profile:
    """Return the profile of an id, alias or file; for ``auto`` that of this machine.

    ``auto`` is the first GPU with a profile, else the calibrated profile of this machine, else that of its
    CPU. Raises: OptionError, as ``find_profile``; or this machine has none of them.
    """
    if requested.strip().lower() != AUTO:
        return find_profile(requested)
    found = gpus()
    for device in found:
        if device["profile"]:
            return find_profile(device["profile"])
    calibrated = user_profile(THIS_MACHINE)
    if calibrated is not None:
        return calibrated
    processor = cpu()
    if processor["profile"] and estimable(find_profile(processor["profile"])):
        return find_profile(processor["profile"])
    names = ", ".join(device["name"] for device in found) or "no GPU was detected"
    raise OptionError(
        "no-device-here",
        f"auto: this machine has no known device ({names}; the CPU is {processor['name']}), and is not "
        "calibrated.",
        "Run `onnx-autodoc hardware calibrate` to measure its CPU, or choose a device: --hardware ID.",
    )
