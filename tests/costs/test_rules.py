"""Every rule against numbers worked out by hand, and every operator against the list of rules."""

from __future__ import annotations

import onnx
import pytest

from costs.cases import CASES
from costs.harness import Case, analyse, model_of
from py_autodoc.costs import registry
from py_autodoc.costs.registry import cost, registered


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cost(case: Case) -> None:
    done = analyse(model_of(case))
    entry = done.costs.nodes[done.node("it")]
    if case.macs is None:
        assert entry.cost is None
        assert entry.reason
        return
    assert entry.cost is not None, entry.reason
    got = {
        "macs": entry.cost.macs,
        "flops": entry.cost.flops,
        "read": entry.cost.read_bytes,
        "write": entry.cost.write_bytes,
    }
    want = {"macs": case.macs, "flops": case.flops, "read": case.read, "write": case.write}
    checked = {key: value for key, value in want.items() if value is not ...}
    assert {key: got[key] for key in checked} == checked
    by_data = entry.cost is not None and entry.cost.data_flops > 0
    assert bool(entry.reason) == (by_data or None in (got["read"], got["write"]))


def test_case_names_are_unique() -> None:
    names = [(c.domain, c.id) for c in CASES]
    assert len(names) == len(set(names)) >= 150


def test_every_operator_of_the_schema_has_a_rule() -> None:
    known = {(s.domain, s.name) for s in onnx.defs.get_all_schemas_with_history()}
    assert sorted(known - registered()) == []


CONTRIB = """
Attention MultiHeadAttention GroupQueryAttention PackedAttention PackedMultiHeadAttention
DecoderMaskedMultiHeadAttention SkipLayerNormalization SkipSimplifiedLayerNormalization
SimplifiedLayerNormalization EmbedLayerNormalization FusedConv FusedMatMul FusedGemm TransposeMatMul
MatMulNBits MatMulBnb4 GatherBlockQuantized QLinearAdd QLinearMul QLinearSigmoid QLinearLeakyRelu
QLinearAveragePool QLinearGlobalAveragePool QLinearConcat QLinearSoftmax QLinearWhere QGemm
DynamicQuantizeMatMul DynamicQuantizeLSTM MatMulIntegerToFloat QAttention QEmbedLayerNormalization
BiasGelu FastGelu Gelu QuickGelu BiasSoftmax BiasAdd BiasSplitGelu RotaryEmbedding GroupNorm NhwcConv
Inverse MoE QMoE GatedRelativePositionBias Rfft Irfft
"""


def test_common_contrib_operators_have_a_rule() -> None:
    names = {("com.microsoft", op) for op in CONTRIB.split()}
    assert sorted(names - registered()) == []


def test_a_second_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="two cost rules"):
        cost("", "Conv")(lambda v: None)  # type: ignore[arg-type,return-value]


def test_a_rule_that_fails_becomes_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._RULES, ("", "Relu"), lambda v: 1 // 0)
    done = analyse(model_of(Case("Relu", [(2, 3)], 0, 6, 24, 24)))
    entry = done.costs.nodes[0]
    assert entry.cost is None
    assert entry.reason == "the inputs or attributes do not fit Relu"
    assert [d.code for d in done.costs.diagnostics] == ["cost-rule-failed"]
    assert "ZeroDivisionError" in done.costs.diagnostics[0].message


def test_numbers_beyond_64_bits_are_exact() -> None:
    done = analyse(model_of(Case("MatMul", [(1 << 40, 8), (8, 1 << 40)], 0, 0, 0, 0)))
    cost = done.costs.nodes[0].cost
    assert cost is not None
    assert (cost.macs, cost.flops) == (1 << 83, 1 << 84)


def test_numbers_beyond_127_bits_are_refused() -> None:
    side = 1 << 44
    done = analyse(model_of(Case("MatMul", [(side, side), (side, side)], 0, 0, 0, 0)))
    assert done.costs.nodes[0].cost is None
    assert "too large" in done.costs.nodes[0].reason
