"""Settings of a node in canonical form: attributes with defaults, and small constant inputs by name.

Newer operator versions take some attributes as inputs: both forms give the same settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from py_autodoc.compare.canonical import canonical
from py_autodoc.compare.meaning import COMMUTATIVE, RENAMED
from py_autodoc.compare.node_case import NodeCase, Settings
from py_autodoc.costs.weight_slots import LEARNED, QUANTIZED
from py_autodoc.graph.building.operator_docs import op_doc
from py_autodoc.graph.ir.model import ConstTensor, Model, Node, Shape, TypeTable
from py_autodoc.graph.shapes.value_propagation import numpy_type

_MAX_ELEMENTS = 16
"""Maximum number of elements of a constant treated as a setting."""
_RELATIVE_TOLERANCE = 2e-3
"""Relative tolerance for one setting stored in different precisions."""
_INFINITE = 65504.0
"""The largest float16: some exporters use it, or more, for infinity."""
_IGNORED = frozenset({"to", "saturate", "stash_type", "activation", "activation_params"})
"""Ignored: compared elsewhere or irrelevant (precisions, included activations)."""
_FLOAT_LISTS = frozenset({"Resize", "Upsample"})
"""Operators whose settings include lists of real numbers; those of others are weights."""
_NEUTRAL = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}
"""Lists that may be omitted if all items have this value."""


def settings(model: Model, types: TypeTable, node: Node, fixed: Sequence[Shape | None]) -> Settings:
    """Return the settings of a node by name. Values are numbers, texts, or tuples of them.

    ``fixed`` are the shapes by tensor in which only sizes that the file fixes are integers.
    """
    values: Settings = {}
    for name, value in {**_defaults(node), **node.attributes}.items():
        if name not in _IGNORED and not any(name == body for body, _ in node.subgraphs):
            values[name] = _plain(value)
    learned = (*LEARNED.get((node.domain, node.op_type), ()), *QUANTIZED.get((node.domain, node.op_type), ()))
    operands: list[Any] = []
    given: set[str] = set()
    for position, tensor in enumerate(node.inputs):
        if tensor < 0:
            continue
        name = input_name(node, position)
        given.add(name)
        if position in learned or not model.tensors[tensor].is_constant:
            continue
        constant = types.values.get(tensor)
        constant = model.constants.get(tensor) if constant is None else constant
        if constant is None or model.tensors[tensor].quantized_scale:
            continue
        is_list = constant.dtype.kind != "f" or node.op_type in _FLOAT_LISTS
        if constant.size > (_MAX_ELEMENTS if is_list else 1):
            continue
        if node.op_type in COMMUTATIVE:
            operands.append(_plain(constant))
        else:
            values[name] = _plain(constant)
    if operands:
        values["operand"] = operands[0] if len(operands) == 1 else tuple(sorted(operands, key=repr))
    inputs, outputs = (
        [_shape_of(types, fixed, t) for t in tensors] for tensors in (node.inputs, node.outputs)
    )
    lowest, highest = _range(types.dtypes[node.inputs[0]] if node.inputs and node.inputs[0] >= 0 else 0)
    return canonical(NodeCase(node, values, frozenset(given), inputs, outputs, lowest, highest))


def _shape_of(types: TypeTable, fixed: Sequence[Shape | None], tensor: int) -> Shape | None:
    """Return a shape; one that is known only for the chosen sizes keeps its rank."""
    if tensor < 0:
        return None
    shape = fixed[tensor]
    if shape is None and (bound := types.shapes[tensor]) is not None:
        return bound if fixed is types.shapes else (None,) * len(bound)
    return shape


def _range(dtype: int) -> tuple[float, float]:
    """Return the least and the largest value of an element type; infinite for others than real numbers."""
    kind = numpy_type(dtype)
    if kind is None or kind.kind not in "iuf":
        return -math.inf, math.inf
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return float(limits.min), float(limits.max)


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


def _defaults(node: Node) -> Mapping[str, Any]:
    """Return the defaults of attributes. Those that only newer versions have mean what held before."""
    _, newest = _schema(node.domain, RENAMED.get(node.op_type, node.op_type), 0)
    return {**newest, **_schema(node.domain, node.op_type, node.opset)[1]}


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


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.ravel().tolist() if value.ndim else value.item())
    if isinstance(value, ConstTensor):
        if value.values is not None and value.values.size <= _MAX_ELEMENTS:
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
    attributes = doc.attributes.items()
    defaults = {name: attribute.default for name, attribute in attributes if attribute.default is not None}
    return tuple(parameter.name for parameter in doc.inputs), defaults
