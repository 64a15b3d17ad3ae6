"""Links between the devices of one machine, from their profiles."""

from __future__ import annotations

import re
from dataclasses import dataclass

from py_autodoc.hardware.profile import Profile

LINKS = ("auto", "nvlink", "pcie")
"""Link options; ``nvlink`` is the device's own link, whatever its vendor calls it."""
_BRIDGED = 2
"""Number of devices that a bridge connects."""


@dataclass(frozen=True, slots=True)
class DeviceLink:
    """``bandwidth`` is the achieved bytes per second in one direction, ``start`` the latency of an exchange.

    NVLink reaches 0.8 of its rate (235 of 300 GB/s on an A100), Infinity Fabric 0.7 (313 of 448 GB/s among
    eight MI300X), PCIe 0.7. 8 µs reproduces gpt-fast's rates over NVLink; the 25 µs of PCIe, and all numbers
    of other links, are assumptions.
    """

    name: str
    bandwidth: float
    start: float
    pcie: bool
    compared: bool
    """True for NVLink, the only one whose times were compared with measurements."""


def link_of(profile: Profile, devices: int, preference: str = "auto") -> DeviceLink | None:
    """Return the link among this many devices; None if unknown."""
    interconnect = profile.interconnect
    if interconnect is None:
        return None
    name, rate = interconnect.link or "", interconnect.link_bytes_per_s_per_direction
    fits = "bridge" not in name or devices <= _BRIDGED
    if preference != "pcie" and name and rate and fits:
        return _direct_link(name, rate, devices)
    if preference == "nvlink":
        return None
    if interconnect.pcie_bytes_per_s_per_direction:
        title = f"PCIe {interconnect.pcie}".strip() if interconnect.pcie else "PCIe"
        return DeviceLink(title, 0.7 * interconnect.pcie_bytes_per_s_per_direction, 25e-6, True, False)
    return None


def _direct_link(name: str, rate: float, devices: int) -> DeviceLink:
    if name.startswith("NVLink"):
        return DeviceLink(name, 0.8 * rate, 8e-6, False, True)
    # Each link connects to one other device: a few devices use only a few of them.
    links = re.search(r"\((\d{1,3}) links\)", name)
    share = min(1.0, (devices - 1) / int(links[1])) if links and devices > 1 else 1.0
    return DeviceLink(name, 0.7 * rate * share, 8e-6 if name.startswith("Infinity") else 25e-6, False, False)
