"""Whether models keep the rules of a policy: limits, operators, findings, requirements, a baseline.

    from py_autodoc.check import Policy, check

    found = check("model.onnx", Policy(limits=PolicyLimits(macs="1G"), require=["opset>=17"]))

``policy`` holds what is asked for, ``rules`` make outcomes of an analysis, ``formats`` write them.
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
