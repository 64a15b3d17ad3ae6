"""Costs at another batch: those of the file that ``rebatch`` writes, never a multiple."""

from __future__ import annotations

import onnx
import pytest
import rebatch_cases as cases

import py_autodoc
from py_autodoc.errors import OptionError
from py_autodoc.extract.rebatch import rebatch
from py_autodoc.graph.rebatch import RebatchBlocked

pytestmark = pytest.mark.slow

DATA = "tests/data/"
FILES = (
    "models/bert_tiny.onnx",
    "models/mnist_cntk.onnx",
    "models/resnet_tiny_qdq_int8.onnx",
    "stripped/swin_t.stripped.onnx",
    "stripped/whisper_tiny_encoder.stripped.onnx",
    "stripped/resnet50.stripped.onnx",
)


@pytest.mark.parametrize("file", FILES)
def test_costs_are_those_of_the_rewritten_file(file, tmp_path):
    asked = py_autodoc.analyze(DATA + file, batch_size=5)
    source = tmp_path / "model.onnx"
    model = onnx.load(DATA + file, load_external_data=False)
    for tensor in model.graph.initializer:  # stripped files lack what would be copied
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    onnx.save(model, source)
    rebatch(source, tmp_path / "five.onnx", 5)
    written = py_autodoc.analyze(tmp_path / "five.onnx")
    for name in asked.metrics.__struct_fields__:
        if name not in ("weight_bytes", "parameters"):
            assert getattr(asked.metrics, name) == getattr(written.metrics, name), name
    assert len(asked.layers) == len(written.layers)
    assert [layer.macs for layer in asked.layers] == [layer.macs for layer in written.layers]
    assert asked.memory.peak == written.memory.peak
    assert asked.rebatch is not None
    assert (asked.rebatch.batch, asked.rebatch.fixed) == (5, 1)
    assert written.rebatch is None


@pytest.mark.parametrize("name", cases.GOOD)
def test_costs_of_made_models(name, tmp_path):
    onnx.save(cases.GOOD[name](), tmp_path / "model.onnx")
    asked = py_autodoc.analyze(tmp_path / "model.onnx", batch_size=12)
    rebatch(tmp_path / "model.onnx", tmp_path / "many.onnx", 12)
    written = py_autodoc.analyze(tmp_path / "many.onnx")
    assert asked.metrics == written.metrics
    assert not [d for d in asked.diagnostics if d.severity != "info"]


def test_work_that_all_items_share_is_counted_once():
    one = py_autodoc.analyze(DATA + "stripped/detr_r50.stripped.onnx")
    many = py_autodoc.analyze(DATA + "stripped/detr_r50.stripped.onnx", batch_size=8)
    assert many.metrics.total_params == one.metrics.total_params
    assert 0 < 8 * one.metrics.total_macs - many.metrics.total_macs < one.metrics.total_macs


def test_the_report_says_that_the_file_has_another_batch():
    report = py_autodoc.analyze(DATA + "models/bert_tiny.onnx", batch_size=8)
    assert [d.severity for d in report.diagnostics if d.code == "rebatched"] == ["info"]
    assert report.rebatch is not None
    assert report.rebatch.inputs == {"xs_0": 0, "xs_1": 0}
    assert [(o.axis, o.items) for o in report.rebatch.outputs] == [(0, 1)]
    assert report.graph.inputs[0].shape == [8, 64]
    assert py_autodoc.analyze(DATA + "models/bert_tiny.onnx").rebatch is None


def test_a_refusal_names_the_node_and_a_way_out():
    with pytest.raises(RebatchBlocked) as refused:
        py_autodoc.analyze(DATA + "stripped/clip_b32.stripped.onnx", batch_size=8)
    assert refused.value.code == "rebatch-blocked"
    assert "node_matmul_48" in refused.value.message
    assert "--same xs_1" in refused.value.hint
    assert refused.value.refusal.tensor == ""
    assert refused.value.exit_status == 1


def test_a_free_batch_is_bound_as_before():
    report = py_autodoc.analyze(DATA + "stripped/resnet50_dyn.stripped.onnx", batch_size=4, assume=True)
    assert report.rebatch is None
    assert report.graph.inputs[0].shape[0] == 4


def test_batch_and_whole_shapes_cannot_be_combined():
    with pytest.raises(OptionError) as fault:
        py_autodoc.analyze(
            DATA + "models/mnist_cntk.onnx", batch_size=4, input_shapes={"Input3": (4, 1, 28, 28)}
        )
    assert fault.value.code == "batch-and-shapes"


def test_other_sizes_may_be_free(tmp_path):
    m = cases.Maker()
    h = m("Reshape", m.x("x", 1, "seq", 8), m.c([1, -1, 2, 4]))
    h = m("Reshape", m("Transpose", h, perm=[0, 2, 1, 3]), m.c([2, -1, 4]))
    onnx.save(m.done(m("MatMul", h, m.w(4, 3)), shapes=[[2, "seq", 3]]), tmp_path / "model.onnx")
    report = py_autodoc.analyze(tmp_path / "model.onnx", batch_size=6, bindings={"seq": 10})
    assert report.metrics.total_macs == 6 * 2 * 10 * 4 * 3
    done = rebatch(tmp_path / "model.onnx", tmp_path / "any.onnx", "n")
    assert done.outputs["matmul3"].key == (0, 1, 2)
    again = py_autodoc.analyze(tmp_path / "any.onnx", bindings={"n": 6, "seq": 10})
    assert again.metrics.total_macs == report.metrics.total_macs
