"""Evidence for object detection in the outputs of a model: candidates, boxes and grids.

Uses only the structure: box suppression, boxes and scores of the same candidates, predictions for every cell
of several grids (Redmon et al., YOLO, 2016; Liu et al., SSD, 2016; Lin et al., RetinaNet, 2017), and peaks of
a heat map (Zhou et al., CenterNet, 2019).
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import CONVS, MS, QUANTIZED_COPY_OPS, dim, is_scalar, scale
from py_autodoc.blocks.dataflow.operator_queries import input_at
from py_autodoc.graph.ir.model import Dim, Shape

_SUPPRESSION = frozenset({
    "NonMaxSuppression", "EfficientNMS_TRT", "BatchedNMS_TRT", "BatchedNMSDynamic_TRT", "NMS",
    "MultiClassNMS", "EfficientNMS_ONNX_TRT", "DetectionOutput",
})  # fmt: skip
_REGIONS = frozenset({"RoiAlign", "MaxRoiPool"})
_HEAD_OPS = QUANTIZED_COPY_OPS | {
    "Sigmoid", "Softmax", "Mul", "Add", "Sub", "Div", "Exp", "Pow", "Concat", "Split", "Slice", "Reshape",
    "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Gather", "Clip", "Where", "ReduceMax", "HardSigmoid",
    "TopK", "GatherElements", "GatherND", "Mod", "Max", "Min", "Neg", "Sqrt", "Softplus", "Relu", "Expand",
    "Tile", "Floor", "ArgMax", "ReduceSum", "Log",
}  # fmt: skip
_QLINEAR = f"{MS}QLinear"
_LAST = frozenset({f"{MS}NhwcConv", f"{MS}NhwcFusedConv"})
_SCALES = (
    frozenset({"Mul", "Add", "Relu", "Exp", "Sigmoid", "Clip", "Softplus", "Softmax"}) | QUANTIZED_COPY_OPS
)
"""Operators allowed between a convolution and the output map of its prediction."""
_WORD = re.compile(r"[a-z]+")
_BOX_WORDS = frozenset({"box", "boxes", "bbox", "bboxes", "rois", "regression", "loc", "locations"})
_SCORE_WORDS = frozenset({"logits", "scores", "score", "cls", "class", "classes", "conf", "confidence"})
_MAX_NODES = 512
_MAX_OUTPUTS = 32
_ANCHORS = 9
Signs = tuple[float, str]
"""(confidence, reason)."""
Cell = tuple[int, int]


class _OutputMap(NamedTuple):
    """The last convolution before an output."""

    node: int
    cell: Cell
    channels: int
    into: int | None
    kernel: int


def detection_signs(flow: DataflowGraph, ops: dict[str, int]) -> Signs | None:
    """Return evidence that the model detects objects, or None."""
    for op, count in ops.items():
        if op.rpartition("::")[2] in _SUPPRESSION:
            return 0.95, f"{count} {op} on candidate boxes"
    regions = [f"{count} {op}" for op, count in ops.items() if op in _REGIONS]
    if regions:
        return 0.85, f"{', '.join(regions)} on regions of the feature maps"
    shapes = _outputs(flow)
    return (
        _boxes_and_scores(flow, shapes)
        or _candidates(flow, shapes)
        or _several_maps(flow, shapes)
        or _heat_maps(flow, shapes)
    )


def _outputs(flow: DataflowGraph) -> list[tuple[int, Shape]]:
    tensors = flow.model.graphs[flow.graph].outputs[:_MAX_OUTPUTS]
    return [(t, shape) for t in tensors if (shape := flow.shapes[t]) is not None]


def _batches(flow: DataflowGraph) -> set[Dim]:
    """Return the first dimensions of the graph inputs."""
    input_shapes = (flow.shapes[t] for t in flow.model.graphs[flow.graph].inputs)
    return {shape[0] for shape in input_shapes if shape}


def box_outputs(flow: DataflowGraph) -> tuple[int, int] | None:
    """Return the output tensors with boxes and with scores of the same candidates, None without both."""
    shapes = _outputs(flow)
    return _pair_of(flow, shapes, _batches(flow)) or _transposed_pair(flow, shapes)


def _boxes_and_scores(flow: DataflowGraph, shapes: list[tuple[int, Shape]]) -> Signs | None:
    pair = _pair_of(flow, shapes, _batches(flow))
    if pair is None:
        return None
    boxes, scores = (flow.shapes[tensor] or () for tensor in pair)
    return 0.9, f"outputs with boxes ({size(boxes)}) and scores ({size(scores)}) of the same candidates"


def _pair_of(
    flow: DataflowGraph, shapes: list[tuple[int, Shape]], batches: set[Dim]
) -> tuple[int, int] | None:
    """Match (…, candidates, 4) together with (…, candidates, classes)."""
    for number, shape in shapes:
        if len(shape) not in (2, 3) or shape[-1] != 4 or (len(shape) == 2 and shape[0] in batches):
            continue  # four values per batch item are not candidates
        others = [
            (other, scores)
            for other, scores in shapes
            if other != number and len(scores) == len(shape) and scores[-2] == shape[-2] is not None
        ]
        if not others:
            continue
        # Four classes look like four coordinates.
        rivals = [number, *(other for other, scores in others if scores[-1] == 4)]
        boxes = max(rivals, key=lambda tensor: _box_evidence(flow, tensor))
        scores = next((other for other, shape in others if shape[-1] != 4), None)
        return boxes, scores if scores is not None else next(t for t in rivals if t != boxes)
    return None


def _box_evidence(flow: DataflowGraph, tensor: int) -> int:
    """Return how much says that four numbers are a box and not scores of four classes."""
    words = set(_WORD.findall(flow.model.tensors[tensor].name.lower()))
    evidence = 8 * bool(words & _BOX_WORDS) - 8 * bool(words & _SCORE_WORDS)
    number = flow.producers[flow.back(tensor, QUANTIZED_COPY_OPS)]
    op = flow.qualified_op_types[number].removeprefix(_QLINEAR)
    if op in ("Softmax", "LogSoftmax"):
        return evidence - 4
    # Boxes are bounded or computed from anchors and corners; scores of classes compete or stay logits.
    if op in ("Concat", "Add", "Sub", "Mul", "Clip", "Stack") and not _adds_bias(flow, number):
        return evidence + 3
    if op == "Sigmoid":
        return evidence + 2 + _layers_before(flow, tensor)
    return evidence + _layers_before(flow, tensor)


def _adds_bias(flow: DataflowGraph, number: int) -> bool:
    return len(flow.data_inputs[number]) < 2 and bool(flow.constant_inputs[number])


def _layers_before(flow: DataflowGraph, tensor: int) -> int:
    """Return 1 for an output of several layers of its own: DETR and its kin regress boxes so, not classes."""
    layers = 0
    for _ in range(_ANCHORS):
        number = flow.producers[tensor]
        if number < 0 or not flow.data_inputs[number]:
            break
        op = flow.qualified_op_types[number]
        if op in ("MatMul", "Gemm") or op in CONVS:
            layers += 1
        elif op not in _HEAD_OPS:
            break
        tensor = flow.data_inputs[number][0]
    return int(layers > 1)


# ------------------------------------------------------------------ one row per candidate


def _candidates(flow: DataflowGraph, shapes: list[tuple[int, Shape]]) -> Signs | None:
    """Match predictions for every position of several grids: one joined output, or a 5-D output each."""
    heads = [shape for _, shape in shapes if len(shape) == 5 and _is_box_row(shape[-1])]
    grids = {shape[2:4] for shape in heads}
    # All grids have the same anchors and row width; states of a streaming network differ.
    if len(grids) > 1 and len({(shape[1], shape[4]) for shape in heads}) == 1:
        return (
            0.85,
            f"{len(grids)} outputs of shape (anchors, rows, columns, 4 + …) for grids of different sizes",
        )
    for tensor, shape in shapes:
        if len(shape) != 3:
            continue
        cells, ranked = _grids(flow, tensor)
        if len(cells) < 2:
            continue
        total = sum(rows * columns for rows, columns in cells)
        cells_text = ", ".join(f"{rows}×{columns}" for rows, columns in sorted(cells, reverse=True))
        for axis, row in ((1, shape[2]), (2, shape[1])):
            count = shape[axis]
            if not isinstance(count, int) or not _is_box_row(row):
                continue
            if count in {total * a for a in range(1, _ANCHORS + 1)}:
                return 0.9, f"{count:,} candidates of {row} values, from each cell of the grids {cells_text}"
            if ranked and isinstance(row, int) and row >= 6 and count < total * _ANCHORS:
                return 0.85, f"the best {count:,} candidates of {row} values, from the grids {cells_text}"
    return _split_candidates(flow, shapes)


def _split_candidates(flow: DataflowGraph, shapes: list[tuple[int, Shape]]) -> Signs | None:
    """Match (B, 4, candidates) together with (B, classes, candidates), from several grids."""
    pair = _transposed_pair(flow, shapes)
    if pair is None:
        return None
    boxes, scores = (flow.shapes[tensor] or () for tensor in pair)
    return 0.9, f"outputs with boxes ({size(boxes)}) and scores ({size(scores)}) of the same candidates"


def _transposed_pair(flow: DataflowGraph, shapes: list[tuple[int, Shape]]) -> tuple[int, int] | None:
    for number, shape in shapes:
        if len(shape) != 3 or shape[1] != 4 or not isinstance(shape[2], int):
            continue
        for other, scores in shapes:
            if (
                other != number
                and len(scores) == 3
                and scores[2] == shape[2]
                and len(_grids(flow, other)[0]) > 1
            ):
                if scores[1] == 4 and _box_evidence(flow, other) > _box_evidence(flow, number):
                    return other, number
                return number, other
    return None


def _is_box_row(width: Dim) -> bool:
    """True for 4 coordinates and at least one score."""
    return isinstance(width, int) and width >= 5


def _grids(flow: DataflowGraph, tensor: int) -> tuple[set[Cell], bool]:
    """Return the map sizes of the last convolutions before an output, and whether the best are selected.

    Bounded. Passes a convolution that only weights a distribution (over a Softmax).
    """
    cells: set[Cell] = set()
    ranked = False
    queue, seen, index = [tensor], {tensor}, 0
    while index < len(queue) and index < _MAX_NODES:
        number = flow.producers[queue[index]]
        index += 1
        op = flow.qualified_op_types[number].removeprefix(_QLINEAR)
        ranked = ranked or op == "TopK"
        if flow.qualified_op_types[number] in CONVS and not _is_expectation(flow, number):
            output_map = _output_map(flow, number)
            if output_map is not None:
                cells.add(output_map.cell)
            continue
        if op not in _HEAD_OPS and flow.qualified_op_types[number] not in CONVS:
            continue
        for i in flow.data_inputs[number]:
            if i not in seen and not scale(flow, i):
                seen.add(i)
                queue.append(i)
    return cells, ranked


def _is_expectation(flow: DataflowGraph, number: int) -> bool:
    """True for one channel from a distribution: the mean of a Softmax, for box sides predicted in bins."""
    data = flow.data_inputs[number]
    if dim(flow, flow.first_outputs[number], -1 if _channels_last(flow, number) else -3) != 1 or not data:
        return False
    before = flow.producers[flow.back(data[0], QUANTIZED_COPY_OPS | {"Transpose", "Reshape"})]
    return flow.qualified_op_types[before].removeprefix(_QLINEAR) == "Softmax"


def _output_map(flow: DataflowGraph, number: int) -> _OutputMap | None:
    """Return the output map of a convolution with known rows and columns."""
    output_shape = flow.shapes[flow.first_outputs[number]]
    if (
        output_shape is None
        or len(output_shape) != 4
        or not all(isinstance(d, int) for d in output_shape[1:])
    ):
        return None
    input_shape = flow.shapes[input_at(flow, number, 0)]
    if _channels_last(flow, number):
        output_shape = (output_shape[0], output_shape[3], *output_shape[1:3])
        input_shape = (
            (input_shape[0], input_shape[3], *input_shape[1:3])
            if input_shape is not None and len(input_shape) == 4
            else None
        )
    weights = [flow.shapes[t] for t in flow.constant_inputs[number]]
    kernel = next((w[2] for w in weights if w is not None and len(w) == 4 and isinstance(w[2], int)), 0)
    channels, rows, columns = (d for d in output_shape[1:] if isinstance(d, int))
    into = input_shape[1] if input_shape is not None and len(input_shape) == 4 else None
    return _OutputMap(number, (rows, columns), channels, into if isinstance(into, int) else None, kernel)


def _channels_last(flow: DataflowGraph, number: int) -> bool:
    node = flow.nodes[number]
    inner = node.domain == "com.ms.internal.nhwc" or flow.qualified_op_types[number] in _LAST
    return inner or node.attributes.get("channels_last") == 1


# ------------------------------------------------------------------ one map per grid


def _several_maps(flow: DataflowGraph, shapes: list[tuple[int, Shape]]) -> Signs | None:
    """Match outputs (B, predictions, rows, columns) of successively halved sizes with equal predictions."""
    levels: dict[Cell, list[tuple[int, list[_OutputMap]]]] = defaultdict(list)
    for tensor, shape in shapes:
        if len(shape) != 4 or not all(isinstance(d, int) for d in shape[1:]):
            continue
        channels, rows, columns = (d for d in shape[1:] if isinstance(d, int))
        ends = _output_convolutions(flow, tensor)
        if not ends or any(end.cell != (rows, columns) for end in ends):
            return None
        levels[rows, columns].append((channels, ends))
    cells = sorted(levels, reverse=True)
    if len(cells) < 2 or not all(_is_half(a, b) for a, b in pairwise(cells)):
        return None
    rows_of = [sorted(channels for channels, _ in levels[cell]) for cell in cells]
    if any(row != rows_of[0] for row in rows_of):
        return None
    cells_text = ", ".join(f"{rows}×{columns}" for rows, columns in cells)
    row = rows_of[0]
    for anchors in range(1, _ANCHORS + 1):
        if len(row) > 1 and 4 * anchors in row and all(c % anchors == 0 for c in row):
            channels_text = " + ".join(str(c) for c in row)
            return 0.85, f"box and score maps of {channels_text} channels for each of the grids {cells_text}"
    ends = [end for level in levels.values() for _, map_ends in level for end in map_ends]
    if len(row) == 1 and row[0] >= 5 and all(end.kernel == 1 and end.channels != end.into for end in ends):
        return 0.8, f"{row[0]} predictions per cell by 1×1 convolutions on the grids {cells_text}"
    return None


def _output_convolutions(flow: DataflowGraph, tensor: int) -> list[_OutputMap]:
    """Return the convolutions whose results form an output map, as factors of its channels."""
    queue, convolutions = [tensor], []
    for _ in range(_MAX_OUTPUTS):
        if not queue:
            break
        number = flow.producers[queue.pop()]
        op = flow.qualified_op_types[number].removeprefix(_QLINEAR)
        data = [t for t in flow.data_inputs[number] if not scale(flow, t)] if number >= 0 else []
        if flow.qualified_op_types[number] in CONVS:
            output_map = _output_map(flow, number)
            if output_map is None:
                return []
            convolutions.append(output_map)
        elif op in _SCALES:
            # The scale of a quantized product is a scalar, computed or not.
            non_scalar = [t for t in data if not is_scalar(flow, t)]
            if len(non_scalar) != 1:
                return []
            queue += non_scalar
        elif op == "Concat":
            queue += data
        else:
            return []
    return convolutions


def _is_half(large: Cell, small: Cell) -> bool:
    return all(b < a <= 2 * b for a, b in zip(large, small, strict=True))


# ------------------------------------------------------------------ peaks of a map


def _heat_maps(flow: DataflowGraph, shapes: list[tuple[int, Shape]]) -> Signs | None:
    """Match a map reduced to its local maxima, or a score map with size and offset maps of two channels."""
    for number in flow.named(("MaxPool",)):
        node = flow.nodes[number]
        if not node.inputs:
            continue
        same = flow.shapes[node.inputs[0]] == flow.shapes[flow.first_outputs[number]] is not None
        if not same or len(flow.shapes[node.inputs[0]] or ()) != 4:
            continue
        for reader in flow.readers[flow.first_outputs[number]]:
            source = flow.back(node.inputs[0], QUANTIZED_COPY_OPS)
            if flow.qualified_op_types[reader] == "Equal" and source in {
                flow.back(i, QUANTIZED_COPY_OPS) for i in flow.data_inputs[reader]
            }:
                return 0.85, "only local maxima of a map are kept: it is compared with its MaxPool"
    maps = [(t, shape) for t, shape in shapes if len(shape) == 4 and None not in shape[1:]]
    for tensor, shape in maps:
        scored = flow.qualified_op_types[flow.producers[flow.back(tensor, QUANTIZED_COPY_OPS)]] == "Sigmoid"
        pairs = sum(other[1] == 2 and other[2:] == shape[2:] for t, other in maps if t != tensor)
        if scored and pairs > 1:
            return 0.75, f"score map of {size(shape)} and {pairs} maps of two values per cell (size, offset)"
    return None


def size(shape: Shape) -> str:
    """Return a shape as text; long symbol names become "·"."""
    return "×".join("?" if d is None else str(d) if isinstance(d, int) or len(d) < 12 else "·" for d in shape)
