"""Nodes that static quantization leaves in float: with values of masks, or in another precision than float32.

Masks of attention and padding are infinite, or finite as -3.4e38, -1e9 or -1e4. Infinity has no scale, and a
scale for -1e4 rounds everything else to 0. Such constants are followed through operators that pass values on,
and operands of Softmax back to their sums; samples then show which of these tensors contain such values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from py_autodoc.errors import InputError
from py_autodoc.float_models import opset_of
from py_autodoc.ort import open_session, run_session, stored_array
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import Sample

PASSING = frozenset({
    "Abs", "Add", "Cast", "CastLike", "Ceil", "Clip", "Concat", "ConstantOfShape", "DepthToSpace", "Div",
    "Expand", "Flatten", "Floor", "Gather", "GatherElements", "GatherND", "Identity", "Max", "MaxPool",
    "Mean", "Min", "Mul", "Neg", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape", "ScatterElements",
    "ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze", "Sub", "Sum", "Tile", "Transpose", "Trilu",
    "Unsqueeze", "Where",
})  # fmt: skip
"""Operators whose result can be infinite if an input or attribute is."""
_READERS = PASSING | {"Softmax", "LogSoftmax", "Exp", "Sigmoid", "Tanh", "Equal", "Greater", "Less", "IsInf"}
"""Operators for which an infinite constant can be intended. For any other, it is a damaged weight."""
_SOFTMAX = frozenset({"Softmax", "LogSoftmax"})
_LARGE = 1e3
"""Constants from this magnitude on may belong to a mask."""
_LOST = 512
"""Values smaller than the largest by this factor are 0 in 8 bits."""
_ALIKE = 8
"""Values of a mask, also added up several times, are within this factor."""
HALF_SCALES = 19
"""First opset whose scales can be in half precision."""
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)
_MEASURED = 16
"""Number of samples run to find such values."""


def mask_constants(proto: onnx.ModelProto, name: str) -> dict[str, float]:
    """Return the tensors of the main graph with stored infinity, NaN or large values, with the largest.

    Raises: InputError: an operator reads one for which such a value cannot be a mask, or the data of a tensor
    is damaged.
    """
    tensors = {tensor.name: tensor for tensor in proto.graph.initializer}
    for node in proto.graph.node:
        if node.op_type in ("Constant", "ConstantOfShape") and node.output:
            tensors.update(
                (node.output[0], attribute.t) for attribute in node.attribute if attribute.name == "value"
            )
    largest = {tensor: _largest(values, name) for tensor, values in tensors.items()}
    infinite = {tensor for tensor, value in largest.items() if not np.isfinite(value)}
    readers = (node for node in proto.graph.node if node.op_type not in _READERS)
    broken = {tensor for node in readers for tensor in infinite.intersection(node.input)}
    if broken:
        raise InputError(
            "weights-not-finite",
            f"{name}: the weight {min(broken)[:80]} holds NaN or infinity.",
            "Run `analyze --read-weights` to list all of them.",
        )
    return {tensor: value for tensor, value in largest.items() if not value < _LARGE}


def _largest(tensor: onnx.TensorProto, name: str) -> float:
    """Return the largest magnitude, NaN or infinity if there is one; 0 for integers."""
    if tensor.data_type not in _FLOATS:
        return 0.0
    values = stored_array(tensor, name)
    return float(np.abs(values).max()) if values.size else 0.0


def masked_nodes(
    source: Path,
    proto: onnx.ModelProto,
    constants: Mapping[str, float],
    samples: Sequence[Sample],
    name: str,
    ops: Collection[str] | None,
) -> list[str]:
    """Return the nodes that read or produce values of masks with these samples.

    Args:
        source: the prepared file, whose weights are used.
        proto: its structure.
        constants: result of ``mask_constants``.
        samples: values of the inputs; the first 16 are run.
        name: name of the model for messages.
        ops: types of nodes that are quantized; None: all. Others are float anyway and not returned.

    Raises: ModelRefused, AnalysisError: ONNX Runtime refuses the model, or fails on it.
    """
    nodes = proto.graph.node
    reached, candidates = set(constants), list[str]()
    for node in nodes:
        if node.op_type in PASSING and reached.intersection(node.input):
            candidates.extend(output for output in node.output if output)
            reached.update(node.output)
    candidates += [tensor for tensor in _before_softmax(proto) if tensor not in reached]
    touched = {*candidates, *constants}
    quantized = [node for node in nodes if ops is None or node.op_type in ops]
    if not any(touched.intersection((*node.input, *node.output)) for node in quantized):
        return []
    masks = {tensor for tensor, value in constants.items() if not np.isfinite(value)}
    masks |= _measured(source, proto, candidates, samples[:_MEASURED], name)
    return [node.name for node in quantized if masks.intersection((*node.input, *node.output))]


def _before_softmax(proto: onnx.ModelProto) -> list[str]:
    """Return the tensors from sums and selections to a Softmax, where masks that are inputs arrive."""
    producers = {output: node for node in proto.graph.node for output in node.output if output}
    waiting = [node.input[0] for node in proto.graph.node if node.op_type in _SOFTMAX]
    found: dict[str, None] = {}
    while waiting:
        tensor = waiting.pop()
        node = producers.get(tensor)
        if node is None or tensor in found or node.op_type not in PASSING:
            continue
        found[tensor] = None
        waiting.extend(name for name in node.input if name)
    return list(found)


def other_float_nodes(proto: onnx.ModelProto, analysis: Analysis) -> list[str]:
    """Return the nodes that compute in other floats than float32.

    ONNX Runtime's calibration does not measure float64, and scales have the type of the tensor, which Q
    and DQ accept in half precision only from opset 19 on.
    """
    others = {onnx.TensorProto.DOUBLE}
    if opset_of(proto) < HALF_SCALES:
        others |= {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    types = zip(analysis.model.tensors, analysis.types.dtypes, strict=True)
    named = {tensor.name for tensor, dtype in types if dtype in others and not tensor.graph}
    return [node.name for node in proto.graph.node if named.intersection(node.output)]


def _measured(
    source: Path, proto: onnx.ModelProto, names: list[str], samples: Sequence[Sample], name: str
) -> set[str]:
    """Return the tensors with values of masks in a run."""
    if not names:
        return set()
    extended = onnx.ModelProto()
    extended.CopyFrom(proto)
    outputs = {output.name for output in proto.graph.output}
    extended.graph.output.extend(
        onnx.ValueInfoProto(name=tensor) for tensor in names if tensor not in outputs
    )
    session: Any = open_session(source, "Quantization", proto=extended, fuse=False)
    measured: set[str] = set()
    for sample in samples:
        values = run_session(session, names, dict(sample), name)
        for tensor, value in zip(names, values, strict=True):
            array = np.asarray(value)
            if array.dtype.kind == "f" and has_mask(array):
                measured.add(tensor)
    return measured


def has_mask(values: np.ndarray[Any, Any]) -> bool:
    """Return whether values are infinite or NaN, or a few alike ones make 0 of all others in 8 bits."""
    if not values.size:
        return False
    magnitudes = np.abs(values.astype(np.float64, copy=False))
    top = float(magnitudes.max())
    if not np.isfinite(top):
        return True
    large = magnitudes > top / _LOST
    return top >= _LARGE and not large.all() and float(magnitudes[large].min()) >= top / _ALIKE
