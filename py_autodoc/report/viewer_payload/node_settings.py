"""Scalars and short settings shown in a node's box: ``+ 1``, ``0 … 6``, ``perm 0 2 1``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from py_autodoc.graph.ir.model import ConstTensor, Model, Node
from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.report.encode.labels import dtype_name

MAX_TEXT = 32
"""Maximum number of characters of a setting; longer ones are shown only in the inspector."""
_MAX_ITEMS = 8
_CONTRIB = "com.microsoft"
_NO_END = 2**31 - 1
"""From this value on, an end of Slice means the end of the axis."""

_SIGNS = {
    "Add": "+", "Sub": "−", "Mul": "×", "Div": "÷", "Mod": "mod", "Pow": "^",
    "Equal": "=", "Greater": ">", "GreaterOrEqual": "≥", "Less": "<", "LessOrEqual": "≤",
    "Max": "max", "Min": "min",
}  # fmt: skip
"""Sign of a binary operator, written before a scalar second input."""


def node_settings(model: Model) -> dict[str, str]:
    """Return node id (as text) → its setting, for nodes with a short one."""
    settings: dict[str, str] = {}
    # Thousands of nodes share the same few settings.
    shared: dict[str, str] = {}
    for node in model.nodes:
        rule = _RULES.get((node.domain, node.op_type))
        text = rule(node, _Constants(model, node)) if rule is not None else ""
        if text and len(text) <= MAX_TEXT:
            settings[str(node.id)] = shared.setdefault(text, text)
    return settings


class _Constants:
    """The constant inputs of one node."""

    def __init__(self, model: Model, node: Node) -> None:
        self._values: Mapping[int, Any] = model.constants
        self._tensors = model.tensors
        self._inputs = node.inputs

    def has(self, index: int) -> bool:
        """Return True if the optional input is given."""
        return index < len(self._inputs) and self._inputs[index] >= 0

    def items(self, index: int) -> list[Any] | None:
        """Return the values of an input; None if they are unknown or many."""
        array = self._values.get(self._inputs[index]) if self.has(index) else None
        if array is None or array.size > _MAX_ITEMS or array.dtype.kind not in "fiub":
            return None
        values: list[Any] = array.reshape(-1).tolist()
        return values

    def integers(self, index: int) -> list[int]:
        """Return the values of an input with few integers, else an empty list."""
        values = self.items(index)
        return _sizes(values) if values is not None else []

    def shape(self, index: int) -> tuple[Any, ...]:
        """Return the declared shape of an input; empty if it has none."""
        return (self._tensors[self._inputs[index]].shape or ()) if self.has(index) else ()

    def scalar(self, index: int, digits: int = 4) -> str:
        """Return the only value of an input, else an empty text."""
        values = self.items(index)
        return _number(values[0], digits) if values is not None and len(values) == 1 else ""


Rule: TypeAlias = Callable[[Node, _Constants], str]
"""Returns the setting of a node; empty if it has no short one."""


def _number(value: Any, digits: int = 4) -> str:
    """Return the number with at most ``digits`` significant digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**9:
        return str(value).replace("-", "−")
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-").replace("-", "−")


def _binary(node: Node, constants: _Constants) -> str:
    sign = _SIGNS[node.op_type]
    if len(node.inputs) != 2:
        return ""
    second = constants.scalar(1)
    if second:
        return f"{sign} {second}"
    first = constants.scalar(0)
    return f"{first} {sign}" if first else ""


def _clip(node: Node, constants: _Constants) -> str:
    bounds = []
    for index, name in ((1, "min"), (2, "max")):
        attribute = node.attributes.get(name)
        text = _number(attribute) if isinstance(attribute, (int, float)) else constants.scalar(index)
        if constants.has(index) and not text:
            return ""
        bounds.append(text)
    low, high = bounds
    if low and high:
        return f"{low} … {high}"
    return f"≥ {low}" if low else f"≤ {high}" if high else ""


