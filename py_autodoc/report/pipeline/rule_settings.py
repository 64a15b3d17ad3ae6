"""Rule settings that differ from the defaults."""

from __future__ import annotations

import msgspec

from py_autodoc.findings.registry import rules
from py_autodoc.findings.thresholds import RuleOptions
from py_autodoc.report.schema import RuleSettings


def rule_settings(settings: RuleOptions, read_weights: bool) -> RuleSettings | None:
    """Return the differences from the defaults; None if there are none and no file was given."""
    all_rules = rules()
    changed = {
        id: {name: value for name, value in values.items() if value != all_rules[id].thresholds[name]}
        for id, values in settings.thresholds.items()
    }
    default = RuleOptions({}).floor
    changes = RuleSettings(
        source=settings.source,
        floor="" if settings.floor == default else settings.floor,
        disabled=sorted(settings.disabled),
        severities=dict(sorted(settings.severities.items())),
        thresholds={id: values for id, values in sorted(changed.items()) if values},
        read_weights=read_weights,
    )
    return changes if any(msgspec.structs.astuple(changes)) else None


def describe_rule_settings(settings: RuleSettings | None) -> str:
    """Return the settings as a line of text; empty for the defaults."""
    if settings is None:
        return ""
    changes = [
        *([f"findings below {settings.floor} are not shown"] if settings.floor else []),
        *(f"{rule} does not run" for rule in settings.disabled),
        *(f"{rule} counts as {severity}" for rule, severity in settings.severities.items()),
        *(
            f"{rule}.{name} = {value:,}"
            for rule, values in settings.thresholds.items()
            for name, value in values.items()
        ),
        *(["every weight was read"] if settings.read_weights else []),
    ]
    source_text = f" ({settings.source})" if settings.source else ""
    return f"Rules changed{source_text}: {'; '.join(changes) or 'nothing'}."
