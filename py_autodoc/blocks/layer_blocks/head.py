"""Heads: the layers that map features to graph outputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    CONV,
    COPY_OPS,
    COPY_OR_LAYOUT_OPS,
    NORMS,
    dim,
    input_at,
    is_linear,
    make_block,
    matrix,
)
from py_autodoc.blocks.layer_blocks.activations import SIMPLE
from py_autodoc.blocks.layer_blocks.conv import kernel_shape
from py_autodoc.blocks.layer_blocks.detection_outputs import box_outputs, detection_signs
from py_autodoc.blocks.results import Fact, RecognisedBlock

_POOLS = frozenset({
    "GlobalAveragePool", "GlobalMaxPool", "AveragePool", "MaxPool", "ReduceMean", "ReduceMax",
    "QLinearGlobalAveragePool", "QLinearAveragePool",
})  # fmt: skip
_PICKS = frozenset({"Gather", "Slice", "GatherND", "GatherElements"})
_AFTER = COPY_OPS | RESHAPES | frozenset({
    "Softmax", "LogSoftmax", "Sigmoid", "Tanh", "Clip", "ArgMax", "ReduceMax", "TopK", "Slice", "Gather",
    "Resize", "Upsample", "Relu", "Exp", "HardSigmoid", "QLinearSigmoid", "Pad", "DepthToSpace",
    "GlobalAveragePool", "QLinearGlobalAveragePool", "Softplus",
})  # fmt: skip
"""Operators allowed between the last weights and an output."""
_BOUNDED = frozenset({"Tanh", "Relu", "Exp", "Clip", "Softplus"})
"""Operators after values: scores of classes are left as they are."""
_MAPS = CONV | {"Concat"}
_MAX_STEPS = 24
_MAX_OUTPUTS = 600
_BIG_VOCABULARY = 1000


def find_heads(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``head``, one for each output of the main graph that has a known form.

    Variants: ``classifier``, ``binary-classifier``, ``token-classifier``, ``language-model``,
    ``regression``, ``dense`` (classes or values: the graph does not say), ``segmentation``,
    ``detection`` (one for all outputs). Facts: classes (or width),
    features, tied (the language model shares the embedding matrix), activation, output (position).
    """
    if flow.graph != 0:
        return []
    outputs = [t for t in flow.model.graphs[0].outputs if flow.producers[t] >= 0]
    detection = _detection(flow, outputs)
    if detection is not None:
        return [detection]
    tables = _tables(flow)
    blocks: dict[int, RecognisedBlock] = {}
    for index, tensor in enumerate(outputs[:_MAX_OUTPUTS]):
        end = _last_weights(flow, tensor)
        if end is None or end.node in blocks:
            continue
        head = _convolutional(flow, end, index) if flow.op_types[end.node] in CONV else None
        if is_linear(flow, end.node):
            head = _dense(flow, end, tables, index)
        if head is not None:
            blocks[end.node] = head
    heads = list(blocks.values())
    maps = any(head.variant == "segmentation" for head in heads)
    if maps and detection_signs(flow, {op: len(numbers) for op, numbers in flow.by_name.items()}) is not None:
        return [replace(h, variant="detection") if h.variant == "segmentation" else h for h in heads]
    return heads


@dataclass(slots=True)
class _OutputLayer:
    """The last operator with weights before an output, and the nodes after it."""

    node: int
    after: list[int] = field(default_factory=list)
    activation: str = ""
    resized: bool = False
    picked: bool = False
    output: int = -1


def _last_weights(flow: DataflowGraph, tensor: int) -> _OutputLayer | None:
    """Search backward from an output past biases, activations, layout changes and resizing."""
    end = _OutputLayer(-1, output=tensor)
    for _ in range(_MAX_STEPS):
        number = flow.producers[tensor]
        name, data = flow.op_types[number], flow.data_inputs[number] if number >= 0 else []
        if not data:
            return None
        if name in CONV or is_linear(flow, number):
            end.node = number
            return end if len(data) == 1 else None
        if name in ("Add", "Mul", "Div", "Sub", "BatchNormalization"):
            if len(data) != 1:
                return None
        elif name not in _AFTER or input_at(flow, number, 0) != data[0]:
            return None
        if name in ("Softmax", "LogSoftmax", "Sigmoid", "QLinearSigmoid") and not end.activation:
            end.activation = "Sigmoid" if "Sigmoid" in name else name
        end.resized = end.resized or name in ("Resize", "Upsample", "DepthToSpace")
        end.picked = end.picked or name in _PICKS
        end.after.append(number)
        tensor = data[0]
    return None


