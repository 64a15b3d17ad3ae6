"""Evidence from the outputs of a model: maps over the image, scores over a vocabulary."""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import QUANTIZED_COPY_OPS
from py_autodoc.blocks.layer_blocks.detection_outputs import Signs, size
from py_autodoc.graph.ir.model import Shape, TensorKind

_UPSAMPLING = frozenset({"Resize", "Upsample", "ConvTranspose", "DepthToSpace"})
_ENDS = frozenset({"Sigmoid", "Softmax", "ArgMax", "HardSigmoid"})
_KEYPOINT_COUNTS = frozenset({14, 16, 17, 18, 25, 26, 68, 98, 106, 133})
"""Common numbers of keypoints of a body, a face or a whole person."""
_MAX_OUTPUTS = 32
_MAX_REDUCTION = 8
"""A map has at least 1/8 of the image size."""


def _outputs(flow: DataflowGraph) -> list[tuple[int, Shape]]:
    tensors = flow.model.graphs[flow.graph].outputs[:_MAX_OUTPUTS]
    return [(t, shape) for t in tensors if (shape := flow.shapes[t]) is not None]


def segmentation_signs(flow: DataflowGraph, ops: dict[str, int]) -> Signs | None:
    """Return evidence for per-pixel labels: an image input and an upsampled map with other channels."""
    image = _image(flow)
    if image is None or _images(flow, image) > 1 or not any(op in _UPSAMPLING for op in ops):
        return None
    for tensor, shape in _outputs(flow):
        end = flow.qualified_op_types[flow.producers[flow.back(tensor, QUANTIZED_COPY_OPS)]]
        labelled = len(shape) in (3, 4) and end == "ArgMax"
        if not labelled and (len(shape) != 4 or shape[1] == image[1] or not isinstance(shape[1], int)):
            continue
        if not _is_large_map(shape[-2:], image[2:], end in _ENDS) or _is_heat_map(shape, image):
            continue
        confidence = 0.9 if end in _ENDS else 0.75
        return confidence, f"upsampled output of {size(shape)} for an image of {size(image)}"
    return None


def _image(flow: DataflowGraph) -> Shape | None:
    """Return the shape of the first (B, 1 to 4, H, W) input."""
    for tensor in flow.model.graphs[flow.graph].inputs:
        shape = flow.shapes[tensor]
        if flow.model.tensors[tensor].kind != TensorKind.INPUT or shape is None or len(shape) != 4:
            continue
        if isinstance(shape[1], int) and 1 <= shape[1] <= 4:
            return shape
    return None


def _images(flow: DataflowGraph, image: Shape) -> int:
    """Count inputs with the image's shape; with two, a map may describe how one differs from the other."""
    graph_inputs = flow.model.graphs[flow.graph].inputs
    return sum(
        flow.model.tensors[t].kind == TensorKind.INPUT and flow.shapes[t] == image and None not in image
        for t in graph_inputs
    )


def _is_heat_map(shape: Shape, image: Shape) -> bool:
    """True for a common number of keypoints at a quarter of the image size: heat maps."""
    if len(shape) != 4 or shape[1] not in _KEYPOINT_COUNTS:
        return False
    return all(
        isinstance(extent, int) and isinstance(full, int) and 4 * extent == full
        for extent, full in zip(shape[2:], image[2:], strict=True)
    )


def _is_large_map(inner: Shape, image: Shape, if_unknown: bool) -> bool:
    """True if a map is large relative to the image and not larger; ``if_unknown`` is for unknown sizes."""
    for extent, full in zip(inner, image, strict=True):
        if not isinstance(extent, int) or not isinstance(full, int):
            if not if_unknown:
                return False
        elif not full // _MAX_REDUCTION <= extent <= full or extent < 2:
            return False
    return True


def vocabulary_output(flow: DataflowGraph) -> tuple[int, bool] | None:
    """Return (scores, without bias) of an output with one score per word and position, or None.

    Without a bias, the output is a product with a weight and nothing after it, as in language models
    that predict the next word.
    """
    for tensor, shape in _outputs(flow):
        if len(shape) != 3 or not isinstance(shape[-1], int):
            continue
        number = flow.producers[flow.back(tensor, QUANTIZED_COPY_OPS | {"Reshape"})]
        op = flow.qualified_op_types[number]
        if op == "Add" or op in ("MatMul", "Gemm", "com.microsoft::MatMulNBits"):
            without_bias = op != "Add" and (op != "Gemm" or len(flow.nodes[number].inputs) < 3)
            return shape[-1], without_bias
    return None
