"""Checks models against a policy: limits, operators, findings, requirements, a baseline.

    from py_autodoc.check import Policy, check

    result = check("model.onnx", Policy(limits=PolicyLimits(macs="1G"), require=["opset>=17"]))

``policy`` defines the requirements, ``rules`` evaluate them on an analysis, ``formats`` write the outcomes.
"""

from __future__ import annotations

from py_autodoc.check.outcomes import CheckOutcome, CheckResult, OutcomeNode, Status
from py_autodoc.check.policy import (
    Policy,
    PolicyBaseline,
    PolicyFindings,
    PolicyLimits,
    PolicyOperators,
    PolicySizes,
    PolicyWhere,
    read_policy,
)
from py_autodoc.check.run import check, checked, plan

__all__ = [
    "CheckOutcome",
    "CheckResult",
    "OutcomeNode",
    "Policy",
    "PolicyBaseline",
    "PolicyFindings",
    "PolicyLimits",
    "PolicyOperators",
    "PolicySizes",
    "PolicyWhere",
    "Status",
    "check",
    "checked",
    "plan",
    "read_policy",
]
