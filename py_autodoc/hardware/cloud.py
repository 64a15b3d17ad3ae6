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
    entries = msgspec.json.decode((profiles_folder() / FILE).read_bytes(), type=list[CloudInstance])

    def rank(instance: CloudInstance) -> tuple[str, float, str]:
        return instance.provider, instance.approx_on_demand_usd_per_hour or float("inf"), instance.id

    return tuple(sorted(entries, key=rank))


def of_device(device: str, provider: str = "") -> CloudInstance | None:
    """Return the cheapest instance with one whole device of that id; None if none has a price."""
    priced = [
        instance
        for instance in instances()
        if instance.device_id == device
        and instance.device_count == 1
        and instance.device_share == 1
        and instance.approx_on_demand_usd_per_hour is not None
        and provider in ("", instance.provider)
    ]
    return min(priced, key=lambda instance: instance.approx_on_demand_usd_per_hour or 0, default=None)


def of_devices(device: str, count: int, provider: str = "") -> tuple[CloudInstance, float] | None:
    """Return the instance that is cheapest for ``count`` devices, and the dollars per hour for them.

    For larger instances only the share used is counted. None if no instance has a price.
    """
    priced = [
        (
            instance.approx_on_demand_usd_per_hour * count / instance.device_count,
            instance.device_count,
            instance.id,
            instance,
        )
        for instance in instances()
        if instance.device_id == device
        and instance.approx_on_demand_usd_per_hour is not None
        and instance.device_share == 1
        and instance.device_count >= count
        and instance.device_count % count == 0
        and provider in ("", instance.provider)
    ]
    best = min(priced, default=None, key=lambda candidate: candidate[:3])
    return None if best is None else (best[3], best[0])


def of_single(device: str, count: int, provider: str = "") -> tuple[CloudInstance, float] | None:
    """Return the cheapest instance with one device, and the dollars per hour for ``count`` of them."""
    rented = of_device(device, provider)
    price = None if rented is None else rented.approx_on_demand_usd_per_hour
    return None if rented is None or price is None else (rented, price * count)


def providers() -> tuple[str, ...]:
    """Return the names of the providers."""
    return tuple(dict.fromkeys(instance.provider for instance in instances()))


def checked_provider(name: str) -> str:
    """Return the normalized provider name; empty for none. Raises: OptionError if it is unknown."""
    provider = name.strip().lower()
    if provider and provider not in providers():
        raise OptionError(
            "unknown-provider",
            f"Unknown provider {provider[:40]!r}.",
            f"Choose one of {', '.join(providers())}.",
        )
    return provider
