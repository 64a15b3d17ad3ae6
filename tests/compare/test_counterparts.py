"""Side by side: a float model and its quantized twins have every product in common."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.analysis import Options, run
from py_autodoc.report.payload import build_payload

ort = pytest.importorskip("onnxruntime")
quantization = pytest.importorskip("onnxruntime.quantization")

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "data" / "models"
PRODUCTS = re.compile(r"MatMul|Gemm|Conv(?!ert)")
APPENDED = re.compile(r"(_quant|_Q4|_Q8|/\w+Fusion/?)$")
READY = shutil.which("node") and (ROOT / "node_modules" / "esbuild").is_dir()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not READY, reason="needs Node and the packages of the viewer"),
]


def with_weights(source, path):
    """A model whose weights are not there, with weights: a quantizer reads them."""
    model = onnx.load(source, load_external_data=False)
    draw = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
            values = draw.standard_normal(tuple(tensor.dims)).astype(kind)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    onnx.save(model, path)
    return path


class Once(quantization.CalibrationDataReader if READY else object):
    """Ones for every input, once."""

    def __init__(self, path):
        feeds = {
            put.name: np.ones(put.shape, np.int64 if "int64" in put.type else np.float32)
            for put in ort.InferenceSession(str(path)).get_inputs()
        }
        self.feeds = iter([feeds])

    def get_next(self):
        return next(self.feeds, None)


def dynamic_int8(source, path):
    quantization.quantize_dynamic(source, path, weight_type=quantization.QuantType.QInt8)


def static(form):
    def make(source, path):
        quantization.quantize_static(source, path, Once(source), quant_format=form)

    return make


def int4(source, path):
    from onnxruntime.quantization import matmul_nbits_quantizer

    quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
        onnx.load(source), block_size=16, is_symmetric=True
    )
    quantizer.process()
    onnx.save(quantizer.model.model, path)


def half(source, path):
    """Products and all in float16, with a Cast behind every input and before every output."""
    model = onnx.load(source)
    graph = model.graph
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            values = numpy_helper.to_array(tensor).astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    casts = []
    renamed = {}
    for put in graph.input:
        if put.type.tensor_type.elem_type == TensorProto.FLOAT:
            renamed[put.name] = f"{put.name}_half"
            casts.append(helper.make_node("Cast", [put.name], [renamed[put.name]], to=TensorProto.FLOAT16))
    for number, node in enumerate(graph.node):
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.name = f"n{len(graph.node) - number}"
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]
    for put in graph.output:
        put.type.tensor_type.elem_type = TensorProto.FLOAT16
    onnx.save(model, path)


def fused(source, path):
    """As ONNX Runtime runs it: fused operators of its own."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path)
    ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


QDQ, QOPERATOR = (quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator) if READY else (None, None)
TWINS = {
    "bert-int8": (MODELS / "bert_tiny.onnx", dynamic_int8),
    "bert-qdq": (MODELS / "bert_tiny.onnx", static(QDQ)),
    "bert-qoperator": (MODELS / "bert_tiny.onnx", static(QOPERATOR)),
    "bert-int4": (MODELS / "bert_tiny.onnx", int4),
    "bert-fused": (MODELS / "bert_tiny.onnx", fused),
    "resnet-qdq": (MODELS / "resnet_tiny.onnx", static(QDQ)),
    "resnet-qoperator": (MODELS / "resnet_tiny.onnx", static(QOPERATOR)),
    "resnet-half": (MODELS / "resnet_tiny.onnx", half),
    "resnet-fused": (MODELS / "resnet_tiny.onnx", fused),
    "llama-cache-int4": (ROOT / "ui-tests" / "models" / "llama_cache.onnx", int4),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Name of the twins → the payloads and what the viewer makes of them."""
    folder = tmp_path_factory.mktemp("twins")
    payloads, files = {}, []
    for name, (source, make) in TWINS.items():
        left = with_weights(source, folder / f"{name}-float.onnx")
        right = folder / f"{name}.onnx"
        make(left, right)
        payloads[name] = [build_payload(run(path, Options(assume=True))) for path in (left, right)]
        for side, payload in enumerate(payloads[name]):
            files.append(folder / f"{name}-{side}.json")
            files[-1].write_bytes(msgspec.json.encode(payload))
    script = Path(__file__).with_name("counterparts.mjs")
    done = subprocess.run(["node", script, *files], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return {name: (payloads[name], json.loads(line)) for name, line in zip(TWINS, lines, strict=True)}


def operators(payload):
    return [payload.ops[op].type for op in payload.nodes.op]


@pytest.mark.parametrize("name", TWINS)
def test_every_product_has_a_counterpart(found, name):
    payloads, matching = found[name]
    for payload, only in zip(payloads, matching["only"], strict=True):
        types = operators(payload)
        assert [payload.nodes.name[node] for node in only if PRODUCTS.search(types[node])] == []


@pytest.mark.parametrize("name", TWINS)
def test_the_counterparts_are_the_right_ones(found, name):
    """Quantizers keep the source's name and append to it; products are never paired across names."""
    (left, right), matching = found[name]
    kinds = operators(left), operators(right)
    names = left.nodes.name, right.nodes.name
    known = set(names[0])
    wrong = []
    for a, b, _ in matching["pairs"]:
        if PRODUCTS.search(kinds[0][a]):
            source = APPENDED.sub("", names[1][b])
            if source in known and source != names[0][a]:
                wrong.append((names[0][a], names[1][b]))
    assert wrong == []
    assert all(PRODUCTS.search(kinds[1][b]) for a, b, _ in matching["pairs"] if PRODUCTS.search(kinds[0][a]))
