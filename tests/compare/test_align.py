"""The alignment by structure: twins made by ONNX Runtime, a decoder less a layer, other architectures."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from py_autodoc.compare.align import AlignmentVerdict, align
from py_autodoc.compare.changes import Change
from py_autodoc.report.pipeline.analysis import Options, run_analysis

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "data" / "models"
TWINS = (
    "bert-int8", "bert-qdq", "bert-qoperator", "bert-int4", "bert-fused", "resnet-qdq", "resnet-qoperator",
    "resnet-half", "resnet-fused", "llama-cache-int4",
)  # fmt: skip
CORES = {"bert": 35, "resnet": 24, "llama": 226}
"""Core operators: products with their bias and activation, sums, normalizations, Softmax, pools, Gather."""


def analysed(source):
    return run_analysis(source, Options(assume=True))


def aligned(left, right):
    return align(analysed(left), analysed(right))


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Name → the alignment of a float model with its twin."""
    pytest.importorskip("onnxruntime.quantization")
    from twins import TWINS as MAKERS
    from twins import with_weights

    folder = tmp_path_factory.mktemp("aligned")
    found = {}
    for name, (source, make) in MAKERS.items():
        left = with_weights(source, folder / f"{name}-float.onnx")
        make(left, folder / f"{name}.onnx")
        found[name] = aligned(str(left), str(folder / f"{name}.onnx"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_every_core_operator_of_a_twin_has_its_counterpart(twins, name):
    found = twins[name]
    count = CORES[name.partition("-")[0]]
    assert (found.units, found.matched) == ((count, count), count)
    assert (found.only_left, found.only_right) == ((), ())
    assert (found.score_macs, found.score_nodes, found.verdict) == (1.0, 1.0, AlignmentVerdict.SAME)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_counterparts_compute_the_same(twins, name):
    """Quantizers keep a product's name and append to it."""
    found = twins[name]
    left, right = found.sides
    known = {node.name for node in left.model.nodes}
    for pair in found.pairs:
        for _, other in pair.units:
            unit = right.graph.units[other]
            if unit.core in ("Conv", "MatMul"):
                source = re.sub(r"(_quant|_Q4|_Q8|/\w+Fusion/?)$", "", right.node(unit.node).name)
                if source in known:
                    assert source in {left.node(n).name for n in pair.left}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("bert-int8", Change.PRECISION),
        ("bert-int4", Change.PRECISION),
        ("llama-cache-int4", Change.PRECISION),
        ("resnet-half", Change.PRECISION),
        ("resnet-qdq", Change.PRECISION | Change.FUSED),
        ("resnet-qoperator", Change.PRECISION | Change.FUSED),
        ("resnet-fused", Change.FUSED),
        ("bert-qdq", Change.PRECISION),
        ("bert-fused", Change.FUSED | Change.MOVES),
    ],
)
def test_a_twin_differs_in_what_was_done_to_it_alone(twins, name, kinds):
    seen = Change(0)
    for pair in twins[name].pairs:
        seen |= pair.changes
    assert seen == kinds


@pytest.mark.slow
def test_a_fused_attention_is_opened(tmp_path):
    """The optimizer of ONNX Runtime merges 20 nodes of each layer into one Attention."""
    optimizer = pytest.importorskip("onnxruntime.transformers.optimizer")
    from twins import with_weights

    source = with_weights(MODELS / "bert_tiny.onnx", tmp_path / "bert.onnx")
    made = optimizer.optimize_model(str(source), model_type="bert", num_heads=0, hidden_size=0, opt_level=0)
    made.save_model_to_file(str(tmp_path / "fused.onnx"))
    fused = Counter(node.op_type for node in onnx.load(tmp_path / "fused.onnx").graph.node)
    found = aligned(str(source), str(tmp_path / "fused.onnx"))
    products = [[u for u in side.graph.units if u.weight and u.core == "MatMul"] for side in found.sides]
    assert len(products[0]) == len(products[1])
    assert found.products_only == (0, 0)
    assert found.verdict is AlignmentVerdict.SAME
    assert fused["SkipLayerNormalization"] > 0


@pytest.mark.slow
def test_core_operators_in_the_layout_of_a_processor_have_their_counterparts(tmp_path):
    """Weights may be padded there to whole blocks of channels: of other sizes, so the verdict is free."""
    pytest.importorskip("onnxruntime.quantization")
    from twins import laid_out, with_weights

    source = with_weights(MODELS / "resnet_tiny.onnx", tmp_path / "resnet.onnx")
    laid_out(source, tmp_path / "laid_out.onnx")
    domains = {node.domain for node in onnx.load(tmp_path / "laid_out.onnx").graph.node}
    if "com.microsoft.nchwc" not in domains:
        pytest.skip("ONNX Runtime keeps the order of axes on this processor")
    found = aligned(str(source), str(tmp_path / "laid_out.onnx"))
    assert (found.units, found.matched) == ((24, 24), 24)
    assert found.verdict is not AlignmentVerdict.DIFFERENT


