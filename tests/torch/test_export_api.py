"""The front doors: what they take, what they leave behind, and what happens when it goes wrong."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from export_zoo import bert, exported, llama, make, perturbed
from torch import nn

import py_autodoc.torch
from py_autodoc.compare import same_topology
from py_autodoc.errors import AnalysisError, OptionError, OutputError
from py_autodoc.tags import load_tags, strip_tags, tag_file
from py_autodoc.torch import torchscript
from py_autodoc.torch.name_evidence import part_of

pytestmark = pytest.mark.slow

EXPORTERS = ["dynamo", "torchscript"]


class Odd(nn.Module):
    """Two inputs, a part in another mode than the rest, a hook of its own."""

    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        self.norm = nn.BatchNorm1d(4)

    def forward(self, left, right, fail=False):
        if fail:
            raise ValueError("asked to fail\nsecond line")
        return self.norm(self.part(left)) + right


def odd():
    torch.manual_seed(0)
    model = perturbed(Odd()).train()
    model.norm.eval()
    model.part.register_forward_hook(lambda *_: None)
    return model


def state(model):
    hooks = [
        (list(m._forward_hooks), list(m._forward_pre_hooks), dict(m.__dict__).keys()) for m in model.modules()
    ]
    return [m.training for m in model.modules()], hooks, [t.clone() for t in model.state_dict().values()]


def same_state(a, b):
    return a[:2] == b[:2] and all(torch.equal(x, y) for x, y in zip(a[2], b[2], strict=True))


PAIR = (torch.ones(2, 4), torch.ones(2, 4))


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_the_model_stays_as_it_was(exporter, tmp_path):
    model = odd()
    before = state(model)
    py_autodoc.torch.export(model, PAIR, tmp_path / "a.onnx", exporter=exporter)
    assert same_state(before, state(model))
    named = {"right": PAIR[1], "left": PAIR[0]}
    result = py_autodoc.torch.export(model, named, tmp_path / "b.onnx", exporter=exporter)
    assert same_state(before, state(model))
    if exporter == "torchscript":
        assert [i.name for i in result.model.graph.inputs] == ["right", "left"]


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_also_after_a_failure_and_nothing_is_written(exporter, tmp_path):
    model = odd()
    before = state(model)
    (tmp_path / "a.onnx").write_bytes(b"what was there")
    inputs = {"left": PAIR[0], "right": PAIR[1], "fail": True}
    with pytest.raises(AnalysisError) as caught:
        py_autodoc.torch.export(model, inputs, tmp_path / "a.onnx", exporter=exporter, force=True)
    assert caught.value.code == "export-forward"
    assert caught.value.message == "The model fails on these inputs: ValueError: asked to fail"
    assert same_state(before, state(model))
    assert os.listdir(tmp_path) == ["a.onnx"]
    assert (tmp_path / "a.onnx").read_bytes() == b"what was there"


class Wild(nn.Module):
    def forward(self, x):
        return torch.special.airy_ai(x)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_what_no_exporter_knows(exporter, tmp_path):
    with pytest.raises(AnalysisError) as caught:
        py_autodoc.torch.export(Wild(), torch.ones(2), tmp_path / "a.onnx", exporter=exporter)
    assert caught.value.code == "export-failed"
    assert "airy" in caught.value.message
    assert "\n" not in caught.value.message
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"exporter": "jax"}, "exporter"),
        ({"example_inputs": 3}, "example-inputs"),
        ({"dynamic": {"middle": {0: "batch"}}}, "dynamic-input"),
        ({"dynamic": {"left": {7: "batch"}}}, "dynamic-axis"),
        ({"generation": True}, "generation"),
        ({"model": "bert"}, "export-model"),
        ({"metadata": {"autodoc.hierarchy": ""}}, "metadata"),
        ({"exporter": "hf"}, "hf-model"),
    ],
)
def test_options_that_make_no_sense(change, code, tmp_path):
    options = {"model": odd(), "example_inputs": PAIR, "path": tmp_path / "a.onnx", **change}
    with pytest.raises(OptionError) as caught:
        py_autodoc.torch.export(
            options.pop("model"), options.pop("example_inputs"), options.pop("path"), **options
        )
    assert caught.value.code == code
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path):
    for path, code in (
        (tmp_path, "output-is-a-folder"),
        (tmp_path / "no" / "a.onnx", "output-folder-missing"),
    ):
        with pytest.raises(OutputError) as caught:
            py_autodoc.torch.export(odd(), PAIR, path)
        assert caught.value.code == code


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_no_space_left(exporter, tmp_path, monkeypatch):
    """The disk fills up while the model is written: the older file stays, nothing else does."""
    (tmp_path / "a.onnx").write_bytes(b"what was there")
    with pytest.raises(OutputError, match=r"a\.onnx exists"):
        py_autodoc.torch.export(nn.Linear(2, 2), torch.ones(1, 2), tmp_path / "a.onnx", exporter=exporter)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("py_autodoc.outputs.output_files.os.replace", full)
    with pytest.raises(OutputError, match=r"Could not write a\.onnx: No space left on device"):
        py_autodoc.torch.export(
            nn.Linear(2, 2), torch.ones(1, 2), tmp_path / "a.onnx", exporter=exporter, force=True
        )
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["a.onnx"]
    assert (tmp_path / "a.onnx").read_bytes() == b"what was there"


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_dynamic_axes(exporter, tmp_path):
    dynamic = {"left": {0: "batch"}, "right": {0: "batch"}}
    result = py_autodoc.torch.export(odd(), PAIR, tmp_path / "a.onnx", exporter=exporter, dynamic=dynamic)
    session = onnxruntime.InferenceSession(str(result.path))
    first, second = (i.name for i in session.get_inputs())
    assert session.get_inputs()[0].shape == ["batch", 4]
    ones = np.ones((5, 4), np.float32)
    assert session.run(None, {first: ones, second: ones})[0].shape == (5, 4)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_weights_beside_the_model_and_own_metadata(exporter, tmp_path):
    stages = []
    result = py_autodoc.torch.export(
        odd(), PAIR, tmp_path / "a.onnx", exporter=exporter, external_data=True, opset=18,
        metadata={"hf_task": "none"}, progress=lambda *at: stages.append(at), output_names=["sum"],
    )  # fmt: skip
    proto = onnx.load(result.path)
    onnx.checker.check_model(str(result.path))
    assert {p.key: p.value for p in proto.metadata_props}["hf_task"] == "none"
    assert [o.version for o in proto.opset_import if not o.domain] == [18]
    assert [o.name for o in proto.graph.output] == ["sum"]
    assert [stage for stage, _ in stages] == ["export", "tag", "save", "sidecar", "done"]
    assert [share for _, share in stages] == sorted(share for _, share in stages)
    assert set(result.timings) == {"export", "tag", "save", "sidecar"}
    assert json.loads((tmp_path / "a.onnx.json").read_text()) == result.sidecar


class Fourier(nn.Module):
    def forward(self, x):
        return torch.fft.fftn(x).real


def test_nothing_is_printed_by_an_export_that_fails(tmp_path, capfd):
    """Torch prints its graph past sys.stdout, which may be where a report goes."""
    with pytest.raises(AnalysisError, match="fft_fftn"):
        py_autodoc.torch.export(Fourier(), (torch.ones(2, 4),), tmp_path / "m.onnx", exporter="torchscript")
    assert capfd.readouterr().out == ""


def test_an_opset_that_the_exporter_cannot_write(tmp_path):
    """It would warn, and write another one."""
    with pytest.raises(OptionError, match="cannot write this model with opset 3"):
        py_autodoc.torch.export(torch.nn.ReLU(), (torch.ones(1, 2),), tmp_path / "m.onnx", opset=3)
    assert not list(tmp_path.iterdir())


def test_large_weights_go_into_one_file(tmp_path, monkeypatch):
    """As beyond protobuf's limit, which is lowered here."""
    monkeypatch.setattr("py_autodoc.tags.model_files.LARGE", 1000)
    monkeypatch.setattr("py_autodoc.torch.torchscript.LARGE", 1000)
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32))
    for exporter in EXPORTERS:
        path = tmp_path / exporter / "m.onnx"
        path.parent.mkdir()
        result = py_autodoc.torch.export(model, torch.ones(1, 32), path, exporter=exporter)
        assert sorted(os.listdir(path.parent)) == ["m.onnx", "m.onnx.data", "m.onnx.json"]
        onnx.checker.check_model(str(path))
        session = onnxruntime.InferenceSession(str(path))
        got = session.run(None, {session.get_inputs()[0].name: np.ones((1, 32), np.float32)})[0]
        np.testing.assert_allclose(got, model(torch.ones(1, 32)).detach().numpy(), atol=1e-5)
        assert load_tags(path)[1].coverage == result.coverage


