"""Modules in branches of torch.cond and bodies of loops are recorded, not worked out."""

from __future__ import annotations

import pytest
import torch
from export_zoo import Branch, exported
from torch import nn
from torch._dynamo.output_graph import OutputGraph

import py_autodoc.torch
from py_autodoc.errors import AnalysisError
from py_autodoc.tags.model import walk

pytestmark = pytest.mark.slow


class Inner(nn.Module):
    """A choice of its own; the activations own no parameter that could tell where a node belongs."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Tanh(), nn.Sigmoid()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        x = x * self.scale
        return torch.cond(x.mean() > 0, lambda x: self.first(x) + 1, lambda x: self.second(x) * 3, (x,))


class Outer(nn.Module):
    """A choice in a branch of a choice; a module that both branches call, twice in one of them."""

    def __init__(self):
        super().__init__()
        self.inner, self.act, self.lone = Inner(), nn.GELU(), Branch()
        self.alias = self.act

    def yes(self, x):
        return self.inner(self.act(self.alias(x)))

    def no(self, x):
        return self.lone(self.act(x)).neg()

    def forward(self, x):
        return torch.cond(x.sum() > 0, self.yes, self.no, (x,)).abs()


class Loop(nn.Module):
    """Steps over a sequence with a module inside."""

    def __init__(self):
        super().__init__()
        self.cell, self.act = nn.Linear(4, 4), nn.Tanh()

    def forward(self, x):
        from torch._higher_order_ops import scan

        def step(carry, row):
            new = self.act(self.cell(row) + carry)
            return new, new.clone()

        return scan(step, torch.zeros(4), x)[1]


@pytest.fixture(scope="module")
def outer(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("branches") / "outer.onnx"
    return py_autodoc.torch.export(Outer(), torch.randn(2, 4), path)


def rows(result):
    found = {}
    for node, _ in walk(result.model):
        record = result.tags.of(node)
        found.setdefault(node.op_type, []).append((record.scope, record.via, dict(record.call)))
    return found


def test_every_node_of_every_branch_is_recorded(outer):
    assert outer.coverage.traced == 1.0
    found = rows(outer)
    assert found["Tanh"] == [("inner.first", "trace", {})]
    assert found["Sigmoid"] == [("inner.second", "trace", {})]
    assert found["LayerNormalization"] == [("lone.norm", "trace", {})]
    assert found["Neg"] == [("", "trace", {})]  # the model's own code in a branch
    assert found["Abs"] == [("", "trace", {})]
    assert found["If"] == [("", "trace", {}), ("inner", "trace", {})]


def test_calls_in_branches_are_told_apart(outer):
    calls = [call for scope, _, call in rows(outer)["Gelu"] if scope == "act"]
    assert calls == [{}, {"act": 1}, {"act": 2}]
    assert outer.tags.calls("act") == 3
    assert outer.tags.namer.aliases == {"alias": "act"}


def test_modules_around_a_branch_are_kept(outer):
    inside = {node.op_type for node in outer.tags.below("inner")}
    assert {"If", "Tanh", "Sigmoid"} <= inside
    assert "Gelu" not in inside


def test_bodies_of_loops_are_recorded(tmp_path):
    torch.manual_seed(0)
    result = py_autodoc.torch.export(Loop(), torch.randn(3, 4), tmp_path / "loop.onnx")
    found = rows(result)
    assert found["Scan"][0][:2] == ("", "trace")
    assert [row[:2] for row in found["Tanh"]] == [("act", "trace")]
    assert {row[0] for op in ("Gemm", "MatMul") for row in found.get(op, [])} == {"cell"}


def test_a_torch_that_cannot_be_watched_leaves_them_to_inference(tmp_path, monkeypatch):
    """As before it was known how: parameters and surroundings tell, and say that they do."""
    monkeypatch.setattr("py_autodoc.torch.control_flow_modules._output_graph_class", lambda: None)
    torch.manual_seed(0)
    model, inputs, _ = exported("dynamo", "choice")
    result = py_autodoc.torch.export(model, inputs, tmp_path / "choice.onnx")
    found = rows(result)
    assert [row[:2] for row in found["LayerNormalization"]] == [("yes.norm", "param"), ("no.norm", "param")]
    assert [row[:2] for row in found["Relu"]] == [("yes", "context"), ("no", "context")]


def test_the_compiler_is_left_as_it_was(tmp_path):
    before = OutputGraph.call_user_compiler
    with pytest.raises(AnalysisError):
        py_autodoc.torch.export(Outer(), torch.randn(2, 3), tmp_path / "wrong.onnx")
    assert OutputGraph.call_user_compiler is before
