"""Position mixing other than convolution, attention and recurrent operators.

Fourier transforms (Lee-Thorp et al., FNet, 2021), sums with exponential weights passed from step to step
(Peng et al., RWKV, 2023; Beck et al., xLSTM, 2024), message passing along graph edges (Kipf and Welling,
2017), and attention whose scores are computed in pieces (Beltagy et al., Longformer, 2020).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.graph.ir.model import TensorKind

_LAYOUT_OPS = frozenset({
    "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Cast", "Expand", "Flatten", "Slice",
    "Gather", "Split", "Pad", "Concat", "Dropout",
})  # fmt: skip
_SLICING_OPS = _LAYOUT_OPS | {
    "Where",
    "Add",
    "Mul",
    "Div",
    "Sub",
    "ScatterND",
    "ScatterElements",
    "GatherElements",
    "Tile",
    "And",
}
"""Operators allowed between scores, their Softmax and the sum they weight."""
_PRODUCTS = frozenset({"MatMul", "Einsum"})
_SCATTERS = frozenset({"ScatterElements", "ScatterND"})
_MAX_NODES = 192
_MAX_DISTANCE = 12


def fourier_mixes(flow: DataflowGraph) -> int:
    """Count Fourier transforms over activations of layers, not over an audio input."""
    return sum(_is_layer_output(flow, number) for number in flow.of(("DFT",)))


def _is_layer_output(flow: DataflowGraph, number: int) -> bool:
    """True after a normalization or a layer with weights."""
    for before in _upstream(flow, number, _LAYOUT_OPS | {"Mul", "Add", "DFT"}, _MAX_NODES):
        if flow.op_types[before] in ("LayerNormalization", "MatMul", "Gemm", "BatchNormalization"):
            return True
    return False


def exponential_sums(flow: DataflowGraph) -> int:
    """Count maxima of two values subtracted before two exponentials, which keep running sums bounded."""
    return sum(_is_exponent_bound(flow, number) for number in flow.of(("Max",)))


def _is_exponent_bound(flow: DataflowGraph, number: int) -> bool:
    if len(flow.nodes[number].inputs) != 2:
        return False
    raised = 0
    queue = [flow.first_outputs[number]]
    for tensor in queue[:_MAX_DISTANCE]:
        for reader in flow.readers[tensor][:_MAX_DISTANCE]:
            name = flow.op_types[reader]
            if name in ("Unsqueeze", "Squeeze", "Reshape", "Identity", "Cast", "Expand"):
                queue.append(flow.first_outputs[reader])
            elif (
                name == "Sub"
                and len(flow.nodes[reader].inputs) == 2
                and flow.nodes[reader].inputs[1] == tensor
            ):
                raised += any(flow.op_types[n] == "Exp" for n in flow.readers[flow.first_outputs[reader]])
    return raised > 1


def messages(flow: DataflowGraph) -> tuple[int, str]:
    """Return the number of message-passing steps and how they are computed."""
    scattered = sum(_is_gathered_sum(flow, number) for number in flow.of(_SCATTERS))
    if scattered:
        return scattered, "node features are gathered by one index input and summed by another"
    square = [t for t in _graph_inputs(flow) if _square(flow, t)]
    times = sum(_adjacency_products(flow, tensor) for tensor in square[:_MAX_DISTANCE])
    return times, "a square input matrix multiplies the node features"


def _graph_inputs(flow: DataflowGraph) -> list[int]:
    graph = flow.model.graphs[flow.graph]
    return [t for t in graph.inputs if flow.model.tensors[t].kind == TensorKind.INPUT]


def _is_gathered_sum(flow: DataflowGraph, number: int) -> bool:
    """True for a reduction over gathered rows where both indices come from graph inputs."""
    node = flow.nodes[number]
    if node.attributes.get("reduction", "none") in ("none", b"none") or len(node.inputs) < 3:
        return False
    if flow.constants[node.inputs[1]] or flow.constants[node.inputs[2]]:
        return False
    for before in _upstream(flow, number, _SLICING_OPS | {"Relu", "MatMul", "Gemm", "Exp"}, _MAX_NODES):
        inputs = flow.nodes[before].inputs
        if (
            flow.op_types[before] == "Gather"
            and not flow.constants[inputs[0]]
            and not flow.constants[inputs[1]]
        ):
            return True
    return False


def _square(flow: DataflowGraph, tensor: int) -> bool:
    shape = flow.shapes[tensor]
    float_ = flow.types.dtypes[tensor] in (1, 10, 11, 16)
    return float_ and shape is not None and len(shape) in (2, 3) and shape[-1] == shape[-2] not in (None, 1)


def _adjacency_products(flow: DataflowGraph, tensor: int) -> int:
    """Count products of a matrix, at most normalized, with values computed from other inputs."""
    product_count, queue, seen = 0, [tensor], {tensor}
    for current in queue:
        if len(queue) > _MAX_NODES:
            break
        for reader in flow.readers[current][:_MAX_NODES]:
            name, inputs = flow.op_types[reader], flow.nodes[reader].inputs
            if name == "MatMul" and inputs[0] == current and not flow.constants[inputs[1]]:
                product_count += inputs[1] not in seen
            elif name in ("Add", "Mul", "Div", "Cast", "Unsqueeze", "Squeeze", "Transpose", "Identity"):
                output = flow.first_outputs[reader]
                if output not in seen:
                    seen.add(output)
                    queue.append(output)
    return product_count


def decomposed_attention(flow: DataflowGraph, recognised: Collection[int] = ()) -> int:
    """Count Softmax nodes over products of two computed tensors that weight a third, however they are split.

    ``recognised``: Softmax nodes already recognised as attention; they are not counted.
    """
    return sum(number not in recognised and _weights_values(flow, number) for number in flow.of(("Softmax",)))


def _weights_values(flow: DataflowGraph, number: int) -> bool:
    scored = any(_is_product(flow, before) for before in _upstream(flow, number, _SLICING_OPS, _MAX_NODES))
    return scored and any(_is_product(flow, after) for after in _downstream(flow, number))


def _is_product(flow: DataflowGraph, number: int) -> bool:
    return flow.op_types[number] in _PRODUCTS and len(flow.data_inputs[number]) == 2


def _upstream(flow: DataflowGraph, number: int, through: frozenset[str], max_nodes: int) -> Iterator[int]:
    """Yield the nodes upstream of a node, passing only operators in ``through``."""
    queue, seen = list(flow.predecessors(number)) if number >= 0 else [], set[int]()
    while queue and len(seen) < max_nodes:
        before = queue.pop(0)
        if before in seen:
            continue
        seen.add(before)
        yield before
        if flow.op_types[before] in through:
            queue += flow.predecessors(before)


def _downstream(flow: DataflowGraph, number: int) -> Iterator[int]:
    queue, seen = list(flow.successors(number)), set[int]()
    while queue and len(seen) < _MAX_NODES:
        after = queue.pop(0)
        if after in seen:
            continue
        seen.add(after)
        yield after
        if flow.op_types[after] in _SLICING_OPS:
            queue += flow.successors(after)
