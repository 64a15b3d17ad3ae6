"""Classes and training data that metadata name, in the report, and what ``validate`` says of them."""

from __future__ import annotations

import json

import onnx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.packed import pack_json
from py_autodoc.report.builders.dataset_section import dataset
from py_autodoc.report.schema import DatasetInfo

ULTRALYTICS = {
    "task": "detect",
    "names": "{0: 'person', 1: \"driver's cab\", 2: 'a, b: }'}",
    "imgsz": "[640, 480]",
    "stride": "32",
    "description": "Ultralytics YOLOv8n model trained on coco.yaml",
}


def config(**values):
    return {"hf_model_config": pack_json(values)}


def test_ultralytics():
    assert dataset(ULTRALYTICS) == DatasetInfo(
        task="detect",
        num_classes=3,
        class_names={"0": "person", "1": "driver's cab", "2": "a, b: }"},
        source="names",
        image_size=[640, 480],
        trained_on="coco.yaml",
    )


def test_hugging_face():
    found = dataset(
        config(
            model_type="vit", architectures=["ViTForImageClassification"], id2label={"10": "ten", "2": "two"}
        )
        | {"hf_pipeline_task": "image-classification"}
    )
    assert found == DatasetInfo(
        task="image-classification",
        num_classes=2,
        class_names={"2": "two", "10": "ten"},
        source="hf_model_config: id2label",
        settings={"Model type": "vit", "Architecture": "ViTForImageClassification"},
    )
    assert list(found.class_names) == ["2", "10"]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"author": "me"},
        {"names": "__import__('os')"},
        {"names": "{0: 'a', 1: open('x')}"},
        {"names": "{0: 'a'} "[:-2]},
        {"hf_model_config": "{"},
        config(id2label={"0": "LABEL_0", "1": "LABEL_1"}),
        {"imgsz": "large"},
    ],
)
def test_what_says_nothing_is_nothing(metadata):
    assert dataset(metadata) is None


@pytest.mark.parametrize(
    ("text", "size"), [("640", [640, 640]), ("(320, 640)", [320, 640]), ("[224]", [224, 224])]
)
def test_image_size(text, size):
    assert dataset({"imgsz": text}).image_size == size


@given(st.dictionaries(st.integers(0, 10**9 - 1), st.text(max_size=50), min_size=1, max_size=20))
def test_names_as_python_writes_them(names):
    written = {number: name.replace("\\", "").replace("\n", "") for number, name in names.items()}
    if any(not name.isprintable() for name in written.values()):
        return
    found = dataset({"names": str(written)})
    assert found.class_names == {str(number): written[number] for number in sorted(written)}


@given(st.dictionaries(st.sampled_from(["names", "imgsz", "task", "hf_model_config"]), st.text(max_size=60)))
def test_any_text_is_read(metadata):
    found = dataset(metadata)
    assert found is None or found.num_classes == (len(found.class_names) or None)


@pytest.fixture
def report(tmp_path):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ends[:1], ends[1:])
    model = helper.make_model(graph)
    helper.set_model_props(model, ULTRALYTICS)
    onnx.save(model, tmp_path / "m.onnx")
    return json.loads(analyze(tmp_path / "m.onnx").to_json())


def validated(tmp_path, report):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(report))
    return CliRunner().invoke(app, ["validate", str(path)])


def test_in_the_report_and_validated(tmp_path, report):
    assert report["dataset"]["class_names"]["1"] == "driver's cab"
    assert validated(tmp_path, report).exit_code == 0
    report["dataset"]["num_classes"] = 4
    result = validated(tmp_path, report)
    assert result.exit_code == 1
    assert "dataset.num_classes is 4" in result.output


@pytest.mark.parametrize(
    ("field", "value"), [("class_names", {"x": "a", "1": "b", "2": "c"}), ("image_size", "640")]
)
def test_a_damaged_data_set_is_found(tmp_path, report, field, value):
    report["dataset"][field] = value
    assert validated(tmp_path, report).exit_code == 1
