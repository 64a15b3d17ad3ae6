"""``export`` from outside: exit codes, streams, files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.tags import load_tags

pytestmark = pytest.mark.slow

sys.path.insert(0, str(Path(__file__).parent.parent / "torch"))
try:
    import export_folders
finally:
    del sys.path[0]


def run(*args):
    done = CliRunner().invoke(app, ["export", *map(str, args)], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, with factories; only what the test writes is in ``out``."""
    export_folders.factory(tmp_path)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_nets", raising=False)
    return tmp_path


def test_a_folder_with_free_axes(here):
    export_folders.bert(here / "bert")
    out = here / "out" / "bert.onnx"
    code, text, err = run("bert", out, "--dynamic", "batch,seq", "--report-json", "-", "--keep", "Linear")
    assert code == 0, err
    report = json.loads(text)
    assert report["schema"] == "autodoc.export/1"
    assert report["source"]["class"] == "BertForSequenceClassification"
    assert [one["shape"] for one in report["inputs"]] == [["batch", "seq"]] * 3
    (model,) = report["models"]
    shares = model["coverage"]["shares"]
    assert shares["traced"] > 0.9  # torch reads free sizes in nodes of its own, whose module is inferred
    assert shares["inferred"] > 0
    assert shares["unknown"] == 0
    assert sum(one["nodes"] for one in model["modules"]) == model["coverage"]["nodes"]
    assert [one["name"] for one in model["files"]] == names(here / "out") == ["bert.onnx", "bert.onnx.json"]
    assert set(report["seconds"]) == {"load", "metadata", "export", "tag", "save", "sidecar"}
    assert {"torch", "transformers", "python", "onnx-autodoc"} <= set(report["versions"])
    assert str(here) not in text
    assert "BertForSequenceClassification · 1.14 K parameters" in err
    assert f"recorded {shares['traced']:.1%}".replace("%", " %") in err
    assert "unknown 0 %" in err
    _, tags = load_tags(out)
    assert any(tag.endswith("/Linear.query") for tag in tags.by_tag())
    session = onnxruntime.InferenceSession(str(out))
    ids = np.ones((3, 7), np.int64)
    feed = {"input_ids": ids, "attention_mask": ids, "token_type_ids": 0 * ids}
    assert [one.name for one in session.get_outputs()] == ["logits"]
    assert session.run(None, feed)[0].shape == (3, 2)


def test_a_factory_with_everything_else(here):
    np.savez("in.npz", x=np.ones((5, 4), np.float32), scale=np.ones(3, np.float32))
    code, text, err = run(
        "my_nets:pair", "out/p.onnx", "--exporter", "torchscript", "--inputs", "in.npz", "--opset", "17",
        "--no-sidecar", "--external-data", "--report-md", "out/r.md", "--jit-graph", "-",
        "--dynamic", "x:0=rows", "--progress",
    )  # fmt: skip
    assert code == 0, err
    assert "aten::linear" in text
    assert [line for line in err.splitlines() if line.startswith("my_nets:pair: ")] == [
        f"my_nets:pair: {stage} ({i}/5)"
        for i, stage in enumerate(("load", "export", "tag", "save", "sidecar"), 1)
    ]
    assert names(here / "out") == ["p.onnx", "p.onnx.data", "r.md"]
    proto = onnx.load("out/p.onnx")
    assert [o.version for o in proto.opset_import if not o.domain] == [17]
    assert [d.dim_param or d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim] == [
        "rows",
        4,
    ]
    page = Path("out/r.md").read_text()
    assert "| traced | 3 | 100 % |" in page
    assert "| x | float32 | rows×4 |" in page


def test_a_program_and_its_graph(here):
    import torch

    torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)), "m.pt2")
    code, text, err = run("m.pt2", "out/m.onnx", "--fx-graph", "-")
    assert code == 0, err
    assert "torch.ops.aten.linear" in text
    code, text, err = run("m.pt2", "out/m.onnx", "--jit-graph", "out/g.txt")
    assert code == 2
    assert "The model has no TorchScript graph" in err
    assert names(here / "out") == ["m.onnx", "m.onnx.json"]