def test_a_program_of_torch_export(tmp_path):
    model, inputs = make("nested")
    program = torch.export.export(model, inputs)
    result = py_autodoc.torch.export(program, (), tmp_path / "a.onnx")
    whole = exported("dynamo", "nested")[2]
    assert [r.tag for r in result.tags.records.values()] == [r.tag for r in whole.tags.records.values()]
    assert same_topology(result.path, whole.path) == []


def test_without_the_private_hooks_names_are_used_and_a_warning_says_so(tmp_path, monkeypatch):
    exact = {n.name: r.scope for n, r in exported("torchscript", "bert")[2].tags.records.items()}
    monkeypatch.setattr(torchscript, "_SETUP", "_no_such_function")
    model, inputs = make("bert")
    result = py_autodoc.torch.export(model, inputs, tmp_path / "a.onnx", exporter="torchscript")
    assert result.warnings == [torchscript.NO_SCOPES]
    assert result.coverage.traced == 0
    near = [
        exact[n.name] == r.scope or exact[n.name].startswith(r.scope) for n, r in result.tags.records.items()
    ]
    assert np.mean(near) > 0.9
    assert same_topology(result.path, exported("torchscript", "bert")[2].path) == []


@pytest.mark.parametrize(
    ("path", "part"),
    [("", ""), ("a", "a"), ("a.b", "b"), ("a.0", "a.0"), ("a.b.1.2", "b.1.2"), ("0", "0"), ("1.2", "1.2")],
)
def test_parts_of_names(path, part):
    assert part_of(path) == part


