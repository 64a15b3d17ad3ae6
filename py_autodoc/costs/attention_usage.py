"""Uses of a tensor: whether it becomes a graph output, and which attention reads it as keys or values.

Searches are short and bounded, since a cache is read close to its producer.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from py_autodoc.graph.ir.model import Model, Node, TensorKind

MAX_VISITS = 64
"""Maximum uses visited in one search."""
MAX_OUTPUTS = 1024
"""Maximum outputs of an If that are compared with those of its branch."""
MAX_PRODUCTS = 8
"""Maximum products with one tensor that are examined."""


def _ops(names: str) -> frozenset[str]:
    return frozenset(names.split())


_MOVES = _ops(
    "Identity Cast CastLike Dropout Transpose Reshape Squeeze Unsqueeze Flatten Slice Split Concat "
    "QuantizeLinear DequantizeLinear"
)
"""Operators that move values."""
_KEEPING = _ops("Identity Cast Slice")
"""Operators between a cache and the part of it that is kept, which leave its axes."""
_TO_PRODUCT = _MOVES | _ops("Expand Tile Gather Mul Div Add Sub Neg Where")
"""Operators between a cache and the product that reads it: repeated heads, scales, rotary embeddings."""
_TO_SOFTMAX = _ops(
    "Identity Cast CastLike Dropout Transpose Reshape Squeeze Unsqueeze Mul Div Add Sub Where Tanh Clip Min "
    "Max Slice Concat"
)
"""Operators between the scores and their Softmax: scale, mask, bias, soft cap, sinks."""
_FROM_SOFTMAX = _ops(
    "Identity Cast CastLike Dropout Transpose Reshape Squeeze Unsqueeze Where Mul Slice IsNaN Div"
)
_PRODUCTS = frozenset({"MatMul", "Einsum"})
FUSED_KEYS = {
    ("", "Attention"): (1, 2),
    ("com.microsoft", "MultiHeadAttention"): (1, 2),
    ("com.microsoft", "GroupQueryAttention"): (1, 2),
}
"""Key and value inputs of fused operators that may follow an external Concat."""


def is_graph_output(model: Model, tensor: int) -> bool:
    """True if the tensor, moved or stacked, is an output of the main graph, including through an If."""
    stack, seen, visits = [tensor], {tensor}, 0
    while stack:
        current = stack.pop()
        entry = model.tensors[current]
        if entry.is_output:
            return True
        nexts = [*_out_of_branch(model, current)]
        for number in entry.consumers:
            visits += 1
            if visits > MAX_VISITS:
                return False
            node = model.nodes[number]
            if not node.domain and node.op_type in _MOVES:
                nexts.extend(t for t in node.outputs if t >= 0)
        stack.extend(t for t in nexts if t not in seen)
        seen.update(nexts)
    return False


def trimmed_output(model: Model, tensor: int) -> int:
    """Return the graph output that keeps a Slice of the tensor; -1 if there is none or it is one itself."""
    if model.tensors[tensor].is_output:
        return -1
    stack, seen, visits = [(tensor, False)], {tensor}, 0
    while stack:
        current, sliced = stack.pop()
        for number in model.tensors[current].consumers:
            visits += 1
            node = model.nodes[number]
            if visits > MAX_VISITS or node.domain or node.op_type not in _KEEPING or not node.outputs:
                continue
            if node.inputs[0] != current or node.outputs[0] in seen:
                continue
            output, part = node.outputs[0], sliced or node.op_type == "Slice"
            if part and model.tensors[output].is_output:
                return output
            seen.add(output)
            stack.append((output, part))
    return -1


def _out_of_branch(model: Model, tensor: int) -> Iterator[int]:
    """Yield the output of the If whose branch returns ``tensor``."""
    graph = model.graphs[model.tensors[tensor].graph]
    if graph.parent_node < 0:
        return
    node = model.nodes[graph.parent_node]
    if node.op_type == "If" and not node.domain and len(node.outputs) < MAX_OUTPUTS:
        for index, output in enumerate(graph.outputs):
            if output == tensor and index < len(node.outputs) and node.outputs[index] >= 0:
                yield node.outputs[index]


def attention_of(model: Model, tensor: int) -> list[tuple[int, str]]:
    """Return (Softmax or fused operator, ``key``, ``value`` or ``both``) per attention using the tensor."""
    roles: dict[int, set[str]] = {}
    for node, operand in islice(_products(model, tensor), MAX_PRODUCTS):
        fused = FUSED_KEYS.get((node.domain, node.op_type))
        if fused is not None:
            for role, index in zip(("key", "value"), fused, strict=True):
                if index < len(node.inputs) and node.inputs[index] == operand:
                    roles.setdefault(node.id, set()).add(role)
            continue
        softmax = _softmax_behind(model, node, operand)
        if softmax >= 0:
            roles.setdefault(softmax, set()).add("value")
            continue
        softmax = _softmax_after(model, node)
        if softmax >= 0:
            roles.setdefault(softmax, set()).add("key")
    return [(number, "both" if len(role) == 2 else min(role)) for number, role in sorted(roles.items())]


def _products(model: Model, tensor: int) -> Iterator[tuple[Node, int]]:
    """Yield the products and fused operators that read the tensor, with the tensor as they read it."""
    stack, seen, visits = [tensor], {tensor}, 0
    while stack:
        current = stack.pop()
        for number in model.tensors[current].consumers:
            visits += 1
            if visits > MAX_VISITS:
                return
            node = model.nodes[number]
            if (node.domain, node.op_type) in FUSED_KEYS or (not node.domain and node.op_type in _PRODUCTS):
                yield node, current
            elif not node.domain and node.op_type in _TO_PRODUCT:
                fresh = [t for t in node.outputs if t >= 0 and t not in seen]
                seen.update(fresh)
                stack.extend(fresh)


def _softmax_behind(model: Model, node: Node, operand: int) -> int:
    """Return the Softmax whose result ``node`` multiplies by ``operand``; -1 if none."""
    stack = [t for t in node.inputs if t >= 0 and t != operand]
    seen, visits = set(stack), 0
    while stack:
        number = model.tensors[stack.pop()].producer
        visits += 1
        if number < 0 or visits > MAX_VISITS:
            continue
        producer = model.nodes[number]
        if producer.domain:
            continue
        if producer.op_type == "Softmax":
            return number
        if producer.op_type in _FROM_SOFTMAX:
            fresh = [t for t in producer.inputs if t >= 0 and t not in seen and _computed(model, t)]
            seen.update(fresh)
            stack.extend(fresh)
    return -1


def _softmax_after(model: Model, node: Node) -> int:
    """Return the Softmax of the scores that ``node`` produces; -1 if none."""
    stack = [t for t in node.outputs if t >= 0]
    seen, visits = set(stack), 0
    while stack:
        for number in model.tensors[stack.pop()].consumers:
            visits += 1
            if visits > MAX_VISITS:
                return -1
            reader = model.nodes[number]
            if reader.domain:
                continue
            if reader.op_type == "Softmax":
                return number
            if reader.op_type in _TO_SOFTMAX:
                fresh = [t for t in reader.outputs if t >= 0 and t not in seen]
                seen.update(fresh)
                stack.extend(fresh)
    return -1


def _computed(model: Model, tensor: int) -> bool:
    return model.tensors[tensor].kind == TensorKind.ACTIVATION
