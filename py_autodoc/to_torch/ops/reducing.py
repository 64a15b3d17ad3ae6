"""Reductions and global pooling."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered, sequence
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

_SIMPLE = {"ReduceMean": "mean", "ReduceMax": "amax", "ReduceMin": "amin", "ReduceSum": "sum"}
_WITH_RUNTIME = ("ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")


@rule(*_SIMPLE, *_WITH_RUNTIME)
def reduce(op: OpContext) -> None:
    """``x.mean((2, 3), keepdim=True)``."""
    name, keepdims = op.node.op_type, bool(op.attr("keepdims", 1))
    axes, axes_known = _axes(op)
    if op.dtype(0) in (4, 12, 13):
        raise NotCovered("unsigned integers with more than 8 bits")
    if axes_known and axes == () and op.attr("noop_with_empty_axes", 0):
        _without_axes(op)
        return
    function = _SIMPLE.get(name)
    simple = (
        axes_known
        and function is not None
        and (op.is_float(0) or name in ("ReduceSum", "ReduceMax", "ReduceMin"))
    )
    if not simple or (function in ("amax", "amin") and _may_be_empty(op)):
        code = str(list(axes)) if axes_known and axes else "None" if axes_known else op.ints_code(1)
        label = f'"{name[6:]}"'
        op.out(
            op.call(
                "onnx_reduce", label, op.t(0), code, keepdims, noop=bool(op.attr("noop_with_empty_axes", 0))
            )
        )
        return
    arguments = []
    if axes:
        arguments.append(str(axes[0]) if len(axes) == 1 else sequence(axes))
        arguments += ["keepdim=True"] if keepdims else []
    elif keepdims:
        rank = op.rank(0)
        all_axes = sequence(range(rank)) if rank is not None else f"tuple(range({op.v(0)}.dim()))"
        arguments += [all_axes, "keepdim=True"] if all_axes != "()" else []
    if name == "ReduceSum" and not op.is_float(0):
        arguments.append(f"dtype={op.v(0)}.dtype")
    op.out(f"{op.v(0)}.{function}({', '.join(arguments)})")


def _may_be_empty(op: OpContext) -> bool:
    """True if a dimension is known to be 0; torch has no maximum of an empty tensor."""
    shape = op.writer.source.types.shapes[op.node.inputs[0]]
    return shape is not None and 0 in shape


def _axes(op: OpContext) -> tuple[tuple[int, ...], bool]:
    """Return (axes, whether they are known); no axes means all axes."""
    if "axes" in op.node.attributes:
        return tuple(op.attr("axes")), True
    if not op.has(1):
        return (), True
    axes = op.fixed(1)
    return axes or (), axes is not None


def _without_axes(op: OpContext) -> None:
    """With ``noop_with_empty_axes``, sum nothing but still apply the elementwise part, such as squares."""
    codes = {"ReduceL1": "torch.abs({})", "ReduceL2": "torch.abs({})", "ReduceLogSum": "torch.log({})"}
    name = op.node.op_type
    if name == "ReduceSumSquare":
        op.out(f"{op.v(0)} * {op.v(0)}")
    elif name in codes:
        op.out(codes[name].format(op.t(0)))
    else:
        op.same()


@rule("GlobalAveragePool", "GlobalMaxPool")
def global_pool(op: OpContext) -> None:
    """Pooling over all axes but the first two."""
    rank = op.rank(0)
    axes = f"tuple(range(2, {op.v(0)}.dim()))" if rank is None else sequence(range(2, rank))
    name = "mean" if op.node.op_type == "GlobalAveragePool" else "amax"
    op.out(f"{op.v(0)}.{name}({axes}, keepdim=True)")
