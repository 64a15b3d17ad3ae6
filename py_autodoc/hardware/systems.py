"""Systems with several devices: what a data sheet lists as one machine."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from py_autodoc.hardware.profile import profiles_folder

FILE = "systems.json"


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A machine with ``device_count`` devices of one kind."""

    id: str
    name: str
    device_id: str
    device_count: int
    source: str


@lru_cache(maxsize=1)
def systems() -> tuple[System, ...]:
    """Return the known systems, smallest first. Read once."""
    entries = msgspec.json.decode((profiles_folder() / FILE).read_bytes(), type=list[System])
    return tuple(sorted(entries, key=lambda system: (system.device_count, system.id)))


def system_of(device: str, count: int) -> str | None:
    """Return the name of the smallest system with at least ``count`` such devices; None without one."""
    if count < 2:
        return None
    return next(
        (system.name for system in systems() if system.device_id == device and system.device_count >= count),
        None,
    )
