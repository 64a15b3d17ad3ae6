"""Odd graphs: the recognisers of structure never raise, never invent nodes, and stay deterministic."""

from __future__ import annotations

import math
from functools import cache

import onnx
import pytest
from graph_maker import DATA, FLOAT, flows, flows_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from py_autodoc.blocks.layer_blocks.conv import find_conv_blocks
from py_autodoc.blocks.layer_blocks.embedding import find_embeddings
from py_autodoc.blocks.layer_blocks.head import find_heads
from py_autodoc.blocks.layer_blocks.mlp import find_mlps
from py_autodoc.blocks.layer_blocks.normalization import find_normalizations
from py_autodoc.blocks.layer_blocks.recurrent import find_recurrent
from py_autodoc.blocks.residual_blocks.residual import find_residuals
from py_autodoc.blocks.results import KINDS
from py_autodoc.errors import AutodocError
from py_autodoc.graph.loading.load import load

pytestmark = pytest.mark.slow

FINDERS = (
    find_normalizations, find_conv_blocks, find_residuals, find_embeddings, find_heads, find_recurrent,
)  # fmt: skip


def all_found(flow):
    found = [block for finder in FINDERS for block in finder(flow)]
    return found + find_mlps(flow, [], [block for block in found if block.kind == "normalization"])


def check(flow) -> None:
    """What holds for every block of every graph."""
    order = set(flow.order)
    for block in all_found(flow):
        assert block.kind in KINDS
        assert list(block.nodes) == sorted(set(block.nodes))
        assert set(block.nodes) <= order
        assert block.anchor in block.nodes
        assert 0 < block.confidence <= 1
        for value in block.facts.values():
            assert value is None or isinstance(value, (str, bool, int)) or math.isfinite(value)


OPS = tuple(
    """
    Add Sum Sub Mul Div Pow Sqrt Reciprocal Concat Relu Sigmoid HardSigmoid Tanh Softplus Exp Log Neg Erf
    Clip Max Min ReduceMean ReduceSum ReduceL2 GlobalAveragePool Conv ConvTranspose Gemm MatMul Softmax TopK
    Split Slice Gather Reshape Transpose Unsqueeze Resize Identity Cast QuantizeLinear DequantizeLinear OneHot
    Expand BatchNormalization LayerNormalization InstanceNormalization LSTM Einsum NonMaxSuppression Where
    """.split()  # noqa: SIM905
)
MICROSOFT = (
    "SkipLayerNormalization",
    "FusedConv",
    "MoE",
    "EmbedLayerNormalization",
    "QLinearAdd",
    "FusedMatMul",
)
ATTRIBUTES = {
    "Conv": [{}, {"group": 4}, {"kernel_shape": [1, 1]}, {"strides": [2, 2], "kernel_shape": [2, 2]}],
    "Concat": [{"axis": 1}, {"axis": -1}, {"axis": 99}],
    "Cast": [{"to": 1}],
    "Transpose": [{}, {"perm": [1, 0]}],
    "Gather": [{}, {"axis": 1}],
    "Einsum": [{"equation": "ij,jk->ik"}],
    "LSTM": [{}, {"hidden_size": 4}],
    "ReduceMean": [{}, {"axes": [-1]}, {"keepdims": 0}],
    "MoE": [{"k": 2}],
}


@st.composite
def graphs(draw):
    """A graph whose nodes read anything that came before, valid or not by the rules of their operators."""
    shapes = [(), (4,), (4, 4), (1, 4, 4), (1, 4, 4, 4), (4, 4, 1, 1), (4, 1, 3, 3)]
    constants, names = [], ["x", ""]
    for at in range(draw(st.integers(1, 5))):
        shape = draw(st.sampled_from(shapes))
        value = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 6.0]))
        constants.append(helper.make_tensor(f"c{at}", FLOAT, shape, [value] * math.prod(shape)))
        names.append(f"c{at}")
    nodes = []
    for at in range(draw(st.integers(1, 24))):
        domain = draw(st.sampled_from(["", "", "", "", "com.microsoft", "other"]))
        kind = draw(st.sampled_from(MICROSOFT if domain == "com.microsoft" else OPS))
        recent = names[-4:]
        inputs = draw(st.lists(st.sampled_from(recent) | st.sampled_from(names), max_size=4))
        outputs = [
            f"n{at}_{k}" for k in range(draw(st.integers(0, 3) if draw(st.booleans()) else st.just(1)))
        ]
        attributes = draw(st.sampled_from(ATTRIBUTES.get(kind, [{}])))
        nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        names += outputs
    ends = draw(st.lists(st.sampled_from([n for n in names if n]), min_size=1, max_size=3, unique=True))
    shape = draw(st.sampled_from([[4, 4], [1, 4, 4, 4], ["n", 4], None]))
    graph = helper.make_graph(
        nodes,
        "random",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_empty_tensor_value_info(name) for name in ends],
        initializer=constants,
    )
    opsets = [helper.make_opsetid(d, v) for d, v in (("", 18), ("com.microsoft", 1), ("other", 1))]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_random_graphs(proto):
    for flow in flows(proto):
        check(flow)
        assert all_found(flow) == all_found(flow)


SMALL = ("stripped/bert_tiny.stripped", "stripped/mamba_tiny.stripped", "models/resnet_tiny_qdq_int8",
         "models/ppocr_cls_v2", "models/dnsmos_sig_bak_ovr", "models/ddddocr_det.stripped")  # fmt: skip


@cache
def _small(name: str) -> onnx.ModelProto:
    return onnx.load(DATA / f"{name}.onnx", load_external_data=False)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SMALL), st.randoms(use_true_random=False), st.integers(1, 12))
def test_broken_copies_of_real_models(name, random, edits):
    """Inputs left out or exchanged, outputs dropped, operators renamed: half of a pattern is no fault."""
    proto = onnx.ModelProto()
    proto.CopyFrom(_small(name))
    nodes = proto.graph.node
    kinds = sorted({node.op_type for node in nodes})
    for _ in range(edits):
        node = random.choice(nodes)
        edit = random.randrange(5)
        if edit == 0 and node.input:
            del node.input[random.randrange(len(node.input)) :]
        elif edit == 1 and node.input:
            node.input[random.randrange(len(node.input))] = random.choice(random.choice(nodes).output or [""])
        elif edit == 2 and node.output:
            node.output[random.randrange(len(node.output))] = ""
        elif edit == 3:
            node.op_type = random.choice(kinds)
        elif node.attribute:
            del node.attribute[random.randrange(len(node.attribute))]
    try:
        made = flows(proto)
    except AutodocError:
        return
    for flow in made:
        check(flow)


def test_bad_models(bad_cases, tmp_path):
    seen = 0
    for case in bad_cases:
        folder = tmp_path / case.id
        folder.mkdir()
        try:
            loaded = load(case.make(folder))
        except AutodocError:
            continue
        for flow in flows_in(loaded):
            check(flow)
        seen += 1
    assert seen > 20


@pytest.fixture
def bad_cases(monkeypatch):
    """The corpus of bad models, without the enormous one."""
    from pathlib import Path

    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "bad"))
    from corpus import CASES

    return [case for case in CASES if case.name != "chain-300k"]
