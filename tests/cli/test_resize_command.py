"""``onnx-autodoc resize`` and ``--resize``: what is written, what stays, what is said."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import py_autodoc
from py_autodoc.cli.app import app
from py_autodoc.errors import OptionError
from py_autodoc.graph.resize import ResizeBlocked
from py_autodoc.tags import load_tags

pytestmark = pytest.mark.slow

DATA = "tests/data/"
BERT = DATA + "models/bert_tiny.onnx"
EXTERNAL = DATA + "models/resnet_tiny_ext.onnx"
VIT = DATA + "stripped/vit_b16.stripped.onnx"
LENGTH = {"xs_0": (1, 24), "xs_1": (1, 24)}
GIVEN = ("--input-shape", "xs_0=1x24", "--input-shape", "xs_1=1x24")


def run(*args):
    return CliRunner().invoke(app, [*map(str, args)])


def weights(path):
    return {t.name: onnx.numpy_helper.to_array(t).tobytes() for t in onnx.load(path).graph.initializer}


def test_writes_the_model_with_its_weights_tags_and_metadata(tmp_path):
    out = tmp_path / "out.onnx"
    done = run("resize", BERT, out, *GIVEN)
    assert done.exit_code == 0, done.output
    assert "note: input xs_0: 1x24 (the file had 1x64)." in done.stderr
    assert "note: output layer_norm_4: 1x24x128." in done.stderr
    onnx.checker.check_model(str(out), full_check=True)
    old, new = weights(BERT), weights(out)
    assert {name: new[name] for name in old} == old
    before, after = load_tags(BERT)[1], load_tags(out)[1]
    assert after.source == before.source
    cuts = sum(
        node.op_type == "Slice" and node.name.startswith("resize/") for node in onnx.load(out).graph.node
    )
    assert cuts
    assert len(after.records) == len(before.records) + cuts
    assert {r.tag for r in after.records.values()} == {r.tag for r in before.records.values()}
    kept = {entry.key: entry.value for entry in onnx.load(BERT).metadata_props}
    now = {entry.key: entry.value for entry in onnx.load(out).metadata_props}
    assert kept.items() <= now.items()


def test_external_weights_are_copied(tmp_path):
    out = tmp_path / "out.onnx"
    assert run("resize", EXTERNAL, out, "--input-shape", "xs_0=1x3x96x96").exit_code == 0
    assert weights(out) == weights(EXTERNAL)


def test_json_says_what_was_changed(tmp_path):
    done = run("resize", BERT, tmp_path / "out.onnx", *GIVEN, "--json")
    told = json.loads(done.stdout)
    assert told["fixed"] == {"xs_0": [1, 64], "xs_1": [1, 64]}
    assert told["outputs"] == {"layer_norm_4": [1, 24, 128]}
    assert any("first 24 entries on axis 1 of embedding_1" in line for line in told["edits"])


def test_costs_are_those_of_the_written_file(tmp_path):
    asked = py_autodoc.analyze(BERT, resize=LENGTH)
    py_autodoc.resize(BERT, tmp_path / "out.onnx", LENGTH)
    written = py_autodoc.analyze(tmp_path / "out.onnx")
    assert asked.metrics.total_macs == written.metrics.total_macs
    assert asked.metrics.total_macs < py_autodoc.analyze(BERT).metrics.total_macs
    assert asked.memory.peak == written.memory.peak
    assert [layer.macs for layer in asked.layers] == [layer.macs for layer in written.layers]
    assert asked.resize is not None
    assert asked.resize.inputs == {"xs_0": [1, 24], "xs_1": [1, 24]}
    assert [d.severity for d in asked.diagnostics if d.code == "resized"] == ["info"]
    assert written.resize is None


def test_another_batch_as_well():
    one = py_autodoc.analyze(DATA + "models/resnet_tiny.onnx", resize={"xs_0": (1, 3, 96, 96)})
    many = py_autodoc.analyze(DATA + "models/resnet_tiny.onnx", resize={"xs_0": (1, 3, 96, 96)}, batch_size=4)
    assert many.metrics.total_macs == 4 * one.metrics.total_macs
    assert many.graph.inputs[0].shape == [4, 3, 96, 96]


def test_a_refusal_names_the_node_and_writes_nothing(tmp_path):
    done = run("resize", VIT, tmp_path / "out.onnx", "--input-shape", "xs_0=1x3x320x320")
    assert done.exit_code == 1
    assert "Add node_add" in done.stderr
    assert "not a sequence counted from its start" in done.stderr
    assert not list(tmp_path.iterdir())
    with pytest.raises(ResizeBlocked) as refused:
        py_autodoc.analyze(VIT, resize={"xs_0": (1, 3, 320, 320)})
    assert refused.value.code == "resize-blocked"


@pytest.mark.parametrize(
    ("shapes", "code"),
    [
        ({"xs_9": (1, 24)}, "unknown-input"),
        ({"xs_0": (1, 24, 1)}, "bad-input-shape"),
        ({"xs_0": (2, 64)}, "size-of-one"),
        ({"xs_0": (1, 0)}, "bad-input-shape"),
    ],
)
def test_sizes_that_are_none(shapes, code):
    with pytest.raises(OptionError) as fault:
        py_autodoc.analyze(BERT, resize=shapes)
    assert fault.value.code == code


def test_a_fixed_file_that_cannot_run_names_the_way_out():
    done = run("analyze", BERT, "--input-shape", "xs_0=1x24", "--input-shape", "xs_1=1x24")
    assert done.exit_code == 2
    assert "--resize" in done.stderr


def test_a_free_batch_stays_free(tmp_path):
    out = tmp_path / "fixed.onnx"
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        made (float[N, 12, 8] x) => (float[N, 12, 2, 4] y)
        <int64[4] shape = {0, 12, 2, 4}, float[1, 12, 8] table> { h = Add(x, table) y = Reshape(h, shape) }
    """)
    values = np.arange(96, dtype=np.float32).reshape(1, 12, 8)
    model.graph.initializer.append(onnx.numpy_helper.from_array(values, "table"))
    onnx.save(model, out)
    py_autodoc.resize(out, tmp_path / "free.onnx", {"x": (1, 5, 8)})
    dims = onnx.load(tmp_path / "free.onnx").graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, dims[1].dim_value) == ("N", 5)
    py_autodoc.resize(out, tmp_path / "bound.onnx", {"x": (3, 5, 8)}, bindings={"N": 3})
    dims = onnx.load(tmp_path / "bound.onnx").graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_value, dims[1].dim_value) == (3, 5)
