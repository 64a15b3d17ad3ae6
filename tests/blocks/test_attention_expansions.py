"""ONNX's own tests of Attention: the operator and the function that it stands for must read the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from graph_maker import flows

from py_autodoc.blocks.attention_layers.attention import find_attention

sys.path.insert(0, str(Path(__file__).parent.parent / "truth"))
try:
    from node_models import node_model
    from onnx_node_tests import node_cases
finally:
    sys.path.pop(0)

pytestmark = pytest.mark.slow

HIDES_NOTHING = "test_attention_local_window_with_past"
"""Its queries lie behind all keys, so that the mask, written out, hides none for being later."""


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in node_cases()}


def layer(case):
    (made,) = find_attention(flows(node_model(case, "integers").proto)[0])
    return made


def pairs(cases):
    """Operators of attention that are there written out too."""
    names = [name for name in cases if name.startswith("test_attention_") and f"{name}_expanded" in cases]
    return [name for name in names if not name.endswith("_expanded")]


def test_there_are_pairs(cases):
    assert len(pairs(cases)) > 60


@pytest.mark.parametrize("part", range(4))
def test_same_facts(part, cases):
    for name in pairs(cases)[part::4]:
        same_facts(name, cases)


def same_facts(name, cases):
    fused, unfused = layer(cases[name]), layer(cases[f"{name}_expanded"])
    assert (fused.variant, unfused.variant) == ("fused", "unfused")
    for fact in ("kind", "heads", "kv_heads", "head_dim", "value_dim", "queries", "keys"):
        assert getattr(fused, fact) == getattr(unfused, fact), (name, fact)
    # An attribute says more than a mask; a mask may leave it open but not say the contrary.
    assert unfused.causal in (fused.causal, None) or name == HIDES_NOTHING, name


def test_no_other_operator_is_attention(cases):
    """Of the operators' own tests, only those of attention have any."""
    names = [n for n in cases if "attention" not in n and ("softmax" in n or "matmul" in n or "einsum" in n)]
    assert len(names) > 20
    for name in names:
        assert find_attention(flows(node_model(cases[name], "integers").proto)[0]) == []
