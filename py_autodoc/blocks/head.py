"""Heads: what turns features into the outputs of the graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from py_autodoc.blocks.activations import SIMPLE
from py_autodoc.blocks.conv import kernel_shape
from py_autodoc.blocks.detection import detector
from py_autodoc.blocks.flow import RESHAPES, Flow
from py_autodoc.blocks.model import Fact, Found
from py_autodoc.blocks.ops import CONV, MOVES, NORMS, PASS, arg, block, dim, is_linear, matrix

_POOLS = frozenset({
    "GlobalAveragePool", "GlobalMaxPool", "AveragePool", "MaxPool", "ReduceMean", "ReduceMax",
    "QLinearGlobalAveragePool", "QLinearAveragePool",
})  # fmt: skip
_PICKS = frozenset({"Gather", "Slice", "GatherND", "GatherElements"})
_AFTER = PASS | RESHAPES | frozenset({
    "Softmax", "LogSoftmax", "Sigmoid", "Tanh", "Clip", "ArgMax", "ReduceMax", "TopK", "Slice", "Gather",
    "Resize", "Upsample", "Relu", "Exp", "HardSigmoid", "QLinearSigmoid", "Pad", "DepthToSpace",
    "GlobalAveragePool", "QLinearGlobalAveragePool",
})  # fmt: skip
"""What may stand between the last weights and an output."""
_MAPS = CONV | {"Concat"}
_MAX_STEPS = 24
_NEAR = 600
_BIG_VOCABULARY = 1000


def find_heads(flow: Flow) -> list[Found]:
    """Blocks of kind ``head``, one for each output of the main graph that ends in a known one.

    Variants: ``classifier``, ``binary-classifier``, ``token-classifier``, ``language-model``,
    ``regression``, ``dense`` (classes or values: the graph does not tell), ``segmentation``,
    ``detection`` (one for all outputs). Facts: classes (or width),
    features, tied (the language model's matrix is its embedding's), activation, output (position).
    """
    if flow.graph != 0:
        return []
    outputs = [t for t in flow.model.graphs[0].outputs if flow.makers[t] >= 0]
    detection = _detection(flow, outputs)
    if detection is not None:
        return [detection]
    tables = _tables(flow)
    found: dict[int, Found] = {}
    for place, tensor in enumerate(outputs[:_NEAR]):
        end = _last_weights(flow, tensor)
        if end is None or end.node in found:
            continue
        head = _convolutional(flow, end, place) if flow.bare[end.node] in CONV else None
        if is_linear(flow, end.node):
            head = _dense(flow, end, tables, place)
        if head is not None:
            found[end.node] = head
    heads = list(found.values())
    maps = any(head.variant == "segmentation" for head in heads)
    if maps and detector(flow, {op: len(numbers) for op, numbers in flow.by_name.items()}) is not None:
        return [replace(h, variant="detection") if h.variant == "segmentation" else h for h in heads]
    return heads


@dataclass(slots=True)
class _End:
    """The last operator with weights before an output, and what follows it."""

    node: int
    after: list[int] = field(default_factory=list)
    activation: str = ""
    resized: bool = False
    picked: bool = False
    output: int = -1


def _last_weights(flow: Flow, tensor: int) -> _End | None:
    """Backward from an output over biases, activations, layout and resizing."""
    end = _End(-1, output=tensor)
    for _ in range(_MAX_STEPS):
        number = flow.makers[tensor]
        name, data = flow.bare[number], flow.reads[number] if number >= 0 else []
        if not data:
            return None
        if name in CONV or is_linear(flow, number):
            end.node = number
            return end if len(data) == 1 else None
        if name in ("Add", "Mul", "Div", "Sub", "BatchNormalization"):
            if len(data) != 1:
                return None
        elif name not in _AFTER or arg(flow, number, 0) != data[0]:
            return None
        if name in ("Softmax", "LogSoftmax", "Sigmoid", "QLinearSigmoid") and not end.activation:
            end.activation = "Sigmoid" if "Sigmoid" in name else name
        end.resized = end.resized or name in ("Resize", "Upsample", "DepthToSpace")
        end.picked = end.picked or name in _PICKS
        end.after.append(number)
        tensor = data[0]
    return None


def _dense(flow: Flow, end: _End, tables: dict[int, int], place: int) -> Found | None:
    """A matrix product in front of an output."""
    made = flow.shapes[flow.firsts[end.node]]
    classes = dim(flow, flow.firsts[end.node], -1)
    tensor = flow.reads[end.node][0]
    before, pooled = _before(flow, tensor)
    facts: dict[str, Fact] = {
        "classes": classes,
        "features": dim(flow, tensor, -1),
        "activation": end.activation or None,
        "output": place,
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
        variant = "classifier" if pooled or made is None or len(made) < 3 else "token-classifier"
    elif pooled:
        variant, confidence = "classifier", 0.8
    elif end.activation or (classes is not None and classes != facts["features"]):
        variant, confidence = "dense", 0.6
    else:
        # A bare projection: encoders end so, too.
        return None
    nodes = [end.node, *end.after, *before]
    return block(flow, "head", nodes, end.node, variant=variant, confidence=confidence, facts=facts)


def _before(flow: Flow, tensor: int) -> tuple[list[int], bool]:
    """The pool, selection or flattening in front of the last product; whether there is one."""
    nodes: list[int] = []
    for _ in range(8):
        number = flow.makers[tensor]
        name = flow.bare[number]
        if name in _POOLS or name in _PICKS:
            # A table lookup picks no part of the features.
            picked = not flow.constants[arg(flow, number, 0)]
            return ([*nodes, number], True) if picked else ([], False)
        if name in ("Flatten", "Reshape") and _flattens(flow, number):
            return [*nodes, number], True
        if name not in MOVES and name not in SIMPLE and name not in NORMS:
            return [], False
        nodes.append(number)
        tensor = arg(flow, number, 0)
    return [], False


def _flattens(flow: Flow, number: int) -> bool:
    """Maps become one vector for each example."""
    before, after = flow.shapes[arg(flow, number, 0)], flow.shapes[flow.firsts[number]]
    return before is not None and after is not None and len(before) >= 4 and len(after) == 2


def _tables(flow: Flow) -> dict[int, int]:
    """Embedding tables → their rows."""
    found: dict[int, int] = {}
    for number in flow.of(("Gather", "GatherBlockQuantized", "EmbedLayerNormalization")):
        inputs = flow.nodes[number].inputs
        for tensor in inputs[2:3] if flow.bare[number][0] == "E" else inputs[:1]:
            shape = flow.shapes[tensor]
            if shape is not None and len(shape) == 2 and flow.constants[tensor] and isinstance(shape[0], int):
                found[flow.back(tensor, MOVES)] = shape[0]
    return found


def _vocabulary(flow: Flow, number: int, tables: dict[int, int]) -> int | None:
    """Rows of the embedding table that has as many as this product has columns."""
    width = dim(flow, flow.firsts[number], -1)
    return width if width is not None and width in tables.values() else None


def _tied(flow: Flow, number: int, tables: dict[int, int]) -> bool:
    return flow.back(matrix(flow, number), MOVES) in tables


def _convolutional(flow: Flow, end: _End, place: int) -> Found | None:
    """A convolution in front of an output: classes for each pixel, or for the whole image."""
    made = flow.shapes[flow.firsts[end.node]]
    results = flow.model.graphs[0].outputs
    final = flow.shapes[results[place]] if place < len(results) else None
    classes = dim(flow, flow.firsts[end.node], 1)
    kernel = kernel_shape(flow, end.node)
    pools = [n for n in end.after if flow.bare[n] in _POOLS]
    facts: dict[str, Fact] = {
        "classes": classes,
        "features": dim(flow, flow.reads[end.node][0], 1),
        "activation": end.activation or None,
        "output": place,
    }
    nodes = [end.node, *end.after]
    if pools or (final is not None and len(final) == 2 and end.activation):
        return block(flow, "head", nodes, end.node, variant="classifier", confidence=0.9, facts=facts)
    if made is None or final is None or len(made) != 4 or len(final) < 3 or kernel is None:
        return None
    pointwise = all(size == 1 for size in kernel[2:])
    if not (pointwise or end.activation or end.resized):
        return None
    if classes is not None and classes <= 4 and not (end.activation or pointwise):
        return None
    confidence = 0.9 if end.resized else 0.7
    return block(flow, "head", nodes, end.node, variant="segmentation", confidence=confidence, facts=facts)


def _detection(flow: Flow, outputs: list[int]) -> Found | None:
    """Boxes: NonMaxSuppression, pairs of boxes and classes, or the maps of several scales joined."""
    for number in reversed(flow.order[-_NEAR:]):
        if flow.bare[number] == "NonMaxSuppression":
            facts: dict[str, Fact] = {"nms": True, "outputs": len(outputs)}
            return block(flow, "head", [number], number, variant="detection", facts=facts)
    return _pair(flow, outputs) or _scales(flow, outputs)


def _pair(flow: Flow, outputs: list[int]) -> Found | None:
    """One output of four numbers and one of classes for the same places."""
    shapes = [(t, flow.shapes[t]) for t in outputs[:64]]
    boxes = [(t, s) for t, s in shapes if s is not None and len(s) == 3 and s[-1] == 4]
    for box, size in boxes:
        for other, shape in shapes:
            if other == box or shape is None or len(shape) != 3 or shape[:2] != size[:2] or shape[-1] == 4:
                continue
            ends = [end for t in (box, other) if (end := _last_weights(flow, t)) is not None]
            if len(ends) != 2:
                continue
            classes = shape[-1]
            facts: dict[str, Fact] = {
                "nms": False,
                "classes": classes if isinstance(classes, int) else None,
                "queries": size[1] if isinstance(size[1], int) else None,
                "outputs": len(outputs),
            }
            nodes = [n for end in ends for n in (end.node, *end.after)]
            return block(flow, "head", nodes, ends[0].node, variant="detection", confidence=0.9, facts=facts)
    return None


def _scales(flow: Flow, outputs: list[int]) -> Found | None:
    """Convolution results of several resolutions, flattened and joined along the places."""
    for tensor in outputs[:8]:
        number = flow.makers[flow.back(tensor, MOVES)]
        if flow.bare[number] != "Concat" or len(flow.reads[number]) < 2:
            continue
        shapes = set()
        nodes = [*flow.chain_back(tensor, MOVES), number]
        for part in flow.reads[number][:16]:
            maker = flow.makers[flow.back(part, MOVES)]
            chain = flow.chain_back(part, MOVES)
            shape = flow.shapes[flow.firsts[maker]] if maker >= 0 else None
            if shape is None or len(shape) != 4 or not chain or flow.bare[maker] not in _MAPS:
                break
            nodes += [*chain, maker]
            shapes.add(shape[2:])
        else:
            if len(shapes) == len(flow.reads[number]):
                facts: dict[str, Fact] = {
                    "nms": False,
                    "scales": len(shapes),
                    "outputs": len(outputs),
                }
                return block(flow, "head", nodes, number, variant="detection", confidence=0.8, facts=facts)
    return None
