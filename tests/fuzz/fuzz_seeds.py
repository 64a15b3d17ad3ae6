"""What is broken: small models with a bit of everything, files of Keras, thresholds, profiles."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TESTS = Path(__file__).parent.parent
DATA = TESTS / "data"
for folder in (".", "bad", "truth", "keras"):
    if str(TESTS / folder) not in sys.path:
        sys.path.append(str(TESTS / folder))
_SMALL = 120_000
_LARGEST = 8_000
"""Bytes: what is mutated shall be what matters, and quick to read."""


@cache
def models() -> tuple[bytes, ...]:
    """Serialized models, small ones of every operator first."""
    from node_models import node_models

    found = [case.proto.SerializeToString() for case in node_models("all")]
    found = [data for data in found if len(data) <= _LARGEST]
    for path in ("models/trt_loop.onnx", "models/trt_qdq_conv.onnx", "models/light_bvlc_alexnet.onnx"):
        found += [(DATA / path).read_bytes()] * 10
    found += zoo() * 3
    # What is rich is taken more often than its one place in the list.
    found += [rich()] * (len(found) // 2) + [fixed()] * (len(found) // 8)
    return tuple(found)


def zoo() -> list[bytes]:
    """Small models of many kinds, whose structure is recognised."""
    with zipfile.ZipFile(DATA / "zoo.zip") as archive:
        small = [one.filename for one in archive.infolist() if one.file_size < _SMALL]
        return [archive.read(name) for name in sorted(small)]


@cache
def rich() -> bytes:
    """Tags, control flow, functions, quantization, sparse and external weights in one model."""
    info, node = helper.make_tensor_value_info, helper.make_node
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.normal(0, 1, shape).astype(np.float32), name)

    def nested(name: str, value: float) -> onnx.GraphProto:
        constant = numpy_helper.from_array(np.full(4, value, np.float32), f"{name}_w")
        inner = [node("Add", ["h", f"{name}_w"], [f"{name}_y"])]
        return helper.make_graph(inner, name, [], [info(f"{name}_y", 1, None)], [constant])

    body = helper.make_graph(
        [
            node("Identity", ["go"], ["more"]),
            node("MatMul", ["state", "w"], ["next"]),
            node("Identity", ["next"], ["seen"]),
        ],
        "body",
        [info("step", 7, []), info("go", 9, []), info("state", 1, ["batch", 4])],
        [info("more", 9, []), info("next", 1, ["batch", 4]), info("seen", 1, ["batch", 4])],
    )
    attention = [
        node("MatMul", ["looped", "w"], ["q"]),
        node("MatMul", ["looped", "w"], ["k"]),
        node("Transpose", ["k"], ["kt"], perm=[1, 0]),
        node("MatMul", ["q", "kt"], ["scores"]),
        node("Softmax", ["scores"], ["p"], axis=-1),
        node("MatMul", ["p", "looped"], ["attended"]),
    ]
    quantized = [
        node("QuantizeLinear", ["attended", "scale", "zero"], ["xq"]),
        node("DequantizeLinear", ["xq", "scale", "zero"], ["xd"]),
        node("Gemm", ["xd", "w", "bias"], ["g"], transB=1, alpha=0.5),
    ]
    nodes = [
        node("Gemm", ["x", "w"], ["h"], name="/enc/layer.0/Gemm"),
        node("If", ["c"], ["b"], then_branch=nested("yes", 1), else_branch=nested("no", 2)),
        node("Loop", ["trips", "c", "b"], ["last", "looped0"], body=body),
        node("Reshape", ["last", "shape"], ["looped"]),
        *attention,
        *quantized,
        node("Twice", ["g"], ["t"], domain="local"),
        node("Shape", ["t"], ["s"]),
        node("Constant", [], ["k0"], value=numpy_helper.from_array(np.array([0], np.int64), "k0v")),
        node("Gather", ["s", "k0"], ["b0"]),
        node("Expand", ["row", "s"], ["y0"]),
        node("Add", ["y0", "t"], ["y"]),
    ]
    for at, one in enumerate(nodes):
        one.metadata_props.add(key="autodoc.tag", value=f"/Net/Block.{at // 5}/Part.{at % 5}")
    outside = TensorProto(name="bias", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", "16")):
        outside.external_data.add(key=key, value=value)
    constants = [
        weight("w", 4, 4),
        outside,
        weight("row", 4),
        numpy_helper.from_array(np.array(0.1, np.float32), "scale"),
        numpy_helper.from_array(np.array(0, np.int8), "zero"),
        numpy_helper.from_array(np.array(3, np.int64), "trips"),
        numpy_helper.from_array(np.array([-1, 4], np.int64), "shape"),
        helper.make_tensor("words", TensorProto.STRING, [2], [b"a", b"b"]),
    ]
    graph = helper.make_graph(
        nodes, "rich", [info("x", 1, ["batch", 4]), info("c", 9, [])], [info("y", 1, ["batch", 4])], constants
    )
    graph.sparse_initializer.add().CopyFrom(
        helper.make_sparse_tensor(
            helper.make_tensor("sparse", 1, [2], [1.0, 2.0]), helper.make_tensor("at", 7, [2], [0, 5]), [2, 4]
        )
    )
    twice = helper.make_function(
        "local", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 21)]
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    made = helper.make_model(graph, opset_imports=imports, functions=[twice], ir_version=10)
    made.producer_name = "seeds"
    made.metadata_props.add(key="task", value="text-classification")
    return made.SerializeToString()


@cache
def fixed() -> bytes:
    """A model for one image at a time, with the one written into shapes and constants."""
    info, node = helper.make_tensor_value_info, helper.make_node
    rng = np.random.default_rng(1)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.normal(0, 1, shape).astype(np.float32), name)

    def numbers(name: str, *values: int) -> onnx.TensorProto:
        return numpy_helper.from_array(np.array(values, np.int64), name)

    nodes = [
        node("Conv", ["x", "k"], ["c0"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c0", "one", "zero", "zero", "one"], ["c1"]),
        node("Relu", ["c1"], ["c2"]),
        node("MaxPool", ["c2"], ["c3"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Reshape", ["c3", "flat"], ["f0"]),
        node("MatMul", ["f0", "w"], ["f1"]),
        node("Reshape", ["f1", "heads"], ["h0"]),
        node("Transpose", ["h0"], ["h1"], perm=[0, 2, 1, 3]),
        node("Concat", ["h1", "first"], ["h2"], axis=2),
        node("Softmax", ["h2"], ["h3"], axis=-1),
        node("ReduceMean", ["h3"], ["y"], axes=[2, 3], keepdims=0),
        node("Expand", ["f1", "wide"], ["z"]),
        node("Slice", ["z", "at", "end", "at"], ["z1"]),
    ]
    weights = [
        weight("k", 4, 3, 3, 3), weight("one", 4), weight("zero", 4), weight("w", 16, 8),
        weight("first", 1, 2, 1, 4),
        numbers("flat", 1, 16), numbers("heads", 1, 1, 2, 4), numbers("at", 0), numbers("end", 1),
        numbers("wide", 1, 8),
    ]  # fmt: skip
    inputs, ends = [info("x", 1, [1, 3, 4, 4])], [info("y", 1, None), info("z1", 1, None)]
    graph = helper.make_graph(nodes, "fixed", inputs, ends, weights)
    imports = [helper.make_opsetid("", 17)]
    made: bytes = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    return made


WEIGHTS = bytes(range(64))
"""What lies beside the models as ``w.bin``."""


@cache
def quantized() -> tuple[bytes, ...]:
    """Operators of integers, the same as Q/DQ, and with scales from the data."""

    def linear(name: str, scale: float, zero: int, kind: str = "u1") -> list[onnx.TensorProto]:
        return [
            numpy_helper.from_array(np.float32(scale), f"{name}_s"),
            numpy_helper.from_array(np.array(zero, kind), f"{name}_z"),
        ]

    dice = np.random.default_rng(0)
    w = numpy_helper.from_array(dice.integers(-127, 128, (4, 3, 3, 3)).astype("i1"), "w")
    bias = numpy_helper.from_array(dice.integers(-99, 99, 4).astype("i4"), "b")
    g = numpy_helper.from_array(dice.integers(-127, 128, (4, 5)).astype("i1"), "g")
    held = [
        *linear("x", 0.02, 128),
        *linear("w", 0.01, 0, "i1"),
        *linear("y", 0.1, 0),
        *linear("t", 0.2, 7),
        w,
        bias,
    ]
    node = onnx.helper.make_node
    microsoft = {"domain": "com.microsoft"}

    def model(nodes: list[onnx.NodeProto], stored: list[onnx.TensorProto], out: str) -> bytes:
        info = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            nodes, "g", [info("x", 1, [1, 3, 6, 6])], [onnx.ValueInfoProto(name=out)], stored
        )
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
        return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()

    begin = node("QuantizeLinear", ["x", "x_s", "x_z"], ["xq"], "begin")
    conv = ["xq", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z", "b"]
    operators = [
        begin,
        node("QLinearConv", conv, ["c"], "conv", pads=[1, 1, 1, 1]),
        node("QLinearAdd", ["c", "y_s", "y_z", "c", "y_s", "y_z", "t_s", "t_z"], ["a"], "add", **microsoft),
        node("QLinearGlobalAveragePool", ["a", "t_s", "t_z", "y_s", "y_z"], ["p"], "mean", **microsoft),
        node("Flatten", ["p"], ["f"]),
        node("QGemm", ["f", "y_s", "y_z", "g", "w_s", "w_z", "", "t_s", "t_z"], ["q"], "gemm", **microsoft),
        node(
            "QLinearSoftmax", ["q", "t_s", "t_z", "y_s", "y_z"], ["s"], "soft", axis=1, opset=17, **microsoft
        ),
        node("DequantizeLinear", ["s", "y_s", "y_z"], ["out"], "end"),
    ]
    pairs = [
        begin,
        node("DequantizeLinear", ["xq", "x_s", "x_z"], ["xf"]),
        node("DequantizeLinear", ["w", "w_s", "w_z"], ["wf"]),
        node("Conv", ["xf", "wf"], ["cf"], "conv"),
        node("Relu", ["cf"], ["rf"]),
        node("QuantizeLinear", ["rf", "y_s", "y_z"], ["c"]),
        node("DequantizeLinear", ["c", "y_s", "y_z"], ["out"]),
    ]
    dynamic = [
        node("DynamicQuantizeLinear", ["x"], ["xq", "s", "z"]),
        node("ConvInteger", ["xq", "w", "z", "w_z"], ["out"], "conv"),
    ]
    return model(operators, [*held, g], "out"), model(pairs, held, "out"), model(dynamic, held, "out")


@cache
def keras_archives() -> tuple[tuple[tuple[str, bytes], ...], ...]:
    """Members of ``.keras`` files."""
    found = []
    for name in ("tf2_nested", "tf2_masks"):
        with zipfile.ZipFile(DATA / "keras" / f"{name}.keras") as archive:
            found.append(tuple((one, archive.read(one)) for one in archive.namelist()))
    return tuple(found)


@cache
def keras_older() -> tuple[bytes, ...]:
    """Files of HDF5."""
    return tuple((DATA / "keras" / f"{name}.h5").read_bytes() for name in ("tf2_nested", "tf2_masks"))


@cache
def program() -> bytes:
    """A program of torch.export."""
    import torch

    held = io.BytesIO()
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    torch.export.save(torch.export.export(module, (torch.ones(1, 4),)), held)
    return held.getvalue()


def configuration() -> dict[str, Any]:
    """A folder's description of a small model of transformers."""
    return {
        "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 20, "max_position_embeddings": 16,
        "type_vocab_size": 2, "hidden_act": "gelu", "id2label": {"0": "no", "1": "yes"}, "pad_token_id": 0,
    }  # fmt: skip


def zipped(members: Any, packing: int) -> bytes:
    """A ``.keras`` file of the members."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return held.getvalue()


@cache
def thresholds() -> dict[str, Any]:
    """A threshold file that says something about every rule."""
    from py_autodoc.findings.registry import rules

    return {
        name: {"severity": one.severities[0], "enabled": True, **one.thresholds}
        for name, one in rules().items()
    }


@cache
def profile() -> dict[str, Any]:
    """A device."""
    folder = TESTS.parent / "profiles"
    found: dict[str, Any] = json.loads(sorted(folder.glob("*/*.json"))[0].read_text(encoding="utf-8"))
    return found