def test_numbers_of_a_second_export_lie_and_weights_do_not():
    """ResNet-50 less one of six equal blocks, every node and tensor numbered anew."""
    import sys

    sys.path.insert(0, str(ROOT / "ui-tests"))
    try:
        from make_variants import renumber, without_block
    finally:
        sys.path.pop(0)
    source = ROOT / "tests" / "data" / "stripped" / "resnet50.stripped.onnx"
    gone = "m.resnet.encoder.stages.2.layers.4."
    less = onnx.load(source, load_external_data=False)
    whole = onnx.ModelProto.FromString(less.SerializeToString())
    without_block(less, gone)
    renumber(less)
    for one, other, side in ((whole, less, 0), (less, whole, 1)):
        found = aligned(one, other)
        missing = (found.only_left, found.only_right)[side]
        model = found.sides[side].model
        weights = [model.tensors[t].name for n in missing for t in model.nodes[n].inputs[1:2]]
        assert len(missing) == 7
        assert sum(name.startswith(gone) for name in weights) == 3
        assert (found.only_left, found.only_right)[1 - side] == ()
        assert not any(pair.details for pair in found.pairs)


def single(nodes, weights=()):
    """A graph from ``x`` to ``y``, 4×4×4 each."""
    info = [helper.make_tensor_value_info(name, 1, [4, 4, 4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], list(weights))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def test_a_transpose_of_other_axes_is_a_change():
    def made(axes):
        nodes = [
            helper.make_node("Exp", ["x"], ["e"]),
            helper.make_node("Transpose", ["e"], ["t"], perm=axes),
            helper.make_node("Log", ["t"], ["y"]),
        ]
        return single(nodes)

    assert aligned(made([1, 0, 2]), made([1, 0, 2])).same
    details = [one for pair in aligned(made([1, 0, 2]), made([0, 2, 1])).pairs for one in pair.details]
    assert [(one.kind, one.what) for one in details] == [(Change.ATTRIBUTES, "Transpose perm")]


@pytest.mark.parametrize(("alpha", "same"), [(1.0, True), (1.702, False)])
def test_only_a_quick_gelu_of_alpha_1_is_a_silu(alpha, same):
    written = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])]
    fused = helper.make_node("QuickGelu", ["x"], ["y"], domain="com.microsoft", alpha=alpha)
    found = aligned(single(written), single([fused]))
    assert (found.matched == 1 and found.only_left == ()) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(-3.4e38, -65504.0, True), (-3.4e38, 65504.0, False), (-65504.0, -60000.0, False), (-1e9, -1e4, False)],
)
def test_the_largest_number_of_a_precision_is_one_setting(one, other, same):
    def made(low):
        weights = [helper.make_tensor("low", 1, [], [low]), helper.make_tensor("high", 1, [], [7e38 / 3])]
        return single([helper.make_node("Clip", ["x", "low", "high"], ["y"])], weights)

    found = aligned(made(one), made(other))
    assert bool([d for pair in found.pairs for d in pair.details]) is not same


def decoder(layers, hidden=64):
    import sys

    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from synthetic import Decoder
    finally:
        sys.path.pop(0)
    made = Decoder(layers, hidden, 4, tokens=8)
    model = made.proto()
    for name, shape in made.weights:
        tensor = model.graph.initializer.add(name=name, data_type=TensorProto.FLOAT)
        tensor.dims.extend(shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="none.bin")
    return model


def renamed(model, seed=0):
    """Every name anew: nodes, tensors, inputs, outputs."""
    draw = random.Random(seed)
    names = {}

    def fresh(name):
        return names.setdefault(name, f"{draw.getrandbits(48):x}_{len(names)}") if name else ""

    copy = onnx.ModelProto.FromString(model.SerializeToString())
    graph = copy.graph
    for number, node in enumerate(graph.node):
        node.name = f"n{(number * 7919) % 100_003}"
        node.input[:] = [fresh(name) for name in node.input]
        node.output[:] = [fresh(name) for name in node.output]
    for about in (*graph.initializer, *graph.input, *graph.output):
        about.name = fresh(about.name)
    del graph.value_info[:]
    return copy


def shuffled(model, seed=0):
    """Another order of the nodes in which what is read still comes first."""
    draw = random.Random(seed)
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    nodes = list(copy.graph.node)
    made = {name for node in nodes for name in node.output}
    waiting = {at: {n for n in node.input if n in made} for at, node in enumerate(nodes)}
    order = []
    while waiting:
        ready = sorted(at for at, needs in waiting.items() if not needs)
        at = draw.choice(ready)
        del waiting[at]
        order.append(nodes[at])
        for needs in waiting.values():
            needs.difference_update(nodes[at].output)
    del copy.graph.node[:]
    copy.graph.node.extend(order)
    return copy


def with_identities(model, seed=0, share=0.3):
    """Identities behind some of the tensors."""
    draw = random.Random(seed)
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    nodes, moved = [], {}
    for node in copy.graph.node:
        node.input[:] = [moved.get(name, name) for name in node.input]
        nodes.append(node)
        for name in node.output:
            if name and draw.random() < share:
                nodes.append(helper.make_node("Identity", [name], [f"{name}__copy"]))
                moved[name] = f"{name}__copy"
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


