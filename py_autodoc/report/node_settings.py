"""The scalars and short settings of a node, as its card shows them: ``+ 1``, ``0 … 6``, ``perm 0 2 1``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from py_autodoc.graph.model import Model, Node
from py_autodoc.report.labels import dtype_name

MAX_TEXT = 24
"""Characters of a setting; a longer one is left to the inspector."""
_MAX_ITEMS = 6

_SIGNS = {
    "Add": "+", "Sub": "−", "Mul": "×", "Div": "÷", "Mod": "mod", "Pow": "^",
    "Equal": "=", "Greater": ">", "GreaterOrEqual": "≥", "Less": "<", "LessOrEqual": "≤",
    "Max": "max", "Min": "min",
}  # fmt: skip
"""Sign of an operator on two numbers, written before a scalar that is its second input."""


def node_settings(model: Model) -> dict[str, str]:
    """Node id (as text) → its setting, for the nodes that have a short one."""
    found = {}
    for node in model.nodes:
        rule = None if node.domain else _RULES.get(node.op_type)
        text = rule(node, _Constants(model, node)) if rule is not None else ""
        if text and len(text) <= MAX_TEXT:
            found[str(node.id)] = text
    return found


class _Constants:
    """The constant inputs of one node."""

    def __init__(self, model: Model, node: Node) -> None:
        self._known: Mapping[int, Any] = model.constants
        self._inputs = node.inputs

    def has(self, place: int) -> bool:
        """True when the optional input is given."""
        return place < len(self._inputs) and self._inputs[place] >= 0

    def items(self, place: int) -> list[Any] | None:
        """Values of an input, None where they are not known or many."""
        held = self._known.get(self._inputs[place]) if self.has(place) else None
        if held is None or held.size > _MAX_ITEMS or held.dtype.kind not in "fiub":
            return None
        values: list[Any] = held.reshape(-1).tolist()
        return values

    def scalar(self, place: int) -> str:
        """The only value of an input, else an empty text."""
        values = self.items(place)
        return _number(values[0]) if values is not None and len(values) == 1 else ""


def _number(value: Any) -> str:
    """At most four digits, as a person would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**9:
        return str(value).replace("-", "−")
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-").replace("-", "−")


def _binary(node: Node, held: _Constants) -> str:
    sign = _SIGNS[node.op_type]
    if len(node.inputs) != 2:
        return ""
    second = held.scalar(1)
    if second:
        return f"{sign} {second}"
    first = held.scalar(0)
    return f"{first} {sign}" if first else ""


def _clip(node: Node, held: _Constants) -> str:
    bounds = []
    for place, name in ((1, "min"), (2, "max")):
        given = node.attributes.get(name)
        text = _number(given) if isinstance(given, (int, float)) else held.scalar(place)
        if held.has(place) and not text:
            return ""
        bounds.append(text)
    low, high = bounds
    if low and high:
        return f"{low} … {high}"
    return f"≥ {low}" if low else f"≤ {high}" if high else ""


def _where(node: Node, held: _Constants) -> str:
    texts = [held.scalar(place) for place in (1, 2)]
    words = (f"then {texts[0]}" if texts[0] else "", f"else {texts[1]}" if texts[1] else "")
    return " ".join(filter(None, words))


def _cast(node: Node, _: _Constants) -> str:
    to = node.attributes.get("to")
    return f"to {dtype_name(to)}" if isinstance(to, int) else ""


def _index(node: Node, held: _Constants) -> str:
    text = held.scalar(1)
    return f"[{text}]" if text else ""


def _pool(node: Node, _: _Constants) -> str:
    kernel, strides = (_sizes(node.attributes.get(name)) for name in ("kernel_shape", "strides"))
    text = "×".join(map(str, kernel))
    if not text or all(step == 1 for step in strides):
        return text
    steps = strides[:1] if len(set(strides)) == 1 else strides
    return f"{text}, stride {'×'.join(map(str, steps))}"


def _sizes(values: Any) -> list[int]:
    """A short list of integers; empty where it is none."""
    if not isinstance(values, (list, tuple)) or len(values) > _MAX_ITEMS:
        return []
    return list(values) if all(isinstance(one, int) for one in values) else []


def _attribute(name: str, shown: str) -> Callable[[Node, _Constants], str]:
    def rule(node: Node, _: _Constants) -> str:
        value = node.attributes.get(name)
        held = [value] if isinstance(value, (int, float)) else _sizes(value)
        return f"{shown} {' '.join(map(_number, held))}".strip() if held else ""

    return rule


def _input(place: int, shown: str) -> Callable[[Node, _Constants], str]:
    def rule(_: Node, held: _Constants) -> str:
        text = held.scalar(place)
        return f"{shown} {text}" if text else ""

    return rule


_RULES: dict[str, Callable[[Node, _Constants], str]] = {
    **dict.fromkeys(_SIGNS, _binary),
    "AveragePool": _pool,
    "Cast": _cast,
    "Clip": _clip,
    "Elu": _attribute("alpha", ""),
    "Gather": _index,
    "LeakyRelu": _attribute("alpha", ""),
    "LpPool": _pool,
    "MaxPool": _pool,
    "ThresholdedRelu": _attribute("alpha", ""),
    "TopK": _input(1, "k ="),
    "Transpose": _attribute("perm", "perm"),
    "Where": _where,
}
"""What a card says of an operator. Add an entry here to show a setting."""
