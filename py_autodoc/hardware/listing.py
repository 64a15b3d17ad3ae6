"""Devices and cloud instances as table rows and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.hardware.cloud import instances
from py_autodoc.hardware.profile import PRECISIONS, estimable, profiles
from py_autodoc.hardware.requested import requested_profile

Row = dict[str, Any]


def devices(category: str = "") -> list[Row]:
    """Return the packaged devices. Raises: OptionError for an unknown category."""
    requested = category.strip().lower()
    categories = sorted({profile.category for profile in profiles()})
    if requested and requested not in categories:
        raise OptionError(
            "unknown-category",
            f"Unknown category {requested[:40]!r}.",
            f"Choose one of {', '.join(categories)}.",
        )
    return [
        {
            "id": profile.id,
            "name": profile.name,
            "category": profile.category,
            "memory_gib": None if profile.vram_bytes is None else round(profile.vram_bytes / 2**30, 1),
            "bandwidth_gb_per_s": None
            if profile.memory_bandwidth_bytes_per_s is None
            else round(profile.memory_bandwidth_bytes_per_s / 1e9, 1),
            "precisions": [name for name in PRECISIONS if profile.peak(name)],
            "power_watts": profile.tdp_watts,
            "estimates": estimable(profile),
        }
        for profile in profiles()
        if requested in ("", profile.category)
    ]


def instances_as_rows(provider: str = "") -> list[Row]:
    """Return the instances of all cloud providers, or of one."""
    return [
        {
            "id": instance.id,
            "device": instance.device_id,
            "count": instance.device_count,
            "usd_per_hour": instance.approx_on_demand_usd_per_hour,
            "region": instance.region,
            "price_date": instance.price_date,
            "vcpus": instance.vcpus,
            "memory_gib": instance.memory_gib,
        }
        for instance in instances()
        if provider in ("", instance.provider)
    ]


def facts(device: str) -> Row:
    """Return everything known about a device. Raises: OptionError if it is unknown."""
    profile = requested_profile(device)
    row = {name: value for name, value in msgspec.structs.asdict(profile).items() if value not in (None, ())}
    if profile.interconnect is not None:  # flat, as the other facts
        links = msgspec.structs.asdict(profile.interconnect)
        row.pop("interconnect")
        row.update({name: value for name, value in links.items() if value})
    row["latency_estimate"] = "yes" if estimable(profile) else "no: bandwidth or peaks are not published"
    rented = [
        f"{instance.id} ({instance.device_count}): "
        + (
            "no price"
            if instance.approx_on_demand_usd_per_hour is None
            else f"about ${instance.approx_on_demand_usd_per_hour:g}/h, {instance.region}, "
            f"{instance.price_date}"
        )
        for instance in instances()
        if instance.device_id == profile.id
    ]
    if rented:
        row["instances"] = rented
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


def table(rows: Sequence[Row]) -> list[str]:
    """Return rows as aligned lines below their column names."""
    if not rows:
        return []
    names = list(rows[0])
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
