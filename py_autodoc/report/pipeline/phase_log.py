"""The analysis as log lines: each phase with its time at ``info``, each node at ``debug``."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.report.encode.labels import dtype_name
from py_autodoc.units import count, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from py_autodoc.costs.engine import NodeCost, Totals
    from py_autodoc.costs.liveness import PeakMemory
    from py_autodoc.costs.params import ParamTable

log = logging.getLogger("py_autodoc.analysis")


class PhaseLog:
    """Logs phases as they end. Without ``info`` it does nothing."""

    def __init__(self) -> None:
        self._phase = ""
        self._since = 0.0

    def enter(self, phase: str) -> None:
        """Log the phase that ends; an empty phase is the end of all."""
        if not log.isEnabledFor(logging.INFO):
            return
        now = time.perf_counter()
        if self._phase:
            log.info("%s: %.0f ms", self._phase, (now - self._since) * 1e3)
        self._phase, self._since = phase, now


def log_nodes(model: Model, types: TypeTable, costs: Sequence[NodeCost], params: ParamTable) -> None:
    """Log each node at ``debug``: the types of its outputs, its costs and parameters, what is unknown."""
    if not log.isEnabledFor(logging.DEBUG):
        return
    for node, entry in zip(model.nodes, costs, strict=True):
        made = ", ".join(
            f"{model.tensors[tensor].name} {dtype_name(types.dtypes[tensor])}{_shape(types.shapes[tensor])}"
            for tensor in node.outputs
            if tensor >= 0
        )
        cost = entry.cost
        known = "costs unknown" if cost is None else f"{count(cost.macs)} MACs, {count(cost.flops)} FLOPs"
        own = params.params[node.id]
        log.debug(
            "node %d %s %s -> %s; %s%s%s",
            node.id,
            node.op_type,
            node.name,
            made or "nothing",
            known,
            f", {count(own)} parameters" if own else "",
            f" ({entry.reason})" if entry.reason else "",
        )


def log_totals(model: Model, sums: Totals, params: ParamTable, peak: PeakMemory | None) -> None:
    """Log the totals at ``info``."""
    log.info(
        "%s nodes, %s parameters, %s MACs, peak of activations %s, costs known for %.0f %% of the nodes",
        f"{len(model.nodes):,}",
        "unknown" if params.reason else count(params.total),
        "unknown" if sums.macs is None else count(sums.macs),
        "unknown" if peak is None or peak.inplace is None else size(peak.inplace),
        sums.node_share * 100,
    )


def _shape(shape: Sequence[int | str | None] | None) -> str:
    return "[?]" if shape is None else f"[{','.join('?' if d is None else str(d) for d in shape)}]"
