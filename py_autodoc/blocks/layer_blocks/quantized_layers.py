"""Quantized layers and their schemes, from their operators and the surrounding nodes.

Schemes: ``QDQ`` (a float operator between DequantizeLinear of its data and of its weight), ``QOperator``
(an integer operator with fixed scales), ``dynamic`` (its data is quantized at run time), ``weight-only``
(only its weight is stored in few bits).
"""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import COPIES, RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import BLOCK_QUANTIZED_OPS, product
from py_autodoc.blocks.dataflow.operator_queries import ATTENTION, CONV, LINEAR, MOE, RECURRENT, input_at
from py_autodoc.blocks.results import QuantizedLayer

QDQ, QOPERATOR, DYNAMIC, WEIGHT_ONLY = "QDQ", "QOperator", "dynamic", "weight-only"
_INTEGER = {
    "QLinearConv": (0, 3), "QLinearMatMul": (0, 3), "QGemm": (0, 3), "QLinearConvTranspose": (0, 3),
    "ConvInteger": (0, 1), "MatMulInteger": (0, 1), "MatMulIntegerToFloat": (0, 1), "MatMulInteger16": (0, 1),
    "QAttention": (0, 1), "QOrderedMatMul": (0, 2), "QOrderedAttention": (0, 2),
}  # fmt: skip
"""Integer operator → input indices of data and weight."""
_ALWAYS_DYNAMIC = {"DynamicQuantizeMatMul": 1, "DynamicQuantizeLSTM": 1}
_PACKED = {"MatMulFpQ4": "int4", "QMoE": "int4"}
_SIGNS = frozenset(
    {
        "QuantizeLinear",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        *_INTEGER,
        *_ALWAYS_DYNAMIC,
        *_PACKED,
        "MatMulNBits",
        "MatMulBnb4",
        "GatherBlockQuantized",
    }
)
_LAYERS = (CONV | LINEAR | RECURRENT | ATTENTION | MOE | _ALWAYS_DYNAMIC.keys() | _INTEGER.keys()) - {
    "Attention"
}
_MOVES = COPIES | RESHAPES | {"Slice", "Split", "Gather", "Pad", "Concat", "MaxPool", "Relu", "Clip"}
_SCALING = frozenset({"Cast", "Mul", "Sub", "Add", "Div"}) | RESHAPES
_NARROW = {
    2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 17: "float8", 18: "float8", 19: "float8", 20: "float8",
    21: "uint4", 22: "int4", 23: "float4", 25: "uint2", 26: "int2",
}  # fmt: skip
"""Common names of narrow element types."""
_STEPS = 16


def find_quantized(flow: DataflowGraph) -> list[QuantizedLayer]:
    """Return every layer of a graph with its quantization; empty if the graph has no sign of quantization."""
    if _SIGNS.isdisjoint(flow.by_op) and not _stored_narrow(flow):
        return []
    return [
        quantized
        for number in flow.of(_LAYERS | BLOCK_QUANTIZED_OPS)
        if (quantized := _layer(flow, number)) is not None
    ]


def _stored_narrow(flow: DataflowGraph) -> bool:
    """True if stored small integers are cast: weights that the graph itself scales."""
    dtypes = flow.types.dtypes
    return any(
        tensor >= 0
        and flow.constants[tensor]
        and dtypes[tensor] in _NARROW
        and len(flow.shapes[tensor] or ()) > 1
        for number in flow.of(("Cast",))
        for tensor in flow.nodes[number].inputs[:1]
    )


def _layer(flow: DataflowGraph, number: int) -> QuantizedLayer | None:
    op, node = flow.op_types[number], flow.nodes[number]
    if op in _ALWAYS_DYNAMIC:
        weight = input_at(flow, number, _ALWAYS_DYNAMIC[op])
        return QuantizedLayer(number, DYNAMIC, _name(flow, weight), "uint8")
    if op in _INTEGER:
        data, weight = (input_at(flow, number, i) for i in _INTEGER[op])
        producer = flow.producers[flow.back(data, COPIES | RESHAPES)] if data >= 0 else -1
        scheme = DYNAMIC if flow.op_types[producer] == "DynamicQuantizeLinear" else QOPERATOR
        weighted = weight >= 0 and flow.constants[weight]
        return QuantizedLayer(number, scheme, _name(flow, weight), _name(flow, data), weighted)
    if op == "MatMulBnb4":
        kind = "nf4" if node.attributes.get("quant_type") == 1 else "fp4"
        return QuantizedLayer(number, WEIGHT_ONLY, kind)
    if op == "MatMulNBits" or op in _PACKED:
        bits = node.attributes.get("bits", node.attributes.get("expert_weight_bits", 4))
        return QuantizedLayer(number, WEIGHT_ONLY, f"int{bits}" if isinstance(bits, int) else "int4")
    return _float(flow, number, op)


def _float(flow: DataflowGraph, number: int, op: str) -> QuantizedLayer | None:
    """Classify a float operator by the types of its operands before dequantization."""
    indices: tuple[int, ...] = (0, 1)
    if op in LINEAR:
        matmul = product(flow, number)
        if matmul is None:
            return None
        operands = [matmul.a, matmul.b]
    else:
        indices = (0, 1, 2) if op in RECURRENT else (0, 1)
        operands = [t for i in indices if (t := input_at(flow, number, i)) >= 0]
    fixed = [t for t in operands if flow.constants[t]]
    variable = [t for t in operands if not flow.constants[t]]
    if not fixed:
        if op not in LINEAR or len(variable) < 2:
            return None
        source_types = [_quantized_source(flow, t) for t in variable]
        return QuantizedLayer(
            number,
            QDQ if all(source_types) else "",
            data=source_types[0] if all(source_types) else "",
            weighted=False,
        )
    weights = next((kind for t in fixed if (kind := _quantized_source(flow, t))), "")
    data = next((kind for t in variable if (kind := _quantized_source(flow, t))), "")
    if not weights:
        return QuantizedLayer(number, "")
    return QuantizedLayer(number, QDQ if data else WEIGHT_ONLY, weights, data)


def _quantized_source(flow: DataflowGraph, tensor: int) -> str:
    """Return the narrow element type that a tensor is scaled from; empty if there is none."""
    fixed = flow.constants[tensor]
    for _ in range(_STEPS):
        number = flow.producers[tensor]
        if number < 0:
            return _NARROW.get(flow.types.dtypes[tensor], "") if fixed else ""
        op = flow.op_types[number]
        inputs = [t for t in flow.nodes[number].inputs if t >= 0]
        if op == "DequantizeLinear" and inputs:
            return _name(flow, inputs[0])
        if not inputs or op not in (_SCALING if fixed else _MOVES):
            return ""
        if fixed:  # the narrow operand first, the others scale it
            inputs.sort(key=lambda t: (len(flow.shapes[t] or ()) < 2, not _is_narrow(flow, t)))
        tensor = inputs[0]
    return ""


def _is_narrow(flow: DataflowGraph, tensor: int) -> bool:
    number = flow.producers[tensor]
    return flow.types.dtypes[tensor] in _NARROW or flow.op_types[number] in (
        "Cast",
        "Sub",
        "DequantizeLinear",
    )


def _name(flow: DataflowGraph, tensor: int) -> str:
    return _NARROW.get(flow.types.dtypes[tensor], "") if tensor >= 0 else ""