@pytest.mark.slow
def test_a_decoder_less_its_last_layer_lacks_exactly_those_nodes():
    """10,047 nodes against 9,998, every name another: what is left over is the last layer."""
    whole, less = decoder(205), renamed(decoder(204))
    assert (len(whole.graph.node), len(less.graph.node)) == (10_047, 9_998)
    found = aligned(whole, less)
    names = [found.sides[0].node(n).name for n in found.only_left]
    last = [n.name for n in whole.graph.node if n.name.startswith("/layers.204/")]
    assert sorted(names) == sorted(last)
    assert len(names) == 49
    assert found.only_right == ()
    assert found.verdict is AlignmentVerdict.SIMILAR
    assert not any(pair.details for pair in found.pairs)


def test_names_tell_which_of_equal_layers_is_missing():
    whole, less = decoder(12), decoder(12)
    gone = [n for n in less.graph.node if n.name.startswith("/layers.5/")]
    entry = next(n.input[0] for n in gone if n.name.startswith("/layers.5/input_norm"))
    leaves = {n.output[0] for n in gone}
    kept = [n for n in less.graph.node if n not in gone]
    for node in kept:
        node.input[:] = [entry if name in leaves else name for name in node.input]
    del less.graph.node[:]
    less.graph.node.extend(kept)
    found = aligned(whole, less)
    assert sorted(found.sides[0].node(n).name for n in found.only_left) == sorted(n.name for n in gone)
    assert found.only_right == ()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("light_resnet50", "light_squeezenet"),
        ("light_resnet50", "light_vgg19"),
        ("light_resnet50", "ppocr_v4_det"),
        ("bert_tiny", "resnet_tiny"),
        ("mamba_tiny", "bert_tiny"),
        ("light_bvlc_alexnet", "light_vgg19"),
    ],
)
def test_other_architectures_score_under_a_half(left, right):
    found = aligned(str(MODELS / f"{left}.onnx"), str(MODELS / f"{right}.onnx"))
    assert (found.score_macs or 0) < 0.5
    assert found.verdict is AlignmentVerdict.DIFFERENT


@st.composite
def graphs(draw):
    """Small graphs of products, sums, normalizations and activations, with branches."""
    width = 8
    nodes, weights, tensors = [], [], ["x0", "x1"]
    for at in range(draw(st.integers(2, 25))):
        op = draw(st.sampled_from(["MatMul", "Add", "Relu", "Mul", "Softmax", "Sigmoid", "Sub", "Transpose"]))
        one = tensors[draw(st.integers(max(0, len(tensors) - 4), len(tensors) - 1))]
        if op == "MatMul":
            weights.append(helper.make_tensor(f"w{at}", 1, [width, width], [0.0] * width * width))
            inputs = [one, f"w{at}"]
        elif op in ("Add", "Mul", "Sub"):
            inputs = [one, tensors[draw(st.integers(0, len(tensors) - 1))]]
        else:
            inputs = [one]
        nodes.append(helper.make_node(op, inputs, [f"t{at}"], f"{op}_{at}"))
        tensors.append(f"t{at}")
    read = {name for node in nodes for name in node.input}
    ends = [name for name in tensors[2:] if name not in read]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info(n, 1, [width, width]) for n in ("x0", "x1")],
        [info(n, 1, [width, width]) for n in ends], weights,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(model=graphs(), seed=st.integers(0, 1000))
def test_order_names_and_identities_change_nothing(model, seed):
    plain = analysed(model)
    for other in (
        shuffled(model, seed),
        renamed(model, seed),
        with_identities(model, seed),
        renamed(shuffled(with_identities(model, seed), seed), seed),
    ):
        found = align(plain, analysed(other))
        assert (found.only_left, found.only_right) == ((), ())
        assert found.units[0] == found.units[1] == found.matched
        assert [pair.details for pair in found.pairs if pair.details] == []
        assert found.verdict is AlignmentVerdict.SAME


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(left=graphs(), right=graphs())
def test_every_node_is_told_once_and_both_ways_agree(left, right):
    one, other = analysed(left), analysed(right)
    for found in (align(one, other), align(other, one)):
        for side in (0, 1):
            told = [n for pair in found.pairs for n in (pair.left, pair.right)[side]]
            told += (found.only_left, found.only_right)[side]
            assert sorted(told) == list(range(len(found.sides[side].model.nodes)))
        assert 0 <= found.score_nodes <= 1


@pytest.mark.parametrize("name", sorted(p.stem for p in MODELS.glob("*.onnx")))
def test_every_model_is_the_same_as_itself(name):
    found = aligned(str(MODELS / f"{name}.onnx"), str(MODELS / f"{name}.onnx"))
    assert found.same
    assert found.verdict is AlignmentVerdict.SAME
    lefts, rights, bits = found.columns()
    assert lefts == rights
    assert not any(bits)
