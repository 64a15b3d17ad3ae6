"""Tensors created without a tensor input."""

from __future__ import annotations

import numpy as np

from py_autodoc.to_torch.code import NotCovered, number, sequence
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

MAX_ITEMS = 64


@rule("ConstantOfShape")
def filled(op: OpContext) -> None:
    """``torch.full``."""
    fill = op.tensor_attr("value")
    array = np.zeros(1, np.float32) if fill is None else np.asarray(fill)
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise NotCovered("a value that is not a single number")
    dtype = op.out_dtype() or (7 if array.dtype == np.int64 else 1)
    item = array.reshape(-1)[0]
    fixed = op.fixed(0)
    if dtype == 7 and fixed is not None and len(fixed) == 1 and 0 < fixed[0] <= MAX_ITEMS:
        op.integers([int(item)] * fixed[0])
        return
    sizes = op.ints(0)
    shape = sequence(sizes) if sizes is not None else op.ints_code(0)
    kind = "" if dtype == 1 else f", dtype={op.torch_dtype(dtype)}"
    if float(item) in (0.0, 1.0) and not np.signbit(item):
        op.out(f"torch.{'ones' if item else 'zeros'}({shape}{kind})")
    else:
        op.out(f"torch.full({shape}, {number(item)}{kind})")


@rule("Range")
def steps(op: OpContext) -> None:
    """``torch.arange``."""
    hosts = [op.host(index) for index in range(3)]
    if all(host is not None and host.scalar for host in hosts) and op.dtype(0) in (0, 7):
        start, end, step = (host.items[0] for host in hosts if host is not None)
        parts = [str(end)] if (start, step) == (0, 1) else [str(start), str(end)]
        op.out(f"torch.arange({', '.join(parts + ([str(step)] if step != 1 else []))})")
        return
    op.out(op.call("onnx_range", op.t(0), op.t(1), op.t(2)))


@rule("EyeLike")
def eye(op: OpContext) -> None:
    """Ones on a diagonal."""
    dtype = op.attr("dtype", 0) or op.dtype(0) or 1
    x = op.v(0)
    code = f"torch.ones({x}.shape, dtype={op.torch_dtype(dtype)})"
    shift = op.attr("k", 0)
    op.out(f"{code}.tril({shift}).triu({shift})")


@rule("HannWindow", "HammingWindow", "BlackmanWindow")
def window(op: OpContext) -> None:
    """``torch.hann_window``."""
    name = {"HannWindow": "hann", "HammingWindow": "hamming", "BlackmanWindow": "blackman"}[op.node.op_type]
    size = op.ints(0)
    code = str(size[0]) if size else f"int({op.t(0)})"
    dtype = op.torch_dtype(op.attr("output_datatype", 1))
    more = ", alpha=25 / 46, beta=21 / 46" if name == "hamming" else ""
    periodic = bool(op.attr("periodic", 1))
    op.out(f"torch.{name}_window({code}, periodic={periodic}{more}, dtype={dtype})")


@rule("Constant")
def constant(op: OpContext) -> None:
    """A constant that is neither a dense tensor nor a number."""
    raise NotCovered("a constant with text or sparse data")


@rule("OptionalHasElement")
def has_element(op: OpContext) -> None:
    """Whether an optional value is present."""
    if not op.has(0):
        op.out("torch.tensor(False)")
    else:
        op.out(f"torch.tensor({op.t(0)} is not None)")


@rule("OptionalGetElement")
def element(op: OpContext) -> None:
    """The value of an optional."""
    op.same()
