"""Raise the opset of an old model, for operators that quantized models need."""

from __future__ import annotations

import onnx
from onnx import helper, version_converter

from py_autodoc.ort import LARGEST, weight_bytes

PER_CHANNEL = 13
"""First opset whose DequantizeLinear has an axis."""
_STANDARD = ("", "ai.onnx")


def opset_of(model: onnx.ModelProto) -> int:
    """Return the version of the standard operators; 1 if the file names none."""
    return max((opset.version for opset in model.opset_import if opset.domain in _STANDARD), default=1)


def raise_opset(model: onnx.ModelProto, version: int = PER_CHANNEL) -> bool:
    """Convert the model in place to at least this opset; names and metadata of nodes are kept.

    Returns: whether it has this opset now. ONNX has no conversion for some operators, and none for models
    with functions or of 2 GB.
    """
    if opset_of(model) >= version:
        return True
    if len(model.functions) or weight_bytes(model.graph) > LARGEST // 2:
        return False
    try:
        converted = version_converter.convert_version(model, version)
    except Exception:  # noqa: BLE001 - the converter's C++ code has no common base for what it raises
        return False
    metadata = {node.output[0]: node for node in model.graph.node if node.output and node.metadata_props}
    for node in converted.graph.node:
        before = metadata.get(node.output[0]) if node.output else None
        if before is not None and not node.metadata_props:
            node.metadata_props.extend(before.metadata_props)
            node.doc_string = before.doc_string
    if not converted.metadata_props:
        converted.metadata_props.extend(model.metadata_props)
    minimum = helper.find_min_ir_version_for(list(converted.opset_import), ignore_unknown=True)
    converted.ir_version = max(converted.ir_version, model.ir_version, minimum)
    model.CopyFrom(converted)
    return True
