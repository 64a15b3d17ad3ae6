"""Changes the batch size of a model with a fixed batch, or names the node that prevents it.

A file with a fixed batch computes a function of its items; the result must map it over N items. The batch
axis is followed through the graph (``layout``) by one rule per operator (``rules``), which says where the
axis goes or that items would mix. A reshape keeps the order of elements, so only few axes can hold the batch;
if several can, a later failure revises the choice (``search``). The edits are then applied to a copy of the
structure (``rewrite``); weights stay references.
"""

from py_autodoc.graph.rebatch.layout import Layout
from py_autodoc.graph.rebatch.model import BatchRequest, PlannedBatch, RebatchBlocked, fixed_batch, plan_batch
from py_autodoc.graph.rebatch.search import BatchPlan, BatchRefusal

__all__ = [
    "BatchPlan",
    "BatchRefusal",
    "BatchRequest",
    "Layout",
    "PlannedBatch",
    "RebatchBlocked",
    "fixed_batch",
    "plan_batch",
]
