"""What the outputs of a model look like: boxes, maps over the image, scores over a vocabulary."""

from __future__ import annotations

from py_autodoc.blocks.flow import Flow
from py_autodoc.blocks.products import CONVS, PASSING
from py_autodoc.graph.model import Dim, Shape, TensorKind

_SUPPRESSION = frozenset({
    "NonMaxSuppression", "EfficientNMS_TRT", "BatchedNMS_TRT", "BatchedNMSDynamic_TRT", "NMS",
    "MultiClassNMS", "TRT::EfficientNMS_TRT",
})  # fmt: skip
_HEAD_OPS = PASSING | {
    "Sigmoid", "Softmax", "Mul", "Add", "Sub", "Div", "Exp", "Pow", "Concat", "Split", "Slice", "Reshape",
    "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Gather", "Clip", "Where", "ReduceMax", "HardSigmoid",
}  # fmt: skip
_UPSAMPLING = frozenset({"Resize", "Upsample", "ConvTranspose", "DepthToSpace"})
_ENDS = frozenset({"Sigmoid", "Softmax", "ArgMax", "HardSigmoid"})
_MAX_NODES = 256
_MAX_OUTPUTS = 32
_ANCHORS = 9
_COARSEST = 8
"""A map is at least 1/8 of the image's size."""
Signs = tuple[float, str]
"""(confidence, why)."""


def detector(flow: Flow, ops: dict[str, int]) -> Signs | None:
    """Signs that the model finds objects: suppression of boxes, or outputs of boxes and classes."""
    for op, count in ops.items():
        if op.rpartition("::")[2] in _SUPPRESSION:
            return 0.95, f"{count} {op} over candidate boxes"
    shapes = _outputs(flow)
    for number, shape in shapes:
        if len(shape) not in (2, 3) or shape[-1] != 4:
            continue
        for other, scores in shapes:
            if other != number and len(scores) == len(shape) and scores[-2] == shape[-2] is not None:
                return (
                    0.9,
                    f"outputs of {_size(shape)} boxes and {_size(scores)} scores for the same candidates",
                )
    return _dense_heads(flow, shapes)


def _outputs(flow: Flow) -> list[tuple[int, Shape]]:
    tensors = flow.model.graphs[flow.graph].outputs[:_MAX_OUTPUTS]
    return [(t, shape) for t in tensors if (shape := flow.shapes[t]) is not None]


def _dense_heads(flow: Flow, shapes: list[tuple[int, Shape]]) -> Signs | None:
    """Predictions at every position of several grids: joined in one output, or one 5-D output a grid."""
    grids = {shape[2:4] for _, shape in shapes if len(shape) == 5 and _box_row(shape[-1])}
    if len(grids) > 1:
        return 0.85, f"{len(grids)} outputs (anchors, rows, columns, 4 + …) on grids of different sizes"
    for tensor, shape in shapes:
        if len(shape) != 3:
            continue
        cells = _grids(flow, tensor)
        total = sum(rows * columns for rows, columns in cells)
        if len(cells) < 2:
            continue
        for at, row in ((1, shape[2]), (2, shape[1])):
            count = shape[at]
            if (
                _box_row(row)
                and isinstance(count, int)
                and count in {total * a for a in range(1, _ANCHORS + 1)}
            ):
                listed = ", ".join(f"{rows}×{columns}" for rows, columns in sorted(cells, reverse=True))
                return 0.9, f"{count:,} candidates of {row} numbers, one for each cell of the grids {listed}"
    return None


def _box_row(width: Dim) -> bool:
    """4 coordinates and at least one score."""
    return isinstance(width, int) and width >= 5


def _grids(flow: Flow, tensor: int) -> set[tuple[int, int]]:
    """Sizes of the maps of the last convolutions before an output. Bounded."""
    found: set[tuple[int, int]] = set()
    queue, seen, at = [tensor], {tensor}, 0
    while at < len(queue) and at < _MAX_NODES:
        number = flow.makers[queue[at]]
        at += 1
        op = flow.names[number]
        if op in CONVS:
            shape = flow.shapes[flow.nodes[number].outputs[0]]
            if shape is not None and len(shape) == 4:
                rows, columns = shape[2:]
                if isinstance(rows, int) and isinstance(columns, int) and rows * columns > 1:
                    found.add((rows, columns))
            continue
        if op not in _HEAD_OPS:
            continue
        for i in flow.reads[number]:
            if i not in seen:
                seen.add(i)
                queue.append(i)
    return found


def segmenter(flow: Flow, ops: dict[str, int]) -> Signs | None:
    """Signs that the model labels every pixel: an image in, a map of other channels out, upsampled."""
    image = _image(flow)
    if image is None or not any(op in _UPSAMPLING for op in ops):
        return None
    for tensor, shape in _outputs(flow):
        end = flow.names[flow.makers[flow.back(tensor, PASSING)]]
        labelled = len(shape) in (3, 4) and end == "ArgMax"
        if not labelled and (len(shape) != 4 or shape[1] == image[1] or not isinstance(shape[1], int)):
            continue
        if not _covers(shape[-2:], image[2:], end in _ENDS):
            continue
        confidence = 0.9 if end in _ENDS else 0.75
        return confidence, f"an output of {_size(shape)} over the image of {_size(image)}, upsampled inside"
    return None


def _image(flow: Flow) -> Shape | None:
    """The first (B, 1 to 4, H, W) input."""
    for tensor in flow.model.graphs[flow.graph].inputs:
        shape = flow.shapes[tensor]
        if flow.model.tensors[tensor].kind != TensorKind.INPUT or shape is None or len(shape) != 4:
            continue
        if isinstance(shape[1], int) and 1 <= shape[1] <= 4:
            return shape
    return None


def _covers(inner: Shape, image: Shape, sure: bool) -> bool:
    """True when a map is a good part of the image's size and not larger; ``sure`` decides unknown sizes."""
    for have, full in zip(inner, image, strict=True):
        if not isinstance(have, int) or not isinstance(full, int):
            if not sure:
                return False
        elif not full // _COARSEST <= have <= full or have < 2:
            return False
    return True


def vocabulary(flow: Flow) -> tuple[int, bool] | None:
    """(scores a position, bare) of an output of one score a word for each position; None without one.

    ``bare``: the output is a product with a weight and nothing after it, not even a bias, as in language
    models that predict the next word.
    """
    for tensor, shape in _outputs(flow):
        if len(shape) != 3 or not isinstance(shape[-1], int):
            continue
        number = flow.makers[flow.back(tensor, PASSING | {"Reshape"})]
        op = flow.names[number]
        if op == "Add" or op in ("MatMul", "Gemm", "com.microsoft::MatMulNBits"):
            bare = op != "Add" and (op != "Gemm" or len(flow.nodes[number].inputs) < 3)
            return shape[-1], bare
    return None


def _size(shape: Shape) -> str:
    return "×".join("?" if d is None else str(d) if isinstance(d, int) or len(d) < 12 else "·" for d in shape)
