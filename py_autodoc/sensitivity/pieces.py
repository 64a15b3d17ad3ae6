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

    Cuts are placed where few tensors are live. Nodes are in execution order, as the standard requires.
    """
    nodes = list(model.graph.node)
    reads = [reads_of(node) for node in nodes]
    kept = _needed(nodes, reads, output)
    stored = {one.name for one in model.graph.initializer}
    numbers = {layer.at: number for number, layer in enumerate(layers)}
    positions = [at for at in kept if at in numbers]
    made_at = {name: step for step, at in enumerate(kept) for name in nodes[at].output if name}
    last = {}
    for step, at in enumerate(kept):
        last.update(dict.fromkeys((one for one in reads[at] if one not in stored), step))
    last[output] = len(kept)
    steps = {at: step for step, at in enumerate(kept)}
    ends = _ends([steps[at] for at in positions], made_at, last, len(kept), count)
    pieces = []
    for begin, end in zip([0, *ends], [*ends, len(kept)], strict=True):
        inside = kept[begin:end]
        produced = {name for at in inside for name in nodes[at].output if name}
        inputs = dict.fromkeys(
            one for at in inside for one in reads[at] if one not in stored and one not in produced
        )
        own_layers = [at for at in inside if at in numbers]
        pieces.append(
            Piece(
                [nodes[at] for at in inside], [numbers[at] for at in own_layers],
                [inside.index(at) for at in own_layers], list(inputs),
                [name for at in inside for name in nodes[at].output if last.get(name, -1) >= end],
                frozenset(name for name, step in last.items() if step >= end),
            )
        )  # fmt: skip
    return pieces


def reads_of(node: onnx.NodeProto) -> list[str]:
    """Return the tensors that a node reads, including reads in its subgraphs."""
    found = [one for one in node.input if one]
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            own = {one.name for one in (*graph.input, *graph.initializer)}
            own.update(name for inner in graph.node for name in inner.output)
            inside = [name for inner in graph.node for name in reads_of(inner)]
            found += [name for name in (*inside, *(one.name for one in graph.output)) if name not in own]
    return list(dict.fromkeys(found))


def _needed(nodes: Sequence[onnx.NodeProto], reads: Sequence[list[str]], output: str) -> list[int]:
    """Return the indices of the nodes that a tensor depends on, in order."""
    needed, indices = {output}, []
    for at in reversed(range(len(nodes))):
        if needed.intersection(nodes[at].output):
            needed.update(reads[at])
            indices.append(at)
    return indices[::-1]


def _ends(
    layers: Sequence[int], produced_at: dict[str, int], last: dict[str, int], total: int, count: int
) -> list[int]:
    """Return the steps before which to cut: near equal numbers of layers, with the fewest live tensors."""
    alive = np.zeros(total + 1, int)
    for name, step in last.items():
        # Model inputs are available everywhere.
        if name in produced_at and produced_at[name] + 1 <= step:
            alive[produced_at[name] + 1] += 1
            if step + 1 <= total:
                alive[step + 1] -= 1
    alive = np.cumsum(alive)
    share = len(layers) / max(1, count)
    ends: list[int] = []
    for number in range(1, count):
        low, high = (round(share * (number + side * _WINDOW)) for side in (-1, 1))
        # Between directly after one layer and directly before another.
        begin = layers[max(0, low - 1)] + 1
        end = layers[min(len(layers) - 1, max(high, low))]
        begin = max(begin, ends[-1] + 1 if ends else 1)
        if begin <= end:
            ends.append(begin + int(np.argmin(alive[begin : end + 1])))
    return ends


def declared(name: str, values: Sequence[Any]) -> onnx.ValueInfoProto:
    """Declare an input with the type of the values and the dimensions they have in common.

    Raises: AnalysisError: values of this kind cannot be passed between pieces.
    """
    arrays = [one for one in values if isinstance(one, np.ndarray)]
    kinds, ranks = {one.dtype for one in arrays}, {one.ndim for one in arrays}
    if len(arrays) != len(values) or len(kinds) != 1 or len(ranks) != 1:
        raise AnalysisError("piece-type", f"The tensor {name[:80]} cannot be passed between pieces.")
    try:
        kind = helper.np_dtype_to_tensor_dtype(kinds.pop())
    except (KeyError, ValueError, TypeError) as fault:
        raise AnalysisError("piece-type", f"The type of {name[:80]} is unknown.") from fault
    sizes = [set(one) for one in zip(*(value.shape for value in arrays), strict=True)]
    return helper.make_tensor_value_info(name, kind, [one.pop() if len(one) == 1 else None for one in sizes])


def piece_model(
    model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto], inputs: Sequence[onnx.ValueInfoProto],
    gives: Iterable[str],
) -> onnx.ModelProto:  # fmt: skip
    """Return nodes as a separate model with the weights of ``model`` that they read."""
    piece = onnx.ModelProto()
    piece.ir_version = model.ir_version
    piece.opset_import.extend(model.opset_import)
    piece.functions.extend(model.functions)
    piece.graph.name = "piece"
    piece.graph.node.extend(nodes)
    read = {name for node in nodes for name in reads_of(node)}
    piece.graph.initializer.extend(one for one in model.graph.initializer if one.name in read)
    piece.graph.input.extend(inputs)
    piece.graph.output.extend(onnx.ValueInfoProto(name=name) for name in gives)
    return piece


class PlainPiece:
    """A piece of the float model in a session, which also computes the ranges of some tensors.

    Args:
        path: the model's file, for its folder and messages.
        model: the whole model with its weights.
        piece: the piece.
        inputs: declarations of the tensors it reads.
        seen: tensors produced in the piece whose ranges are requested.

    Raises: AnalysisError: ONNX Runtime rejects it.
    """

    def __init__(
        self, path: PathLike, model: onnx.ModelProto, piece: Piece, inputs: Sequence[onnx.ValueInfoProto],
        seen: Sequence[str],
    ) -> None:  # fmt: skip
        self._piece, self._name, self._ranged, self._wanted = piece, base_name(path), list(seen), []
        built = piece_model(model, piece.nodes, inputs, piece.gives)
        for at, name in enumerate(seen):
            for op in ("ReduceMin", "ReduceMax"):
                out = f"autodoc_{op}_{at}"
                built.graph.node.append(helper.make_node(op, [name], [out], keepdims=0))
                built.graph.output.append(helper.make_tensor_value_info(out, TensorProto.FLOAT, []))
                self._wanted.append(out)
        self._session = open_session(path, FEATURE, proto=built, spin=False)
        # Runs without ranges do not compute them.
        self._options = onnxruntime(FEATURE).RunOptions()
        self._options.only_execute_path_to_fetches = True

    def run(self, values: Values) -> Values:
        """Return the tensors available after the piece, given those available before it."""
        return passed(self._piece, values, self._results(self._piece.gives, values))

    def run_with_ranges(self, values: Values) -> tuple[Values, dict[str, tuple[float, float]]]:
        """Like ``run``, and return the minimum and maximum of each tensor in ``seen``."""
        results = self._results([*self._piece.gives, *self._wanted], values)
        bounds = results[len(self._piece.gives) :]
        ranges = {
            name: (float(bounds[2 * at]), float(bounds[2 * at + 1])) for at, name in enumerate(self._ranged)
        }
        return passed(self._piece, values, results), ranges

    def _results(self, names: list[str], values: Values) -> list[Any]:
        feeds = {name: values[name] for name in self._piece.reads}
        return run_session(self._session, names, feeds, self._name, self._options)


def passed(piece: Piece, values: Values, results: Sequence[Array]) -> Values:
    """Return the tensors that later pieces still read from earlier ones, and the results of the piece."""
    kept = {name: one for name, one in values.items() if name in piece.needed}
    kept.update(zip(piece.gives, results, strict=False))
    return kept
