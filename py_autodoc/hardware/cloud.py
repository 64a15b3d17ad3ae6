"""Instances of cloud providers: which devices they have, and what an hour costs."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.hardware.profile import profiles_folder

FILE = "cloud_instances.json"


class CloudInstance(msgspec.Struct, frozen=True, kw_only=True):
    """One type of instance. Prices are on demand, approximate, of ``region`` at ``price_date``."""

    id: str
    provider: str
    instance_type: str
    device_id: str
    device_count: int
    device_share: float = 1.0
    """Share of a device, where an instance has only a part of one."""
    approx_on_demand_usd_per_hour: float | None
    """None where no price was found."""
    region: str
    price_date: str
    vcpus: int | None = None
    memory_gib: float | None = None
    interconnect: str | None = None
    confidence: str
    note: str = ""


@lru_cache(maxsize=1)
def instances() -> tuple[CloudInstance, ...]:
    """All that are known, by provider and price; those without a price last. Read once."""
    found = msgspec.json.decode((profiles_folder() / FILE).read_bytes(), type=list[CloudInstance])

    def rank(one: CloudInstance) -> tuple[str, float, str]:
        return one.provider, one.approx_on_demand_usd_per_hour or float("inf"), one.id

    return tuple(sorted(found, key=rank))


def of_device(device: str, provider: str = "") -> CloudInstance | None:
    """The cheapest instance with one whole device of that id; None when none has a price."""
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
    """The instance with at least so many devices that costs the least for them, and the dollars an hour.

    Of an instance with several times as many only a share counts. None when none has a price.
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
    """Names of the providers."""
    return tuple(dict.fromkeys(one.provider for one in instances()))


def checked_provider(name: str) -> str:
    """The provider as it is called here; empty for none. Raises: OptionError for one that is not known."""
    wish = name.strip().lower()
    if wish and wish not in providers():
        raise OptionError(
            "unknown-provider", f"Unknown provider {wish[:40]!r}.", f"One of {', '.join(providers())}."
        )
    return wish
