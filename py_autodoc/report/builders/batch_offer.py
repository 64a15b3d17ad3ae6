"""Costs at other batch sizes for models with a fixed batch, as expressions that a viewer evaluates."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from py_autodoc.costs.engine import NodeCost, cost_table
from py_autodoc.costs.expressions import METRICS, Expressions, NodeExpressions, expressions
from py_autodoc.costs.symbolic import Number, UndecidedComparison
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.rebatch import BatchRefusal, BatchRequest, PlannedBatch, plan_batch
from py_autodoc.graph.rebatch.rewrite import AFTER
from py_autodoc.report.pipeline.analysis import Analysis

MAX_EMBEDDED = 3_000
"""Larger models (in nodes) get no expressions in a page: most readers never ask for another batch."""
MAX_REQUESTED = 10_000
"""Larger models (in nodes) get no expressions on request either."""
MAX_TRIES = 40
NAME = "batch"
UNKNOWN = "not every cost is known at other batches"
_STAND_IN = 2
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Offer:
    """Costs as functions of the batch size."""

    costs: Expressions
    """By the original nodes and tensors, as functions of ``NAME``."""
    inputs: Mapping[str, int]
    """Input → axis of its batch dimension."""
    fixed: int
    """Batch size in the file."""


def batch_offer(analysis: Analysis, max_nodes: int) -> Offer | str:
    """Return the costs at other batch sizes, for a model of at most ``max_nodes`` nodes.

    Returns a reason instead if the model has symbolic dimensions already, its batch cannot be changed, or a
    cost would become unknown.
    """
    if analysis.dims.symbols:
        return "a dimension is already symbolic"
    if analysis.rebatch is not None:
        return "the model was rewritten for another batch already"
    if len(analysis.model.nodes) > max_nodes:
        return f"the model has more than {max_nodes:,} nodes"
    try:
        return _offer(analysis)
    except Exception as fault:
        # The viewer only loses a slider, so this is logged rather than raised.
        log.warning("No other batch is offered: an internal fault (%s).", type(fault).__name__)
        log.debug("no other batch is offered", exc_info=True)
        return f"an internal fault ({type(fault).__name__})"


def _offer(analysis: Analysis) -> Offer | str:
    planned = plan_batch(analysis.loaded, BatchRequest(advise=False, tries=MAX_TRIES))
    if isinstance(planned, BatchRefusal):
        return planned.message.rstrip(".")
    result = _costs(analysis.loaded, planned)
    if result is None:
        return UNKNOWN
    costs, model, added = result
    mapped = _map_to_original(costs, model, analysis.model, added)
    return UNKNOWN if mapped is None else Offer(mapped, planned.plan.inputs, planned.plan.batch)


def batch_costs(analysis: Analysis) -> Expressions | None:
    """Return the costs of an analysis rewritten for another batch as functions of ``NAME``, by its nodes.

    None if the batch is the one in the file, or a cost at other batches is unknown.
    """
    if analysis.rebatch is None:
        return None
    result = _costs(analysis.loaded, analysis.rebatch.planned)
    return None if result is None else result[0]


def _costs(original: LoadedModel, planned: PlannedBatch) -> tuple[Expressions, Model, frozenset[str]] | None:
    """Return costs over ``NAME`` of the model rewritten for any batch, and the names of the nodes added."""
    from py_autodoc.graph.shapes import infer, infer_symbolic

    written = planned.written(NAME, literal=True)
    loaded = replace(original, proto=written.proto)
    model = build(loaded)
    types = infer_symbolic(loaded, model, {}, written.symbolic)
    if types is None:
        return None

    def reference() -> tuple[dict[str, int], list[NodeCost]] | None:
        numbers = replace(original, proto=planned.written(_STAND_IN, literal=True).proto)
        model_at_stand_in = build(numbers)
        return {NAME: _STAND_IN}, cost_table(
            model_at_stand_in, infer(numbers, model_at_stand_in, {}, {})
        ).nodes

    costs = expressions(model, types, reference)
    if any(value is None for value in (*costs.totals.values(), *costs.peak.values())):
        return None
    return costs, model, written.added


def _map_to_original(
    costs: Expressions, model: Model, original: Model, added: frozenset[str]
) -> Expressions | None:
    """Map the expressions to the original's nodes and tensors; added nodes count with the node they serve."""
    nodes: list[NodeExpressions] = []
    waiting: list[NodeExpressions] = []
    for node, cost in zip(model.nodes, costs.nodes, strict=True):
        if node.name not in added:
            for added_cost in waiting:
                _add(cost, added_cost)
            waiting.clear()
            nodes.append(cost)
        elif node.name.startswith(AFTER):
            _add(nodes[-1], cost)
        else:
            waiting.append(cost)
    tensor_ids = {tensor.name: tensor.id for tensor in model.tensors}
    names = [tensor.name for tensor in original.tensors]
    if (
        len(nodes) != len(original.nodes)
        or len(set(names)) < len(names)
        or not tensor_ids.keys() >= set(names)
    ):
        return None
    return replace(costs, nodes=nodes, shapes=[costs.shapes[tensor_ids[name]] for name in names])


def _add(to: NodeExpressions, added: NodeExpressions) -> None:
    """Add the costs of one node to another's."""
    for metric in METRICS:
        total: Number | None = getattr(to, metric)
        value: Number | None = getattr(added, metric)
        try:
            setattr(to, metric, None if total is None or value is None else total + value)
        except UndecidedComparison as fault:
            setattr(to, metric, None)
            to.reason = to.reason or str(fault)
