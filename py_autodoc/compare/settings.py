"""Settings of a node in canonical form: attributes with defaults, and small constant inputs by name.

Newer operator versions take some attributes as inputs: both forms give the same settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from py_autodoc.costs.weight_slots import LEARNED, QUANTIZED
from py_autodoc.graph.building.operator_docs import op_doc
from py_autodoc.graph.ir.model import ConstTensor, Model, Node, TypeTable

_MAX_ELEMENTS = 16
"""Maximum number of elements of a constant treated as a setting."""
_RELATIVE_TOLERANCE = 2e-3
"""Relative tolerance for one setting stored in different precisions."""
_INFINITE = 65504.0
"""The largest float16: some exporters use it, or more, for infinity."""
_IGNORED = frozenset(
    {
        "kernel_shape",
        "to",
        "saturate",
        "stash_type",
        "training_mode",
        "activation",
        "activation_params",
    }
)
"""Ignored: compared elsewhere or irrelevant (kernel shape, precisions, included activations)."""
_NEUTRAL = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}
"""Lists that may be omitted if all items have this value."""

Settings = dict[str, Any]


def settings(model: Model, types: TypeTable, node: Node) -> Settings:
    """Return the settings of a node by name. Values are numbers, texts, or tuples of them."""
    _, defaults = _schema(node.domain, node.op_type, node.opset)
    values: Settings = {}
    for name, value in {**defaults, **node.attributes}.items():
        if name not in _IGNORED and not any(name == body for body, _ in node.subgraphs):
            values[name] = _canonical(value)
    learned = (*LEARNED.get((node.domain, node.op_type), ()), *QUANTIZED.get((node.domain, node.op_type), ()))
    for position, tensor in enumerate(node.inputs):
        if tensor < 0 or position in learned or not model.tensors[tensor].is_constant:
            continue
        value = types.values.get(tensor)
        value = model.constants.get(tensor) if value is None else value
        if value is None or model.tensors[tensor].quantized_scale:
            continue
        is_small = value.size == 1 if value.dtype.kind == "f" else value.size <= _MAX_ELEMENTS
        if is_small:
            values[input_name(node, position)] = _canonical(value)
    return values


def different(left: Settings, right: Settings) -> list[tuple[str, str, str]]:
    """Return (name, left, right) of settings that differ; a dash for a missing one."""
    differences = []
    for name in dict.fromkeys((*left, *right)):
        left_value, right_value = left.get(name), right.get(name)
        if not _same(left_value, right_value) and not (
            _neutral(name, left_value) and _neutral(name, right_value)
        ):
            differences.append((name, _text(left_value), _text(right_value)))
    return differences


def input_name(node: Node, position: int) -> str:
    """Return the name of an input in the operator's definition, else its position."""
    names, _ = _schema(node.domain, node.op_type, node.opset)
    return names[position] if position < len(names) else f"input {position}"


def _neutral(name: str, value: Any) -> bool:
    if value is None:
        return name in _NEUTRAL
    return name in _NEUTRAL and isinstance(value, tuple) and all(item == _NEUTRAL[name] for item in value)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(_same(x, y) for x, y in zip(left, right, strict=True))
    if isinstance(left, tuple) and len(left) == 1:
        left = left[0]
    if isinstance(right, tuple) and len(right) == 1:
        right = right[0]
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if isinstance(left, int) and isinstance(right, int):
            return left == right
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        if min(abs(left), abs(right)) >= _INFINITE and (left > 0) == (right > 0):
            return True
        return left == right or math.isclose(left, right, rel_tol=_RELATIVE_TOLERANCE)
    return bool(left == right)


def _canonical(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _canonical(value.ravel().tolist() if value.ndim else value.item())
    if isinstance(value, ConstTensor):
        if value.values is not None and value.values.size <= _MAX_ELEMENTS:
            return _canonical(value.values)
        return f"tensor {list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return tuple(_canonical(item) for item in value)
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (int, float, str)) else repr(value)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


@lru_cache(maxsize=1024)
def _schema(domain: str, op: str, opset: int) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return input names and attribute defaults; empty for an unknown operator."""
    doc = op_doc(domain, op, opset)
    if doc is None:
        return (), {}
    attributes = doc.attributes.items()
    defaults = {name: attribute.default for name, attribute in attributes if attribute.default is not None}
    return tuple(parameter.name for parameter in doc.inputs), defaults
