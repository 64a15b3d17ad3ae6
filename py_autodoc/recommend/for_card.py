"""A recommendation as the system requirements of a card."""

from __future__ import annotations

import msgspec

from py_autodoc.bounded import check_json
from py_autodoc.errors import InputError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.limits import RECOMMENDATION_FILE, TABLE
from py_autodoc.option_files import read_bytes, shown_name
from py_autodoc.recommend.schema import SCHEMA, DeviceCandidate, Recommendation
from py_autodoc.recommend.words import milliseconds_text
from py_autodoc.report.schema import RequirementTier, SystemRequirements

TIERS = ("minimum", "recommended", "optimal")


def read_requirements(path: PathLike) -> SystemRequirements:
    """Read a file of ``recommend --out-json``. Raises: PathError, InputError."""
    name, data = shown_name(path), read_bytes(path, RECOMMENDATION_FILE)
    try:
        check_json(data, TABLE)
        found = msgspec.json.decode(data, type=Recommendation)
    except (ValueError, msgspec.MsgspecError) as fault:
        line = str(fault).strip().splitlines()[0][:200]
        raise InputError(
            "bad-recommendation",
            f"{name} is not a result of `recommend`: {line}",
            "Write it with `recommend MODEL --out-json`.",
        ) from fault
    if found.schema != SCHEMA:
        raise InputError(
            "bad-recommendation", f"{name} has the schema {found.schema[:40]!r} instead of {SCHEMA}."
        )
    return requirements(found)


def requirements(found: Recommendation) -> SystemRequirements:
    """Return the tiers and the targets of a recommendation."""
    tiers = [(name, getattr(found, name)) for name in TIERS]
    return SystemRequirements(
        models=found.models,
        targets=_targets(found),
        sizes=found.bindings,
        tiers=[_tier(name, candidate) for name, candidate in tiers if candidate is not None],
    )


def _targets(found: Recommendation) -> str:
    limits = found.user_constraints
    texts = [f"{found.deployment_target} devices" if found.deployment_target else ""]
    if limits.max_latency_ms is not None:
        end = ", at the upper end of the likely range" if limits.risk == "high" else ""
        texts.append(f"at most {milliseconds_text(limits.max_latency_ms)}{end}")
    if limits.min_throughput_fps is not None:
        texts.append(f"at least {limits.min_throughput_fps:g} items per second")
    texts.append("" if limits.max_power_watts is None else f"at most {limits.max_power_watts:g} W")
    texts.append(
        ""
        if limits.max_price_usd_per_hour is None
        else f"at most ${limits.max_price_usd_per_hour:g} per hour"
    )
    return "; ".join(text for text in texts if text)


def _tier(name: str, found: DeviceCandidate) -> RequirementTier:
    return RequirementTier(
        tier=name,
        device_name=found.device_name,
        devices=found.devices,
        system=found.system,
        precision=found.precision,
        batch=found.batch,
        memory_bytes=None if found.vram_required_gb is None else found.vram_required_gb * 1e9,
        latency_ms=found.estimated_latency_ms,
        latency_low_ms=found.latency_low_ms,
        latency_high_ms=found.latency_high_ms,
        label=found.label,
        items_per_s=found.estimated_throughput_fps,
        watts=found.power_watts,
        usd_per_hour=found.price_usd_per_hour,
        usd_per_million=found.usd_per_million,
    )
