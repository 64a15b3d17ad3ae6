"""Whether the model runs: its dimensions, then the file itself; shown before all totals."""

from __future__ import annotations

from py_autodoc.graph.ir.diagnostic_causes import depends_on_sizes
from py_autodoc.graph.ir.file_faults import file_faults, refusal
from py_autodoc.graph.ir.model import Model, Node, Shape, TypeTable
from py_autodoc.report.encode.labels import node_label, shorten_middle
from py_autodoc.report.pipeline.analysis import FAILED, Analysis
from py_autodoc.report.schema import Runnable

_BUILT_IN = frozenset({
    "", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training", "com.microsoft",
})  # fmt: skip
_INTERNAL = ("com.microsoft.", "com.ms.internal.")
"""Domains that builds of ONNX Runtime know."""
_MAX_NAMES = 3
"""Maximum number of symbolic dimensions named in a reason."""


def runnable(analysis: Analysis) -> Runnable:
    """Return whether the model runs: ``no`` for a contradiction or a file that no runtime accepts.

    Else the verdict is that of the dimensions (``sizes_verdict``), and at most ``unknown`` for a file that
    some runtimes refuse, or that needs operators of its own.
    """
    verdict = sizes_verdict(analysis)
    if verdict.verdict == "no":
        return verdict
    found = refusal(analysis.model, analysis.diagnostics)
    if found is not None:
        return Runnable(verdict="no", reason=shorten_middle(found.text, 400), file=True)
    if verdict.verdict == "unknown":
        return verdict
    doubt = next((one.text for one in file_faults(analysis.model, analysis.diagnostics)), "")
    doubt = doubt or _own_operator(analysis.model)
    return Runnable(verdict="unknown", reason=shorten_middle(doubt, 400), file=True) if doubt else verdict


def sizes_verdict(analysis: Analysis) -> Runnable:
    """Return ``no`` with the first node that cannot run, ``yes`` if all sizes are known and consistent."""
    fault = analysis.contradiction
    if fault is not None:
        return Runnable(
            verdict="no",
            reason=shorten_middle(fault.message, 400),
            node=fault.node,
            sizes=depends_on_sizes(fault.code),
        )
    if any(d.code == FAILED and "shapes" in d.message for d in analysis.diagnostics):
        return Runnable(verdict="unknown", reason="the shapes could not be inferred")
    unbound = [symbol.name for symbol in analysis.dims.symbols if symbol.value is None]
    if unbound:
        omitted_text = f" and {len(unbound) - _MAX_NAMES:,} more" if len(unbound) > _MAX_NAMES else ""
        names = ", ".join(shorten_middle(name, 40) for name in unbound[:_MAX_NAMES])
        return Runnable(
            verdict="unknown", reason=f"dimensions have no value: {names}{omitted_text}", sizes=True
        )
    node = _first_unsized(analysis.model, analysis.types)
    if node is not None:
        reason = f"the output size of {node_label(node)} is known only when the model runs"
        return Runnable(verdict="unknown", reason=reason, node=node.id)
    return Runnable(verdict="yes")


def _own_operator(model: Model) -> str:
    """Return the first operator that is neither of the standard nor of ONNX Runtime, in a few words."""
    for node in model.nodes:
        if node.domain not in _BUILT_IN and not node.domain.startswith(_INTERNAL):
            label = shorten_middle(f"{node.domain}::{node.op_type}", 80)
            return f"{node_label(node)}: only a runtime with the operator {label} runs it"
    return ""


def _first_unsized(model: Model, types: TypeTable) -> Node | None:
    """Return the first node in file order with an output whose shape is not fully numeric."""
    for node in model.nodes:
        for t in node.outputs:
            if t >= 0 and model.tensors[t].container == "tensor" and not _has_size(types.shapes[t]):
                return node
    return None


def _has_size(shape: Shape | None) -> bool:
    return shape is not None and all(type(d) is int for d in shape)
