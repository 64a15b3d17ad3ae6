"""Whether the model runs with the dimensions of the analysis; shown before all totals."""

from __future__ import annotations

from py_autodoc.graph.ir.diagnostic_causes import depends_on_sizes
from py_autodoc.graph.ir.model import Model, Node, Shape, TypeTable
from py_autodoc.report.encode.labels import node_label, shorten_middle
from py_autodoc.report.pipeline.analysis import FAILED, Analysis
from py_autodoc.report.schema import Runnable

_MAX_NAMES = 3
"""Maximum number of symbolic dimensions named in a reason."""


def runnable(analysis: Analysis) -> Runnable:
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


def _first_unsized(model: Model, types: TypeTable) -> Node | None:
    """Return the first node in file order with an output whose shape is not fully numeric."""
    for node in model.nodes:
        for t in node.outputs:
            if t >= 0 and model.tensors[t].container == "tensor" and not _has_size(types.shapes[t]):
                return node
    return None


def _has_size(shape: Shape | None) -> bool:
    return shape is not None and all(type(d) is int for d in shape)
