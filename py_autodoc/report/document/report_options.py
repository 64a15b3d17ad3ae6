"""The options a report was made with, recovered from it to analyse its model again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from py_autodoc.findings.thresholds import FLOOR, settings
from py_autodoc.hardware.profile import profiles
from py_autodoc.report.pipeline.analysis import Options

if TYPE_CHECKING:
    from py_autodoc.report.schema import ReportFields, RuleSettings


def options_of(report: ReportFields) -> Options:
    """Return dimensions, rules and device of a report, except for a device from a user's own file.

    Dimensions of inputs without symbols (``input_shapes`` for an unknown rank) are not in a report.
    Raises: OptionError if it uses a rule or threshold that this version does not have.
    """
    rules, device = report.rule_settings, report.hardware_estimates
    is_built_in = device is not None and any(profile.id == device.device for profile in profiles())
    return Options(
        bindings={dim.name: dim.value for dim in report.dims if dim.value is not None and not dim.assumed},
        batch_size=None if report.rebatch is None else report.rebatch.batch,
        resize={} if report.resize is None else report.resize.inputs,
        assume=any(dim.assumed for dim in report.dims),
        thresholds=None if rules is None else settings(_overrides(rules)),
        read_weights=rules is not None and rules.read_weights,
        hash=report.model.sha256 is not None,
        hardware=device.device if device is not None and is_built_in else "",
        precision=device.precision if device is not None and is_built_in else "",
        runtime=device.runtime if device is not None and is_built_in else "",
    )


def _overrides(rules: RuleSettings) -> Mapping[str, Any]:
    """Return the equivalent content of a threshold file."""
    overrides: dict[str, Any] = {rule: dict(values) for rule, values in rules.thresholds.items()}
    for rule in rules.disabled:
        overrides.setdefault(rule, {})["enabled"] = False
    for rule, severity in rules.severities.items():
        overrides.setdefault(rule, {})["severity"] = severity
    return {**overrides, FLOOR: rules.floor} if rules.floor else overrides