def _dense(
    flow: DataflowGraph, end: _OutputLayer, tables: dict[int, int], index: int
) -> RecognisedBlock | None:
    """Match a matrix product before an output."""
    output_shape = flow.shapes[flow.first_outputs[end.node]]
    classes = dim(flow, flow.first_outputs[end.node], -1)
    tensor = flow.data_inputs[end.node][0]
    before, pooled = _input_reduction(flow, tensor)
    facts: dict[str, Fact] = {
        "classes": classes,
        "features": dim(flow, tensor, -1),
        "activation": end.activation or None,
        "output": index,
    }
    rows = _vocabulary(flow, end.node, tables)
    variant, confidence = "", 1.0
    if rows is not None and classes == rows and (rows >= _BIG_VOCABULARY or _tied(flow, end.node, tables)):
        variant = "language-model"
        facts["tied"] = _tied(flow, end.node, tables)
    elif classes == 1:
        variant = "binary-classifier" if end.activation == "Sigmoid" else "regression"
        confidence = 0.8
    elif end.activation in ("Softmax", "LogSoftmax"):
        variant = (
            "classifier" if pooled or output_shape is None or len(output_shape) < 3 else "token-classifier"
        )
    elif pooled and not _BOUNDED.intersection(flow.op_types[number] for number in end.after):
        variant, confidence = "classifier", 0.8
    elif pooled or end.activation or (classes is not None and classes != facts["features"]):
        variant, confidence = "dense", 0.6
    else:
        # A bare projection is no evidence: encoders end this way, too.
        return None
    nodes = [end.node, *end.after, *before]
    return make_block(flow, "head", nodes, end.node, variant=variant, confidence=confidence, facts=facts)


def _input_reduction(flow: DataflowGraph, tensor: int) -> tuple[list[int], bool]:
    """Return the pooling, selection or flattening before the last product, and whether there is one."""
    nodes: list[int] = []
    for _ in range(8):
        number = flow.producers[tensor]
        name = flow.op_types[number]
        if name in _POOLS or name in _PICKS:
            # A table lookup does not select features.
            picked = not flow.constants[input_at(flow, number, 0)]
            return ([*nodes, number], True) if picked else ([], False)
        if name in ("Flatten", "Reshape") and _flattens(flow, number):
            return [*nodes, number], True
        if name not in COPY_OR_LAYOUT_OPS and name not in SIMPLE and name not in NORMS:
            return [], False
        nodes.append(number)
        tensor = input_at(flow, number, 0)
    return [], False


def _flattens(flow: DataflowGraph, number: int) -> bool:
    """True if maps become one vector per example."""
    before, after = flow.shapes[input_at(flow, number, 0)], flow.shapes[flow.first_outputs[number]]
    return before is not None and after is not None and len(before) >= 4 and len(after) == 2


def _tables(flow: DataflowGraph) -> dict[int, int]:
    """Return embedding tables → number of rows."""
    tables: dict[int, int] = {}
    for number in flow.of(("Gather", "GatherBlockQuantized", "EmbedLayerNormalization")):
        inputs = flow.nodes[number].inputs
        for tensor in inputs[2:3] if flow.op_types[number][0] == "E" else inputs[:1]:
            shape = flow.shapes[tensor]
            if shape is not None and len(shape) == 2 and flow.constants[tensor] and isinstance(shape[0], int):
                tables[flow.back(tensor, COPY_OR_LAYOUT_OPS)] = shape[0]
    return tables


def _vocabulary(flow: DataflowGraph, number: int, tables: dict[int, int]) -> int | None:
    """Return the rows of an embedding table that equal the columns of this product."""
    width = dim(flow, flow.first_outputs[number], -1)
    return width if width is not None and width in tables.values() else None


def _tied(flow: DataflowGraph, number: int, tables: dict[int, int]) -> bool:
    return flow.back(matrix(flow, number), COPY_OR_LAYOUT_OPS) in tables


