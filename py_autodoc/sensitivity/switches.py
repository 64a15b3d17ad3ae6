"""A model in one session in which each layer can be switched between its float and its quantized form."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.probe import PathLike, base_name
from py_autodoc.ort import open_session, run_session
from py_autodoc.samples import Sample
from py_autodoc.sensitivity.layers import Array, Layer, Scheme, activation_scale, rounded

WHAT = "The sensitivity of layers"


def ranges(
    path: PathLike, model: onnx.ModelProto, layers: Sequence[Layer], samples: Sequence[Sample]
) -> dict[str, tuple[float, float]]:
    """Smallest and largest value of each layer's input over all samples.

    Raises: AnalysisError: ONNX Runtime refuses the model, or fails on a sample.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    names = list(dict.fromkeys(one.data for one in layers))
    fed = [one for one in names if one in {given.name for given in model.graph.input}]
    made = [one for one in names if one not in fed]
    wanted = []
    for at, name in enumerate(made):
        for op, end in (("ReduceMin", "least"), ("ReduceMax", "most")):
            out = f"autodoc_{end}_{at}"
            copy.graph.node.append(helper.make_node(op, [name], [out], keepdims=0))
            copy.graph.output.append(helper.make_tensor_value_info(out, TensorProto.FLOAT, []))
            wanted.append(out)
    del copy.graph.value_info[:]
    session = open_session(path, WHAT, proto=copy)
    found = dict.fromkeys(names, (0.0, 0.0))
    for sample in samples:
        got = run_session(session, wanted, sample, base_name(path)) if wanted else []
        for at, name in enumerate(made):
            found[name] = _wider(found[name], float(got[2 * at]), float(got[2 * at + 1]))
        for name in fed:
            found[name] = _wider(found[name], float(sample[name].min()), float(sample[name].max()))
    return found


def _wider(known: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    return (min(known[0], low), max(known[1], high))


class Switched:
    """Runs the model with any of its layers quantized: one session answers every mixture.

    Each layer is an ``If`` over an input of its own. Its branches hold the node with its own weights, so that
    ONNX Runtime packs both; the quantized one has the input behind QuantizeLinear and DequantizeLinear, and
    the weight rounded. Products are computed in float, so no kernel of this machine saturates in the scores.

    Args:
        path: the model, for its folder and messages.
        model: the same, weights in it.
        layers: that can be switched; all others stay float.
        limits: of each layer's input, by tensor.
        scheme: how numbers are quantized.
        weights: by name.
        output: the result that is returned.
    """

    def __init__(
        self,
        path: PathLike,
        model: onnx.ModelProto,
        layers: Sequence[Layer],
        limits: dict[str, tuple[float, float]],
        scheme: Scheme,
        weights: Any,
        output: str,
    ) -> None:
        self.layers, self._name, self._output = list(layers), base_name(path), output
        built = _built(model, self.layers, limits, scheme, weights)
        self._session = open_session(path, WHAT, proto=built)

    def run(self, sample: Sample, quantized: Collection[int]) -> Array:
        """The output for a sample with the layers of these numbers quantized."""
        feeds = dict(sample)
        for at in range(len(self.layers)):
            feeds[_switch(at)] = np.array(at in quantized)
        made = run_session(self._session, [self._output], feeds, self._name)[0]
        return np.asarray(made)


def _switch(at: int) -> str:
    return f"autodoc_switch_{at}"


def _built(
    model: onnx.ModelProto,
    layers: Sequence[Layer],
    limits: dict[str, tuple[float, float]],
    scheme: Scheme,
    weights: Any,
) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.value_info[:]
    by_place = {layer.at: number for number, layer in enumerate(layers)}
    nodes = list(copy.graph.node)
    del copy.graph.node[:]
    for at, node in enumerate(nodes):
        number = by_place.get(at)
        if number is None:
            copy.graph.node.append(node)
            continue
        copy.graph.input.append(helper.make_tensor_value_info(_switch(number), TensorProto.BOOL, []))
        layer = layers[number]
        copy.graph.node.append(_if(node, layer, number, limits[layer.data], scheme, weights[layer.weight]))
    # Weights are in the branches now; files of old producers list them among the inputs as well.
    read = {name for node in copy.graph.node for name in node.input} | {one.name for one in copy.graph.output}
    gone = {layer.weight for layer in layers} - read
    for field in (copy.graph.initializer, copy.graph.input):
        kept = [one for one in field if one.name not in gone]
        del field[:]
        field.extend(kept)
    return copy


def _if(
    node: onnx.NodeProto, layer: Layer, number: int, limit: tuple[float, float], scheme: Scheme, weight: Array
) -> onnx.NodeProto:
    prefix = f"autodoc_{number}_"
    scale, zero = activation_scale(*limit, scheme)
    stored = [
        numpy_helper.from_array(np.asarray(scale), f"{prefix}scale"),
        numpy_helper.from_array(zero, f"{prefix}zero"),
        numpy_helper.from_array(rounded(weight, layer.axis, scheme), f"{prefix}rounded"),
    ]
    around = [
        helper.make_node(
            "QuantizeLinear", [layer.data, f"{prefix}scale", f"{prefix}zero"], [f"{prefix}integers"]
        ),
        helper.make_node(
            "DequantizeLinear", [f"{prefix}integers", f"{prefix}scale", f"{prefix}zero"], [f"{prefix}data"]
        ),
        _renamed(node, f"{prefix}data", f"{prefix}rounded", f"{prefix}quantized"),
    ]
    plain = _renamed(node, layer.data, f"{prefix}weight", f"{prefix}float")
    held = [numpy_helper.from_array(np.ascontiguousarray(weight), f"{prefix}weight")]
    return helper.make_node(
        "If", [_switch(number)], [layer.output], name=f"{prefix}if",
        then_branch=_graph(around, f"{prefix}quantized", stored),
        else_branch=_graph([plain], f"{prefix}float", held),
    )  # fmt: skip


def _renamed(node: onnx.NodeProto, data: str, weight: str, output: str) -> onnx.NodeProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[0], copy.input[1], copy.output[0] = data, weight, output
    return copy


def _graph(nodes: list[onnx.NodeProto], output: str, stored: list[onnx.TensorProto]) -> onnx.GraphProto:
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, f"{output}_branch", [], [result], stored)
