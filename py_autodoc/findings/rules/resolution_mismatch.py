"""Feature maps whose sizes do not match.

What it finds:
Three things in maps with spatial axes. An upsampled map that has to be cropped or padded before it is
joined with another (`medium` when it loses or gains at least `major_share` of an axis, else `low`). A map
that is upsampled by a fractional factor just before a join: `low`. A convolution or pooling whose last rows
or columns are never read, because the stride does not fit, when they are at least `min_lost_share` of the
axis: `low` (`info` under `min_axis` positions). Models with fewer than `min_params` parameters are not
reported.

Why it matters:
The maps are no longer aligned: features shift by a fraction of a pixel against their skip connection, and
border content is dropped. It costs accuracy where position matters (segmentation, detection,
super-resolution) and adds Pad, Slice and Shape operators that some accelerators do not run.

Example:
A U-Net of four levels fed with 250×250: 250 → 125 → 62 → 31; the way up gives 62 → 124, which is padded to
125.

Instead:
Feed sizes that the total stride divides (pad the image once, at the input), or use convolutions that keep the
sizes even.

References:
Ronneberger et al., *U-Net*, 2015, section 2 ("it is important to select the input tile size such that all
2×2 max-pooling operations are applied to a layer with an even x- and y-size").
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, Number, RuleContext, rule
from py_autodoc.findings.sliding_windows import WINDOWS, SlidingWindow, window
from py_autodoc.findings.weighted_layers import label
from py_autodoc.graph.ir.model import Shape
from py_autodoc.units import plural

_JOINS = frozenset({"Add", "Sum", "Concat", "Mul", "Sub"})
_UP = frozenset({"Resize", "Upsample", "ConvTranspose"})
_FITS = frozenset({"Slice", "Pad", "CenterCropPad"})
_PASSES = frozenset(
    {"Relu", "LeakyRelu", "PRelu", "Sigmoid", "HardSwish", "Clip", "Elu", "Gelu", "BatchNormalization"}
    | {"InstanceNormalization", "Identity", "Cast", "Dropout", "Conv", "Slice", "Pad", "CenterCropPad"}
)
_MAX_CHAIN = 12


@rule(
    "resolution-mismatch",
    "Mismatched feature map sizes",
    ("medium", "low", "info"),
    min_params=50_000,
    major_share=0.05,
    min_lost_share=0.05,
    min_axis=16,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per mismatched join, and one for all windows that leave a border unread."""
    limits = ctx.thresholds["resolution-mismatch"]
    if ctx.params.total < limits["min_params"]:
        return
    # Without an operator that enlarges maps, no join has an upsampled operand.
    for number in ctx.flow.of(_JOINS) if ctx.flow.of(_UP) else ():
        node = ctx.flow.nodes[number]
        if not node.domain and len(ctx.flow.data_inputs[number]) > 1:
            for tensor in ctx.flow.data_inputs[number]:
                finding = _operand(ctx, number, tensor, limits["major_share"])
                if finding is not None:
                    yield finding
                    break
    yield from _unread(ctx, limits["min_lost_share"], limits["min_axis"])


def _operand(ctx: RuleContext, join: int, tensor: int, major: Number) -> Finding | None:
    """Return the problem with an operand of a join that was upsampled and cropped or padded."""
    flow = ctx.flow
    fitted: list[tuple[int, Shape, Shape]] = []
    for _ in range(_MAX_CHAIN):
        number = flow.producers[tensor]
        if number < 0:
            return None
        node = flow.nodes[number]
        if node.domain or not node.inputs or node.inputs[0] < 0 or not node.outputs:
            return None
        before, after = flow.shapes[node.inputs[0]], flow.shapes[node.outputs[0]]
        if before is None or after is None or len(before) < 3 or len(before) != len(after):
            return None
        if node.op_type in _UP:
            return _cropped(ctx, join, number, fitted, major) if fitted else _uneven(ctx, join, number)
        if node.op_type not in _PASSES:
            return None
        if before[2:] != after[2:]:
            if node.op_type not in _FITS:
                return None
            fitted.append((number, before[2:], after[2:]))
        tensor = node.inputs[0]
    return None


