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

_MOST = 16
"""Maximum number of elements of a constant treated as a setting."""
_CLOSE = 2e-3
"""Relative tolerance for one setting stored in different precisions."""
_ENDLESS = 65504.0
"""The largest float16: some exporters use it, or more, for infinity."""
_LEFT_OUT = frozenset({
    "kernel_shape", "to", "saturate", "stash_type", "training_mode", "activation", "activation_params",
})  # fmt: skip
"""Ignored: compared elsewhere or irrelevant (kernel shape, precisions, included activations)."""
_NEUTRAL = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}
"""Lists that may be omitted if all items have this value."""

Settings = dict[str, Any]


def settings(model: Model, types: TypeTable, node: Node) -> Settings:
    """Return the settings of a node by name. Values are numbers, texts, or tuples of them."""
    names, defaults = _schema(node.domain, node.op_type, node.opset)
    found: Settings = {}
    for name, value in {**defaults, **node.attributes}.items():
        if name not in _LEFT_OUT and not any(name == body for body, _ in node.subgraphs):
            found[name] = _plain(value)
    learned = (*LEARNED.get((node.domain, node.op_type), ()), *QUANTIZED.get((node.domain, node.op_type), ()))
    for place, tensor in enumerate(node.inputs):
        if tensor < 0 or place in learned or not model.tensors[tensor].is_constant:
            continue
        value = types.values.get(tensor)
        value = model.constants.get(tensor) if value is None else value
        if value is None or model.tensors[tensor].quantized_scale:
            continue
        few = value.size == 1 if value.dtype.kind == "f" else value.size <= _MOST
        if few:
            name = names[place] if place < len(names) else f"input {place}"
            found[name] = _plain(value)
    return found


def different(left: Settings, right: Settings) -> list[tuple[str, str, str]]:
    """Return (name, left, right) of settings that differ; a dash for a missing one."""
    found = []
    for name in dict.fromkeys((*left, *right)):
        one, other = left.get(name), right.get(name)
        if not _same(one, other) and not (_neutral(name, one) and _neutral(name, other)):
            found.append((name, _text(one), _text(other)))
    return found


def _neutral(name: str, value: Any) -> bool:
    if value is None:
        return name in _NEUTRAL
    return name in _NEUTRAL and isinstance(value, tuple) and all(one == _NEUTRAL[name] for one in value)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(_same(x, y) for x, y in zip(one, other, strict=True))
    if isinstance(one, tuple) and len(one) == 1:
        one = one[0]
    if isinstance(other, tuple) and len(other) == 1:
        other = other[0]
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if isinstance(one, int) and isinstance(other, int):
            return one == other
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        if min(abs(one), abs(other)) >= _ENDLESS and (one > 0) == (other > 0):
            return True
        return one == other or math.isclose(one, other, rel_tol=_CLOSE)
    return bool(one == other)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return tuple(_plain(item) for item in value.ravel().tolist()) if value.ndim else _plain(value.item())
    if isinstance(value, ConstTensor):
        if value.values is not None and value.values.size <= _MOST:
            return _plain(value.values)
        return f"tensor {list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
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
    defaults = {name: one.default for name, one in doc.attributes.items() if one.default is not None}
    return tuple(one.name for one in doc.inputs), defaults
