"""What ONNX Runtime rewrites on x86 before it chooses integer kernels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

import onnx
from onnx import TensorProto


def becomes_unsigned(
    dq: onnx.NodeProto,
    constants: Mapping[str, TensorProto],
    producers: Mapping[str, onnx.NodeProto],
    readers: Mapping[str, Sequence[onnx.NodeProto]],
    outputs: Collection[str],
) -> bool:
    """Return whether the s8 codes that a DequantizeLinear reads become u8, so that s8 weights saturate.

    They do if a QuantizeLinear gives them to this node alone, with one constant zero point.
    ``session.qdqisint8allowed`` keeps them.
    """
    codes = dq.input[0]
    q = producers.get(codes)
    if q is None or q.op_type != "QuantizeLinear" or codes in outputs or len(readers[codes]) != 1:
        return False
    zeros = [constants.get(node.input[2]) if len(node.input) > 2 else None for node in (q, dq)]
    return all(
        zero is not None and zero.data_type == TensorProto.INT8 and prod(zero.dims) == 1 for zero in zeros
    )