def _convolutional(flow: DataflowGraph, end: _OutputLayer, index: int) -> RecognisedBlock | None:
    """Match a convolution before an output: classes per pixel, or for the whole image."""
    output_shape = flow.shapes[flow.first_outputs[end.node]]
    results = flow.model.graphs[0].outputs
    final = flow.shapes[results[index]] if index < len(results) else None
    classes = dim(flow, flow.first_outputs[end.node], 1)
    kernel = kernel_shape(flow, end.node)
    pools = [n for n in end.after if flow.op_types[n] in _POOLS]
    facts: dict[str, Fact] = {
        "classes": classes,
        "features": dim(flow, flow.data_inputs[end.node][0], 1),
        "activation": end.activation or None,
        "output": index,
    }
    nodes = [end.node, *end.after]
    if pools or (final is not None and len(final) == 2 and end.activation):
        return make_block(flow, "head", nodes, end.node, variant="classifier", confidence=0.9, facts=facts)
    if output_shape is None or final is None or len(output_shape) != 4 or len(final) < 3 or kernel is None:
        return None
    pointwise = all(size == 1 for size in kernel[2:])
    if not (pointwise or end.activation or end.resized):
        return None
    if classes is not None and classes <= 4 and not (end.activation or pointwise):
        return None
    confidence = 0.9 if end.resized else 0.7
    return make_block(
        flow, "head", nodes, end.node, variant="segmentation", confidence=confidence, facts=facts
    )


def _detection(flow: DataflowGraph, outputs: list[int]) -> RecognisedBlock | None:
    """Match boxes: NonMaxSuppression, pairs of boxes and classes, or joined maps of several scales."""
    for number in reversed(flow.order[-_MAX_OUTPUTS:]):
        if flow.op_types[number] == "NonMaxSuppression":
            facts: dict[str, Fact] = {"nms": True, "outputs": len(outputs)}
            return make_block(flow, "head", [number], number, variant="detection", facts=facts)
    return _pair(flow, outputs) or _scales(flow, outputs)


def _pair(flow: DataflowGraph, outputs: list[int]) -> RecognisedBlock | None:
    """Match one output of four values and one of classes for the same positions."""
    pair = box_outputs(flow)
    size, shape = (flow.shapes[t] for t in pair) if pair is not None else (None, None)
    if pair is None or size is None or shape is None or len(size) != 3 or size[-1] != 4:
        return None
    if shape[:2] != size[:2]:
        return None
    ends = [end for t in pair if (end := _last_weights(flow, t)) is not None]
    if len(ends) != 2:
        return None
    classes = shape[-1]
    facts: dict[str, Fact] = {
        "nms": False,
        "classes": classes if isinstance(classes, int) else None,
        "queries": size[1] if isinstance(size[1], int) else None,
        "outputs": len(outputs),
    }
    nodes = [n for end in ends for n in (end.node, *end.after)]
    return make_block(flow, "head", nodes, ends[0].node, variant="detection", confidence=0.9, facts=facts)


def _scales(flow: DataflowGraph, outputs: list[int]) -> RecognisedBlock | None:
    """Match convolution results of several resolutions, flattened and joined along the positions."""
    for tensor in outputs[:8]:
        number = flow.producers[flow.back(tensor, COPY_OR_LAYOUT_OPS)]
        if flow.op_types[number] != "Concat" or len(flow.data_inputs[number]) < 2:
            continue
        shapes = set()
        nodes = [*flow.chain_back(tensor, COPY_OR_LAYOUT_OPS), number]
        for scale_map in flow.data_inputs[number][:16]:
            producer = flow.producers[flow.back(scale_map, COPY_OR_LAYOUT_OPS)]
            chain = flow.chain_back(scale_map, COPY_OR_LAYOUT_OPS)
            shape = flow.shapes[flow.first_outputs[producer]] if producer >= 0 else None
            if shape is None or len(shape) != 4 or not chain or flow.op_types[producer] not in _MAPS:
                break
            nodes += [*chain, producer]
            shapes.add(shape[2:])
        else:
            if len(shapes) == len(flow.data_inputs[number]):
                facts: dict[str, Fact] = {
                    "nms": False,
                    "scales": len(shapes),
                    "outputs": len(outputs),
                }
                return make_block(
                    flow, "head", nodes, number, variant="detection", confidence=0.8, facts=facts
                )
    return None