def test_prefill_and_decode(here):
    export_folders.llama(here / "llama")
    out = here / "out" / "stages"
    code, text, err = run("llama", out, "--exporter", "hf", "--generation", "--report-json", "-")
    assert code == 0, err
    report = json.loads(text)
    assert [one["component"] for one in report["models"]] == ["prefill", "decode"]
    assert {"prefill.onnx", "prefill.onnx.json", "decode.onnx", "decode.onnx.json"} <= set(names(out))
    assert names(here / "out") == ["stages"]
    code, _, err = run("llama", out, "--exporter", "hf", "--generation")
    assert (code, "not empty" in err) == (3, True)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["nothing/here", "out/a.onnx"], 1, ["nothing/here", "no such file or folder"]),
        (["bare", "out/a.onnx"], 1, ["bare", "config.json"]),
        (["my_nets:nope", "out/a.onnx"], 1, ["my_nets has no nope"]),
        (["my_nets:alone", "out/a.onnx"], 1, ["(module, example_inputs)"]),
        (["my_nets:broken", "out/a.onnx"], 1, ["no such luck"]),
        (["no_nets:f", "out/a.onnx"], 1, ["no_nets"]),
        (["w.bin", "out/a.onnx"], 1, ["pickle", "folder"]),
        (["m.keras", "out/a.onnx"], 1, ["keras"]),
        (["my_nets:pair", "no/a.onnx"], 3, ["folder does not exist"]),
        (["my_nets:pair", "out"], 3, ["is a folder"]),
        (["my_nets:pair", "out/a.onnx", "--report-json", "no/r.json"], 3, ["no/r.json"]),
        (["my_nets:pair", "out/a.onnx", "--report-json", "-", "--report-md", "-"], 1, ["stdout"]),
        (["my_nets:pair", "out/a.onnx", "--input-shape", "x=3x5"], 2, ["fails on these inputs"]),
        (["my_nets:pair", "out/a.onnx", "--input-shape", "y=3x5"], 1, ["no input y", "x, scale"]),
        (["my_nets:pair", "out/a.onnx", "--input-shape", "3x4"], 1, ["single input"]),
        (["my_nets:pair", "out/a.onnx", "--dynamic", "width"], 1, ["width", "batch, seq"]),
        (["my_nets:pair", "out/a.onnx", "--dynamic", "x:7=w"], 1, ["no axis 7"]),
        (["my_nets:pair", "out/a.onnx", "--inputs", "none.npz"], 1, ["none.npz"]),
        (["my_nets:pair", "out/a.onnx", "--inputs", "w.bin"], 1, ["w.bin", "numpy.savez"]),
        (["my_nets:pair", "out/a.onnx", "--inputs", "w.bin", "--batch-size", "2"], 1, ["--inputs"]),
        (["my_nets:pair", "out/a.onnx", "--batch-size", "2"], 1, ["--batch-size", "--input-shape"]),
        (["my_nets:pair", "out/a.onnx", "--generation"], 1, ["--exporter hf"]),
        (["my_nets:pair", "out/a.onnx", "--exporter", "hf"], 1, ["Hugging Face"]),
        (["my_nets:pair", "out/a.onnx", "--opset", "0"], 1, ["0"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(args, code, words, here, caplog):
    (here / "bare").mkdir()
    (here / "w.bin").write_bytes(b"x")
    (here / "m.keras").write_bytes(b"x")
    found, out, err = run(*args)
    lines = [line for line in err.splitlines() if line != "a factory that talks"]
    assert (found, out, len(lines)) == (code, "", 1)
    assert lines[0].startswith("error: ")
    assert all(word in lines[0] for word in words), lines[0]
    # Their handler writes to the stderr of the process, past the runner's.
    assert [
        record for record in caplog.records if record.name.startswith("torch") and record.levelno >= 30
    ] == []
    assert names(here / "out") == []


@pytest.mark.parametrize("generation", [False, True])
def test_an_interrupt_leaves_nothing(generation, here, monkeypatch):
    export_folders.llama(here / "llama")
    (here / "out" / "a.onnx").write_bytes(b"what was there")
    from py_autodoc.torch import exporting

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "export_hf" if generation else "export_dynamo", stop)
    more = ["out/b", "--exporter", "hf", "--generation"] if generation else ["out/a.onnx", "--force"]
    code, out, err = run("llama", *more)
    assert (code, out) == (130, "")
    assert err.endswith("error: interrupted\n")
    assert names(here / "out") == ["a.onnx"]
    assert (here / "out" / "a.onnx").read_bytes() == b"what was there"


def test_without_torch(here):
    """Help and the other commands load none; export says which package to install."""
    code = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "sys.argv = ['onnx-autodoc', 'export', *sys.argv[1:]]\n"
        "from py_autodoc.cli import main\n"
        "main()\n"
    )
    for args, status, said in (
        (["--help"], 0, ""),
        (["x", "out/y.onnx"], 1, 'pip install "onnx-autodoc[export]"\n'),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert done.stderr.endswith(said)
