"""The policy: requirements for models, from options or a file.

A policy file is TOML (or JSON with the same names)::

    models = ["models/*.onnx"]
    hardware = "l4"
    require = ["opset>=17", "runs"]

    [sizes]
    batch-size = 1
    bind = { seq = 128 }

    [limits]
    macs = "5G"
    latency = "10ms"

    [findings]
    fail-on = "high"
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from py_autodoc.check.amounts import Amount
from py_autodoc.errors import OptionError
from py_autodoc.findings.thresholds import read_file
from py_autodoc.limits import CHECK_POLICY_FILE

POLICY_FILE = "autodoc.toml"
"""Default policy file, read from the current folder."""
Severity = Literal["info", "low", "medium", "high"]


class _PolicyTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A table of the file, in which names have hyphens."""


class PolicySizes(_PolicyTable, frozen=True, kw_only=True):
    """Dimensions of the analysis, as in the options of ``analyze``."""

    bind: dict[str, int] = {}
    input_shape: dict[str, list[int]] = {}
    resize: dict[str, list[int]] = {}
    batch_size: int | None = None
    assume: bool = False


class PolicyLimits(_PolicyTable, frozen=True, kw_only=True):
    """Maximum values of figures of the whole model."""

    params: Amount | None = None
    macs: Amount | None = None
    flops: Amount | None = None
    peak_memory: Amount | None = None
    """Bytes of live activations."""
    weights: Amount | None = None
    """Bytes."""
    size: Amount | None = None
    """Bytes of the file and of the weights next to it."""
    latency: Amount | None = None
    """Estimated, on ``hardware``."""


class PolicyOperators(_PolicyTable, frozen=True, kw_only=True):
    """Operators by name, ``domain::Op`` outside ai.onnx; ``*`` matches anything."""

    forbid: list[str] = []
    allow: list[str] = []
    """If set, all other operators are forbidden."""


class PolicyFindings(_PolicyTable, frozen=True, kw_only=True):
    """Findings that a model must not have."""

    fail_on: Severity | None = None
    """This severity and above."""
    ignore: list[str] = []
    """Ids of rules whose findings are accepted."""


class PolicyWhere(_PolicyTable, frozen=True, kw_only=True):
    """Rules for nodes that match a query."""

    query: str
    params: Amount | None = None
    macs: Amount | None = None
    flops: Amount | None = None
    weights: Amount | None = None
    forbid: list[str] = []
    allow: list[str] = []
    fail_on: Severity | None = None


class PolicyBaseline(_PolicyTable, frozen=True, kw_only=True):
    """The baseline of a comparison."""

    file: str
    """A JSON report or a model; in a policy file, relative to that file."""
    tolerance: Amount | None = None
    """Accepted growth of size, params, weights, macs, flops, peak (and latency): ``5%``."""
    tolerances: dict[str, Amount] = {}
    """The same for individual figures."""
    fail_on: list[str] = []
    """Conditions as in ``compare --fail-on``, and ``new-findings``."""


class Policy(_PolicyTable, frozen=True, kw_only=True):
    """All requirements for a model."""

    models: list[str] = []
    """Files, folders and patterns to check if none are given."""
    unknown: Literal["fail", "warn"] = "fail"
    """Result of a rule whose figure is unknown."""
    hardware: str = ""
    precision: str = ""
    runtime: str = ""
    """Runtime of the model on ``hardware``; empty: the usual one."""
    risk: str = ""
    """What a limit on latency applies to: ``typical`` (the estimate) or ``high`` (the end of its range)."""
    require: list[str] = []
    sizes: PolicySizes = PolicySizes()
    limits: PolicyLimits = PolicyLimits()
    operators: PolicyOperators = PolicyOperators()
    findings: PolicyFindings = PolicyFindings()
    where: list[PolicyWhere] = []
    baseline: PolicyBaseline | None = None
    card: dict[str, Any] = {}
    """Statements of the owner for the model card; a check ignores them."""
    rules: dict[str, Any] = {}
    """Thresholds and severities of findings, as in a threshold file."""


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy file. Paths in it are relative to its folder.

    Raises: PathError, OptionError, RequirementError.
    """
    file_name = os.path.basename(os.fsdecode(path))
    policy = policy_from(read_file(path, CHECK_POLICY_FILE), file_name)
    folder = os.path.dirname(os.fsdecode(path))
    if not folder:
        return policy
    hardware = policy.hardware
    if hardware.endswith(".json"):
        hardware = os.path.join(folder, hardware)
    baseline = policy.baseline
    if baseline is not None:
        baseline = msgspec.structs.replace(baseline, file=os.path.join(folder, baseline.file))
    models = [os.path.join(folder, pattern) for pattern in policy.models]
    return msgspec.structs.replace(policy, models=models, baseline=baseline, hardware=hardware)


def policy_from(data: Mapping[str, Any], file_name: str) -> Policy:
    """Parse the content of a policy file. Raises: OptionError with the position."""
    try:
        return msgspec.convert(data, Policy)
    except msgspec.ValidationError as fault:
        hint = f"Names there: {', '.join(_names(str(fault)))}." if "unknown field" in str(fault) else ""
        raise OptionError("bad-policy", f"{file_name}: {str(fault)[:200]}.", hint) from None


_TABLES: Mapping[str, type[msgspec.Struct]] = {
    "$.sizes": PolicySizes,
    "$.limits": PolicyLimits,
    "$.operators": PolicyOperators,
    "$.findings": PolicyFindings,
    "$.where[...]": PolicyWhere,
    "$.baseline": PolicyBaseline,
}


def _names(fault: str) -> Sequence[str]:
    table = next((table for position, table in _TABLES.items() if f"`{position}`" in fault), Policy)
    return [field.encode_name for field in msgspec.structs.fields(table)]
