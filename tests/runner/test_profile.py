"""Times of kernels, attributed to the nodes of the model."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.runner import measure_nodes, read_profile
from py_autodoc.samples import analysis_at_sizes, input_specs, synthetic_samples

pytest.importorskip("onnxruntime")
MODELS = (
    "models/resnet_tiny", "models/bert_tiny", "models/silero_vad_half", "models/mamba_tiny",
    "models/swift_f0", "models/resnet_tiny_qdq_int8", "models/ppocr_v4_det",
    "models/basic_pitch_nmp", "quant/resnet8_fp32_bn",
    "models/magika_standard_v3_3", "models/ppocr_cls_v2",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_kernels_of_real_models_belong_to_nodes(name):
    path = Path(f"tests/data/{name}.onnx")
    analysis = analysis_at_sizes(path)
    found = measure_nodes(path, analysis, list(synthetic_samples(input_specs(analysis))), 2, 1)
    assert found.share >= 0.95
    assert found.total_ms > 0
    counted = [node for one in found.nodes for node in one.nodes]
    assert len(counted) == len(set(counted))
    assert all(one.node in one.nodes for one in found.nodes)
    assert [one.ms for one in found.nodes] == sorted((one.ms for one in found.nodes), reverse=True)


def chain():
    """Conv, Relu, MatMul with names."""
    kinds = TensorProto.FLOAT
    weights = [
        numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w"),
        numpy_helper.from_array(np.ones((8, 5), np.float32), "v"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("MatMul", ["r", "v"], ["y"], name="product"),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", kinds, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", kinds, [1, 4, 8, 5])], weights,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture
def analysis():
    return run_analysis(chain(), Options())


def event(name, ts, dur, op="", kind="Node"):
    return {"cat": kind, "name": name, "ts": ts, "dur": dur, "args": {"op_name": op}}


def test_the_profile_of_onnx_runtime_from_elsewhere(analysis, tmp_path):
    events = [
        event("model_run", 0, 100, kind="Session"), event("model_run", 100, 100, kind="Session"),
        event("conv_kernel_time", 0, 30, "FusedConv"), event("conv_kernel_time", 100, 50, "FusedConv"),
        event("product_kernel_time", 40, 10, "MatMul"), event("product_kernel_time", 160, 10, "MatMul"),
        event("Memcpy_kernel_time", 60, 8, "MemcpyToHost"), event("conv_fence_before", 0, 1),
    ]  # fmt: skip
    (tmp_path / "p.json").write_text(json.dumps(events))
    found = read_profile(tmp_path / "p.json", analysis)
    assert (found.runs, found.source) == (2, "p.json")
    times = {one.op: (one.ms, one.nodes) for one in found.nodes}
    assert times["Conv"] == (pytest.approx(0.034), [0])
    assert times["MatMul"][0] == 0.01
    assert found.lost == {"Memcpy": 0.004}
    assert found.share == pytest.approx(0.044 / 0.048)


def test_interrupted_runs_do_not_make_a_layer_slow(analysis, tmp_path):
    """One kernel of few operations is interrupted in most of its runs, one is in half of the runs only."""
    events = []
    for run in range(10):
        begin = 10_000 * run
        events.append(event("model_run", begin, 9000, kind="Session"))
        events.append(event("conv_kernel_time", begin, 50, "Conv"))
        events.append(event("relu_kernel_time", begin + 100, 4 if run < 4 else 5000, "Relu"))
        if run % 2:
            events.append(event("product_kernel_time", begin + 6000, 20, "MatMul"))
    (tmp_path / "p.json").write_text(json.dumps(events))
    found = read_profile(tmp_path / "p.json", analysis)
    assert {one.op: one.ms for one in found.nodes} == pytest.approx(
        {"Conv": 0.05, "Relu": 0.004, "MatMul": 0.01}
    )


def test_what_runs_within_a_kernel_is_taken_off(analysis, tmp_path):
    events = [event("conv_kernel_time", 0, 100, "If"), event("product_kernel_time", 10, 60, "MatMul")]
    (tmp_path / "p.json").write_text(json.dumps(events))
    found = read_profile(tmp_path / "p.json", analysis)
    assert {one.op: one.ms for one in found.nodes} == pytest.approx({"Conv": 0.04, "MatMul": 0.06})
    assert found.total_ms == pytest.approx(0.1)


def test_the_profile_of_tensorrt(analysis, tmp_path):
    layers = [
        {"count": 100},
        {"name": "conv + PWN(relu)", "timeMs": 30.0, "averageMs": 0.3, "percentage": 60.0},
        {"name": "product", "averageMs": 0.2},
        {"name": "Reformatting CopyNode for Input Tensor 0", "averageMs": 0.1},
    ]
    (tmp_path / "t.json").write_text(json.dumps(layers))
    found = read_profile(tmp_path / "t.json", analysis)
    assert [(one.op, one.nodes, one.ms) for one in found.nodes] == [
        ("Conv", [0, 1], 0.3),
        ("MatMul", [2], 0.2),
    ]
    assert list(found.lost.values()) == [0.1]


@pytest.mark.parametrize(
    "text",
    ['{"conv": 0.5, "product": 0.25}', '[{"name": "conv", "ms": 0.5}, {"node": "y", "ms": 0.25}]',
     "name,op,ms\nconv,Conv,0.5\nproduct,MatMul,0.25\n", "\ufeffnode,latency_ms\nc,0.5\ny,0.25\n"],
)  # fmt: skip
def test_plain_tables(analysis, tmp_path, text):
    (tmp_path / "t").write_text(text, "utf-8")
    found = read_profile(tmp_path / "t", analysis)
    assert [(one.op, one.ms) for one in found.nodes] == [("Conv", 0.5), ("MatMul", 0.25)]
    assert found.heat()["values"] == {"0": 0.5, "2": 0.25}


def test_a_table_with_few_nodes_times_these_alone(analysis, tmp_path):
    (tmp_path / "t.csv").write_text("name,ms\nproduct,0.25\n")
    found = read_profile(tmp_path / "t.csv", analysis)
    assert [(one.op, one.nodes) for one in found.nodes] == [("MatMul", [2])]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000, '{"conv": 1e999, "product": ' + "9" * 400 + "}",
        '{"conv": ' + "9" * 5000 + "}", '"' + "\\n" * 99,
    ],
)  # fmt: skip
def test_hostile_texts_are_no_profile(analysis, tmp_path, text):
    (tmp_path / "t").write_text(text)
    with pytest.raises(AutodocError, match=r"is not a profile|contains no times"):
        read_profile(tmp_path / "t", analysis)


def test_events_that_lack_what_they_should_have(analysis, tmp_path):
    events = [
        {"cat": "Node", "name": "conv_kernel_time", "ts": 0, "dur": 1000, "args": None},
        {"cat": "Node", "name": "product_kernel_time", "ts": 10**400, "dur": 5},
        {"cat": "Node", "name": "product_kernel_time", "ts": float("nan"), "dur": 5},
        {"cat": "Node", "name": ["product_kernel_time"], "ts": 3, "dur": 5},
        {"cat": "Node", "name": "\ud800_kernel_time", "ts": 2000, "dur": 1000, "args": {"op_name": 3}},
        7,
    ]
    (tmp_path / "t").write_text(json.dumps(events))
    found = read_profile(tmp_path / "t", analysis)
    assert [(one.op, one.ms) for one in found.nodes] == [("Conv", 1.0)]
    assert found.lost == {"?": 1.0}
    assert json.loads(found.to_json())["lost"] == {"?": 1.0}


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "[1, 2]", "name,ms\nconv,fast\n", '{"conv": "x"}', "[" * 5000, '{"conv": -1}']
)
def test_what_is_no_profile(analysis, tmp_path, text):
    (tmp_path / "t").write_text(text)
    with pytest.raises(AutodocError, match=r"is not a profile|contains no times") as found:
        read_profile(tmp_path / "t", analysis)
    assert "\n" not in str(found.value)


def test_nodes_without_names(tmp_path):
    model = chain()
    for node in model.graph.node:
        node.name = ""
    onnx.save(model, tmp_path / "m.onnx")
    analysis = analysis_at_sizes(tmp_path / "m.onnx")
    found = measure_nodes(tmp_path / "m.onnx", analysis, list(synthetic_samples(input_specs(analysis))), 2, 0)
    assert found.share == 1.0
    assert {node for one in found.nodes for node in one.nodes} == {0, 1, 2}


def test_a_file_that_is_not_there(analysis, tmp_path):
    with pytest.raises(AutodocError, match="no such file"):
        read_profile(tmp_path / "none.json", analysis)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("times.csv", "name,ms\nfoo,1\n"),
        ("times.json", '{"foo": 1.5}'),
        ("ort.json", '[{"cat": "Node", "name": "foo_kernel_time", "dur": 5, "args": {"op_name": "Conv"}}]'),
    ],
)
def test_times_of_another_model_are_an_error(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AutodocError, match="No time in"):
        read_profile(path, run_analysis("tests/data/models/resnet_tiny.onnx"))
