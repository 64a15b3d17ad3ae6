"""Cloud instances: their devices and hourly prices."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.hardware.profile import profiles_folder

FILE = "cloud_instances.json"


class CloudInstance(msgspec.Struct, frozen=True, kw_only=True):
    """An instance type. Prices are approximate on-demand prices in ``region`` at ``price_date``."""

    id: str
    provider: str
    instance_type: str
    device_id: str
    device_count: int
    device_share: float = 1.0
    """Share of a device, for instances with only part of one."""
    approx_on_demand_usd_per_hour: float | None
    """None if no price was found."""
    region: str
    price_date: str
    vcpus: int | None = None
    memory_gib: float | None = None
    interconnect: str | None = None
    confidence: str
    note: str = ""


@lru_cache(maxsize=1)
def instances() -> tuple[CloudInstance, ...]:
    """Return all known instances by provider and price, those without a price last. Read once."""
    found = msgspec.json.decode((profiles_folder() / FILE).read_bytes(), type=list[CloudInstance])

    def rank(one: CloudInstance) -> tuple[str, float, str]:
        return one.provider, one.approx_on_demand_usd_per_hour or float("inf"), one.id

    return tuple(sorted(found, key=rank))


def of_device(device: str, provider: str = "") -> CloudInstance | None:
    """Return the cheapest instance with one whole device of that id; None if none has a price."""
    priced = [
        one
        for one in instances()
        if one.device_id == device
        and one.device_count == 1
        and one.device_share == 1
        and one.approx_on_demand_usd_per_hour is not None
        and provider in ("", one.provider)
    ]
    return min(priced, key=lambda one: one.approx_on_demand_usd_per_hour or 0, default=None)


def of_devices(device: str, count: int, provider: str = "") -> tuple[CloudInstance, float] | None:
    """Return the instance that is cheapest for ``count`` devices, and the dollars per hour for them.

    For larger instances only the share used is counted. None if no instance has a price.
    """
    priced = [
        (one.approx_on_demand_usd_per_hour * count / one.device_count, one.device_count, one.id, one)
        for one in instances()
        if one.device_id == device
        and one.approx_on_demand_usd_per_hour is not None
        and one.device_share == 1
        and one.device_count >= count
        and one.device_count % count == 0
        and provider in ("", one.provider)
    ]
    best = min(priced, default=None, key=lambda found: found[:3])
    return None if best is None else (best[3], best[0])


def providers() -> tuple[str, ...]:
    """Return the names of the providers."""
    return tuple(dict.fromkeys(one.provider for one in instances()))


def checked_provider(name: str) -> str:
    """Return the normalized provider name; empty for none. Raises: OptionError if it is unknown."""
    wish = name.strip().lower()
    if wish and wish not in providers():
        raise OptionError(
            "unknown-provider", f"Unknown provider {wish[:40]!r}.", f"Choose one of {', '.join(providers())}."
        )
    return wish
