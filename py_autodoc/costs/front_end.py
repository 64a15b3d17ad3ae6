"""The fixed front end of audio models: windows, Fourier bases and mel filters before a logarithm."""

from __future__ import annotations

from py_autodoc.costs.weight_slots import VIEWS
from py_autodoc.graph.ir.model import Model, TensorKind

_FOURIER = frozenset({"DFT", "STFT"})
_SQUARES = frozenset({"Pow", "Abs", "ReduceSumSquare", "ReduceL2"}) | _FOURIER
_ARITHMETIC = frozenset({
    "Pow", "Mul", "Add", "Sub", "Div", "Sqrt", "Abs", "Max", "Clip", "Where", "ReduceSum", "ReduceSumSquare",
    "ReduceL2", "ReduceMean", "MatMul", "Gemm", "Einsum", "Conv", "Concat", "Split", "Slice", "Gather", "Pad",
    "Cast", "Expand", "Less", "Greater", "IsNaN",
})  # fmt: skip
_PASSED = _ARITHMETIC | _FOURIER | VIEWS
"""Operators before the logarithm of a spectrum; an activation or a normalization is none of them."""
_PRODUCTS = frozenset({"MatMul", "Gemm", "Einsum", "Conv"})
_MAX_NODES = 400
_MAX_PRODUCTS = 4
"""Products in a front end: two halves of a Fourier transform, a window, filters."""


def front_end(model: Model) -> frozenset[int]:
    """Return the nodes between an input of floats and the logarithm of its power in bands.

    Nothing there is trained, though its filters are constants of products like the weights of a layer.
    """
    found: set[int] = set()
    for node in model.nodes:
        if node.op_type == "Log" and not node.domain and node.graph == 0 and node.id not in found:
            found |= _before(model, node.id)
    return frozenset(found)


def _before(model: Model, log: int) -> set[int]:
    """Return what is between inputs and a logarithm; empty if it is more than a spectrum."""
    stack, seen = [log], {log}
    squares = products = 0
    reads_input = False
    while stack:
        node = model.nodes[stack.pop()]
        if node.id != log and (node.domain or node.op_type not in _PASSED):
            return set()
        same = node.op_type == "Mul" and len(set(node.inputs)) == 1
        squares += node.op_type in _SQUARES or same
        products += node.op_type in _PRODUCTS
        if len(seen) > _MAX_NODES or products > _MAX_PRODUCTS:
            return set()
        for tensor in node.inputs:
            if tensor < 0:
                continue
            entry = model.tensors[tensor]
            reads_input = reads_input or (entry.kind == TensorKind.INPUT and not entry.is_constant)
            producer = entry.producer
            if producer < 0 or producer in seen or entry.is_constant:
                continue
            made = model.nodes[producer]
            if made.op_type in ("Shape", "Constant", "ConstantOfShape", "Range") and not made.domain:
                continue
            seen.add(producer)
            stack.append(producer)
    return seen if squares and products and reads_input else set()