def _where(node: Node, constants: _Constants) -> str:
    texts = [constants.scalar(index) for index in (1, 2)]
    words = (f"then {texts[0]}" if texts[0] else "", f"else {texts[1]}" if texts[1] else "")
    return " ".join(filter(None, words))


def _cast(node: Node, _: _Constants) -> str:
    to = node.attributes.get("to")
    return f"to {dtype_name(to)}" if isinstance(to, int) else ""


def _index(node: Node, constants: _Constants) -> str:
    text = constants.scalar(1)
    axis = node.attributes.get("axis")
    axis_text = f", axis {_number(axis)}" if isinstance(axis, int) and axis != 0 else ""
    return f"[{text}]{axis_text}" if text else ""


def _gather_axis(node: Node, constants: _Constants) -> str:
    return _attribute("axis", "axis")(node, constants) or "axis 0"


def _window(node: Node) -> list[str]:
    """Return ``3×3``, ``stride 2``, ``dilation 2``; values of 1 are omitted."""
    parts = []
    for name, word in (("kernel_shape", ""), ("strides", "stride "), ("dilations", "dilation ")):
        values = _sizes(node.attributes.get(name))
        if not values or (word and all(value == 1 for value in values)):
            continue
        if word and len(set(values)) == 1:
            values = values[:1]
        parts.append(word + _dims(values))
    return parts


def _pool(node: Node, _: _Constants) -> str:
    return ", ".join(_window(node))


def _convolution(node: Node, constants: _Constants) -> str:
    parts = _window(node)
    weight = constants.shape(3 if node.op_type == "QLinearConv" else 1)
    if "kernel_shape" not in node.attributes and len(weight) > 2 and _sizes(weight):
        parts.insert(0, _dims(_sizes(weight)[2:]))
    groups = node.attributes.get("group", 1)
    if isinstance(groups, int) and groups > 1:
        depthwise = node.op_type != "ConvTranspose" and len(weight) > 2 and weight[1] == 1
        parts.append("depthwise" if depthwise else f"{groups} groups")
    return ", ".join(parts)


def _sizes(values: Any) -> list[int]:
    """Return a short list of integers; empty for anything else."""
    if not isinstance(values, (list, tuple)) or len(values) > _MAX_ITEMS:
        return []
    return (
        list(values)
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values)
        else []
    )


def _dims(values: Sequence[int]) -> str:
    return "×".join(map(_number, values))


def _text(node: Node, name: str) -> str:
    value = node.attributes.get(name)
    if isinstance(value, bytes):
        # A character takes at most four bytes; a truncated one only occurs in texts that are too long anyway.
        value = value[: 4 * MAX_TEXT + 4].decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _reshape(node: Node, constants: _Constants) -> str:
    sizes = constants.integers(1) or _sizes(node.attributes.get("shape"))
    return f"→ {_dims(sizes)}" if sizes else ""


def _axes(node: Node, constants: _Constants) -> str:
    """Return the axes, given as an attribute or, in later opsets, as the second input."""
    attribute = node.attributes.get("axes", node.attributes.get("axis"))
    axes = [attribute] if isinstance(attribute, int) else _sizes(attribute) or constants.integers(1)
    return f"{'axis' if len(axes) == 1 else 'axes'} {' '.join(map(_number, axes))}" if axes else ""


def _softmax(node: Node, constants: _Constants) -> str:
    """Return the axis unless it is the last one, which is usual."""
    axis = node.attributes.get("axis")
    return _axes(node, constants) if isinstance(axis, int) and axis != -1 else ""


def _split(node: Node, _: _Constants) -> str:
    axis = node.attributes.get("axis", 0)
    return f"axis {_number(axis)}, into {len(node.outputs)}" if isinstance(axis, int) else ""


