"""Exports to opsets older than torch's operator library keep the modules of their nodes, and load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
import torch

from py_autodoc.errors import OptionError
from py_autodoc.tags.validate import FAILED, PASSED, validate
from py_autodoc.torch import dynamo, export
from py_autodoc.torch.older_opsets import LIBRARY_OPSET, convert, exported_opset


class Pooled(torch.nn.Module):
    """Its mean becomes a ReduceMean, whose axes are an input from opset 18 on and an attribute before."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(torch.relu(self.conv(x)).mean((2, 3)))
        return y


class Branches(torch.nn.Module):
    """Two modules in the branches of a condition."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Pooled()
        self.left, self.right = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.net(x)
        result: torch.Tensor = torch.cond(
            y.sum() > 0, lambda z: self.left(z), lambda z: self.right(z) + 1, (y,)
        )
        return result


@pytest.mark.parametrize(("kind", "opset"), [(Branches, 17), (Pooled, 14)])
def test_every_node_keeps_its_module_and_the_file_runs(
    kind: type[torch.nn.Module], opset: int, tmp_path: Path
) -> None:
    model, x = kind().eval(), torch.randn(1, 3, 8, 8)
    result = export(model, (x,), tmp_path / "m.onnx", opset=opset)
    assert (result.tags.coverage.traced or 0) >= 0.95
    written = onnx.load(tmp_path / "m.onnx")
    assert {entry.domain: entry.version for entry in written.opset_import}[""] == opset
    assert not result.warnings
    assert any(record.scope.endswith("head") for record in result.tags.records.values())
    assert {check.status for check in validate(tmp_path / "m.onnx", require_tags=True)} == {PASSED}
    session = onnxruntime.InferenceSession(written.SerializeToString())
    values = session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]
    np.testing.assert_allclose(values, model(x).detach().numpy(), atol=1e-5)


def test_an_attribute_that_the_older_opset_lacks_is_named() -> None:
    x = ir.Value(name="x", shape=ir.Shape([2, 3]), type=ir.TensorType(ir.DataType.FLOAT))
    node = ir.node("ReduceMax", [x], attributes={"noop_with_empty_axes": 1})
    node.outputs[0].name = "y"
    node.outputs[0].type, node.outputs[0].shape = x.type, x.shape
    model = ir.Model(
        ir.Graph([x], [node.outputs[0]], nodes=[node], opset_imports={"": LIBRARY_OPSET}, name="g"),
        ir_version=8,
    )
    with pytest.raises(OptionError, match=r"Opset 17 .* ReduceMax has no noop_with_empty_axes"):
        convert(model, 17)


def test_opsets_of_the_library_are_exported_directly() -> None:
    assert [exported_opset(opset) for opset in (None, 14, 18, 21)] == [None, 18, 18, 21]


def test_a_model_whose_modules_are_mostly_unknown_is_not_called_tagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_records(model: ir.Model, _opset: int | None) -> None:
        for node in model.graph:
            node.metadata_props.clear()
            node.meta.clear()
            node.name = None

    monkeypatch.setattr(dynamo, "convert", without_records)
    result = export(
        torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sigmoid()), (torch.zeros(2),), tmp_path / "m.onnx"
    )
    assert any("module of 2 of 2 nodes is unknown" in warning for warning in result.warnings)
    by_name = {check.name: check for check in validate(tmp_path / "m.onnx", require_tags=True)}
    assert by_name["tags-known"].status == FAILED
    assert "tags-known" not in {check.name for check in validate(tmp_path / "m.onnx")}
