"""Activations."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered
from py_autodoc.to_torch.op import OpContext, fl
from py_autodoc.to_torch.registry import rule

_FUNCTIONS = {
    "Softplus": "F.softplus",
    "Softsign": "F.softsign",
    "Mish": "F.mish",
    "HardSwish": "F.hardswish",
}


@rule("Relu")
def relu(op: OpContext) -> None:
    """``F.relu``."""
    op.out(f"F.relu({op.t(0)})")


@rule(*_FUNCTIONS)
def call_function(op: OpContext) -> None:
    """Functions without attributes."""
    op.out(f"{_FUNCTIONS[op.node.op_type]}({op.t(0)})")


@rule("LeakyRelu")
def leaky(op: OpContext) -> None:
    """``F.leaky_relu``."""
    op.out(f"F.leaky_relu({op.t(0)}, {fl(op.attr('alpha', 0.01))})")


@rule("Elu")
def elu(op: OpContext) -> None:
    """``F.elu``."""
    op.out(f"F.elu({op.t(0)}, alpha={fl(op.attr('alpha', 1.0))})")


@rule("Celu")
def celu(op: OpContext) -> None:
    """``F.celu``."""
    op.out(f"F.celu({op.t(0)}, alpha={fl(op.attr('alpha', 1.0))})")


@rule("Selu")
def selu(op: OpContext) -> None:
    """``F.selu``; other constants than the usual ones are written out."""
    alpha = op.attr("alpha", 1.6732632423543772)
    gamma = op.attr("gamma", 1.0507009873554805)
    if abs(alpha - 1.6732632) < 1e-6 and abs(gamma - 1.0507010) < 1e-6:
        op.out(f"F.selu({op.t(0)})")
    else:
        op.out(f"{fl(gamma)} * F.elu({op.t(0)}, alpha={fl(alpha)})")


@rule("ThresholdedRelu")
def thresholded(op: OpContext) -> None:
    """Numbers above a threshold; others become zero."""
    op.out(f"F.threshold({op.t(0)}, {fl(op.attr('alpha', 1.0))}, 0.0)")


@rule("HardSigmoid")
def hard_sigmoid(op: OpContext) -> None:
    """A line clipped to 0 and 1, with slope and offset as attributes."""
    alpha, beta = op.attr("alpha", 0.2), op.attr("beta", 0.5)
    op.out(f"torch.clamp({op.v(0)} * {fl(alpha)} + {fl(beta)}, 0, 1)")


@rule("Swish")
def swish(op: OpContext) -> None:
    """``x * sigmoid(alpha * x)``."""
    alpha = op.attr("alpha", 1.0)
    op.out(f"F.silu({op.t(0)})" if alpha == 1.0 else f"{op.v(0)} * torch.sigmoid({op.v(0)} * {fl(alpha)})")


@rule("Gelu")
def gelu(op: OpContext) -> None:
    """``F.gelu``."""
    kind = op.attr("approximate", "none")
    if kind not in ("none", "tanh"):
        raise NotCovered("an unknown approximation")
    op.out(f"F.gelu({op.t(0)})" if kind == "none" else f'F.gelu({op.t(0)}, approximate="tanh")')


@rule("Shrink")
def shrink(op: OpContext) -> None:
    """Numbers near zero become zero, others move towards zero."""
    lambd, bias = fl(op.attr("lambd", 0.5)), fl(op.attr("bias", 0.0))
    op.out(op.call("onnx_shrink", op.t(0), lambd, bias))


@rule("Clip")
def clip(op: OpContext) -> None:
    """``torch.clamp``."""
    if op.opset < 11:
        low, high = op.attr("min", -3.4028234663852886e38), op.attr("max", 3.4028234663852886e38)
        low_code, high_code = fl(low), fl(high)
    else:
        low_code = op.num(1) if op.has(1) else ""
        high_code = op.num(2) if op.has(2) else ""
        tensor = any("\x01" in code or "torch" in code or "\x03" in code for code in (low_code, high_code))
        if tensor:
            low_code, high_code = (op.t(n) if op.has(n) else "" for n in (1, 2))
    bounds = [f"{key}={code}" for key, code in (("min", low_code), ("max", high_code)) if code]
    if not bounds:
        op.same()
    else:
        op.out(f"torch.clamp({op.t(0)}, {', '.join(bounds)})")


@rule("PRelu")
def prelu(op: OpContext) -> None:
    """Negative numbers times a slope."""
    op.out(f"torch.where({op.t(0)} < 0, {op.v(0)} * {op.t(1)}, {op.t(0)})")


@rule("Softmax", "LogSoftmax", "Hardmax")
def softmax(op: OpContext) -> None:
    """Softmax over one axis; before opset 13, over all axes from it on."""
    name = {"Softmax": "torch.softmax", "LogSoftmax": "torch.log_softmax", "Hardmax": "onnx_hardmax"}
    function = name[op.node.op_type]
    if function.startswith("onnx"):
        op.use(function)
    axis = op.attr("axis", -1 if op.opset >= 13 else 1)
    rank = op.rank(0)
    last = axis == -1 or (rank is not None and axis == rank - 1)
    if op.opset >= 13 or last:
        op.out(f"{function}({op.t(0)}, dim={-1 if last else axis})")
        return
    x = op.v(0)
    flat = f"{x}.reshape(math.prod({x}.shape[:{axis}]), -1)"
    op.out(f"{function}({flat}, dim=1).reshape({x}.shape)")
