"""``onnx-autodoc check``: merges options and policy file, selects files, and analyses them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from py_autodoc.check.policy import (
    POLICY_FILE,
    Policy,
    PolicyBaseline,
    PolicyFindings,
    PolicyOperators,
    PolicySizes,
    PolicyWhere,
    read_policy,
)
from py_autodoc.cli import stderr
from py_autodoc.cli.fitting import fitting
from py_autodoc.cli.many import expanded, model_files
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.errors import OptionError
from py_autodoc.findings.registry import SEVERITIES
from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
from py_autodoc.render.terminal_text import printable
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis

_LIMITS = ("params", "macs", "flops", "peak_memory", "weights", "size", "latency")
_OF_NODES = ("params", "macs", "flops", "weights")
_replace = msgspec.structs.replace


def given_policy(options: Mapping[str, Any]) -> tuple[Policy, str | None]:
    """Return the policy file with the options applied, and the path of the file.

    Raises: OptionError, PathError, RequirementError.
    """
    source = options["policy"]
    if options["no_policy"] and source:
        raise OptionError("two-policies", "--policy and --no-policy cannot be combined.", "Use one of them.")
    if source is None and not options["no_policy"] and os.path.isfile(POLICY_FILE):
        source = POLICY_FILE
    policy = Policy() if source is None else read_policy(source)
    severity, conditions = _fail_on(options["fail_on"])
    limits = {name: value for name in _LIMITS if (value := options[f"max_{name}"]) is not None}
    merged = _replace(
        policy,
        unknown=options["unknown"] or policy.unknown,
        hardware=options["hardware"] or policy.hardware,
        precision=options["precision"] or policy.precision,
        runtime=options["runtime"] or policy.runtime,
        risk=options["risk"] or policy.risk,
        require=[*policy.require, *options["require"]],
        sizes=_sizes(policy.sizes, options),
        baseline=_baseline(policy.baseline, options, conditions),
        findings=_replace(policy.findings, ignore=[*policy.findings.ignore, *options["ignore"]]),
    )
    if options["where"] is not None:
        return _with_where(merged, options, limits, severity), source
    operators = policy.operators
    return (
        _replace(
            merged,
            limits=_replace(policy.limits, **limits),
            operators=PolicyOperators(
                forbid=[*operators.forbid, *options["forbid_op"]],
                allow=[*operators.allow, *options["allow_op"]],
            ),
            findings=PolicyFindings(
                fail_on=severity or policy.findings.fail_on, ignore=merged.findings.ignore
            ),
        ),
        source,
    )


def _with_where(
    policy: Policy, options: Mapping[str, Any], limits: Mapping[str, str], severity: Any
) -> Policy:
    """Apply the options about nodes to the rules of the query; the others apply to the whole model."""
    for name in limits:
        if name not in _OF_NODES:
            option = f"--max-{name.replace('_', '-')}"
            raise OptionError(
                "where-of-the-whole",
                f"{option} applies to the whole model, --where to some nodes.",
                "Check them separately, or use a policy file.",
            )
    rule = PolicyWhere(
        query=options["where"],
        forbid=list(options["forbid_op"]),
        allow=list(options["allow_op"]),
        fail_on=severity,
        **limits,
    )
    return _replace(policy, where=[*policy.where, rule])


def _fail_on(values: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the lowest of the given severities, and the conditions on a baseline."""
    severities = [text.strip().lower() for text in values if text.strip().lower() in SEVERITIES]
    conditions = [text for text in values if text.strip().lower() not in SEVERITIES]
    return (min(severities, key=SEVERITIES.index) if severities else None), conditions


def _baseline(
    policy: PolicyBaseline | None, options: Mapping[str, Any], conditions: list[str]
) -> PolicyBaseline | None:
    file = options["baseline"] or (policy.file if policy is not None else None)
    if file is None:
        for option, values in (("--fail-on", conditions), ("--tolerance", options["tolerance"])):
            if values:
                hint = f"Add --baseline, or use a severity: {', '.join(SEVERITIES)}."
                raise OptionError(
                    "baseline-missing", f"{option} {values[0][:60]!r} compares with a baseline.", hint
                )
        return None
    tolerance, tolerances = None, {}
    for text in options["tolerance"]:
        name, mark, share = text.rpartition("=")
        if mark:
            tolerances[name.strip()] = share
        else:
            tolerance = share
    if policy is None:
        return PolicyBaseline(file=file, tolerance=tolerance, tolerances=tolerances, fail_on=conditions)
    return _replace(
        policy,
        file=file,
        tolerance=tolerance or policy.tolerance,
        tolerances={**policy.tolerances, **tolerances},
        fail_on=[*policy.fail_on, *conditions],
    )


def _sizes(policy: PolicySizes, options: Mapping[str, Any]) -> PolicySizes:
    shapes = {name: list(shape) for name, shape in parse_input_shapes(options["input_shape"]).items()}
    resize = {name: list(shape) for name, shape in parse_input_shapes(options["resize"]).items()}
    return PolicySizes(
        bind={**policy.bind, **parse_bindings(options["bind"])},
        input_shape={**policy.input_shape, **shapes},
        resize={**policy.resize, **resize},
        batch_size=policy.batch_size if options["batch_size"] is None else options["batch_size"],
        assume=options["assume"] or policy.assume,
    )


def models_of(models: Sequence[str], policy: Policy) -> list[str]:
    """Return the files to check. Raises: OptionError, PathError."""
    paths = list(models) or policy.models
    if not paths:
        raise OptionError(
            "no-models", "No model was passed.", "Add a file, a folder or a pattern such as 'models/*.onnx'."
        )
    return model_files(expanded(paths))


class Analyser:
    """Analyses models, each with the dimensions that apply to it."""

    def __init__(self, options: Options, progress: bool | None) -> None:
        self._options = options
        self._progress = progress
        self._unused: set[str] | None = None
        self._sized = bool(options.bindings or options.input_shapes or options.resize)

    def run(self, path: str) -> Analysis:
        """Analyse a file. Raises: InputError."""
        with ProgressLine(printable(os.path.basename(path)), self._progress) as line:
            options = self._options
            if self._sized:
                options, unused = fitting(path, options)
                self._unused = unused if self._unused is None else self._unused & unused
            return run_analysis(path, options, line.update)

    def warn_unused(self) -> None:
        """Warn about dimensions that no model has."""
        for name in sorted(self._unused or ()):
            stderr.warning(f"No model has the dimension or input {name!r}.")
