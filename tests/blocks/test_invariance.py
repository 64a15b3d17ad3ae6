"""Names and the order of the node list change no number and no block.

What is compared is everything ``structure`` returns, costs and parameters. Three things follow the order
of execution by their nature and are left out: the peak of the activations and its curve, which node is the
first to use a shared weight, and the order in which equals are listed.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from variants import Names, analysed, labelled, variant

from py_autodoc.blocks.results import AttentionLayer, RecognisedBlock, Repeat
from py_autodoc.report.pipeline.analysis import Analysis

DATA = Path(__file__).parent.parent / "data"
MODELS = sorted((*DATA.glob("stripped/*.onnx"), *DATA.glob("models/*.onnx")), key=lambda path: path.name)


class Told:
    """What an analysis says, in the names of the model it was made from."""

    def __init__(self, analysis: Analysis, names: Names) -> None:
        self.analysis = analysis
        model = analysis.model
        self.node = {n.id: (names.nodes.get(n.name, n.name), n.graph > 0) for n in model.nodes}
        self.tensor = {t.id: names.tensors.get(t.name, t.name) for t in model.tensors}

    def nodes(self, ids) -> tuple:
        return tuple(sorted(self.node[number] for number in ids))

    def tensors(self, ids) -> tuple:
        return tuple(sorted(self.tensor[number] for number in ids))

    def costs(self) -> dict:
        return {
            self.node[number]: (entry.cost, entry.repeat, entry.counted)
            for number, entry in enumerate(self.analysis.costs)
        }

    def totals(self) -> tuple:
        total, params = self.analysis.totals, self.analysis.params
        return (
            (total.macs, total.flops, total.read_bytes, total.write_bytes, total.by_op, total.unknown_ops),
            (params.total, params.other_constants, params.weight_bytes, params.unused, sum(params.params)),
        )

    def found(self, block: RecognisedBlock) -> tuple:
        rest = _others(block, "nodes", "anchor", "inputs", "outputs", "facts")
        return (
            self.nodes(block.nodes),
            self.nodes([block.anchor]),
            self.tensors(block.inputs),
            self.tensors(block.outputs),
            tuple(sorted(block.facts.items())),
            rest,
        )

    def attention(self, layer: AttentionLayer) -> tuple:
        rest = _others(layer, "nodes", "anchor", "masks", "past")
        tensors = self.tensors(layer.masks), self.tensors(layer.past)
        return self.nodes(layer.nodes), self.nodes([layer.anchor]), tensors, rest

    def repeat(self, repeat: Repeat) -> tuple:
        """Parts in order, and which nodes correspond."""
        columns = [tuple(self.node[n] for n in column) for column in zip(*repeat.members, strict=True)]
        return tuple(sorted(columns)), repeat.scopes, repeat.type


def _others(record: RecognisedBlock | AttentionLayer, *without: str) -> tuple:
    return tuple(getattr(record, f.name) for f in dataclasses.fields(record) if f.name not in without)


def check_same(proto: onnx.ModelProto, seed: int) -> None:
    base = labelled(proto)
    other, names = variant(base, seed)
    ours, theirs = Told(analysed(base), Names()), Told(analysed(other), names)
    assert ours.costs() == theirs.costs()
    assert ours.totals() == theirs.totals()
    one, two = ours.analysis.structure, theirs.analysis.structure
    assert one.gave_up == two.gave_up == ()
    for name, tell in (("blocks", "found"), ("attention", "attention"), ("repeats", "repeat")):
        a = sorted((getattr(ours, tell)(item) for item in getattr(one, name)), key=repr)
        b = sorted((getattr(theirs, tell)(item) for item in getattr(two, name)), key=repr)
        assert a == b, name
    assert (one.verdict.family, one.verdict.confidence) == (two.verdict.family, two.verdict.confidence)


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name.partition(".onnx")[0])
def test_names_and_order_change_nothing(path):
    check_same(onnx.load(path, load_external_data=False), seed=7)


# Generated graphs: a layer drawn at random, several times, among operators drawn at random.

F = TensorProto.FLOAT
UNARY = ("Relu", "Sigmoid", "Tanh", "Neg")
KINDS = (*UNARY, "MatMul", "Bias", "Add", "Mul", "Softmax", "Norm")
STEPS = st.lists(
    st.tuples(
        st.sampled_from((*UNARY, "MatMul", "Bias", "Add", "Mul", "Softmax", "Norm")), st.integers(0, 7)
    ),
    min_size=1,
    max_size=9,
)


class Maker:
    """Nodes over one shape, ``[2, 4, 4]``, so that everything fits everything."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def op(self, kind: str, inputs: list[str], **attributes) -> str:
        made = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [made], **attributes))
        return made

    def weight(self, *shape: int) -> str:
        size = 1
        for d in shape:
            size *= d
        name = f"w{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, F, shape, [float(len(self.weights))] * size))
        return name

    def layer(self, steps, values: list[str]) -> str:
        """Run the steps; each takes what was made last and, where it takes two, one value before it."""
        known = list(values)
        for kind, back in steps:
            last, other = known[-1], known[max(0, len(known) - 1 - back)]
            if kind in UNARY:
                known.append(self.op(kind, [last]))
            elif kind in ("Add", "Mul"):
                known.append(self.op(kind, [other, last]))
            elif kind == "MatMul":
                known.append(self.op(kind, [last, self.weight(4, 4)]))
            elif kind == "Bias":
                known.append(self.op("Add", [last, self.weight(4)]))
            elif kind == "Norm":
                known.append(
                    self.op("LayerNormalization", [last, self.weight(4), self.weight(4)], epsilon=1e-5)
                )
            else:
                known.append(self.op("Softmax", [last], axis=-1))
        return known[-1]

    def proto(self, output: str) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", F, [2, 4, 4])],
            [helper.make_tensor_value_info(output, F, None)],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@st.composite
def layered(draw):
    """A stem, one layer several times, another layer several times, a head; dead ends included."""
    maker = Maker()
    value = maker.layer(draw(STEPS), ["x"])
    for _ in range(draw(st.integers(1, 2))):
        steps = draw(STEPS)
        for _ in range(draw(st.integers(1, 4))):
            value = maker.layer(steps, [value])
    return maker.proto(maker.layer(draw(STEPS), ["x", value]))


@pytest.mark.slow
@given(layered(), st.integers(0, 1000))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_generated_graphs(proto, seed):
    check_same(proto, seed)
