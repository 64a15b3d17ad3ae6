"""Normalizations."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered, sequence
from py_autodoc.to_torch.dtypes import FLOATS
from py_autodoc.to_torch.module import ModuleWeight
from py_autodoc.to_torch.op import OpContext, fl
from py_autodoc.to_torch.registry import rule


def _zero(array: object) -> object:
    import numpy as np

    return np.zeros((), np.int64)


def _all_constant(op: OpContext, inputs: range) -> bool:
    fixed = (op.constant(n) is not None and len(op.dims(n)) == 1 and op.dtype(n) in FLOATS for n in inputs)
    return all(fixed)


@rule("BatchNormalization")
def batch(op: OpContext) -> None:
    """nn.BatchNorm2d with constant statistics."""
    if op.attr("training_mode", 0) or any(op.has_out(n) for n in range(1, len(op.node.outputs))):
        raise NotCovered("training mode")
    if op.opset < 7 and not op.attr("is_test", 0):
        raise NotCovered("training mode")
    if not op.attr("spatial", 1):
        raise NotCovered("statistics for every position")
    eps, rank = fl(op.attr("epsilon", 1e-5)), op.rank(0)
    same = len({op.dtype(n) for n in range(5)}) == 1
    if same and rank in (2, 3, 4, 5) and _all_constant(op, range(1, 5)):
        names = ("weight", "bias", "running_mean", "running_var")
        weights = {name: op.weight(n + 1) for n, name in enumerate(names)}
        weights["num_batches_tracked"] = ModuleWeight(-1, 7, (), _zero)
        settings: dict[str, object] = {"_num_features": op.dims(1)[0]}
        if eps != "1e-05":
            settings["eps"] = eps
        layer = op.layer(f"BatchNorm{max(rank - 2, 1)}d", settings, weights, "bn")
        op.out(f"{layer}({op.t(0)})")
        return
    scale, bias, mean, var = (op.t(n) for n in range(1, 5))
    if same:
        op.out(f"F.batch_norm({op.t(0)}, {mean}, {var}, {scale}, {bias}, eps={eps})")
    else:
        op.out(op.call("onnx_batch_norm", op.t(0), scale, bias, mean, var, eps))


@rule("LayerNormalization")
def layer(op: OpContext) -> None:
    """nn.LayerNorm over the last axes."""
    axis, rank, eps = op.attr("axis", -1), op.rank(0), fl(op.attr("epsilon", 1e-5))
    if rank is None and axis >= 0:
        raise NotCovered("a non-negative axis with an unknown rank")
    count = -axis if axis < 0 else (rank or 0) - axis
    more = op.has_out(1) or op.has_out(2)
    fixed = op.constant(1) is not None and (not op.has(2) or op.constant(2) is not None)
    if fixed and not more and len(op.dims(1)) == count and op.dtype(1) == op.dtype(0):
        shape = op.dims(1)
        if not op.has(2) or op.dims(2) == shape:
            settings: dict[str, object] = {"_normalized_shape": shape[0] if len(shape) == 1 else shape}
            if eps != "1e-05":
                settings["eps"] = eps
            if not op.has(2):
                settings["bias"] = False
            weights = {"weight": op.weight(1)} | ({"bias": op.weight(2)} if op.has(2) else {})
            op.out(f"{op.layer('LayerNorm', settings, weights, 'norm')}({op.t(0)})")
            return
    arguments = op.t(0), op.t(1), op.optional(2), count, eps
    if more:
        op.outs(_three(op, op.call("onnx_layer_norm", *arguments)))
    else:
        op.out(f"{op.call('onnx_layer_norm', *arguments)}[0]")


def _three(op: OpContext, code: str) -> str:
    return code if len(op.node.outputs) == 3 else f"{code}[:{len(op.node.outputs)}]"


@rule("RMSNormalization")
@rule("SimplifiedLayerNormalization")
def rms(op: OpContext) -> None:
    """RMS normalization."""
    axis, rank = op.attr("axis", -1), op.rank(0)
    if rank is None and axis >= 0:
        raise NotCovered("a non-negative axis with an unknown rank")
    if any(op.has_out(n) for n in range(1, len(op.node.outputs))):
        raise NotCovered("additional outputs")
    count = -axis if axis < 0 else (rank or 0) - axis
    op.out(op.call("onnx_rms_norm", op.t(0), op.t(1), count, fl(op.attr("epsilon", 1e-5))))


@rule("InstanceNormalization")
def instance(op: OpContext) -> None:
    """``F.instance_norm``."""
    eps = fl(op.attr("epsilon", 1e-5))
    op.out(f"F.instance_norm({op.t(0)}, weight={op.t(1)}, bias={op.t(2)}, eps={eps})")


@rule("GroupNormalization")
def group(op: OpContext) -> None:
    """``F.group_norm``; up to opset 20 with one scale per group."""
    groups, eps = op.attr("num_groups"), fl(op.attr("epsilon", 1e-5))
    if op.opset >= 21:
        op.out(f"F.group_norm({op.t(0)}, {groups}, {op.t(1)}, {op.t(2)}, eps={eps})")
        return
    channels_per_group = f"{op.v(0)}.shape[1] // {groups}"
    scale, bias = (f"{op.v(n)}.repeat_interleave({channels_per_group})" for n in (1, 2))
    op.out(f"F.group_norm({op.t(0)}, {groups}, {scale}, {bias}, eps={eps})")


@rule("LRN")
def local(op: OpContext) -> None:
    """Local response normalization over neighbouring channels."""
    size, alpha, beta = op.attr("size"), fl(op.attr("alpha", 1e-4)), fl(op.attr("beta", 0.75))
    bias = fl(op.attr("bias", 1.0))
    if size % 2:
        op.out(f"F.local_response_norm({op.t(0)}, {size}, alpha={alpha}, beta={beta}, k={bias})")
    else:
        op.out(op.call("onnx_lrn", op.t(0), size, alpha, beta, bias))


@rule("LpNormalization")
def norm(op: OpContext) -> None:
    """Division by the norm along an axis."""
    op.out(op.call("onnx_lp_normalization", op.t(0), op.attr("p", 2), op.attr("axis", -1)))


@rule("MeanVarianceNormalization")
def moments(op: OpContext) -> None:
    """Zero mean and unit variance."""
    op.out(op.call("onnx_mean_variance", op.t(0), sequence(op.attr("axes", (0, 2, 3)))))
