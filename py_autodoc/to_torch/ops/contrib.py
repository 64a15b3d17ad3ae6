"""Common fused operators of com.microsoft."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered
from py_autodoc.to_torch.op import OpContext, fl
from py_autodoc.to_torch.registry import rule

MS = "com.microsoft"


@rule("Gelu", domain=MS)
def gelu(op: OpContext) -> None:
    """``F.gelu``."""
    op.out(f"F.gelu({op.t(0)})")


@rule("FastGelu", domain=MS)
def fast_gelu(op: OpContext) -> None:
    """``F.gelu`` with the tanh approximation, after an optional bias."""
    x = f"{op.t(0)} + {op.t(1)}" if op.has(1) else op.t(0)
    op.out(f'F.gelu({x}, approximate="tanh")')


@rule("BiasGelu", domain=MS)
def bias_gelu(op: OpContext) -> None:
    """``F.gelu`` after a bias."""
    op.out(f"F.gelu({op.t(0)} + {op.t(1)})")


@rule("QuickGelu", domain=MS)
def quick_gelu(op: OpContext) -> None:
    """``x * sigmoid(alpha * x)``."""
    op.out(f"{op.v(0)} * torch.sigmoid({op.v(0)} * {fl(op.attr('alpha', 1.702))})")


@rule("FusedMatMul", domain=MS)
def matmul(op: OpContext) -> None:
    """``alpha * (a @ b)`` with transposed axes."""
    if op.attr("transBatchA", 0) or op.attr("transBatchB", 0):
        raise NotCovered("transposed batches")
    a = f"{op.v(0)}.transpose(-2, -1)" if op.attr("transA", 0) else op.v(0)
    b = f"{op.v(1)}.transpose(-2, -1)" if op.attr("transB", 0) else op.v(1)
    alpha = op.attr("alpha", 1.0)
    op.out(f"{a} @ {b}" if alpha == 1.0 else f"{fl(alpha)} * ({a} @ {b})")


@rule("SkipLayerNormalization", domain=MS)
def skip_layer(op: OpContext) -> None:
    """Layer normalization of a sum."""
    total = _sum(op, 4)
    scale, bias, eps = op.t(2), op.optional(3), fl(op.attr("epsilon", 1e-12))
    op.out(f"{op.call('onnx_layer_norm', total, scale, bias, 1, eps)}[0]")
    _unused_outputs(op, total)


@rule("SkipSimplifiedLayerNormalization", domain=MS)
def skip_rms(op: OpContext) -> None:
    """RMS normalization of a sum."""
    total = _sum(op, 3)
    op.out(op.call("onnx_rms_norm", total, op.t(2), 1, fl(op.attr("epsilon", 1e-12))))
    _unused_outputs(op, total)


def _sum(op: OpContext, bias: int) -> str:
    more = f" + {op.t(bias)}" if op.has(bias) else ""
    return op.keep(f"{op.t(0)} + {op.t(1)}{more}", "total")


def _unused_outputs(op: OpContext, total: str) -> None:
    if op.has_out(1) or op.has_out(2):
        raise NotCovered("mean and deviation as outputs")
    op.out(total, 3)
