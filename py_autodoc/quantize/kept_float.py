"""Nodes that static quantization leaves in float: those with infinite values or in double precision.

Masks of attention and padding are infinite, and infinity has no scale. Infinite constants are followed
through operators that pass values on; samples then show which tensors contain infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from py_autodoc.errors import InputError
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
_MEASURED = 16
"""Number of samples run to find infinite values."""


def infinite_constants(proto: onnx.ModelProto, name: str) -> frozenset[str]:
    """Return the tensors of the main graph with stored infinity or NaN: initializers and constants.

    Raises: InputError: an operator reads one for which such a value cannot be a mask, or the data of a tensor
    is damaged.
    """
    tensors = {tensor.name: tensor for tensor in proto.graph.initializer}
    for node in proto.graph.node:
        if node.op_type in ("Constant", "ConstantOfShape") and node.output:
            tensors.update(
                (node.output[0], attribute.t) for attribute in node.attribute if attribute.name == "value"
            )
    infinite = frozenset(tensor for tensor, values in tensors.items() if not _finite(values, name))
    readers = (node for node in proto.graph.node if node.op_type not in _READERS)
    broken = {tensor for node in readers for tensor in infinite.intersection(node.input)}
    if broken:
        raise InputError(
            "weights-not-finite",
            f"{name}: the weight {min(broken)[:80]} holds NaN or infinity.",
            "Run `analyze --read-weights` to list all of them.",
        )
    return infinite


def _finite(tensor: onnx.TensorProto, name: str) -> bool:
    if tensor.data_type != onnx.TensorProto.FLOAT:
        return True
    return bool(np.isfinite(stored_array(tensor, name)).all())


def infinite_nodes(
    source: Path, proto: onnx.ModelProto, constants: frozenset[str], samples: Sequence[Sample], name: str
) -> list[str]:
    """Return the nodes that read or produce infinite values with these samples.

    Args:
        source: the prepared file, whose weights are used.
        proto: its structure.
        constants: result of ``infinite_constants``.
        samples: values of the inputs; the first 16 are run.
        name: name of the model for messages.

    Raises: AnalysisError: ONNX Runtime rejects the model or fails.
    """
    if not constants:
        return []
    reached = set(constants)
    nodes: list[str] = []
    for node in proto.graph.node:
        if node.op_type in PASSING and reached.intersection(node.input):
            nodes.extend(output for output in node.output if output)
            reached.update(node.output)
    infinite = set(constants) | _measured(source, proto, nodes, samples[:_MEASURED], name)
    return [node.name for node in proto.graph.node if infinite.intersection((*node.input, *node.output))]


def double_nodes(proto: onnx.ModelProto, analysis: Analysis) -> list[str]:
    """Return the nodes that compute in float64, which ONNX Runtime's calibration does not measure."""
    types = zip(analysis.model.tensors, analysis.types.dtypes, strict=True)
    double = {tensor.name for tensor, dtype in types if dtype == onnx.TensorProto.DOUBLE and not tensor.graph}
    return [node.name for node in proto.graph.node if double.intersection(node.output)]


def _measured(
    source: Path, proto: onnx.ModelProto, names: list[str], samples: Sequence[Sample], name: str
) -> set[str]:
    """Return the tensors with values that are not finite in a run."""
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
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                measured.add(tensor)
    return measured
