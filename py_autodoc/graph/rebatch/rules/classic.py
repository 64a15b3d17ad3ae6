"""Classical machine learning operators, where each row is an item."""

from __future__ import annotations

from py_autodoc.graph.rebatch.layout import BatchBlocked
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

ML = "ai.onnx.ml"


@rule(
    "LinearClassifier",
    "LinearRegressor",
    "Normalizer",
    "SVMClassifier",
    "SVMRegressor",
    "TreeEnsemble",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
    domain=ML,
)
def rows(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Rows are independent."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    if layout.axis or len(trace.shape(node.inputs[0])) != 2:
        raise BatchBlocked(f"{node.op_type} uses axis 0 as the batch, which is on axis {layout.axis}")
    return [layout] * len(node.outputs)


@rule("Binarizer", "Imputer", "LabelEncoder", "Scaler", "CategoryMapper", domain=ML)
def elements(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Elements are independent; stored values lie along the last axis."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    if node.op_type in ("Imputer", "Scaler"):
        trace.require_no_batch_on(node, layout, [-1])
    return [layout]
