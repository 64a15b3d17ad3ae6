"""Another batch for a model whose batch is fixed, or the node that forbids it.

The file at its batch is a function of one item; wanted is this function mapped over N items. So the
batch is followed through the graph (``layout``), one rule an operator (``rules``): where it goes, or
that items would mix. A reshape keeps the order of elements, which leaves few axes the batch can be on;
where it leaves several, a later fault takes the choice back (``search``). What must change is then
edited in a copy of the structure (``rewrite``), weights staying references.
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