@pytest.mark.parametrize(("name", "share"), [("bert", 1.0), ("nested", 1.0), ("t5", 0.97), ("resnet", 0.9)])
def test_somebody_elses_file_gets_the_same_tags(name, share, tmp_path):
    """From what torch alone writes, without torch and without the model."""
    result = exported("dynamo", name)[2]
    plain, out = tmp_path / "plain.onnx", tmp_path / "out.onnx"
    proto = onnx.load(result.path)
    strip_tags(proto)
    onnx.save(proto, plain)
    tags = tag_file(plain, out)
    assert same_topology(plain, out) == []
    assert onnx.load(out).graph.initializer == proto.graph.initializer
    mine = [(r.scope, r.via) for r in result.tags.records.values()]
    theirs = [(r.scope, r.via) for r in tags.records.values()]
    assert np.mean([a == b for a, b in zip(mine, theirs, strict=True)]) >= share


def test_the_exporter_of_transformers(tmp_path):
    model, inputs = perturbed(bert(1)[0]).train(), bert(1)[1]
    result = py_autodoc.torch.export(model, inputs, tmp_path / "a.onnx", exporter="hf")
    onnx.checker.check_model(onnx.load(result.path), full_check=True)
    assert model.training
    assert not any(m._forward_pre_hooks for m in model.modules())
    assert result.coverage.root == 0
    assert result.coverage.traced > 0.85  # its fixes of the graph leave nodes without metadata
    assert "/BertModel/BertEncoder/BertLayer.0/BertIntermediate" in result.tags.by_tag()
    session = onnxruntime.InferenceSession(str(result.path))
    got = dict(
        zip(
            (o.name for o in session.get_outputs()),
            session.run(None, {k: v.numpy() for k, v in inputs.items()}),
            strict=True,
        )
    )
    with torch.no_grad():
        expected = model.eval()(**inputs).last_hidden_state.numpy()
    np.testing.assert_allclose(got["last_hidden_state"], expected, atol=1e-5)
    with pytest.raises(OptionError):
        py_autodoc.torch.export(model, (inputs["input_ids"],), tmp_path / "b.onnx", exporter="hf")


def test_stages_of_a_generative_model(tmp_path):
    torch.manual_seed(0)
    model, inputs = llama()
    result = py_autodoc.torch.export(perturbed(model), inputs, tmp_path / "g", exporter="hf", generation=True)
    assert list(result.components) == ["prefill", "decode"]
    for name, one in result.components.items():
        assert one.path == tmp_path / "g" / f"{name}.onnx"
        onnx.checker.check_model(str(one.path))
        assert one.coverage.root == 0
        assert one.coverage.traced > 0.8
        _, again = load_tags(one.path)
        assert [*again.records.values()] == [*one.tags.records.values()]
        assert "/LlamaForCausalLM/LlamaModel/LlamaDecoderLayer.0/LlamaMLP" in one.tags.by_tag()
        assert Path(f"{one.path}.json").exists()
