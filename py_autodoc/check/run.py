"""Turns a policy into rules, and a model into outcomes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Fault, Status
from py_autodoc.check.policy import Policy
from py_autodoc.check.rules.baseline import (
    Baseline,
    BaselineTests,
    baseline_of_analysis,
    baseline_of_report,
    baseline_rules,
    baseline_tests,
)
from py_autodoc.check.rules.findings import finding_rule
from py_autodoc.check.rules.limits import limit_rules
from py_autodoc.check.rules.operators import operator_rules
from py_autodoc.check.rules.requirements import requirement_rule
from py_autodoc.check.rules.where import where_rules
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.errors import AutodocError, OptionError, OutputError
from py_autodoc.findings.thresholds import settings
from py_autodoc.limits import REPORT_FILE, Bounds
from py_autodoc.option_files import read_bytes, shown_name
from py_autodoc.report.builders.runnable_section import runnable
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_choice import choose_device

_log = logging.getLogger(__name__)
_REPORT = Bounds(values=100_000_000, depth=64)
Analyse = Callable[[str], Analysis]


@dataclass(frozen=True)
class CheckPlan:
    """The validated policy: all errors in it are found before a model is read."""

    options: Options
    """Options of the analyses."""
    rules: tuple[Rule, ...]
    warn: bool
    """True if unknown figures are only warnings."""
    tests: BaselineTests | None = None

    def with_baseline(self, base: Baseline | None) -> CheckPlan:
        """Add the rules of a loaded baseline. Raises: OptionError."""
        if base is None or self.tests is None:
            return self
        return replace(self, rules=(*self.rules, *baseline_rules(base, self.tests)))


def plan(policy: Policy) -> CheckPlan:
    """Return the rules of a policy and the analysis options.

    Raises: OptionError: the policy is invalid or empty.
    """
    limits, hardware = policy.limits, policy.hardware
    rules = limit_rules(limits, hardware, policy.risk)
    rules += operator_rules(policy.operators.forbid, policy.operators.allow)
    if policy.findings.fail_on is not None:
        rules.append(finding_rule(policy.findings.fail_on, policy.findings.ignore))
    rules += [requirement_rule(text, hardware) for text in policy.require]
    for nodes_policy in policy.where:
        rules += where_rules(nodes_policy, tuple(policy.findings.ignore))
    choose_device(
        hardware or None, policy.precision, policy.runtime
    )  # invalid options are invalid for every model
    tests = None if policy.baseline is None else baseline_tests(policy.baseline, bool(hardware))
    if not rules and tests is None:
        raise OptionError(
            "nothing-to-check",
            "Nothing to check.",
            "Add a limit such as --max-macs 5G, --fail-on high, --require 'opset>=17', or a policy file.",
        )
    sizes = policy.sizes
    options = Options(
        bindings=dict(sizes.bind),
        input_shapes={name: tuple(shape) for name, shape in sizes.input_shape.items()},
        batch_size=sizes.batch_size,
        resize={name: tuple(shape) for name, shape in sizes.resize.items()},
        assume=sizes.assume,
        thresholds=settings(policy.rules) if policy.rules else None,
        hardware=hardware,
        precision=policy.precision,
        runtime=policy.runtime,
    )
    return CheckPlan(options, (_analysis_outcomes, *rules), policy.unknown == "warn", tests)


def read_baseline(path: str, analyse: Analyse) -> Baseline:
    """Load a baseline: a report if the file name ends in ``.json``, else a model.

    Raises: InputError.
    """
    if not path.lower().endswith(".json"):
        return baseline_of_analysis(analyse(path))
    file_name, data = shown_name(path), read_bytes(path, REPORT_FILE)
    try:
        check_json(data, _REPORT)
        return baseline_of_report(Report.from_json(data), file_name)
    except TooMuch as fault:
        raise OptionError("bad-baseline", f"{file_name} is not a report: it {fault}.") from None
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as fault:
        raise OptionError(
            "bad-baseline",
            f"{file_name} is not a report: {str(fault)[:200]}.",
            "Create one with `onnx-autodoc analyze MODEL --out-json REPORT.json`.",
        ) from None


def checked(file: str, plan: CheckPlan, analyse: Analyse) -> CheckResult:
    """Check one model. Errors are stored as ``fault``, so that other models are still checked.

    Raises: OutputError, and OptionError for options that are invalid for every model.
    """
    try:
        subject = CheckSubject(analyse(file))
        outcomes = [outcome for rule in plan.rules for outcome in rule(subject)]
        return CheckResult(
            file, tuple(_as_warning(outcome) if plan.warn else outcome for outcome in outcomes)
        )
    except OutputError:
        raise
    except AutodocError as fault:
        return CheckResult(file, fault=Fault(fault.code, fault.message, fault.hint, fault.exit_status))
    except MemoryError:
        return CheckResult(file, fault=Fault("memory", "The analysis ran out of memory.", exit_status=2))
    except Exception as fault:  # noqa: BLE001 - a fault of this program, reported as one: the others are still checked
        _log.debug("Checking %s failed.", file, exc_info=True)
        error = shorten_middle(f"{type(fault).__name__}: {fault}", 200)
        return CheckResult(file, fault=Fault("internal-error", f"The check failed: {error}", exit_status=2))


def check(source: Any, policy: Policy) -> CheckResult:
    """Check one model: a path, bytes or a model in memory.

    Raises: OptionError: the policy is invalid. A model that cannot be read is a ``fault`` of the result.
    """
    validated = plan(policy)
    if policy.baseline is not None:
        validated = validated.with_baseline(
            read_baseline(policy.baseline.file, lambda path: run_analysis(path, validated.options))
        )
    file = os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else "model"
    return checked(file, validated, lambda _: run_analysis(source, validated.options))


def _analysis_outcomes(subject: CheckSubject) -> list[CheckOutcome]:
    """Return outcomes for any model: failed if it cannot run, unknown if its analysis is incomplete."""
    analysis = subject.analysis
    verdict = runnable(analysis)
    if verdict.verdict == "no":
        message = f"The model cannot run: {verdict.reason}."
        return [CheckOutcome("runnable", "The model can run", Status.FAILED, message)]
    if analysis.partial:
        stages = [
            diagnostic.message for diagnostic in analysis.diagnostics if diagnostic.code == "analysis-failed"
        ]
        return [CheckOutcome("analysis", "The analysis is complete", Status.UNKNOWN, " ".join(stages))]
    return []


def _as_warning(outcome: CheckOutcome) -> CheckOutcome:
    return replace(outcome, status=Status.WARNING) if outcome.status is Status.UNKNOWN else outcome


def highest_status(results: Sequence[CheckResult]) -> int:
    """Return the exit status of a run: the highest of all models."""
    return max((result.exit_status for result in results), default=0)
