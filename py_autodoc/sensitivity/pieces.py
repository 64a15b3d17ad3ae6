"""Cut a model into consecutive pieces, so that layers are not recomputed.

The part before a layer does not depend on its quantization. A measurement begins at the piece that contains
the layer, with the results of the pieces before it. The pieces after it run like the float model, with all
fusions of ONNX Runtime and without switches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from py_autodoc.errors import AnalysisError
from py_autodoc.graph.ir.topological_order import execution_order
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import onnxruntime, open_session, run_session
from py_autodoc.sensitivity.layers import Array, QuantizableLayer

FEATURE = "The sensitivity of layers"
_WINDOW = 0.5
"""Maximum shift of a cut to pass on fewer tensors, as a share of a piece."""
Values = dict[str, Array]
"""Tensors of one sample, by name."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive nodes of the main graph."""

    nodes: list[onnx.NodeProto]
    layers: list[int]
    """Numbers of the layers in it."""
    positions: list[int]
    """Indices of these layers in ``nodes``."""
    reads: list[str]
    """Tensors read from model inputs and earlier pieces."""
    gives: list[str]
    """Tensors that later pieces read, or the result."""
    needed: frozenset[str]
    """Tensors that later pieces read, including those of earlier pieces."""


def cut(model: onnx.ModelProto, layers: Sequence[QuantizableLayer], output: str, count: int) -> list[Piece]:
    """Cut the nodes that ``output`` needs into about ``count`` pieces with equal numbers of layers.

    Cuts are placed where few tensors are live. Nodes are in execution order (``in_execution_order``).
    """
    nodes = list(model.graph.node)
    reads = [reads_of(node) for node in nodes]
    needed_nodes = _needed(nodes, reads, output)
    initializers = {tensor.name for tensor in model.graph.initializer}
    numbers = {layer.index: number for number, layer in enumerate(layers)}
    positions = [index for index in needed_nodes if index in numbers]
    produced_at = {
        name: step for step, index in enumerate(needed_nodes) for name in nodes[index].output if name
    }
    last = {}
    for step, index in enumerate(needed_nodes):
        last.update(dict.fromkeys((name for name in reads[index] if name not in initializers), step))
    last[output] = len(needed_nodes)
    steps = {index: step for step, index in enumerate(needed_nodes)}
    ends = _ends([steps[index] for index in positions], produced_at, last, len(needed_nodes), count)
    pieces = []
    for begin, end in zip([0, *ends], [*ends, len(needed_nodes)], strict=True):
        inside = needed_nodes[begin:end]
        produced = {name for index in inside for name in nodes[index].output if name}
        inputs = dict.fromkeys(
            name
            for index in inside
            for name in reads[index]
            if name not in initializers and name not in produced
        )
        piece_layers = [index for index in inside if index in numbers]
        pieces.append(
            Piece(
                [nodes[index] for index in inside],
                [numbers[index] for index in piece_layers],
                [inside.index(index) for index in piece_layers],
                list(inputs),
                [name for index in inside for name in nodes[index].output if last.get(name, -1) >= end],
                frozenset(name for name, step in last.items() if step >= end),
            )
        )
    return pieces


def in_execution_order(model: onnx.ModelProto) -> None:
    """Sort the nodes of the main graph in place; runtimes accept files whose nodes are not sorted."""
    nodes = list(model.graph.node)
    producers = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needs = [[producers[name] for name in reads_of(node) if name in producers] for node in nodes]
    order, _ = execution_order(needs)
    if order != list(range(len(nodes))):
        copies = [onnx.NodeProto.FromString(nodes[index].SerializeToString()) for index in order]
        del model.graph.node[:]
        model.graph.node.extend(copies)


