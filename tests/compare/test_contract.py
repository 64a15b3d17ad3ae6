"""What callers rely on: ports, labels, preprocessing; and what the headline says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.compare.weights import align_with_weights
from py_autodoc.report.pipeline.analysis import run_analysis


def detector() -> onnx.ModelProto:
    """Two convolutions with biases, one result each: boxes and scores of the same type and shape."""
    rng = np.random.default_rng(0)
    constants = [
        numpy_helper.from_array(rng.normal(size=(4, 3, 3, 3)).astype(np.float32), f"w{number}")
        for number in (1, 2)
    ]
    constants += [
        numpy_helper.from_array(rng.normal(size=4).astype(np.float32), f"b{number}") for number in (1, 2)
    ]
    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["hidden"], "stem"),
        helper.make_node("Relu", ["hidden"], ["boxes"], "relu"),
        helper.make_node("Conv", ["image", "w2", "b2"], ["scores"], "head"),
    ]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 6, 6]) for name in ("boxes", "scores")
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8])],
        ports,
        constants,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="a"
    )
    helper.set_model_props(model, {"names": "{0: 'cat', 1: 'dog'}", "license": "MIT"})
    return model


def renamed_input(model: onnx.ModelProto) -> None:
    model.graph.input[0].name = "pixels"
    for node in model.graph.node:
        node.input[:] = ["pixels" if name == "image" else name for name in node.input]


def renamed_output(model: onnx.ModelProto) -> None:
    model.graph.output[1].name = model.graph.node[2].output[0] = "logits"


def swapped_outputs(model: onnx.ModelProto) -> None:
    ports = list(model.graph.output)[::-1]
    del model.graph.output[:]
    model.graph.output.extend(ports)


def swapped_names(model: onnx.ModelProto) -> None:
    model.graph.node[1].output[0], model.graph.node[2].output[0] = "scores", "boxes"


def other_label(model: onnx.ModelProto) -> None:
    helper.set_model_props(model, {"names": "{0: 'dog', 1: 'cat'}", "license": "MIT"})


def other_licence(model: onnx.ModelProto) -> None:
    helper.set_model_props(model, {"names": "{0: 'cat', 1: 'dog'}", "license": "GPL-3.0"})


def other_range(model: onnx.ModelProto) -> None:
    entry = model.metadata_props.add()
    entry.key, entry.value = "Image.NominalPixelRange", "Normalized_1_1"


def newer_opset(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 19


def older_ir(model: onnx.ModelProto) -> None:
    model.ir_version = 8


@pytest.fixture
def paths(tmp_path: Path) -> Callable[[Callable[[onnx.ModelProto], None]], tuple[str, str]]:
    def write(change: Callable[[onnx.ModelProto], None]) -> tuple[str, str]:
        model = detector()
        onnx.save(model, tmp_path / "a.onnx")
        change(model)
        onnx.save(model, tmp_path / "b.onnx")
        return str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx")

    return write


PORTS = [
    (renamed_input, "name of input image → pixels"),
    (renamed_output, "name of output scores → logits"),
    (swapped_outputs, "order of outputs boxes, scores → scores, boxes"),
    (swapped_names, "output boxes from"),
]
FACTS = [
    (other_label, "label 0 cat → dog"),
    (other_licence, "licence MIT → GPL-3.0"),
    (other_range, "preprocessing"),
    (newer_opset, "opset ai.onnx 18 → 19"),
    (older_ir, "IR version 9 → 8"),
]


@pytest.mark.parametrize(("change", "said"), PORTS)
def test_a_changed_port_is_a_difference_for_compare_and_for_a_gate(paths, change, said):
    a, b = paths(change)
    done = CliRunner().invoke(app, ["compare", a, b])
    assert done.exit_code == 1
    assert "nothing changed" not in done.output
    assert f"interface  {said}" in done.output
    assert CliRunner().invoke(app, ["compare", a, b, "--fail-on", "interface"]).exit_code == 5


@pytest.mark.parametrize("change", [change for change, _ in PORTS[:3]])
@pytest.mark.parametrize("stored", [False, True], ids=["model", "report"])
def test_a_changed_port_does_not_pass_a_baseline(paths, change, stored, tmp_path):
    a, b = paths(change)
    baseline = a
    if stored:
        baseline = str(tmp_path / "report.json")
        assert CliRunner().invoke(app, ["analyze", a, "--out-json", baseline]).exit_code == 0
    assert CliRunner().invoke(app, ["check", a, "--baseline", baseline]).exit_code == 0
    done = CliRunner().invoke(app, ["check", b, "--baseline", baseline])
    assert done.exit_code == 5
    assert "put " in done.output
    only_metrics = CliRunner().invoke(app, ["check", b, "--baseline", baseline, "--tolerance", "1%"])
    assert only_metrics.exit_code == 0


@pytest.mark.parametrize(("change", "said"), FACTS)
def test_other_statements_of_a_file_are_listed_and_can_be_refused(paths, change, said):
    a, b = paths(change)
    done = CliRunner().invoke(app, ["compare", a, b])
    assert done.exit_code == 1
    assert done.output.startswith("Same graph, other statements in the file")
    assert f"file       {said}" in done.output
    assert CliRunner().invoke(app, ["compare", a, b, "--fail-on", "file"]).exit_code == 5
    assert CliRunner().invoke(app, ["compare", a, b, "--fail-on", "interface"]).exit_code == 0


def test_another_producer_is_listed_but_no_difference(paths):
    def reexported(model: onnx.ModelProto) -> None:
        model.producer_name = "b"

    a, b = paths(reexported)
    done = CliRunner().invoke(app, ["compare", a, b])
    assert done.exit_code == 0
    assert "producer a → b" in done.output


def scaled(name: str, factor: float) -> Callable[[onnx.ModelProto], None]:
    def change(model: onnx.ModelProto) -> None:
        tensor = next(tensor for tensor in model.graph.initializer if tensor.name == name)
        values = numpy_helper.to_array(tensor) * np.float32(factor)
        tensor.CopyFrom(numpy_helper.from_array(values, name))

    return change


@pytest.mark.parametrize(
    ("name", "factor", "headline"),
    [
        ("w1", 1.0, "Same architecture, nothing changed"),
        ("w1", 2.0, "Same architecture, only weights differ, in 1 operator"),
        ("b2", 2.0, "Same architecture, only weights differ, in 1 operator"),
        ("w1", 1 + 1.2e-7, "Same architecture, equal within rounding ("),
    ],
)
def test_the_headline_says_how_weights_differ(paths, name, factor, headline):
    a, b = paths(scaled(name, factor))
    done = CliRunner().invoke(app, ["compare", a, b, "--weights"])
    assert done.output.startswith(headline)
    assert done.exit_code == (0 if factor == 1 else 1)
    unread = CliRunner().invoke(app, ["compare", a, b]).output
    assert "values of weights were not compared" in unread.splitlines()[0]


def test_a_changed_bias_is_named(paths):
    a, b = paths(scaled("b1", 3.0))
    alignment = align_with_weights((run_analysis(a), a), (run_analysis(b), b))
    (detail,) = [detail for pair in alignment.pairs for detail in pair.details]
    assert (detail.what, detail.distance) == ("Conv B", pytest.approx(2.0))


def test_a_partly_quantized_model_is_not_called_int8(tmp_path):
    scale = [numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.int8(0), "z")]
    model = detector()
    onnx.save(model, tmp_path / "a.onnx")
    weight = numpy_helper.to_array(model.graph.initializer[0])
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array((weight * 10).astype(np.int8), "w1"))
    model.graph.initializer.extend(scale)
    model.graph.node[0].input[:] = ["xd", "wd", "b1"]
    for node in (
        helper.make_node("DequantizeLinear", ["w1", "s", "z"], ["wd"]),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node("QuantizeLinear", ["image", "s", "z"], ["xq"]),
    ):
        model.graph.node.insert(0, node)
    onnx.save(model, tmp_path / "b.onnx")
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx")])
    assert "quantized to int8 (1 of 2 layers) (QDQ); head stays float; weights" in done.output.splitlines()[0]
    refused = CliRunner().invoke(app, ["check", str(tmp_path / "b.onnx"), "--require", "precision=int8"])
    assert refused.exit_code == 5


def test_the_document_has_the_same_facts(paths):
    a, b = paths(newer_opset)
    document = json.loads(CliRunner().invoke(app, ["compare", a, b, "--out-json", "-"]).output)
    alignment = document["alignment"]
    assert [(fact["what"], fact["left"], fact["right"]) for fact in alignment["file"]] == [
        ("opset ai.onnx", "18", "19")
    ]
    assert (alignment["same"], alignment["weights_read"]) == (False, False)
