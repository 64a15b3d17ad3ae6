"""Gathering and scattering by index, and sorting."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

_REDUCTIONS = ("none", "add", "mul", "max", "min")


@rule("GatherElements")
def gather_elements(op: OpContext) -> None:
    """``torch.gather`` with negative indices."""
    op.out(op.call("onnx_gather_elements", op.t(0), op.t(1), op.attr("axis", 0)))


@rule("GatherND")
def gather_nd(op: OpContext) -> None:
    """Gather by indices into several axes."""
    op.out(op.call("onnx_gather_nd", op.t(0), op.t(1), batch_dims=op.attr("batch_dims", 0) or None))


def _reduction(op: OpContext) -> str | None:
    name = op.choice("reduction", "none", ("none", "add", "mul", "min", "max"))
    if name not in _REDUCTIONS:
        raise NotCovered(f"reduction {name}")
    return None if name == "none" else f'"{name}"'


@rule("ScatterElements", "Scatter")
def scatter(op: OpContext) -> None:
    """``torch.scatter`` with negative indices."""
    arguments = op.t(0), op.t(1), op.t(2), op.attr("axis", 0)
    op.out(op.call("onnx_scatter_elements", *arguments, reduction=_reduction(op)))


@rule("ScatterND")
def scatter_nd(op: OpContext) -> None:
    """Scatter by indices into several axes."""
    op.out(op.call("onnx_scatter_nd", op.t(0), op.t(1), op.t(2), reduction=_reduction(op)))


@rule("TensorScatter")
def tensor_scatter(op: OpContext) -> None:
    """Writes new entries into a cache."""
    circular = op.choice("mode", "linear", ("linear", "circular")) == "circular"
    arguments = op.t(0), op.t(1), op.optional(2), op.attr("axis", -2)
    op.out(op.call("onnx_tensor_scatter", *arguments, circular=circular))


@rule("OneHot")
def one_hot(op: OpContext) -> None:
    """On and off values by index; an index out of range is off everywhere."""
    depth = op.ints(1)
    code = str(depth[0]) if depth else f"int({op.t(1)})"
    op.out(op.call("onnx_one_hot", op.t(0), code, op.t(2), axis=op.attr("axis", -1)))


@rule("TopK")
def top(op: OpContext) -> None:
    """The ``k`` largest or smallest elements; the first of equal elements comes first."""
    if op.dtype(0) == 13:
        raise NotCovered("uint64")
    if op.opset < 10:
        code = str(op.attr("k"))
    else:
        k = op.ints(1)
        code = str(k[0]) if k else f"int({op.t(1)})"
    largest = None if op.attr("largest", 1) else "False"
    op.outs(op.call("onnx_top_k", op.t(0), code, op.attr("axis", -1), largest=largest))


@rule("ArgMax", "ArgMin")
def arg(op: OpContext) -> None:
    """Index of the first, or last, extreme."""
    name = op.node.op_type.lower()
    keepdim, axis = bool(op.attr("keepdims", 1)), op.attr("axis", 0)
    if op.attr("select_last_index", 0):
        op.out(op.call("onnx_last_extreme", op.t(0), axis, keepdim, smallest=name == "argmin"))
    else:
        op.out(f"{op.v(0)}.{name}({axis}, keepdim={keepdim})")


@rule("NonZero")
def non_zero(op: OpContext) -> None:
    """Indices of non-zero elements, with one row per axis."""
    op.out(f"{op.v(0)}.nonzero().transpose(0, 1)")


@rule("Compress")
def compress(op: OpContext) -> None:
    """Elements selected by a condition."""
    axis = op.attr("axis", None)
    op.out(op.call("onnx_compress", op.t(0), op.t(1), axis=axis))


@rule("CumSum", "CumProd")
def cumulative(op: OpContext) -> None:
    """Cumulative sums and products."""
    axis = op.ints(1)
    code = str(axis[0]) if axis else f"int({op.t(1)})"
    flags = {"exclusive": bool(op.attr("exclusive", 0)), "reverse": bool(op.attr("reverse", 0))}
    if op.node.op_type == "CumSum" and not any(flags.values()):
        more = f", dtype={op.torch_dtype(op.dtype(0))}" if op.is_integer(0) and op.dtype(0) != 7 else ""
        op.out(f"{op.v(0)}.cumsum({code}{more})")
    else:
        product = op.node.op_type == "CumProd"
        op.out(op.call("onnx_cumulative", op.t(0), code, **flags, product=product))


@rule("Unique")
def unique(op: OpContext) -> None:
    """Distinct values, sorted or in order of first occurrence."""
    axis = op.attr("axis", None)
    op.outs(op.call("onnx_unique", op.t(0), axis=axis, sort=None if op.attr("sorted", 1) else "False"))
    if len(op.node.outputs) < 4:
        stmt = op.scope.stmts[-1]
        indent, text = stmt.lines[0]
        targets, _, code = text.partition(" = ")
        more = ", _" * (4 - len(op.node.outputs))
        stmt.lines = [(indent, f"{targets.rstrip(',')}{more} = {code}")]
