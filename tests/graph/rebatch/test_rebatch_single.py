"""Another batch for one operator: item i of a run with several items is what it computes for item i alone."""

from __future__ import annotations

import onnx
import pytest
import rebatch_cases as cases
import rebatch_single as single
from rebatch_proof import prove
from test_rebatch_files import DATA, QUICK, SLOW

from py_autodoc.graph.rebatch.search import BatchPlan  # noqa: F401  (registers the rules)
from py_autodoc.graph.rebatch.trace import RULES

pytestmark = pytest.mark.slow

EXACT = 1e-5
ALIKE = {"truth": 0}
"""Models whose random items may well agree."""


@pytest.mark.parametrize("name", single.SINGLE)
def test_items_are_computed_as_alone(name, tmp_path):
    proof = prove(single.made(name), tmp_path, 3)
    assert proof.worst < EXACT
    assert proof.apart > ALIKE.get(name, 1e-4), "items do not differ, so that nothing is proved"


NOT_ON_CPU = {
    f"com.microsoft:{name}" for name in ("BiasAdd", "BiasSplitGelu", "GroupNorm", "NhwcConv", "SkipGroupNorm")
}
"""ONNX Runtime runs them on other devices only."""
ALWAYS_REFUSED = {":SplitToSequence", "com.microsoft:BiasDropout", "com.microsoft:SparseAttention"}
SHARED_RANGE = {
    ":DynamicQuantizeLinear", "com.microsoft:DynamicQuantizeLSTM", "com.microsoft:DynamicQuantizeMatMul"
}  # fmt: skip
"""All items share a range, so that they differ a little from runs of their own: said in a note."""
NOT_RUN = {
    ":BitShift", ":CumProd", ":Scatter", ":SimplifiedLayerNormalization", ":Swish",
    "ai.onnx.ml:CategoryMapper", "ai.onnx.ml:LabelEncoder", "ai.onnx.ml:SVMClassifier",
    "ai.onnx.ml:SVMRegressor", "ai.onnx.ml:TreeEnsemble", "ai.onnx.ml:TreeEnsembleClassifier",
    "com.microsoft:ConvTransposeWithDynamicPads", "com.microsoft:DecoderMaskedMultiHeadAttention",
    "com.microsoft:DequantizeLinear", "com.microsoft:MatMulBnb4", "com.microsoft:MatMulFpQ4",
    "com.microsoft:MatMulInteger16", "com.microsoft:QLinearConv", "com.microsoft:QLinearMatMul",
    "com.microsoft:QLinearWhere", "com.microsoft:QuantizeLinear",
    "com.microsoft:SimplifiedLayerNormalization",
}  # fmt: skip
"""They share the function of a rule that is proved, or differ from one by an attribute."""


def operators(graph):
    for node in graph.node:
        yield f"{node.domain}:{node.op_type}"
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from operators(attribute.g)


def test_every_rule_is_proved_or_listed():
    models = [make() for make in cases.GOOD.values()] + [single.made(name) for name in single.SINGLE]
    files = [DATA / f"{name}.onnx" for name in (*QUICK, *SLOW)]
    models += [onnx.load(file, load_external_data=False) for file in files]
    run = {kind for model in models for kind in operators(model.graph)}
    rules = {f"{domain}:{name}" for domain, name in RULES}
    assert rules - run == NOT_ON_CPU | ALWAYS_REFUSED | SHARED_RANGE | NOT_RUN
