"""Settings that mean the same, written the same: defaults, negative axes, padding by rule or by number.

Newer operator versions moved attributes to inputs, renamed them and changed their defaults. A rule takes the
settings of a node as the file has them and leaves those that its results depend on. What depends on a size is
resolved only for sizes that the file fixes: with others, two forms may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py_autodoc.compare.canonical_resize import resize
from py_autodoc.compare.canonical_windows import convolution, pool
from py_autodoc.compare.node_case import NodeCase, Settings

_END = 2**31 - 1
"""From this value on, an end of Slice means the end of the axis."""
ALL = "all"
"""Axes of an operator that takes all, if their number is unknown."""


_Rule = Callable[[NodeCase], None]


def canonical(case: NodeCase) -> Settings:
    """Return the settings of a node that its results depend on. ``case.values`` is changed."""
    node = case.node
    case.drop("consumed_inputs")
    for name, value in _WITHOUT.get(node.op_type, {}).items():
        if case.absent(name):
            case.values[name] = value
    if node.domain not in ("", "com.microsoft"):
        return case.values
    if node.op_type in _AXIS:
        _axis(case, "axis", _AXIS[node.op_type])
    rule = _reduced if node.op_type.startswith("Reduce") else _RULES.get(node.op_type)
    if rule is not None:
        rule(case)
    return case.values


_WITHOUT: dict[str, Settings] = {
    "NonMaxSuppression": {"max_output_boxes_per_class": 0, "iou_threshold": 0},
    "Trilu": {"k": 0},
    "ConstantOfShape": {"value": 0},
    "MeanVarianceNormalization": {"axes": (0, 2, 3)},
}
"""Operator → what an input or attribute without a default in the schema is if it is absent."""
_AXIS = {
    "Concat": 0, "Gather": 0, "GatherElements": 0, "Scatter": 0, "ScatterElements": 0, "Split": 0,
    "ArgMax": 0, "ArgMin": 0, "TopK": 0, "Compress": 0, "LayerNormalization": 0, "RMSNormalization": 0,
    "SimplifiedLayerNormalization": 0, "LpNormalization": 0, "Unique": 0, "CumSum": 0, "CumProd": 0,
    "Flatten": 0, "OneHot": 1, "SplitToSequence": 0, "QuantizeLinear": 0, "DequantizeLinear": 0, "DFT": 0,
    "Hardmax": 0, "Softmax": 0, "LogSoftmax": 0,
}  # fmt: skip
"""Operator with an axis, which may be negative → axes that its result has beyond those of its input."""


def _axis(case: NodeCase, name: str, extra: int = 0) -> None:
    rank, axes = case.rank(), case.integers(name)
    if rank is not None and axes is not None and len(axes) == 1:
        case.values[name] = axes[0] + rank + extra if axes[0] < 0 else axes[0]


def _reduced(case: NodeCase) -> None:
    axes, rank = case.axes(), case.rank()
    if axes is None and not case.absent("axes"):
        return  # computed
    if not axes and not case.values.get("noop_with_empty_axes"):
        case.values["axes"] = ALL if rank is None else tuple(range(rank))
    else:
        case.values["axes"] = tuple(sorted(axes or ()))
    case.drop("noop_with_empty_axes")


def _softmax(case: NodeCase) -> None:
    """Up to opset 12 it covers all axes from its own on; later only its own."""
    shape, axis = case.shape(), case.values.get("axis")
    if shape is None or not isinstance(axis, int):
        return
    covered = range(axis, len(shape)) if 0 < case.node.opset < 13 else [axis]
    axes = tuple(i for i in covered if i < len(shape) and shape[i] != 1)
    case.values["axis"] = axes[0] if len(axes) == 1 else axes


def _squeeze(case: NodeCase) -> None:
    shape, axes = case.shape(), case.axes()
    if axes is not None:
        case.values["axes"] = tuple(sorted(axes))
    elif case.absent("axes"):
        fixed = shape is not None and all(isinstance(size, int) for size in shape)
        case.values["axes"] = tuple(i for i, n in enumerate(shape or ()) if n == 1) if fixed else ALL


def _unsqueeze(case: NodeCase) -> None:
    raw = case.integers("axes")
    axes = case.axes(extra=len(raw or ()))
    if axes is not None:
        case.values["axes"] = tuple(sorted(axes))


def _transpose(case: NodeCase) -> None:
    rank = case.rank()
    if case.absent("perm") and rank is not None:
        case.values["perm"] = tuple(range(rank))[::-1]


def _slice(case: NodeCase) -> None:
    starts, ends, steps = (case.integers(name) for name in ("starts", "ends", "steps"))
    axes = case.axes()
    if starts is None or ends is None or len(starts) != len(ends):
        return
    if (steps is None and not case.absent("steps")) or (axes is None and not case.absent("axes")):
        return
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    shape = case.shape()
    if len(axes) != len(starts) or len(steps) != len(starts) or 0 in steps or min(axes, default=0) < 0:
        return
    cuts = []
    for axis, start, end, step in sorted(zip(axes, starts, ends, steps, strict=True)):
        size = shape[axis] if shape is not None and axis < len(shape) else None
        cut = _cut(start, end, step, size if isinstance(size, int) else None)
        if cut is not None:
            cuts.append((axis, *cut))
    for position, name in enumerate(("axes", "starts", "ends", "steps")):
        case.values[name] = tuple(cut[position] for cut in cuts)


def _cut(start: int, end: int, step: int, size: int | None) -> tuple[int, Any, int] | None:
    """Return start, end and step of one axis; None if all of it is taken."""
    if size is not None:
        taken = range(size)[start:end:step]
        if not taken:
            return 0, 0, 1
        if taken == range(size):
            return None
        step = step if len(taken) > 1 else 1
        return taken[0], taken[-1] + (1 if step > 0 else -1), step
    if step > 0 and end >= _END:
        return None if start == 0 and step == 1 else (start, "end", step)
    if step < 0:
        return -1 if start >= _END else start, "end" if end <= -_END else end, step
    return start, end, step


def _split(case: NodeCase) -> None:
    shape, axis, count = case.shape(), case.values.get("axis"), len(case.node.outputs)
    given = case.integers("split")
    if given is None and case.absent("split"):
        size = shape[axis] if shape is not None and isinstance(axis, int) and axis < len(shape) else None
        if isinstance(size, int) and count:
            part = -(-size // count)
            case.values["split"] = tuple(min(part, max(size - part * i, 0)) for i in range(count))
        else:
            case.values["split"] = "equal"
    elif given is not None:
        case.values["split"] = given
    case.drop("num_outputs")


def _top_k(case: NodeCase) -> None:
    if "k" in case.values:
        case.values["K"] = case.values.pop("k")


def _clip(case: NodeCase) -> None:
    least, most = case.values.get("min"), case.values.get("max")
    if isinstance(least, (int, float)) and least <= case.lowest:
        case.drop("min")
    if isinstance(most, (int, float)) and most >= case.highest:
        case.drop("max")


def _pad(case: NodeCase) -> None:
    values = case.values
    for old, new in (("paddings", "pads"), ("value", "constant_value")):
        if old in values:
            values[new] = values.pop(old)
    if values.get("mode", "constant") == "constant":
        if case.absent("constant_value"):
            values["constant_value"] = 0
    else:
        case.drop("constant_value")
    rank, pads, axes = case.rank(), case.integers("pads"), case.axes()
    if pads is not None and axes is not None and rank is not None and len(pads) == 2 * len(axes):
        whole = [0] * (2 * rank)
        for i, axis in enumerate(axes):
            if 0 <= axis < rank:
                whole[axis], whole[axis + rank] = pads[i], pads[i + len(axes)]
        values["pads"] = tuple(whole)
        case.drop("axes")


def _dropout(case: NodeCase) -> None:
    trains = case.values.get("training_mode") or (
        case.node.opset and case.node.opset < 7 and not case.values.get("is_test", 0)
    )
    if (not trains and case.absent("training_mode")) or case.values.get("training_mode") == 0:
        case.drop("ratio", "seed", "training_mode")
    case.drop("is_test")


def _batch_norm(case: NodeCase) -> None:
    if not case.values.get("training_mode"):
        case.drop("momentum", "training_mode")
    if case.values.get("spatial") == 1:
        case.drop("spatial")
    case.drop("is_test")


def _gemm(case: NodeCase) -> None:
    if "C" not in case.given:
        case.drop("beta")
    shape = case.shape(1)
    # The dimensions of a stored matrix that is not square say which of them is summed over.
    if "transB" in case.values and shape is not None and len(shape) == 2 and shape[0] != shape[1]:
        case.drop("transB")


_GATES = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}


def _recurrent(case: NodeCase) -> None:
    directions = 2 if case.values.get("direction") == "bidirectional" else 1
    default = _GATES[case.node.op_type] * directions
    names = case.values.get("activations", default)
    if isinstance(names, tuple):
        lowered = tuple(str(name).lower() for name in names)
        if lowered == default:
            case.drop("activations")
    case.drop("hidden_size", "output_sequence")


def _grid_sample(case: NodeCase) -> None:
    old = {"bilinear": "linear", "bicubic": "cubic"}
    mode = case.values.get("mode", "linear")
    case.values["mode"] = old.get(mode, mode)


def _roi_align(case: NodeCase) -> None:
    if 0 < case.node.opset < 16:
        case.values["coordinate_transformation_mode"] = "output_half_pixel"


def _dft(case: NodeCase) -> None:
    if case.absent("axis"):
        case.values["axis"] = -2
        _axis(case, "axis")


def _einsum(case: NodeCase) -> None:
    """Letters in the order of their first use, with the result that a short equation implies."""
    equation = case.values.get("equation")
    if not isinstance(equation, str):
        return
    text = equation.replace(" ", "")
    terms, arrow, result = text.partition("->")
    if not arrow:
        once = sorted(letter for letter in set(terms) - set(",.") if terms.count(letter) == 1)
        result = ("..." if "..." in terms else "") + "".join(once)
    letters: dict[str, str] = {}
    for letter in terms:
        if letter not in ",.":
            letters.setdefault(letter, chr(ord("a") + len(letters)))
    case.values["equation"] = "".join(letters.get(letter, letter) for letter in f"{terms}->{result}")


def _legacy_broadcast(case: NodeCase) -> None:
    """Up to opset 6, an attribute allows to broadcast, along the last axes unless it names others."""
    if not 0 < case.node.opset < 7:
        return
    case.drop("broadcast")
    first, second, axis = case.shape(), case.shape(1), case.values.get("axis")
    if first is not None and second is not None and axis in (len(first) - len(second), -len(second)):
        case.drop("axis")


_RULES: dict[str, _Rule] = {
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), _softmax),
    **dict.fromkeys(("Conv", "ConvTranspose", "FusedConv", "ConvInteger", "QLinearConv"), convolution),
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pool),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
    **dict.fromkeys(("Resize", "Upsample"), resize),
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "PRelu"), _legacy_broadcast),
    **dict.fromkeys(("Equal", "Greater", "Less"), _legacy_broadcast),
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Slice": _slice,
    "Split": _split,
    "TopK": _top_k,
    "Clip": _clip,
    "Pad": _pad,
    "Dropout": _dropout,
    "BatchNormalization": _batch_norm,
    "Gemm": _gemm,
    "GridSample": _grid_sample,
    "RoiAlign": _roi_align,
    "DFT": _dft,
    "Einsum": _einsum,
}
