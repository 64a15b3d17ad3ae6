"""Models in the ORT format, against what ONNX Runtime itself reads from them."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import py_autodoc
from py_autodoc.errors import AutodocError, CorruptModel
from py_autodoc.graph.loading.ort_format import ort_model

ort = pytest.importorskip("onnxruntime")
DATA = Path(__file__).parents[1] / "data"


def saved(model: onnx.ModelProto | Path, path: Path, level: int = 0) -> Path:
    """Let ONNX Runtime write a model in its format; level 0 leaves the graph as it is."""
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.graph_optimization_level = ort.GraphOptimizationLevel(level)
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return path


def everything() -> onnx.ModelProto:
    """Attributes, types and weights of many kinds, and subgraphs in subgraphs."""
    info = helper.make_tensor_value_info
    inner = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "inner", [], [info("n", 1, None)])
    other = helper.make_graph([helper.make_node("Abs", ["x"], ["a"])], "other", [], [info("a", 1, None)])
    outer = helper.make_graph(
        [helper.make_node("If", ["flag"], ["i"], "deep", then_branch=inner, else_branch=other)],
        "outer",
        [],
        [info("i", 1, None)],
    )
    nodes = [
        helper.make_node("If", ["flag"], ["c"], "choose", then_branch=outer, else_branch=other),
        helper.make_node("LeakyRelu", ["c"], ["l"], "leaky", alpha=0.25),
        helper.make_node("Pad", ["l", "pads", ""], ["p"], "pad", mode="reflect"),
        helper.make_node("Transpose", ["p"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["t", "half"], ["m"], "product"),
        helper.make_node("SequenceConstruct", ["m", "l"], ["s"]),
        helper.make_node("LabelEncoder", ["words"], ["k"], domain="ai.onnx.ml",
                         keys_strings=["a", "ö"], values_int64s=[3, 4], default_int64=-1),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "g",
        [
            info("x", 1, ["rows", 4]),
            info("flag", TensorProto.BOOL, []),
            info("words", TensorProto.STRING, [2]),
        ],
        [
            helper.make_tensor_sequence_value_info("s", 1, None),
            info("k", TensorProto.INT64, [2]),
            info("p", 1, ["rows", 6]),
        ],
        [
            numpy_helper.from_array(np.array([0, 1, 0, 1]), "pads"),
            numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4) / 7, "half"),
        ],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=9,
        producer_name="tests",
    )
    helper.set_model_props(model, {"labels": "yes, no"})
    return model


def described(path: Path) -> tuple[Any, ...]:
    """What a session says of a model."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    meta = session.get_modelmeta()
    ports = [
        [(p.name, p.type, p.shape) for p in side] for side in (session.get_inputs(), session.get_outputs())
    ]
    return ports, meta.producer_name, meta.custom_metadata_map.get("labels")


def test_the_model_is_the_one_that_onnx_runtime_saved(tmp_path):
    path = saved(everything(), tmp_path / "m.ort")
    serialized = ort_model(path)
    assert serialized is not None
    proto = onnx.ModelProto.FromString(serialized)
    onnx.checker.check_model(helper.make_model(proto.graph, opset_imports=proto.opset_import, ir_version=9))
    (tmp_path / "m.onnx").write_bytes(serialized)
    assert described(tmp_path / "m.onnx") == described(path)
    inputs = {
        "x": np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32),
        "flag": np.array(True),
        "words": np.array(["ö", "b"], object),
    }
    for flag in (True, False):
        inputs["flag"] = np.array(flag)
        left, right = (
            ort.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(["k", "p"], inputs)
            for file in (path, tmp_path / "m.onnx")
        )
        for a, b in zip(left, right, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("level", [0, 1, 99])
@pytest.mark.parametrize(
    "name", ["models/resnet_tiny.onnx", "models/silero_vad_half.onnx", "quant/digits_cnn.onnx"]
)
def test_real_models_have_the_same_costs_and_results(tmp_path, name, level):
    path = saved(DATA / name, tmp_path / "m.ort", level)
    report = py_autodoc.analyze(path, assume=True)
    assert report.model.file_bytes == path.stat().st_size
    if level == 0:
        original = py_autodoc.analyze(DATA / name, assume=True)
        assert report.metrics.total_macs == original.metrics.total_macs
        assert report.metrics.total_params == original.metrics.total_params
    else:
        assert report.metrics.total_macs
    made = ort_model(path)
    assert made is not None
    sessions = [
        ort.InferenceSession(source, providers=["CPUExecutionProvider"]) for source in (str(path), made)
    ]
    rng = np.random.default_rng(0)
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    sizes = {"batch": 1, "N": 1}
    feed = {
        port.name: np.asarray(
            rng.normal(size=[n if isinstance(n, int) else sizes.get(n, 512) for n in port.shape]),
            kinds[port.type],
        )
        for port in sessions[0].get_inputs()
    }
    for a, b in zip(*(session.run(None, feed) for session in sessions), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_weights_are_read_from_it(tmp_path):
    path = saved(DATA / "quant/digits_cnn.onnx", tmp_path / "m.ort")
    report = py_autodoc.analyze(path)
    for read in (py_autodoc.read_weights(path, "fc.weight"), report.weights("fc.weight")):
        assert tuple(read.shape) == (10, 32)


def test_damaged_files_are_one_error(tmp_path):
    data = saved(everything(), tmp_path / "m.ort").read_bytes()
    chance = random.Random(5)
    path = tmp_path / "broken.ort"
    outcomes = set()
    for _ in range(400):
        broken = bytearray(data)
        if chance.random() < 0.3:
            del broken[chance.randrange(9, len(broken)) :]
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(8, len(broken)) if len(broken) > 12 else 0
            broken[at : at + 4] = struct.pack("<I", chance.choice([0, 1, 4, 2**31 - 1, 2**32 - 1, at, 40]))
        path.write_bytes(broken)
        try:
            outcomes.add("other" if ort_model(path) is None else "read")
        except CorruptModel:
            outcomes.add("refused")
    assert outcomes == {"refused", "read"}


def test_tables_that_refer_to_themselves_end(tmp_path):
    """A graph in a graph, by a reference back: no file of this size can hold so many."""
    data = bytearray(saved(everything(), tmp_path / "m.ort").read_bytes())
    # Every list of the file that can be, refers to the root.
    for at in range(12, len(data) - 8, 4):
        if struct.unpack_from("<I", data, at)[0] in (1, 2, 3):
            struct.pack_into("<I", data, at, 60)
    path = tmp_path / "broken.ort"
    path.write_bytes(data)
    with pytest.raises(AutodocError):
        ort_model(path)


def test_other_files_are_none(tmp_path):
    (tmp_path / "m.onnx").write_bytes(everything().SerializeToString())
    assert ort_model(tmp_path / "m.onnx") is None
    (tmp_path / "short").write_bytes(b"ORTM")
    assert ort_model(tmp_path / "short") is None


def test_readers_of_protobufs_alone_give_the_command_that_converts_it(tmp_path):
    from py_autodoc.graph.loading.load import load

    path = saved(DATA / "quant/digits_cnn.onnx", tmp_path / "FILE.ort")
    with pytest.raises(AutodocError) as found:
        load(path)
    assert found.value.code == "not-a-model-ort"
    code = found.value.hint.partition('python -c "')[2].rstrip('"')
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    assert len(load(tmp_path / "model.onnx").proto.graph.node) > 3
