"""Devices and cloud instances as table rows and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.hardware.cloud import instances
from py_autodoc.hardware.profile import PRECISIONS, estimable, find_profile, profiles

Row = dict[str, Any]


def devices(category: str = "") -> list[Row]:
    """Return the packaged devices. Raises: OptionError for an unknown category."""
    wish = category.strip().lower()
    known = sorted({one.category for one in profiles()})
    if wish and wish not in known:
        raise OptionError(
            "unknown-category", f"Unknown category {wish[:40]!r}.", f"Choose one of {', '.join(known)}."
        )
    return [
        {
            "id": one.id,
            "name": one.name,
            "category": one.category,
            "memory_gib": None if one.vram_bytes is None else round(one.vram_bytes / 2**30, 1),
            "bandwidth_gb_per_s": None
            if one.memory_bandwidth_bytes_per_s is None
            else round(one.memory_bandwidth_bytes_per_s / 1e9, 1),
            "precisions": [name for name in PRECISIONS if one.peak(name)],
            "power_watts": one.tdp_watts,
            "estimates": estimable(one),
        }
        for one in profiles()
        if wish in ("", one.category)
    ]


def instances_as_rows(provider: str = "") -> list[Row]:
    """Return the instances of all cloud providers, or of one."""
    return [
        {
            "id": one.id,
            "device": one.device_id,
            "count": one.device_count,
            "usd_per_hour": one.approx_on_demand_usd_per_hour,
            "region": one.region,
            "price_date": one.price_date,
            "vcpus": one.vcpus,
            "memory_gib": one.memory_gib,
        }
        for one in instances()
        if provider in ("", one.provider)
    ]


def facts(device: str) -> Row:
    """Return everything known about a device. Raises: OptionError if it is unknown."""
    found = find_profile(device)
    row = {name: value for name, value in msgspec.structs.asdict(found).items() if value not in (None, ())}
    if found.interconnect is not None:  # flat, as the other facts
        links = msgspec.structs.asdict(found.interconnect)
        row.pop("interconnect")
        row.update({name: value for name, value in links.items() if value})
    row["latency_estimate"] = "yes" if estimable(found) else "no: bandwidth or peaks are not published"
    rented = [
        f"{one.id} ({one.device_count}): "
        + (
            "no price"
            if one.approx_on_demand_usd_per_hour is None
            else f"about ${one.approx_on_demand_usd_per_hour:g}/h, {one.region}, {one.price_date}"
        )
        for one in instances()
        if one.device_id == found.id
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
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
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
