"""Operators that compute in float beside the quantized operations, and what lies outside the main graph."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Node
from py_autodoc.opdocs.integer_operations import QuantizedModel
from py_autodoc.quantize.reference import OPERATORS
from py_autodoc.quantize.reference.block_weights import MATMUL_NBITS
from py_autodoc.report.pipeline.analysis import Analysis

_DQ = "DequantizeLinear"
_FLOATS = frozenset({1, 10, 11, 16})
"""float32, float16, float64, bfloat16."""
_MOVING = frozenset({
    "Cast", "CastLike", "Compress", "Concat", "Constant", "ConstantOfShape", "DepthToSpace", "Dropout",
    "Expand", "EyeLike", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "MaxPool", "Optional",
    "OptionalGetElement", "Pad", "Reshape", "ReverseSequence", "ScatterElements", "ScatterND", "SequenceAt",
    "SequenceConstruct", "SequenceInsert", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "TopK",
    "Transpose", "Trilu", "Unsqueeze", "Where",
})  # fmt: skip
"""Operators that select or move values and compute nothing new."""
_WITH_SUBGRAPHS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def add_float_operators(quantized: QuantizedModel, analysis: Analysis) -> None:
    """Add the operators with float results that belong to no operation, in execution order.

    Those of subgraphs are added, too, and quantized ones there: the reference describes the main graph.
    """
    described = {name for operation in quantized.operations for name in operation.nodes}
    found: dict[str, tuple[str, str]] = {}
    for graph in analysis.model.graphs:
        for number in graph.nodes:
            node = analysis.model.nodes[number]
            name = _name(node, analysis)
            if graph.id == 0 and name in quantized.floats:
                found[name] = quantized.floats[name]
            elif graph.id == 0 and name in described:
                continue
            elif why := _reason(node, analysis):
                found[name] = node.op_type, why
    quantized.floats = {**found, **{k: v for k, v in quantized.floats.items() if k not in found}}


def _name(node: Node, analysis: Analysis) -> str:
    tensors = analysis.model.tensors
    return node.name or next((tensors[tensor].name for tensor in node.outputs if tensor >= 0), "")


def _reason(node: Node, analysis: Analysis) -> str:
    """Return why a node is listed; empty if it computes no new float values from data."""
    if node.graph and node.op_type in (*OPERATORS, MATMUL_NBITS):
        return "it is in a subgraph, which is not described"
    if node.op_type in _MOVING or node.op_type in OPERATORS or node.op_type in _WITH_SUBGRAPHS:
        return ""
    tensors, nodes, dtypes = analysis.model.tensors, analysis.model.nodes, analysis.types.dtypes
    if not any(tensor >= 0 and dtypes[tensor] in _FLOATS for tensor in node.outputs):
        return ""
    inputs = [tensors[tensor] for tensor in node.inputs if tensor >= 0]
    if all(tensor.kind.is_constant for tensor in inputs):
        return ""
    if node.graph:
        return "it is in a subgraph and computes in float"
    if any(tensor.producer >= 0 and nodes[tensor.producer].op_type == _DQ for tensor in inputs):
        return "its quantized inputs are read in float"
    return "it reads a float tensor"
