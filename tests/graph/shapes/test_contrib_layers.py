"""Layers of com.microsoft, quantizers of vendors, and operators of the first versions: shapes and types."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc import analyze
from py_autodoc.report.pipeline.analysis import Analysis, run_analysis

MS, NCHWC = "com.microsoft", "com.microsoft.nchwc"
F, H, U8, F8, I32, I64 = (
    TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.UINT8, TensorProto.FLOAT8E4M3FN, TensorProto.INT32,
    TensorProto.INT64,
)  # fmt: skip


def single(op, inputs, outs, domain=MS, weights=(), opset=21, **attrs) -> bytes:
    """One operator; ``inputs`` are None or (type, shape), ``weights`` the last inputs."""
    names = ["" if spec is None else f"x{i}" for i, spec in enumerate(inputs)]
    node = helper.make_node(
        op, [*names, *(w.name for w in weights)], [f"y{i}" for i in range(outs)], domain=domain, **attrs
    )
    declared = [
        helper.make_tensor_value_info(name, *spec) for name, spec in zip(names, inputs, strict=True) if spec
    ]
    results = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", declared, results, list(weights))
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()


def shapes(analysis: Analysis) -> list:
    assert analysis.contradiction is None
    return [analysis.types.shapes[t] for t in analysis.model.graphs[0].outputs]


RUN = {
    "linear attention": ("LinearAttention", [(F, (2, 5, 32)), (F, (2, 5, 32)), (F, (2, 5, 64)), None,
                         (F, (2, 5, 4)), (F, (2, 5, 4))], 2, {"q_num_heads": 4, "kv_num_heads": 4}),
    "linear attention, fewer queries": ("LinearAttention", [(F, (2, 5, 16)), (F, (2, 5, 32)),
                         (F, (2, 5, 64))], 2, {"q_num_heads": 2, "kv_num_heads": 4, "update_rule": "linear"}),
    "linear attention, state": ("LinearAttention", [(F, (2, 1, 32)), (F, (2, 1, 32)), (F, (2, 1, 64)),
                         (F, (2, 4, 8, 16))], 2, {"q_num_heads": 4, "kv_num_heads": 4,
                         "update_rule": "linear"}),
    "causal convolution": ("CausalConvWithState", [(F, (2, 6, 10)), (F, (6, 1, 4)), (F, (6,)),
                         (F, (2, 6, 3))], 2, {"activation": "silu"}),
    "causal convolution, no state": ("CausalConvWithState", [(F, (2, 6, 10)), (F, (6, 1, 4))], 2, {}),
    "grouped query, nothing new": ("GroupQueryAttention", [(F, (1, 3, 64)), (F, (1, 0, 32)), (F, (1, 0, 32)),
                         (F, (1, 2, 8, 16)), (F, (1, 2, 8, 16)), (I32, np.array([7], np.int32)),
                         (I32, np.array(8, np.int32))], 3, {"num_heads": 4, "kv_num_heads": 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", RUN)
def test_shapes_are_those_that_the_runtime_computes(name):
    op, specs, outs, attrs = RUN[name]
    given = {
        f"x{i}": spec[1] if isinstance(spec[1], np.ndarray) else np.ones(spec[1], np.float32)
        for i, spec in enumerate(specs)
        if spec
    }
    inputs = [spec and (spec[0], given[f"x{i}"].shape) for i, spec in enumerate(specs)]
    model = single(op, inputs, outs, **attrs)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (ort.capi.onnxruntime_pybind11_state.Fail, RuntimeError, ValueError) as error:
        pytest.skip(f"this build has no such operator: {error}")
    computed = [result.shape for result in session.run(None, given)]
    analysis = run_analysis(model)
    assert shapes(analysis) == computed
    assert analysis.totals.macs


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "wanted", "macs"),
    [
        ("MRotaryEmbedding", [(F, (2, 6, 64)), (I64, (3, 2, 6)), (F, (32, 8)), (F, (32, 8))],
         {"num_heads": 4, "mrope_section": [2, 3, 3]}, [(2, 6, 64)], 0),
        ("MatMulBlockQuantizedFp4Weight", [(H, (2, 6, 64)), (U8, (32, 32)), (U8, (32, 4)), (F, ())], {},
         [(2, 6, 32)], 12 * 64 * 32),
        ("MatMulBlockQuantizedFp8Weight", [(H, (2, 6, 128)), (F8, (32, 128)), (F, (32, 1))], {},
         [(2, 6, 32)], 12 * 128 * 32),
        ("MatMulNBitsMlp", [(F, (2, 6, 32)), None, (F, (32,)), (U8, (64, 1, 16)), (F, (64, 1)), None,
                            (U8, (64, 1, 16)), (F, (64, 1))],
         {"K": 32, "N": 64, "bits": 4, "block_size": 32, "activation": "silu"}, [(2, 6, 64)],
         2 * 12 * 32 * 64),
        ("MatMulNBitsQkv", [(F, (2, 6, 32)), None, (F, (32,)), (U8, (64, 1, 16)), (F, (64, 1)), None,
                            (U8, (16, 1, 16)), (F, (16, 1)), None, (U8, (16, 1, 16)), (F, (16, 1))],
         {"K": 32, "Nq": 64, "Nkv": 16, "bits": 4, "block_size": 32},
         [(2, 6, 64), (2, 6, 16), (2, 6, 16)], 12 * 32 * 96),
        # 8 tokens, 4 value heads: S (16 × 32) is read twice and written once
        ("GatedDeltaNet", [(F, (8, 2, 16)), (F, (8, 2, 16)), (F, (8, 4, 32)), None, (F, (8, 4)), (F, (8, 4)),
                           (F, (2, 4, 32, 16))], {}, [(8, 4, 32), (2, 4, 32, 16)], 8 * 4 * 3 * 512),
        ("GatedDeltaNet", [(F, (8, 2 * 2 * 16 + 4 * 32)), None, None, None, (F, (8, 4)), (F, (8, 4)),
                           (F, (2, 4, 32, 16))], {}, [(8, 4, 32), (2, 4, 32, 16)], 8 * 4 * 3 * 512),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_layers_have_shapes_and_macs(op, inputs, attrs, wanted, macs):
    analysis = run_analysis(single(op, inputs, len(wanted), **attrs))
    assert shapes(analysis) == wanted
    assert analysis.totals.macs == macs
    assert analysis.totals.nodes_known == 1


def test_paged_attention_counts_what_constant_lengths_say_and_names_the_gap_without_them():
    inputs = [(H, (6, 64)), (H, (6, 32)), (H, (6, 32)), (H, (10, 16, 2, 16)), (H, (10, 16, 2, 16))]
    attrs = {"num_heads": 4, "kv_num_heads": 2}
    open_ = run_analysis(
        single("PagedAttention", [*inputs, (I32, (3,)), (I32, (2,)), (I32, (2, 4))], 3, **attrs)
    )
    assert shapes(open_) == [(6, 64), (10, 16, 2, 16), (10, 16, 2, 16)]
    assert open_.totals.macs is None
    assert "run time" in open_.costs[0].reason
    lengths = {"ends": [0, 2, 6], "past": [3, 0], "table": [[0, 1], [2, 3]]}
    weights = [numpy_helper.from_array(np.array(v, np.int32), k) for k, v in lengths.items()]
    known = run_analysis(single("PagedAttention", inputs, 3, weights=weights, **attrs))
    assert known.totals.macs == 4 * (2 * 5 + 4 * 4) * 32  # heads · new · (new + past) · (16 + 16)


def test_blocked_channels():
    padded = (1, 16, 8, 8)
    conv = single("Conv", [(F, padded), (F, (32, 16, 3, 3))], 1, NCHWC, pads=[1] * 4, activation="Relu")
    analysis = run_analysis(conv)
    assert (shapes(analysis), analysis.totals.macs) == ([(1, 32, 8, 8)], 32 * 64 * 144)
    for op, attrs, wanted in (
        ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, (1, 16, 4, 4)),
        ("AveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}, (1, 16, 4, 4)),
        ("GlobalAveragePool", {}, (1, 16, 1, 1)),
        ("ReorderInput", {}, padded),
        ("ReorderOutput", {"channels": 10}, (1, 10, 8, 8)),
        ("ReorderOutput", {"channels": 10, "channels_last": 1}, (1, 8, 8, 10)),
        ("Upsample", {"scales": [1, 1, 2, 2]}, (1, 16, 16, 16)),
    ):
        analysis = run_analysis(single(op, [(F, padded)], 1, NCHWC, **attrs))
        assert shapes(analysis) == [wanted], op
        assert analysis.totals.nodes_known == 1, op


@pytest.mark.parametrize(
    ("domain", "quantize", "dequantize"),
    [
        ("", "QuantizeLinear", "DequantizeLinear"),
        ("trt", "TRT_FP8QuantizeLinear", "TRT_FP8DequantizeLinear"),
        ("com.vai.quantize", "VitisQuantizeLinear", "VitisDequantizeLinear"),
        ("com.amd.quark", "ExtendedQuantizeLinear", "ExtendedDequantizeLinear"),
    ],
)
def test_quantizers_of_vendors_are_quantization(domain, quantize, dequantize):
    nodes = [
        helper.make_node(quantize, ["x", "s"], ["a"], domain=domain),
        helper.make_node(dequantize, ["a", "s"], ["b"], domain=domain),
        helper.make_node(dequantize, ["w", "s"], ["v"], domain=domain),
        helper.make_node("MatMul", ["b", "v"], ["y"]),
    ]
    weights = [
        numpy_helper.from_array(np.array(0.1, np.float32), "s"),
        numpy_helper.from_array(np.ones((8, 4), np.uint8), "w"),
    ]
    x = helper.make_tensor_value_info("x", F, ["n", 8])
    graph = helper.make_graph(nodes, "g", [x], [onnx.ValueInfoProto(name="y")], weights)
    imports = [helper.make_opsetid("", 21), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    report = analyze(model, bindings={"n": 2})
    assert (report.metrics.total_macs, report.metrics.total_params) == (64, 32)
    assert report.metrics.other_constants == {"scales": 1}
    assert report.metrics.is_quantized
    assert report.coverage.nodes == report.coverage.shapes == 1


@pytest.mark.parametrize(("name", "number"), [("INT64", I64), ("float16", H), ("DOUBLE", TensorProto.DOUBLE)])
def test_cast_names_its_type_before_opset_6(name, number):
    analysis = run_analysis(single("Cast", [(F, (3,))], 1, "", opset=4, to=name))
    assert analysis.types.dtypes[analysis.model.graphs[0].outputs[0]] == number
    assert shapes(analysis) == [(3,)]


@pytest.mark.parametrize(("version", "noted"), [(2, False), (10, True)])
def test_a_file_without_imports_has_opset_1(version, noted):
    model = onnx.load_model_from_string(single("Cast", [(F, (3,))], 1, "", opset=1, to="INT64"))
    del model.opset_import[:]
    model.ir_version = version
    analysis = run_analysis(model.SerializeToString())
    assert analysis.model.nodes[0].opset == 1
    assert analysis.types.dtypes[analysis.model.graphs[0].outputs[0]] == I64
    assert any(d.code == "opset-missing" for d in analysis.diagnostics) is noted


def test_small_integers_in_external_files_are_shapes(tmp_path):
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node(
            "Constant", [], ["axes"], value=numpy_helper.from_array(np.array([0]), "axes_value")
        ),
        helper.make_node("Unsqueeze", ["r", "axes"], ["u"]),
        helper.make_node("MatMul", ["u", "w"], ["y"]),
    ]
    weights = [
        numpy_helper.from_array(np.array([6, 8], np.int64), "shape"),
        numpy_helper.from_array(np.ones((8, 4), np.float32), "w"),
    ]
    x = helper.make_tensor_value_info("x", F, [2, 3, 8])
    graph = helper.make_graph(nodes, "g", [x], [onnx.ValueInfoProto(name="y")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    onnx.save(
        model, path, save_as_external_data=True, location="data.bin", size_threshold=0, convert_attribute=True
    )
    report = analyze(path)
    assert report.metrics.total_macs == 6 * 8 * 4
    assert report.coverage.shapes == 1
    assert not report.diagnostics
    (tmp_path / "data.bin").write_bytes(b"")  # what cannot be read stays unknown, and is said
    damaged = analyze(path)
    assert damaged.metrics.total_macs is None
    assert any(d.code == "external-range" for d in damaged.diagnostics)
