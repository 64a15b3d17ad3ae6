"""Operators that a runtime may not support.

What it finds:
Nodes outside ai.onnx and ai.onnx.ml, and operators of ai.onnx that the standard does not define. One
finding per domain: `info` for com.microsoft (ONNX Runtime only), `low` for domains from an add-on or a
vendor's runtime (onnxruntime-extensions, OpenVINO, layouts that ONNX Runtime writes for one machine),
`medium` for all others.

Why it matters:
Such a model runs only where the operator is registered. Converters (TensorRT, Core ML, TFLite) stop at it,
shape inference stops after it, and its cost is unknown.

Example:
A detector whose last node is `BatchedNMS_TRT` without a domain: it loads in TensorRT with the plugin and
nowhere else.

Instead:
Where the model has to be portable, export with standard operators only: fuse after the export, for the
target runtime, and keep the unfused file. A local function gives a custom operator a portable definition.

References:
[ONNX Runtime contrib
operators](https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md);
[onnxruntime-extensions](https://github.com/microsoft/onnxruntime-extensions); [ONNX:
functions](https://onnx.ai/onnx/intro/concepts.html#functions).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.costs.registry import rule_for
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.units import plural

_STANDARD = frozenset({"ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training"})
_RUNTIME = frozenset({"com.microsoft"})
_ADD_ON = {
    "com.microsoft.extensions": "onnxruntime-extensions",
    "ai.onnx.contrib": "onnxruntime-extensions",
    "com.microsoft.nchwc": "ONNX Runtime on the machine that optimized it",
    "com.ms.internal.nhwc": "ONNX Runtime on the machine that optimized it",
    "com.microsoft.experimental": "ONNX Runtime builds with experimental operators",
    "org.openvinotoolkit": "OpenVINO",
    "trt.plugins": "TensorRT with plugins",
    "org.pytorch.aten": "ONNX Runtime built with ATen",
}
_KEEP_STANDARD = (
    "Keep a file with standard operators for other runtimes, and fuse for this one after the export."
)
_PORTABLE = "Register the operators where the model has to run, or export standard operators instead."
MAX_NAMES = 20


@rule("custom-ops", "Non-standard operators", ("medium", "low", "info"))
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per domain."""
    nodes_by_domain: dict[str, list[int]] = {}
    for (domain, op), numbers in ctx.kinds.items():
        if domain in _STANDARD or (not domain and rule_for("", op) is not None):
            continue
        nodes_by_domain.setdefault(domain, []).extend(numbers)
    for domain, nodes in sorted(nodes_by_domain.items(), key=lambda item: min(item[1])):
        nodes.sort()
        severity, location = _location(ctx, domain)
        if not severity:
            continue
        types = sorted({ctx.model.nodes[number].op_type[:80] for number in nodes})
        named = ", ".join(types[:3]) + (" …" if len(types) > 3 else "")
        domain_text = domain[:80] or "ai.onnx, which does not define them"
        yield Finding(
            severity,
            f"{plural(len(nodes), 'node')} ({named}) of the domain {domain_text} {location}.",
            _PORTABLE if severity == "medium" else _KEEP_STANDARD,
            tuple(nodes),
            {"domain": domain[:80] or "ai.onnx", "count": len(nodes), "operators": types[:MAX_NAMES]},
        )


def _location(ctx: RuleContext, domain: str) -> tuple[str, str]:
    """Return (severity, runtimes); empty if it is unknown whether the nodes are custom."""
    if domain in _RUNTIME:
        return "info", "run in ONNX Runtime only"
    if domain in _ADD_ON:
        return "low", f"need {_ADD_ON[domain]}"
    if domain and ctx.model.unexpanded_calls:  # may be calls of local functions
        return "", ""
    return "medium", "run only where they are registered"
