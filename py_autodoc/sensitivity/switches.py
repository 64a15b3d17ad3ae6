"""Model pieces whose layers can be switched between float and quantized."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import open_session, run_session
from py_autodoc.sensitivity.layers import Array, QuantizableLayer, Scheme, activation_scale, quantized_weight
from py_autodoc.sensitivity.pieces import FEATURE, Piece, Values, available_tensors, piece_model


class SwitchedModel:
    """A piece of a model in which each layer can be quantized: one session computes every mixture.

    Each layer is an ``If`` with its own switch input. The branches hold the node with its own weights, so
    that ONNX Runtime packs both; in the quantized branch, the input passes through QuantizeLinear and
    DequantizeLinear, and the weight is rounded. Products are computed in float, so saturating kernels of this
    machine do not affect the scores.

    Args:
        path: the model, for its folder and messages.
        model: the model with its weights.
        piece: the piece; its layers can be switched.
        inputs: declarations of the tensors the piece reads.
        layers: the layers of the whole model.
        limits: range of each layer's input, by tensor.
        scheme: the quantization.
        weights: values of the weights by name.

    Raises: ModelRefused: ONNX Runtime refuses the piece.
    """

    def __init__(
        self,
        path: PathLike,
        model: onnx.ModelProto,
        piece: Piece,
        inputs: Sequence[onnx.ValueInfoProto],
        layers: Sequence[QuantizableLayer],
        limits: Mapping[str, tuple[float, float]],
        scheme: Scheme,
        weights: Mapping[str, Array],
    ) -> None:
        self._piece, self._name = piece, base_name(path)
        nodes = list(piece.nodes)
        switches = []
        for number, position in zip(piece.layers, piece.positions, strict=True):
            layer = layers[number]
            switches.append(helper.make_tensor_value_info(_switch(number), TensorProto.BOOL, []))
            nodes[position] = _if(
                nodes[position], layer, number, limits[layer.data], scheme, weights[layer.weight]
            )
        built = piece_model(model, nodes, [*inputs, *switches], piece.gives)
        self._session = open_session(path, FEATURE, proto=built, spin=False)

    def run(self, values: Values, quantized: Collection[int]) -> Values:
        """Return the tensors available after the piece, with the layers of these numbers quantized."""
        inputs = {name: values[name] for name in self._piece.reads}
        for number in self._piece.layers:
            inputs[_switch(number)] = np.array(number in quantized)
        return available_tensors(
            self._piece, values, run_session(self._session, self._piece.gives, inputs, self._name)
        )


def _switch(number: int) -> str:
    return f"autodoc_switch_{number}"


def _if(
    node: onnx.NodeProto,
    layer: QuantizableLayer,
    number: int,
    limit: tuple[float, float],
    scheme: Scheme,
    weight: Array,
) -> onnx.NodeProto:
    prefix = f"autodoc_{number}_"
    scale, zero = activation_scale(*limit, scheme)
    initializers = [
        numpy_helper.from_array(np.asarray(scale), f"{prefix}scale"),
        numpy_helper.from_array(zero, f"{prefix}zero"),
        numpy_helper.from_array(quantized_weight(weight, layer.axis, scheme), f"{prefix}rounded"),
    ]
    quantized = [
        helper.make_node(
            "QuantizeLinear", [layer.data, f"{prefix}scale", f"{prefix}zero"], [f"{prefix}integers"]
        ),
        helper.make_node(
            "DequantizeLinear", [f"{prefix}integers", f"{prefix}scale", f"{prefix}zero"], [f"{prefix}data"]
        ),
        _renamed(node, f"{prefix}data", f"{prefix}rounded", f"{prefix}quantized"),
    ]
    float_node = _renamed(node, layer.data, f"{prefix}weight", f"{prefix}float")
    float_weight = [numpy_helper.from_array(np.ascontiguousarray(weight), f"{prefix}weight")]
    return helper.make_node(
        "If",
        [_switch(number)],
        [layer.output],
        name=f"{prefix}if",
        then_branch=_graph(quantized, f"{prefix}quantized", initializers),
        else_branch=_graph([float_node], f"{prefix}float", float_weight),
    )


def _renamed(node: onnx.NodeProto, data: str, weight: str, output: str) -> onnx.NodeProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[0], copy.input[1], copy.output[0] = data, weight, output
    return copy


def _graph(nodes: list[onnx.NodeProto], output: str, initializers: list[onnx.TensorProto]) -> onnx.GraphProto:
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, f"{output}_branch", [], [result], initializers)
