"""Files and options that make no pipeline: one line each; and tasks that are worked out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings

import onnx
import pipeline_models as pm
import pytest
import torch
import transformers as tf

import py_autodoc
from py_autodoc.errors import (
    AnalysisError,
    InputError,
    ModelRefused,
    NotAModel,
    OptionError,
    PathError,
    RequirementError,
)
from py_autodoc.hf.serving import pipeline_entry
from py_autodoc.hf.serving.infer_task import infer_task
from py_autodoc.hf.serving.session import SessionPort

pytestmark = pytest.mark.slow

LABELS = pm.labelled("neg", "neu", "pos")


@pytest.fixture(scope="module")
def model():
    return pm.bert("BertForSequenceClassification", **LABELS)


@pytest.fixture(scope="module")
def full(model, tmp_path_factory):
    return pm.export(model, tmp_path_factory.mktemp("full") / "full.onnx", pm.tokenizer())


@pytest.fixture(scope="module")
def bare(model, tmp_path_factory):
    """The same graph without metadata of ours."""
    return pm.export(model, tmp_path_factory.mktemp("bare") / "bare.onnx", pm.tokenizer(), embed=False)


def fails(kind, match, *args, **options):
    def make():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return py_autodoc.pipeline(*args, **options)

    with pytest.raises(kind, match=match) as caught:
        make()
    assert "\n" not in str(caught.value)
    assert os.sep + "tmp" not in str(caught.value)
    return caught.value


def edited(path, out, **entries):
    """The file with other metadata; None removes an entry. Checksums go."""
    proto = onnx.load(path)
    kept = {entry.key: entry.value for entry in proto.metadata_props if entry.key != "hf_checksums"}
    kept.update(entries)
    del proto.metadata_props[:]
    for key, value in kept.items():
        if value is not None:
            proto.metadata_props.add(key=key, value=value)
    onnx.save(proto, out)
    return out


def test_no_metadata(bare, tmp_path):
    fault = fails(OptionError, "bare.onnx has no transformers metadata", bare)
    assert "task=" in fault.hint
    assert "processor=" in fault.hint
    assert "infer_task=True" in fault.hint
    fails(OptionError, "has no tokenizer", bare, task="text-classification")
    pm.tokenizer().save_pretrained(tmp_path)
    pipe = py_autodoc.pipeline(bare, task="text-classification", processor=tmp_path)
    assert pipe("hello")[0]["label"] in ("LABEL_0", "LABEL_1", "LABEL_2")


def test_labels_come_from_a_given_configuration(bare, model, tmp_path):
    wanted = tf.pipeline("text-classification", model=model, tokenizer=pm.tokenizer(), device="cpu")("hello")
    options = {"task": "text-classification", "processor": pm.tokenizer()}
    for config in (model.config, model.config.to_dict()):
        pm.same(py_autodoc.pipeline(bare, config=config, **options)("hello"), wanted)
    pm.tokenizer().save_pretrained(tmp_path)
    model.config.save_pretrained(tmp_path)
    pm.same(py_autodoc.pipeline(bare, task="text-classification", processor=tmp_path)("hello"), wanted)
    (tmp_path / "config.json").write_text("[")
    fails(InputError, "config.json cannot be read", bare, task="text-classification", processor=tmp_path)
    two = {"model_type": "bert", **pm.labelled("a", "b")}
    fails(OptionError, "scores 3 labels, its configuration names 2", bare, config=two, **options)


def test_the_task_is_worked_out_when_asked(bare, model):
    with pytest.warns(UserWarning, match=r"text-classification \(medium confidence: .*logits"):
        pipe = py_autodoc.pipeline(bare, infer_task=True, processor=pm.tokenizer())
    pm.same(
        [one["score"] for one in pipe(pm.TEXTS)],
        [
            one["score"]
            for one in tf.pipeline("text-classification", model=model, tokenizer=pm.tokenizer())(pm.TEXTS)
        ],
    )


def test_what_the_file_says_counts_before_what_is_worked_out(full):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert py_autodoc.pipeline(full, infer_task=True).task == "text-classification"


def test_the_task_may_come_first(bare, full):
    """As in transformers: the task, then the model, by position or by name."""
    for made in (
        py_autodoc.pipeline("text-classification", full),
        py_autodoc.pipeline("text-classification", model=full),
        py_autodoc.pipeline(model=full, task="text-classification"),
    ):
        assert made.task == "text-classification"
    fails(OptionError, "Two models or two tasks", "fill-mask", model=full, task="text-classification")
    fails(OptionError, "model is missing")
    with pytest.warns(UserWarning, match="inferred the task"):
        py_autodoc.pipeline(bare, force_task_detection=True, processor=pm.tokenizer())


def test_a_model_in_memory(full, tmp_path, monkeypatch):
    expected = py_autodoc.pipeline(full)("hello")
    proto = onnx.load(full)
    pm.same(py_autodoc.pipeline(proto)("hello"), expected)
    pm.same(py_autodoc.pipeline("text-classification", proto)("hello"), expected)
    fails(InputError, "neither a file nor an onnx.ModelProto", 3)
    outside = onnx.load(full)
    onnx.save(outside, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    monkeypatch.chdir(tmp_path)  # where the session would find them
    without = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    fails(InputError, "has weights in files", without)


def port(name, *dims, kind="float32"):
    return SessionPort(name, torch.empty(0, dtype=getattr(torch, kind)).numpy().dtype, dims)


IDS = {"input_ids": port("input_ids", None, None, kind="int64")}
PIXELS = {"pixel_values": port("pixel_values", None, 3, None, None)}


@pytest.mark.parametrize(
    ("inputs", "outputs", "wanted"),
    [
        (IDS, [("start_logits", None, None), ("end_logits", None, None)], ("question-answering", "high")),
        (IDS, [("last_hidden_state", 1, 2, 8), ("pooler_output", 1, 8)], ("feature-extraction", "high")),
        (IDS, [("logits", None, 5)], ("text-classification", "medium")),
        (IDS, [("41", None, 5)], ("text-classification", "low")),
        (IDS, [("logits", None, None, 9)], ("token-classification", "medium")),
        (IDS, [("logits", None, None, 30522)], ("fill-mask", "medium")),
        (IDS, [("41", None, None, 30522)], ("fill-mask", "low")),
        (IDS, [("41", None, None, 384)], ("feature-extraction", "low")),
        (PIXELS, [("logits", None, 5)], ("image-classification", "high")),
        (PIXELS, [("41", None, 1000)], ("image-classification", "medium")),
        (PIXELS, [("last_hidden_state", None, 50, 5)], ("image-feature-extraction", "high")),
        (PIXELS, [("logits", None, 100, 92), ("pred_boxes", None, 100, 4)], ("object-detection", "medium")),
    ],
)  # fmt: skip
def test_guesses(inputs, outputs, wanted):
    guess = infer_task(inputs, [port(*one) for one in outputs], "m.onnx", 30522)
    assert (guess.task, guess.confidence) == wanted
    assert guess.reason


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"x": port("x", 1, 5)}, [("y", 1, 3)]),
        ({**IDS, "past_key_values.0.key": port("past_key_values.0.key", 1, 2, 3, 4)}, [("logits", 1, 1, 99)]),
        ({**IDS, "bbox": port("bbox", 1, 5, 4)}, [("start_logits", 1, 3), ("end_logits", 1, 3)]),
        (PIXELS, [("logits", 1, 21, 64, 64)]),
        (IDS, [("logits", None, None, None)]),
    ],
)
def test_nothing_to_go_by(inputs, outputs):
    with pytest.raises(OptionError, match="do not determine its task"):
        infer_task(inputs, [port(*one) for one in outputs], "m.onnx")


def test_tasks(full):
    fails(OptionError, "No pipeline for nonsense", full, task="nonsense")
    fault = fails(OptionError, "No pipeline for summarization", full, task="summarization")
    assert "more than one run" in fault.hint
    fails(OptionError, "generates step by step", full, task="text-generation")
    fails(OptionError, "not for token-classification.*logits with 3 axes", full, task="token-classification")
    fails(OptionError, "not for question-answering.*it has logits", full, task="question-answering")
    fails(OptionError, "has no image processor", full, task="image-classification")
    assert py_autodoc.pipeline(full, task="sentiment-analysis").task == "text-classification"


def test_options(full):
    fault = fails(OptionError, "no provider NoSuchProvider", full, providers=["NoSuchProvider"])
    assert "CPUExecutionProvider" in fault.hint
    assert "providers" in fails(OptionError, "device=cuda", full, device="cuda").hint
    fails(OptionError, "Code from a model", full, trust_remote_code=True)
    fails(OptionError, "A dict is not a processor", full, processor={})
    fails(PathError, "nowhere: no such folder", full, processor="some/nowhere")
    with pytest.raises(OptionError, match="Copy the file"):
        py_autodoc.pipeline(full).save_pretrained(tempfile.mkdtemp())


def test_files_that_are_no_models(tmp_path):
    fails(PathError, "no such file", tmp_path / "none.onnx")
    fails(PathError, "is a directory", tmp_path)
    (tmp_path / "a.onnx").write_text("<html>no</html>")
    fails(NotAModel, "a.onnx", tmp_path / "a.onnx")


def test_weights_outside_the_folder_are_never_read(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    weight = onnx.TensorProto(name="w", data_type=1, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "../secret.bin"), ("offset", "0"), ("length", "16")):
        weight.external_data.add(key=key, value=value)
    make = onnx.helper
    values = [make.make_tensor_value_info(name, 1, [4]) for name in ("x", "y")]
    graph = make.make_graph([make.make_node("Add", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weight])
    proto = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m" / "a.onnx").write_bytes(proto.SerializeToString())
    fails(InputError, "outside the model's folder", tmp_path / "m" / "a.onnx", task="feature-extraction")


def test_a_graph_that_does_not_run(tmp_path):
    make = onnx.helper
    values = [make.make_tensor_value_info(name, 1, [4]) for name in ("x", "y")]
    graph = make.make_graph([make.make_node("Nonsense", ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(
        make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8), tmp_path / "a.onnx"
    )
    fails(ModelRefused, "ONNX Runtime refuses the model", tmp_path / "a.onnx", task="feature-extraction")


def test_a_model_that_fails_on_its_input(full):
    with pytest.raises(AnalysisError, match=r"failed on input_ids 1×702.*truncation=True"):
        py_autodoc.pipeline(full)("word " * 700)


def test_missing_inputs(full):
    pipe = py_autodoc.pipeline(full)
    with pytest.raises(OptionError, match=r"needs input_ids \(int64 \?×\?\).*given: attention_mask"):
        pipe.model(attention_mask=torch.ones(1, 3, dtype=torch.int64))
    with pytest.raises(OptionError, match="input_ids takes int64, not float32"):
        pipe.model(input_ids=torch.ones(1, 3))


def test_corrupt_metadata_warns_and_falls_back(full, tmp_path):
    path = edited(full, tmp_path / "m.onnx", **{"hf_file/tokenizer.json": "gz:!!!", "hf_pipeline_task": "Ü"})
    with pytest.warns(UserWarning, match="hf_pipeline_task"), pytest.raises(OptionError) as caught:
        py_autodoc.pipeline(path)
    assert caught.value.code == "task-missing"
    fails(InputError, "tokenizer.json", path, task="text-classification")
    with pytest.warns(UserWarning, match="hf_pipeline_task"):
        py_autodoc.pipeline(path, task="text-classification", processor=pm.tokenizer())("hello")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": "1.0", "model": {"type": "no such"}}'])
def test_a_tokenizer_that_makes_no_sense(full, tmp_path, text):
    path = edited(full, tmp_path / "m.onnx", **{"hf_file/tokenizer.json": text})
    fails(InputError, "its tokenizer cannot be built", path)


@pytest.mark.parametrize("words", [True, False])
def test_code_of_a_model_is_never_run(full, tmp_path, words):
    settings = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", None]}}
    entries = {
        "hf_file/tokenizer_config.json": json.dumps(settings),
        "hf_file/evil.py": f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n",
    }
    if words:  # what tokenizer.json says is enough without the class
        path = edited(full, tmp_path / "m.onnx", **entries)
        pm.same(py_autodoc.pipeline(path)("hello"), py_autodoc.pipeline(full)("hello"))
    else:
        path = edited(full, tmp_path / "m.onnx", **entries, **{"hf_file/tokenizer.json": None})
        fails(InputError, "its tokenizer", path)
    assert not (tmp_path / "ran").exists()


def test_a_configuration_that_makes_no_sense(full, tmp_path):
    path = edited(full, tmp_path / "m.onnx", hf_model_config='{"model_type": "bert", "id2label": 5}')
    fails(InputError, "configuration cannot be read", path)


def test_nothing_stays_on_the_disk(full, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    py_autodoc.pipeline(full)("hello")
    assert list(tmp_path.iterdir()) == []
    path = edited(full, tmp_path / "m.onnx", **{"hf_file/tokenizer.json": "{"})
    fails(InputError, "its tokenizer cannot be built", path)
    assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]


@pytest.mark.parametrize("missing", ["onnxruntime", "torch", "transformers"])
def test_what_must_be_installed(missing, full, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    fault = fails(RequirementError, f"needs {missing}", full)
    assert fault.hint == 'pip install "onnx-autodoc[pipeline]"'


def test_an_older_transformers(full, monkeypatch):
    # Not tf: transformers replaces its module on the way.
    monkeypatch.setattr(sys.modules["transformers"], "__version__", "4.57.1")
    fails(RequirementError, "needs transformers 5; version 4.57.1 is installed", full)


def test_the_name_is_light():
    code = (
        "import py_autodoc, sys; py_autodoc.pipeline; py_autodoc.hf.pipeline;"
        "assert not {'torch', 'transformers', 'onnxruntime', 'onnx'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert py_autodoc.pipeline is py_autodoc.hf.pipeline is pipeline_entry.pipeline
