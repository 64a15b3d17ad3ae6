"""Matrix products."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from py_autodoc.to_torch.code import NotCovered
from py_autodoc.to_torch.dtypes import FLOATS
from py_autodoc.to_torch.op import OpContext, fl, text
from py_autodoc.to_torch.registry import rule

_EQUATION = re.compile(r"[A-Za-z.,\s]*(->[A-Za-z.\s]*)?\Z")


def transposed(array: Any) -> Any:
    """Return the array in the layout of nn.Linear's weight."""
    return np.ascontiguousarray(array.T)


@rule("MatMul")
def matmul(op: OpContext) -> None:
    """``a @ b``, or nn.Linear for a constant matrix."""
    if op.constant(1) is not None and len(op.dims(1)) == 2 and op.dtype(1) in FLOATS:
        rows, columns = op.dims(1)
        weights = {"weight": op.weight(1, transposed, "t", (columns, rows))}
        add = op.writer.bias_of(op.node)
        if add is not None:
            node = op.writer.model.nodes[add]
            bias = next(t for t in node.inputs if t != op.node.outputs[0])
            source = op.writer.source
            weights["bias"] = type(weights["weight"])(bias, source.dtype(bias), (columns,))
        sizes: dict[str, object] = {"_in_features": rows, "_out_features": columns}
        if add is None:
            sizes["bias"] = False
        layer = op.layer("Linear", sizes, weights)
        op.out(f"{layer}({op.t(0)})")
        if add is not None:
            op.scope.values[op.writer.model.nodes[add].outputs[0]] = op.scope.values[op.node.outputs[0]]
            op.writer.fuse(add)
        return
    op.out(f"{op.v(0)} @ {op.v(1)}")


@rule("Gemm")
def gemm(op: OpContext) -> None:
    """nn.Linear if weight and bias are constant, else a sum of products."""
    alpha, beta = op.attr("alpha", 1.0), op.attr("beta", 1.0)
    flip_a, flip_b = bool(op.attr("transA", 0)), bool(op.attr("transB", 0))
    if _is_linear(op, alpha, beta, flip_a):
        out, into = op.dims(1) if flip_b else op.dims(1)[::-1]
        weights = {
            "weight": op.weight(1) if flip_b else op.weight(1, transposed, "t", (out, into)),
        }
        if op.has(2):
            weights["bias"] = op.weight(2, _vector, "v", (out,)) if op.dims(2) != (out,) else op.weight(2)
        sizes: dict[str, object] = {"_in_features": into, "_out_features": out}
        if not op.has(2):
            sizes["bias"] = False
        layer = op.layer("Linear", sizes, weights)
        op.out(f"{layer}({op.t(0)})")
        return
    if op.opset < 7 and op.has(2) and not op.attr("broadcast", 0) and op.rank(2) != 2:
        raise NotCovered("broadcasting rules before opset 7")
    a = f"{op.v(0)}.transpose(0, 1)" if flip_a else op.v(0)
    b = f"{op.v(1)}.transpose(0, 1)" if flip_b else op.v(1)
    code = f"{a} @ {b}"
    if alpha != 1.0:
        code = f"{fl(alpha)} * ({code})"
    if op.has(2):
        code += f" + {op.t(2)}" if beta == 1.0 else f" + {fl(beta)} * {op.t(2)}"
    op.out(code)


def _vector(array: Any) -> Any:
    return np.ascontiguousarray(array.reshape(-1))


def _is_linear(op: OpContext, alpha: float, beta: float, flip_a: bool) -> bool:
    if alpha != 1.0 or beta != 1.0 or flip_a or op.constant(1) is None or op.dtype(1) not in FLOATS:
        return False
    if len(op.dims(1)) != 2:
        return False
    if not op.has(2):
        return True
    width = op.dims(1)[0] if op.attr("transB", 0) else op.dims(1)[1]
    return op.constant(2) is not None and op.dims(2) in ((width,), (1, width))


@rule("Einsum")
def einsum(op: OpContext) -> None:
    """``torch.einsum``."""
    equation = op.attr("equation")
    if not _EQUATION.match(equation):
        raise NotCovered("an equation with unsupported characters")
    inputs = ", ".join(op.t(index) for index in range(op.count))
    op.out(f"torch.einsum({text(equation.replace(' ', ''))}, {inputs})")


@rule("MatMulInteger")
def integers(op: OpContext) -> None:
    """Exact integer products."""
    op.out(op.call("onnx_matmul_integer", op.t(0), op.t(1), op.optional(2), op.optional(3)))
