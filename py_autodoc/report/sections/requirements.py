"""System requirements: the devices that ``recommend`` found."""

from __future__ import annotations

from py_autodoc.report.schema.card import RequirementTier, SystemRequirements
from py_autodoc.report.sections.section_model import (
    Block,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)


def section(context: SectionContext) -> Section | None:
    """Return the tiers; None without a recommendation."""
    found = context.report.system_requirements
    return None if found is None else requirements_section(found)


def requirements_section(found: SystemRequirements) -> Section:
    """Return a recommendation as a section: a column for each tier."""
    tiers = [tier for tier in found.tiers if tier is not None]
    sizes = ", ".join(f"{name} = {size}" for name, size in found.sizes.items())
    targets = f" for {found.targets}" if found.targets else ""
    blocks: list[Block] = []
    if tiers:
        rows = (
            ("Device", _device),
            ("Precision, batch", _setting),
            ("Memory needed", _memory),
            ("Latency", _latency),
            ("Likely range", _likely),
            ("Items per second", _rate),
            ("Power", _power),
            ("Price per hour", lambda tier: _dollars(tier.usd_per_hour)),
            ("Price per million items", lambda tier: _dollars(tier.usd_per_million)),
        )
        table = tuple(((title,), *(cell(tier) for tier in tiers)) for title, cell in rows)
        blocks.append(Table(("", *(tier.tier.capitalize() for tier in tiers)), table))
    else:
        blocks.append(Paragraph(("No device meets the targets.",)))
    blocks.append(
        Paragraph(
            (
                f"Estimated{targets}{f' at {sizes}' if sizes else ''}; nothing was run. ",
                "Prices are approximate.",
            )
        )
    )
    return Section("requirements", "System requirements", tuple(blocks))


def _device(tier: RequirementTier) -> Line:
    if tier.devices == 1:
        return (Name(tier.device_name),)
    system = f" ({tier.system})" if tier.system else ""
    return (f"{tier.devices} × ", Name(tier.device_name), system)


def _setting(tier: RequirementTier) -> Line:
    return (tier.precision, "" if tier.batch is None else f", {tier.batch}")


def _memory(tier: RequirementTier) -> Line:
    return (Value(tier.memory_bytes, "size"),)


def _latency(tier: RequirementTier) -> Line:
    return (Value(_seconds(tier.latency_ms), "seconds"),)


def _likely(tier: RequirementTier) -> Line:
    low, high = _seconds(tier.latency_low_ms), _seconds(tier.latency_high_ms)
    return (Value(low, "seconds"), " to ", Value(high, "seconds"), f" ({tier.label})" if tier.label else "")


def _rate(tier: RequirementTier) -> Line:
    return (Value(tier.items_per_s, "count"),)


def _power(tier: RequirementTier) -> Line:
    return ("—" if tier.watts is None else f"{tier.watts:g} W",)


def _dollars(value: float | None) -> Line:
    return (Value(value, "usd"),)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3
