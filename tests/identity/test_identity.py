"""The model in words: the line, how each fact is known, names that a file claims, and what is not read."""

import json
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import py_autodoc
from py_autodoc.hf import keys
from py_autodoc.identity import identify as identify_module
from py_autodoc.identity import metadata_task
from py_autodoc.identity.model import LIKELY, STRUCTURE, UNKNOWN, RuleReading
from py_autodoc.identity.registry import TaskRule, tasks
from py_autodoc.identity.words import IMAGE, STATE, contains_word, words
from py_autodoc.report.document.report import Report

DATA = Path(__file__).parent.parent / "data"
MODELS = DATA / "models"


def classifier(classes=7, ending="", channels=3, size=32, image="x", metadata=None):
    """An image through two convolutions, a pool and a product."""
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.standard_normal((8, channels, 3, 3)),
        "w2": rng.standard_normal((16, 8, 3, 3)),
        "w3": rng.standard_normal((16, classes)),
        "b3": rng.standard_normal(classes),
    }
    nodes = [
        helper.make_node("Conv", [image, "w1"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["e"]),
        helper.make_node("Flatten", ["e"], ["f"]),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["g" if ending else "y"]),
    ]
    if ending:
        nodes.append(helper.make_node(ending, ["g"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(image, TensorProto.FLOAT, [1, channels, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, classes])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for key, value in (metadata or {}).items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    return model


def made(model):
    return py_autodoc.analyze(model).identity


def test_the_line():
    found = made(classifier(ending="Softmax", classes=1200))
    assert (
        found.text == "Image classification · probably CNN · 1×3×32×32 → 1×1,200 · 21.8 K parameters · "
        "float32, not quantized"
    )
    assert found.parameters == 8 * 3 * 9 + 16 * 8 * 9 + 16 * 1200 + 1200
    assert [(v.name, v.role, v.shown) for v in found.inputs] == [("x", "image", True)]
    assert [(v.name, v.role) for v in found.outputs] == [("y", "class scores")]
    assert found.known.task == STRUCTURE
    assert {line.about for line in found.evidence} == {"task", "family", "precision"}


def test_a_guess_is_marked():
    # Seven numbers without a Softmax may be classes, or anything else.
    found = made(classifier())
    assert (found.known.task, found.task) == (LIKELY, "image classification")
    assert found.text.startswith("Probably image classification · ")


def test_one_channel_may_be_a_spectrogram():
    found = made(classifier(channels=1, ending="Softmax"))
    assert found.known.task == LIKELY
    assert found.inputs[0].likely
    named_image = made(classifier(channels=1, ending="Softmax", image="input_image"))
    assert named_image.known.task == STRUCTURE
    assert not named_image.inputs[0].likely


def test_nothing_known():
    found = made(MODELS / "trt_loop.onnx")
    assert (found.task, found.task_id, found.known.task) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert found.text.startswith("Task unknown · kind unknown · ")


def test_the_file_name_is_not_read(tmp_path):
    model = classifier()
    path = tmp_path / "gpt2-text-generation-int8.onnx"
    onnx.save(model, path)
    assert made(path) == made(model.SerializeToString())


@pytest.mark.parametrize(
    ("metadata", "task", "known"),
    [
        ({keys.TASK: "image-segmentation"}, "image segmentation", "file"),
        ({keys.TASK: "image-classification", keys.TASK_SOURCE: "registry"}, "image classification", "file"),
        ({keys.TASK: "table-question-answering"}, "table question answering", "file"),
        # Guessed by the exporter: what the structure suggests no better is only likely.
        ({keys.TASK: "depth-estimation", keys.TASK_SOURCE: "fallback"}, "depth estimation", LIKELY),
        ({keys.TASK: "feature-extraction"}, "image classification", LIKELY),
        ({keys.TASK: "<script>alert(1)</script>"}, "image classification", LIKELY),
        ({"task": "detect"}, "object detection", "file"),
        ({"task": "whatever else"}, "image classification", LIKELY),
    ],
)
def test_tasks_that_the_metadata_names(metadata, task, known):
    found = made(classifier(metadata=metadata))
    assert (found.task, found.known.task) == (task, known)


def test_keys_are_those_that_the_exporter_writes():
    assert (metadata_task.TASK, metadata_task.SOURCE) == (keys.TASK, keys.TASK_SOURCE)


def test_make_is_what_the_exporter_recorded():
    found = made(DATA / "stripped" / "distilbert.stripped.onnx")
    assert found.family == "transformer encoder (DistilBert)"
    assert made(MODELS / "light_squeezenet.onnx").family == "CNN (SqueezeNet)"


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("bert.nbits", "int4 weights, activations not quantized"),
        ("bert.q8dyn", "int8 weights and uint8 activations (dynamic)"),
        ("bert.qdq", "int8 weights and int8 activations (QDQ)"),
        ("resnet.qop", "int8 weights and int8 activations (QOperator)"),
    ],
)
def test_precision(name, precision):
    with zipfile.ZipFile(DATA / "zoo.zip") as zoo:
        assert made(zoo.read(f"{name}.onnx")).precision == precision


def test_roles_of_states_and_rates():
    found = made(MODELS / "silero_vad_half.onnx")
    assert [(v.role, v.shown) for v in found.inputs] == [("waveform", True), ("state", False)]
    assert [v.shown for v in found.outputs] == [True, False]


def test_report_and_payload_have_it_and_older_reports_have_none():
    report = py_autodoc.analyze(classifier())
    data = json.loads(report.to_json())
    assert data["identity"]["task_id"] == "image-classification"
    assert data["model"]["identity"] != data["identity"]
    del data["identity"]
    assert Report.from_json(json.dumps(data)).identity is None


def test_a_rule_that_fails_costs_its_own_reading(monkeypatch):
    def broken(case):
        raise ZeroDivisionError

    own = {"broken": TaskRule("broken", "broken", broken, (), ()), **tasks()}
    monkeypatch.setattr(identify_module, "tasks", lambda: own)
    assert made(classifier(ending="Softmax")).task == "image classification"


def test_two_sure_readings_are_likely_only(monkeypatch):
    def sure(case):
        return RuleReading(0.9, ("so it is",))

    own = {name: TaskRule(name, name, sure, (), ()) for name in ("one", "other")}
    monkeypatch.setattr(identify_module, "tasks", lambda: own)
    found = made(classifier())
    assert (found.task, found.known.task) == ("one", LIKELY)
    assert "equally likely: other" in [line.text for line in found.evidence]


def test_names_of_tasks_are_told_apart():
    aliases = [name for one in tasks().values() for name in {one.id, *one.pipelines}]
    assert len(aliases) == len(set(aliases))
    assert len({one.words for one in tasks().values()}) == len(tasks())


def test_words_in_names():
    assert words("StatefulPartitionedCall:0") == ("stateful", "partitioned", "call", "0")
    assert contains_word("input.Image_1", IMAGE)
    assert contains_word("h0", STATE)
    assert not contains_word("imagination", IMAGE)