def _slice(node: Node, constants: _Constants) -> str:
    """Return ``axis 1, 0:64``; for several axes all of them."""
    lists = [
        _sizes(node.attributes.get(name)) or constants.integers(index)
        for index, name in ((1, "starts"), (2, "ends"), (3, "axes"), (4, "steps"))
    ]
    starts, ends, axes, steps = lists
    unknown = (constants.has(3) and not axes) or (constants.has(4) and not steps)
    if unknown or not starts or len(starts) != len(ends):
        return ""
    axes = axes or list(range(len(starts)))
    steps = steps or [1] * len(starts)
    if len(axes) != len(starts) or len(steps) != len(starts):
        return ""
    parts = []
    for start, end, step in zip(starts, ends, steps, strict=True):
        first = "" if start == 0 and step > 0 else _number(start)
        last = "" if abs(end) >= _NO_END else _number(end)
        parts.append(f"{first}:{last}" + (f":{_number(step)}" if step != 1 else ""))
    word = "axis" if len(axes) == 1 else "axes"
    return f"{word} {' '.join(map(_number, axes))}, {' '.join(parts)}"


def _pad(node: Node, constants: _Constants) -> str:
    """Return the padding if it is equal on all padded sides, and the mode unless it is constant."""
    pads = constants.integers(1) or _sizes(node.attributes.get("pads"))
    paddings = set(pads) - {0}
    words = [f"by {_number(paddings.pop())}"] if len(paddings) == 1 else []
    mode = _text(node, "mode")
    if mode not in ("", "constant"):
        words.insert(0, mode)
    return " ".join(words)


def _resize(node: Node, constants: _Constants) -> str:
    index = 1 if node.op_type == "Upsample" or node.opset < 11 else 2
    scales = constants.items(index) or node.attributes.get("scales")
    # With other policies the sizes are only upper bounds.
    exact = _text(node, "keep_aspect_ratio_policy") in ("", "stretch")
    sizes = constants.integers(3) if exact else []
    text = ""
    if isinstance(scales, (list, tuple)) and all(isinstance(scale, (int, float)) for scale in scales):
        factors = [scale for scale in scales if scale != 1]
        if factors:
            text = "×" + ("×".join(map(_number, factors[:1] if len(set(factors)) == 1 else factors)))
    if not text and sizes:
        text = f"→ {_dims(sizes)}"
    mode = _text(node, "mode")
    return f"{text}, {mode}" if text and mode else text or mode


def _recurrent(node: Node, _: _Constants) -> str:
    size = node.attributes.get("hidden_size")
    direction = _text(node, "direction")
    words = [f"hidden {_number(size)}"] if isinstance(size, int) else []
    return ", ".join([*words, *([direction] if direction not in ("", "forward") else [])])


def _quantize(node: Node, constants: _Constants) -> str:
    """Return the formula for a single scale for the whole tensor."""
    scale, zero = constants.scalar(1, 3), constants.scalar(2)
    if not scale or (constants.has(2) and not zero):
        return ""
    if node.op_type == "QuantizeLinear":
        shift = "" if zero in ("", "0") else f" − {zero[1:]}" if zero.startswith("−") else f" + {zero}"
        return f"÷ {scale}{shift}"
    if zero in ("", "0"):
        return f"× {scale}"
    shifted = f"x + {zero[1:]}" if zero.startswith("−") else f"x − {zero}"
    return f"({shifted}) × {scale}"


def _fill_value(node: Node, _: _Constants) -> str:
    """Return the fill value of ConstantOfShape; 0 by default."""
    value = node.attributes.get("value")
    if not isinstance(value, ConstTensor):
        return "0" if value is None else ""
    constant = value.values
    if constant is None or constant.size != 1 or constant.dtype.kind not in "fiub":
        return ""
    return _number(constant.reshape(-1).tolist()[0])


def _range(_: Node, constants: _Constants) -> str:
    start, end, step = (constants.scalar(index) for index in range(3))
    if not (start and end and step):
        return f"from {start}" if start else ""
    return f"{start}:{end}" + (f":{step}" if step != "1" else "")


def _factor(node: Node, _: _Constants) -> str:
    alpha = node.attributes.get("alpha")
    return f"× {_number(alpha)}" if isinstance(alpha, (int, float)) and alpha != 1 else ""


