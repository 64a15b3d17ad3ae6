"""Twins of float models, made by the tools of ONNX Runtime: quantized, converted, fused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "data" / "models"


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


class Once(quantization.CalibrationDataReader):
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


def laid_out(source, path):
    """As ONNX Runtime runs it here: axes in the order that suits the processor (com.microsoft.nchwc)."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(path)
    ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


QDQ, QOPERATOR = quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator
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
