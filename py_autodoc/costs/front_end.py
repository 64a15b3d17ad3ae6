"""The fixed front end of audio models: mel filters between a spectrum and its logarithm."""

from __future__ import annotations

from py_autodoc.costs.weight_slots import VIEWS
from py_autodoc.graph.ir.model import Model, Node, TensorKind

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
    """Return the nodes between the power of a spectrum of inputs and its logarithm.

    Filters there are not trained, though they are constants of products like the weights of a layer. A
    Fourier basis in a convolution of the samples may be: that of DNSMOS was, from where it started.
    """
    found: set[int] = set()
    for node in model.nodes:
        is_log = node.op_type == "Log" and not node.domain and node.graph == 0
        if is_log and node.id not in found and _is_spectrum(model, node.id):
            found |= _bands(model, node.id)
    return frozenset(found)


def _bands(model: Model, log: int) -> set[int]:
    """Return the nodes before a logarithm that the squares of a spectrum reach."""
    stack, seen = [log], {log}
    while stack:
        node = model.nodes[stack.pop()]
        if _is_square(node):
            continue
        for tensor in node.inputs:
            producer = model.tensors[tensor].producer if tensor >= 0 else -1
            if producer >= 0 and producer not in seen:
                seen.add(producer)
                stack.append(producer)
    return seen


def _is_square(node: Node) -> bool:
    return node.op_type in _SQUARES or (node.op_type == "Mul" and len(set(node.inputs)) == 1)


def _is_spectrum(model: Model, log: int) -> bool:
    """Return whether a logarithm is that of a spectrum of an input, and nothing else is before it."""
    stack, seen = [log], {log}
    squares = products = 0
    reads_input = False
    while stack:
        node = model.nodes[stack.pop()]
        if node.id != log and (node.domain or node.op_type not in _PASSED):
            return False
        squares += _is_square(node)
        products += node.op_type in _PRODUCTS
        if len(seen) > _MAX_NODES or products > _MAX_PRODUCTS:
            return False
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
    return bool(squares and products and reads_input)