def _weight_bits(node: Node, _: _Constants) -> str:
    bits, block = node.attributes.get("bits", 4), node.attributes.get("block_size")
    return f"{bits} bits, blocks of {block}" if isinstance(bits, int) and isinstance(block, int) else ""


def _heads(node: Node, _: _Constants) -> str:
    q, kv = (node.attributes.get(name) for name in ("q_num_heads", "kv_num_heads"))
    q = node.attributes.get("num_heads") if q is None else q
    if not isinstance(q, int):
        return ""
    return f"{q} heads" + (f", {kv} KV heads" if isinstance(kv, int) and kv != q else "")


def _word(name: str, template: str = "{}", usual: tuple[str, ...] = ()) -> Rule:
    """Return a text attribute unless it has one of the usual values."""

    def rule(node: Node, _: _Constants) -> str:
        text = _text(node, name)
        return template.format(text) if text and text not in usual else ""

    return rule


def _attribute(name: str, template: str) -> Rule:
    def rule(node: Node, _: _Constants) -> str:
        value = node.attributes.get(name)
        numbers = [value] if isinstance(value, (int, float)) else _sizes(value)
        return f"{template} {' '.join(map(_number, numbers))}".strip() if numbers else ""

    return rule


def _input(index: int, template: str) -> Rule:
    def rule(_: Node, constants: _Constants) -> str:
        text = constants.scalar(index)
        return f"{template} {text}" if text else ""

    return rule


_ONNX: dict[str, Rule] = {
    **dict.fromkeys(_SIGNS, _binary),
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _pool),
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose", "QLinearConv"), _convolution),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _recurrent),
    **dict.fromkeys(("Celu", "Elu", "LeakyRelu", "ThresholdedRelu"), _attribute("alpha", "")),
    **dict.fromkeys(("ArgMax", "ArgMin", "Concat", "CumSum", "Flatten", "Squeeze", "Unsqueeze"), _axes),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), _softmax),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _attribute("blocksize", "by")),
    **dict.fromkeys(
        (
            f"Reduce{kind}"
            for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
        ),
        _axes,
    ),
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), _quantize),
    **dict.fromkeys(("Expand", "Reshape"), _reshape),
    **dict.fromkeys(("Resize", "Upsample"), _resize),
    "Attention": _heads,
    "BitShift": _word("direction"),
    "Cast": _cast,
    "Clip": _clip,
    "ConstantOfShape": _fill_value,
    "Einsum": _word("equation"),
    "Gather": _index,
    "GatherElements": _gather_axis,
    "Gelu": _word("approximate", usual=("none",)),
    "GroupNormalization": _attribute("num_groups", "groups"),
    "LRN": _attribute("size", "size"),
    "OneHot": _input(1, "depth"),
    "Pad": _pad,
    "Range": _range,
    "ScatterElements": _word("reduction", usual=("none",)),
    "ScatterND": _word("reduction", usual=("none",)),
    "Slice": _slice,
    "Split": _split,
    "Tile": lambda _, constants: "×".join(map(_number, constants.integers(1))),
    "TopK": _input(1, "k ="),
    "Transpose": _attribute("perm", "perm"),
    "Where": _where,
}
_OF_CONTRIB: dict[str, Rule] = {
    **dict.fromkeys(
        ("Attention", "DecoderMaskedMultiHeadAttention", "GroupQueryAttention", "MultiHeadAttention"), _heads
    ),
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), _quantize),
    "FusedConv": _word("activation", "+ {}"),
    "FusedGemm": _word("activation", "+ {}"),
    "FusedMatMul": _factor,
    "MatMulNBits": _weight_bits,
}
_RULES: dict[tuple[str, str], Rule] = {
    **{("", op): rule for op, rule in _ONNX.items()},
    **{(_CONTRIB, op): rule for op, rule in _OF_CONTRIB.items()},
}
"""Settings shown in boxes, by domain and operator. Add an entry to one of the tables to show a setting."""


@answers("setting")
def _links() -> Mapping[Key, Link]:
    return {key: link_to(rule) for key, rule in _RULES.items()}
