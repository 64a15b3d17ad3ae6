"""How the findings were made, where that is not as the rules come."""

from __future__ import annotations

from py_autodoc.findings.registry import rules
from py_autodoc.findings.thresholds import Settings
from py_autodoc.report.schema import RuleSettings


def rule_settings(settings: Settings | None, read_weights: bool, source: str = "") -> RuleSettings | None:
    """What differs from the defaults; None when nothing was set. ``source`` is a file's base name."""
    if settings is None and not read_weights:
        return None
    if settings is None:
        return RuleSettings(source="", floor="", disabled=[], severities={}, thresholds={}, read_weights=True)
    known = rules()
    changed = {
        id: {name: value for name, value in values.items() if value != known[id].thresholds[name]}
        for id, values in settings.thresholds.items()
    }
    default = Settings({}).floor
    return RuleSettings(
        source=source,
        floor="" if settings.floor == default else settings.floor,
        disabled=sorted(settings.disabled),
        severities=dict(sorted(settings.severities.items())),
        thresholds={id: values for id, values in sorted(changed.items()) if values},
        read_weights=read_weights,
    )