def reads_of(node: onnx.NodeProto) -> list[str]:
    """Return the tensors that a node reads, including reads in its subgraphs."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            local = {value.name for value in (*graph.input, *graph.initializer)}
            local.update(name for inner in graph.node for name in inner.output)
            inside = [name for inner in graph.node for name in reads_of(inner)]
            names += [
                name for name in (*inside, *(value.name for value in graph.output)) if name not in local
            ]
    return list(dict.fromkeys(names))


def _needed(nodes: Sequence[onnx.NodeProto], reads: Sequence[list[str]], output: str) -> list[int]:
    """Return the indices of the nodes that a tensor depends on, in order."""
    needed, indices = {output}, []
    for index in reversed(range(len(nodes))):
        if needed.intersection(nodes[index].output):
            needed.update(reads[index])
            indices.append(index)
    return indices[::-1]


def _ends(
    layers: Sequence[int], produced_at: dict[str, int], last: dict[str, int], total: int, count: int
) -> list[int]:
    """Return the steps before which to cut: near equal numbers of layers, with the fewest live tensors."""
    live_counts = np.zeros(total + 1, int)
    for name, step in last.items():
        # Model inputs are available everywhere.
        if name in produced_at and produced_at[name] + 1 <= step:
            live_counts[produced_at[name] + 1] += 1
            if step + 1 <= total:
                live_counts[step + 1] -= 1
    live_counts = np.cumsum(live_counts)
    share = len(layers) / max(1, count)
    ends: list[int] = []
    for number in range(1, count):
        low, high = (round(share * (number + direction * _WINDOW)) for direction in (-1, 1))
        # Between directly after one layer and directly before another.
        begin = layers[max(0, low - 1)] + 1
        end = layers[min(len(layers) - 1, max(high, low))]
        begin = max(begin, ends[-1] + 1 if ends else 1)
        if begin <= end:
            ends.append(begin + int(np.argmin(live_counts[begin : end + 1])))
    return ends


def declared(name: str, values: Sequence[Any]) -> onnx.ValueInfoProto:
    """Declare an input with the type of the values and the dimensions they have in common.

    Raises: AnalysisError: values of this kind cannot be passed between pieces.
    """
    arrays = [array for array in values if isinstance(array, np.ndarray)]
    kinds, ranks = {array.dtype for array in arrays}, {array.ndim for array in arrays}
    if len(arrays) != len(values) or len(kinds) != 1 or len(ranks) != 1:
        raise AnalysisError("piece-type", f"The tensor {name[:80]} cannot be passed between pieces.")
    try:
        kind = helper.np_dtype_to_tensor_dtype(kinds.pop())
    except (KeyError, ValueError, TypeError) as fault:
        raise AnalysisError("piece-type", f"The type of {name[:80]} is unknown.") from fault
    sizes = [set(dimensions) for dimensions in zip(*(array.shape for array in arrays), strict=True)]
    return helper.make_tensor_value_info(
        name, kind, [dimension.pop() if len(dimension) == 1 else None for dimension in sizes]
    )


def piece_model(
    model: onnx.ModelProto,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    gives: Iterable[str],
) -> onnx.ModelProto:
    """Return nodes as a separate model with the weights of ``model`` that they read."""
    piece = onnx.ModelProto()
    piece.ir_version = model.ir_version
    piece.opset_import.extend(model.opset_import)
    piece.functions.extend(model.functions)
    piece.graph.name = "piece"
    piece.graph.node.extend(nodes)
    read = {name for node in nodes for name in reads_of(node)}
    piece.graph.initializer.extend(tensor for tensor in model.graph.initializer if tensor.name in read)
    piece.graph.input.extend(inputs)
    piece.graph.output.extend(onnx.ValueInfoProto(name=name) for name in gives)
    return piece


class FloatPiece:
    """A piece of the float model in a session, which also computes the ranges of some tensors.

    Args:
        path: the model's file, for its folder and messages.
        model: the whole model with its weights.
        piece: the piece.
        inputs: declarations of the tensors it reads.
        ranged: tensors produced in the piece whose ranges are requested.

    Raises: ModelRefused: ONNX Runtime refuses it.
    """

    def __init__(
        self,
        path: PathLike,
        model: onnx.ModelProto,
        piece: Piece,
        inputs: Sequence[onnx.ValueInfoProto],
        ranged: Sequence[str],
    ) -> None:
        self._piece, self._name, self._ranged, self._range_outputs = piece, base_name(path), list(ranged), []
        proto = piece_model(model, piece.nodes, inputs, piece.gives)
        for index, name in enumerate(ranged):
            for op in ("ReduceMin", "ReduceMax"):
                out = f"autodoc_{op}_{index}"
                proto.graph.node.append(helper.make_node(op, [name], [out], keepdims=0))
                proto.graph.output.append(helper.make_tensor_value_info(out, TensorProto.FLOAT, []))
                self._range_outputs.append(out)
        self._session = open_session(path, FEATURE, proto=proto, spin=False)
        # Runs without ranges do not compute them.
        self._options = onnxruntime(FEATURE).RunOptions()
        self._options.only_execute_path_to_fetches = True

    def run(self, values: Values) -> Values:
        """Return the tensors available after the piece, given those available before it."""
        return available_tensors(self._piece, values, self._results(self._piece.gives, values))

    def run_with_ranges(self, values: Values) -> tuple[Values, dict[str, tuple[float, float]]]:
        """Like ``run``, and return the minimum and maximum of each tensor in ``ranged``."""
        results = self._results([*self._piece.gives, *self._range_outputs], values)
        bounds = results[len(self._piece.gives) :]
        ranges = {
            name: (float(bounds[2 * index]), float(bounds[2 * index + 1]))
            for index, name in enumerate(self._ranged)
        }
        return available_tensors(self._piece, values, results), ranges

    def _results(self, names: list[str], values: Values) -> list[Any]:
        inputs = {name: values[name] for name in self._piece.reads}
        return run_session(self._session, names, inputs, self._name, self._options)


def available_tensors(piece: Piece, values: Values, results: Sequence[Array]) -> Values:
    """Return the tensors that later pieces still read from earlier ones, and the results of the piece."""
    tensors = {name: value for name, value in values.items() if name in piece.needed}
    tensors.update(zip(piece.gives, results, strict=False))
    return tensors
