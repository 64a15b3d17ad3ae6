"""Quantization operators and elementwise QLinear operators of com.microsoft."""

from __future__ import annotations

from py_autodoc.graph.operators.vendor_quantizers import QUANTIZE, ROUNDERS, TWINS
from py_autodoc.graph.shapes import reshaping
from py_autodoc.graph.shapes.reducing import reduced
from py_autodoc.graph.shapes.shape_context import FLOAT, MS, UINT8, ShapeContext, broadcast, rule

_NAMED_TYPES = {"FP8": 17, "INT4": 22}
"""Part of a vendor's operator name → element type that it quantizes to."""


@rule("QuantizeLinear", domain=MS)
@rule("QuantizeLinear")
def quantize(op: ShapeContext) -> None:
    """Type of the zero point, else ``output_dtype``, else what the name says, else uint8."""
    named = next((dtype for part, dtype in _NAMED_TYPES.items() if part in op.node.op_type), UINT8)
    op.set(0, op.shape(0), op.dtype(2) or op.int_attr("output_dtype", 0) or named)


@rule("DequantizeLinear", domain=MS)
@rule("DequantizeLinear")
def dequantize(op: ShapeContext) -> None:
    """Type of the scale, unless ``output_dtype`` is set (opset 23)."""
    op.set(0, op.shape(0), op.int_attr("output_dtype", 0) or op.dtype(1) or FLOAT)


def vendor_quantizers() -> None:
    """Register the quantizers of vendors: shapes pass through, types as in ai.onnx."""
    for (domain, name), standard in TWINS.items():
        rule(name, domain=domain)(quantize if standard == QUANTIZE else dequantize)
    for domain, name in sorted(ROUNDERS):
        rule(name, domain=domain)(qlinear_unary)


@rule("DynamicQuantizeLinear")
def dynamic_quantize(op: ShapeContext) -> None:
    """uint8 tensor, float scale, uint8 zero point."""
    op.set(0, op.shape(0), UINT8)
    op.set(1, (), FLOAT)
    op.set(2, (), UINT8)


@rule("QLinearAdd", "QLinearMul", domain=MS)
def qlinear_binary(op: ShapeContext) -> None:
    """Operands are inputs 0 and 3."""
    op.set(0, None, op.dtype(0))
    op.set(0, broadcast(op.shape(0), op.shape(3)))


@rule("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", domain=MS)
def qlinear_unary(op: ShapeContext) -> None:
    """Shape and type of the input."""
    op.same()


@rule("QLinearWhere", domain=MS)
def qlinear_where(op: ShapeContext) -> None:
    """Condition, X with scale and zero point, Y with scale and zero point."""
    op.set(0, None, op.dtype(1))
    op.set(0, broadcast(broadcast(op.shape(0), op.shape(1)), op.shape(4)))


@rule("QLinearReduceMean", domain=MS)
def qlinear_mean(op: ShapeContext) -> None:
    """Axes are an attribute; without it all axes are reduced."""
    shape = op.shape(0)
    op.set(0, None, op.dtype(0))
    if shape is not None:
        axes = op.ints_attr("axes") or tuple(range(len(shape)))
        op.set(0, reduced(shape, axes, bool(op.int_attr("keepdims", 1))))


@rule("QLinearConcat", domain=MS)
def qlinear_concat(op: ShapeContext) -> None:
    """Output scale and zero point, then (tensor, scale, zero point) triples."""
    tensors = range(2, len(op.inputs), 3)
    shapes = [op.shape(i) for i in tensors]
    op.set(0, None, op.dtype(2))
    first = shapes[0] if shapes else None
    if first is None or any(s is None or len(s) != len(first) for s in shapes):
        return
    axis = op.axis(len(first))
    total = reshaping.sum_dims([s[axis] for s in shapes if s is not None])
    if any(s is not None and s[axis] is None for s in shapes):
        total = None
    op.set(0, (*first[:axis], total, *first[axis + 1 :]))


vendor_quantizers()
