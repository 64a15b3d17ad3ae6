"""ONNX's own tests of Attention: the operator and the function that it stands for must read the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from graph_maker import flows

from py_autodoc.blocks.attention import find_attention

sys.path.insert(0, str(Path(__file__).parent.parent / "truth"))
try:
    from node_models import node_cases, node_model
finally:
    sys.path.pop(0)

pytestmark = pytest.mark.slow

CASES = {case.name: case for case in node_cases()}
PAIRS = [
    name
    for name in CASES
    if name.startswith("test_attention_") and not name.endswith("_expanded") and f"{name}_expanded" in CASES
]


HIDES_NOTHING = "test_attention_local_window_with_past"
"""Its queries lie behind all keys, so that the mask, written out, hides none for being later."""


def layer(name):
    (made,) = find_attention(flows(node_model(CASES[name], "integers").proto)[0])
    return made


def test_there_are_pairs():
    assert len(PAIRS) > 60


@pytest.mark.parametrize("name", PAIRS)
def test_same_facts(name):
    fused, unfused = layer(name), layer(f"{name}_expanded")
    assert (fused.variant, unfused.variant) == ("fused", "unfused")
    for fact in ("kind", "heads", "kv_heads", "head_dim", "value_dim", "queries", "keys"):
        assert getattr(fused, fact) == getattr(unfused, fact), fact
    # An attribute says more than a mask; a mask may leave it open but not say the contrary.
    assert unfused.causal in (fused.causal, None) or name == HIDES_NOTHING


def test_no_other_operator_is_attention():
    """Of the operators' own tests, only those of attention have any."""
    names = [n for n in CASES if "attention" not in n and ("softmax" in n or "matmul" in n or "einsum" in n)]
    assert len(names) > 20
    for name in names:
        assert find_attention(flows(node_model(CASES[name], "integers").proto)[0]) == []
