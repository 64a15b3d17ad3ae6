"""``onnx-autodoc rebatch``: what is written, what stays, what is refused."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner

import py_autodoc
from py_autodoc.cli.app import app
from py_autodoc.tags import load_tags

pytestmark = pytest.mark.slow

MODEL = "tests/data/models/resnet_tiny.onnx"
EXTERNAL = "tests/data/models/resnet_tiny_ext.onnx"


def run(*args: str):
    return CliRunner().invoke(app, ["rebatch", *map(str, args)])


def weights(path):
    return {t.name: onnx.numpy_helper.to_array(t).tobytes() for t in onnx.load(path).graph.initializer}


def test_writes_the_model_with_its_weights_and_metadata(tmp_path):
    out = tmp_path / "out.onnx"
    done = run(MODEL, out, "--batch", 8)
    assert done.exit_code == 0, done.output
    assert "batch 8 (the file had 1), 1 edit" in done.stderr
    onnx.checker.check_model(str(out), full_check=True)
    old, new = weights(MODEL), weights(out)
    assert {name: new[name] for name in old} == old
    kept = {entry.key: entry.value for entry in onnx.load(MODEL).metadata_props}
    assert kept.items() <= {entry.key: entry.value for entry in onnx.load(out).metadata_props}.items()
    before, after = load_tags(MODEL)[1], load_tags(out)[1]
    assert after.source == before.source
    assert [r.tag for r in after.records.values()] == [r.tag for r in before.records.values()]
    assert list(tmp_path.iterdir()) == [out]


def test_replaces_only_what_it_wrote(tmp_path):
    out = tmp_path / "out.onnx"
    shutil.copy(MODEL, out)
    assert run("tests/data/models/mnist_cntk.onnx", out, "--batch", 8).exit_code == 3
    assert out.read_bytes() == Path(MODEL).read_bytes()
    assert run("tests/data/models/mnist_cntk.onnx", out, "--batch", 8, "--force").exit_code == 0
    assert run("tests/data/models/mnist_cntk.onnx", out, "--batch", "n").exit_code == 0
    again = tmp_path / "again.onnx"
    assert run(out, again, "--batch", 4).exit_code == 0
    assert run(out, again, "--batch", 5).exit_code == 0


def test_json_and_a_free_batch(tmp_path):
    done = run("tests/data/models/bert_tiny.onnx", tmp_path / "out.onnx", "--batch", "n", "--json")
    told = json.loads(done.stdout)
    assert told["batch"] == "n"
    assert told["inputs"] == {"xs_0": 0, "xs_1": 0}
    assert len(told["edits"]) == 10
    report = py_autodoc.analyze(tmp_path / "out.onnx", batch_size=3)
    assert [dim.name for dim in report.dims] == ["n"]


def test_weights_of_other_files_come_along(tmp_path):
    for name in ("resnet_tiny_ext.onnx", "resnet_tiny_ext.bin"):
        shutil.copy(Path("tests/data/models", name), tmp_path / name)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert run(tmp_path / "resnet_tiny_ext.onnx", folder / "out.onnx", "--batch", 2).exit_code == 0
    old = weights(EXTERNAL)
    new = weights(folder / "out.onnx")
    assert {name: new[name] for name in old} == old


@pytest.mark.parametrize("target", ["resnet_tiny_ext.onnx", "resnet_tiny_ext.bin", "link.onnx"])
def test_never_onto_what_it_is_made_from(tmp_path, target):
    for name in ("resnet_tiny_ext.onnx", "resnet_tiny_ext.bin"):
        shutil.copy(Path("tests/data/models", name), tmp_path / name)
    (tmp_path / "link.onnx").symlink_to(tmp_path / "resnet_tiny_ext.bin")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(tmp_path / "resnet_tiny_ext.onnx", tmp_path / target, "--batch", 2)
    assert done.exit_code == 3, done.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--batch", "0"], "bad-batch"),
        (["--batch", "2 items"], "bad-batch"),
        (["--batch", "2", "--axis", "xs_0"], "bad-axis"),
        (["--batch", "2", "--axis", "xs_0=1", "--same", "xs_0"], "bad-axis"),
        (["--batch", "2", "--axis", "nothing=0"], "unknown-input"),
    ],
)
def test_options_that_cannot_be(tmp_path, args, code):
    from py_autodoc.errors import OptionError
    from py_autodoc.extract.rebatch import parse_axes, parse_batch, rebatch

    done = run(MODEL, tmp_path / "out.onnx", *args)
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1

    def ask() -> None:
        same = [args[i + 1] for i, a in enumerate(args) if a == "--same"]
        axes = parse_axes([args[i + 1] for i, a in enumerate(args) if a == "--axis"], same)
        rebatch(MODEL, tmp_path / "out.onnx", parse_batch(args[1]), axes=axes)

    with pytest.raises(OptionError) as fault:
        ask()
    assert fault.value.code == code
    assert not list(tmp_path.iterdir())


def test_a_refusal_writes_nothing(tmp_path):
    done = run("tests/data/stripped/clip_b32.stripped.onnx", tmp_path / "out.onnx", "--batch", 2)
    assert done.exit_code == 1
    assert "node_matmul_48" in done.stderr
    assert not list(tmp_path.iterdir())
    wrong = run(MODEL, tmp_path / "out.onnx", "--batch", 2, "--axis", "xs_0=1")
    assert wrong.exit_code == 1
    assert "Conv" in wrong.stderr


def test_memory_does_not_grow_with_the_weights(tmp_path):
    """320 MB of weights are copied with a peak far below them."""
    if not Path("/proc/self/status").exists():
        pytest.skip("tells the peak where Linux tells it")
    from onnx import TensorProto, helper

    big = TensorProto(name="w", dims=[8, 10_000_000], data_type=TensorProto.FLOAT)
    big.raw_data = bytes(320_000_000)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "big",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10_000_000])],
        [big],
    )
    onnx.save(helper.make_model(graph), tmp_path / "big.onnx")
    del big, graph
    import subprocess

    code = (
        "import sys\n"
        "from py_autodoc.extract.rebatch import rebatch\n"
        "rebatch(sys.argv[1], sys.argv[2], 4)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    out = tmp_path / "out.onnx"
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "big.onnx"), str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stat().st_size > 320_000_000
    assert int(told.stdout) < 250_000  # KiB