def _cropped(
    ctx: RuleContext, join: int, up: int, fitted: list[tuple[int, Shape, Shape]], major: Number
) -> Finding | None:
    produced, expected = fitted[-1][1], fitted[0][2]
    if not _numbers(produced) or not _numbers(expected) or produced == expected:
        return None
    pairs = list(zip(_list(produced), _list(expected), strict=True))
    worst = max((abs(a - b) / max(a, b) for a, b in pairs if max(a, b)), default=0.0)
    verb = "padded" if any(b > a for a, b in pairs) else "cropped"
    return Finding(
        "medium" if worst >= major else "low",
        f"{label(ctx, up)} makes a map of {_text(produced)} that is {verb} to {_text(expected)} before "
        f"{label(ctx, join)} joins it with another.",
        "Feed sizes that the total stride divides, so that the maps meet without cropping or padding.",
        (up, *(number for number, _, _ in reversed(fitted)), join),
        {"made": _list(produced), "wanted": _list(expected), "share": round(worst, 4)},
    )


def _uneven(ctx: RuleContext, join: int, up: int) -> Finding | None:
    node = ctx.flow.nodes[up]
    input_shape, output_shape = ctx.flow.shapes[node.inputs[0]], ctx.flow.shapes[node.outputs[0]]
    if node.op_type == "ConvTranspose" or input_shape is None or output_shape is None:
        return None
    if not _numbers(input_shape[2:]) or not _numbers(output_shape[2:]):
        return None
    small, large = _list(input_shape[2:]), _list(output_shape[2:])
    if all(a > 0 and (b % a == 0 or a >= b) for a, b in zip(small, large, strict=True)):
        return None
    return Finding(
        "low",
        f"{label(ctx, up)} resizes a map from {_text(input_shape[2:])} to {_text(output_shape[2:])}, not by "
        f"a whole factor, before {label(ctx, join)} joins it with another.",
        "Feed sizes that the total stride divides, so that maps are resized by whole factors.",
        (up, join),
        {"given": small, "made": large},
    )


def _unread(ctx: RuleContext, least: Number, axis: Number) -> Iterator[Finding]:
    """Report windows that never read the end of an axis."""
    windows: list[tuple[float, SlidingWindow]] = []
    for number in ctx.flow.of(WINDOWS):
        strides = ctx.flow.nodes[number].attributes.get("strides")
        if strides is None or (isinstance(strides, list) and all(step == 1 for step in strides)):
            continue  # every position starts a window
        worst_window = window(ctx, number)
        if worst_window is None:
            continue
        worst = max(
            (
                positions_text / size
                for positions_text, size in zip(worst_window.unread, worst_window.sizes, strict=True)
            ),
            default=0.0,
        )
        if worst >= least and worst > 0:
            windows.append((worst, worst_window))
    if not windows:
        return
    worst, worst_window = max(windows, key=lambda pair: pair[0])
    wide = any(max(entry.sizes) >= axis for _, entry in windows)
    positions_text = "×".join(map(str, worst_window.unread))
    sizes = "×".join(map(str, worst_window.sizes))
    yield Finding(
        "low" if wide else "info",
        f"{plural(len(windows), 'layer')} never read{'s' if len(windows) == 1 else ''} the end of an axis; "
        f"{label(ctx, worst_window.node)} leaves {positions_text} of {sizes} positions out.",
        "Pad or choose sizes so that stride and window cover the whole map.",
        tuple(entry.node for _, entry in windows),
        {
            "layers": len(windows),
            "unread": list(worst_window.unread),
            "sizes": list(worst_window.sizes),
            "share": round(worst, 4),
        },
    )


def _numbers(shape: Shape) -> bool:
    return all(isinstance(d, int) for d in shape)


def _list(shape: Shape) -> list[int]:
    return [d for d in shape if isinstance(d, int)]


def _text(shape: Shape) -> str:
    return "×".join(str(d) for d in shape)
