"""Boxes around the nodes that make attention masks."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.report.box_tree.grouping import PLUMBING, build_box_tree
from py_autodoc.report.box_tree.mask_boxes import MIN_NODES, TITLE
from py_autodoc.report.pipeline.analysis import Options, run_analysis

DATA = Path(__file__).parents[1] / "data"


def masks(analysis) -> list[tuple[list[str], list[str]]]:
    """(labels from the top down, operators) of each box. Smaller ones are made by the rules of plumbing."""
    tree, model = build_box_tree(analysis), analysis.model
    found = [s for s, label in enumerate(tree.label) if label == TITLE and tree.origin[s] == PLUMBING]
    boxes = [
        (tree.path(s), [n.op_type for n in model.nodes if tree.node[n.id] == s and n.op_type != "Constant"])
        for s in found
    ]
    return [(path, ops) for path, ops in boxes if len(ops) >= MIN_NODES]


@pytest.mark.parametrize(
    ("name", "path", "ops"),
    [
        ("bert_base", ["m", TITLE], "Cast GatherND And Where"),
        ("clip_b32", ["m", "text_model", TITLE], "Cast GatherND And Where"),
        ("t5_small_encoder", ["m", "encoder", TITLE], "Cast GatherND And Where"),
        ("llama_gqa_small", ["m", "model", TITLE], "And And Where"),
    ],
)
def test_of_exported_encoders(name, path, ops):
    found = masks(run_analysis(DATA / f"stripped/{name}.stripped.onnx", Options(assume=True)))
    assert found == [(path, ops.split())]


def test_what_else_is_read_stays_outside():
    """With free sizes BERT's mask takes 22 nodes; the two Shapes also serve the embeddings."""
    analysis = run_analysis(DATA / "stripped/bert_base_dyn.stripped.onnx", Options(assume=True))
    tree = build_box_tree(analysis)
    [(_, ops)] = masks(analysis)
    assert len(ops) == 22
    assert "Range" in ops
    loose = [n.op_type for n in analysis.model.nodes if tree.path(tree.node[n.id]) == ["m", "Sizes"]]
    assert loose == ["Shape", "Shape"]


@pytest.mark.parametrize("name", ["vit_b16", "resnet50", "whisper_tiny_encoder", "swin_t"])
def test_models_without_one_get_none(name):
    assert masks(run_analysis(DATA / f"stripped/{name}.stripped.onnx", Options(assume=True))) == []


class _Attention:
    """Layers of self-attention over x, all with the mask that ``mask`` makes of the input ``m``."""

    def __init__(self, layers: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.layers = layers
        self.weights = {"w": [16, 16]}

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        out = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def finish(self, path: Path, mask: str, x: str = "x") -> Path:
        for _ in range(self.layers):
            q, k, v = (self.node("MatMul", x, "w") for _ in range(3))
            scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 2, 1]))
            weights = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
            x = self.node("Add", x, self.node("MatMul", weights, v))
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "g",
            [value("x", TensorProto.FLOAT, [1, 8, 16]), value("m", TensorProto.FLOAT, [1, 8])],
            [value(x, TensorProto.FLOAT, [1, 8, 16])],
            [
                *(
                    helper.make_tensor(n, TensorProto.FLOAT, s, [0.1] * (s[0] * s[1]))
                    for n, s in self.weights.items()
                ),
                helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
                helper.make_tensor("low", TensorProto.FLOAT, [], [-1e9]),
                helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
                helper.make_tensor("zero", TensorProto.INT64, [1], [0]),
            ],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
        return path


def plain(made: _Attention) -> str:
    """(1 - m) * -1e9, as exporters without a mask operator write it."""
    wide = made.node("Unsqueeze", "m", "axis")
    return made.node("Mul", made.node("Sub", "one", wide), "low")


def test_a_mask_that_layers_share_is_one_box(tmp_path):
    made = _Attention(2)
    mask = plain(made)
    assert len(made.nodes) == MIN_NODES
    analysis = run_analysis(made.finish(tmp_path / "a.onnx", mask), Options())
    assert masks(analysis) == [([TITLE], ["Unsqueeze", "Sub", "Mul"])]


def test_the_mask_of_the_only_layer_too(tmp_path):
    made = _Attention(1)
    analysis = run_analysis(made.finish(tmp_path / "a.onnx", plain(made)), Options())
    assert len(masks(analysis)) == 1


def test_what_a_mask_takes_its_size_from_is_no_mask(tmp_path):
    """Nodes of the main stream, of another scope: the mask reads their shape, the layers read them."""
    made = _Attention(2)
    stream = "x"
    for op in ("Relu", "Neg", "Abs", "Tanh", "Sigmoid"):
        made.nodes.append(helper.make_node(op, [stream], [f"s/{op}"], name=f"/stem/{op}"))
        stream = f"s/{op}"
    sizes = made.node("Shape", stream)
    low = made.node("ConstantOfShape", made.node("Slice", sizes, "zero", "axis"))
    mask = made.node("Mul", made.node("Sub", low, made.node("Unsqueeze", "m", "axis")), "low")
    path = made.finish(tmp_path / "a.onnx", mask, stream)
    assert masks(run_analysis(path, Options())) == [
        ([TITLE], ["Shape", "Slice", "ConstantOfShape", "Unsqueeze", "Sub", "Mul"])
    ]


def test_truth_values_are_a_mask_whoever_reads_them(tmp_path):
    """Exporters also ask a mask for rows that see nothing: readers outside of the layers."""
    made = _Attention(2)
    wide = made.node("Unsqueeze", "m", "axis")
    truth = made.node("Not", made.node("Not", made.node("Greater", wide, "one")))
    made.nodes.append(helper.make_node("Not", [truth], ["a/none"], name="/a/Not"))
    made.nodes.append(helper.make_node("Where", [truth, "one", "low"], ["a/bias"], name="/a/Where"))
    path = made.finish(tmp_path / "a.onnx", "a/bias")
    assert masks(run_analysis(path, Options())) == [([TITLE], ["Unsqueeze", "Greater", "Not", "Not"])]


def test_an_einsum_of_one_input_only_transposes_a_mask(tmp_path):
    """XLNet's mask has the queries first, and each layer turns it round."""
    made = _Attention(2)
    mask = made.node("Einsum", plain(made), equation="bij->bij")
    assert len(masks(run_analysis(made.finish(tmp_path / "a.onnx", mask), Options()))) == 1


def test_a_few_nodes_stay_as_they_are(tmp_path):
    made = _Attention(2)
    analysis = run_analysis(made.finish(tmp_path / "a.onnx", made.node("Unsqueeze", "m", "axis")), Options())
    assert masks(analysis) == []


def test_a_learned_bias_is_no_plumbing(tmp_path):
    """A product of a weight makes it: its arithmetic belongs in the picture."""
    made = _Attention(2)
    made.weights["v"] = [1, 8]
    rows = made.node("Transpose", made.node("Unsqueeze", "m", "axis"), perm=[0, 2, 1])
    bias = made.node("MatMul", made.node("Neg", made.node("Relu", rows)), "v")
    analysis = run_analysis(made.finish(tmp_path / "a.onnx", bias), Options())
    assert len(analysis.structure.attention) == 2
    assert masks(analysis) == []


def pooled(op: str, output: str) -> onnx.ModelProto:
    """Tokens looked up in a table, then times their mask, which ``op`` computes first."""
    value, tensor = helper.make_tensor_value_info, helper.make_tensor
    weights = [
        tensor("w", TensorProto.FLOAT, [9, 4], [0.1] * 36),
        tensor("axis", TensorProto.INT64, [1], [-1]),
        tensor("one", TensorProto.INT64, [], [1]),
    ]
    nodes = [
        helper.make_node("Gather", ["w", "input_ids"], ["e"], "gather"),
        helper.make_node(op, ["attention_mask", "one"], ["m0"], "first"),
        helper.make_node("Unsqueeze", ["m0", "axis"], ["m1"], "wide"),
        helper.make_node("Cast", ["m1"], ["m2"], "cast", to=TensorProto.FLOAT),
        helper.make_node("Mul", ["e", "m2"], ["p"], "mul"),
        helper.make_node("Relu", ["p"], ["y"], "end"),
    ]
    inputs = [value(name, TensorProto.INT64, [1, 8]) for name in ("input_ids", "attention_mask")]
    kind = {"y": TensorProto.FLOAT, "m2": TensorProto.FLOAT}[output]
    outputs = [value(name, kind, None) for name in dict.fromkeys(("y", output))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize(
    ("op", "output", "ops"),
    [
        ("Sub", "y", ["Sub", "Unsqueeze", "Cast", "Mul"]),
        # Positions counted from a mask are data, and so is what the model returns.
        ("CumSum", "y", []),
        ("Sub", "m2", []),
    ],
)
def test_a_mask_that_a_product_reads_is_part_of_it(op, output, ops):
    analysis = run_analysis(pooled(op, output), Options())
    tree = build_box_tree(analysis)
    made = [s for s, label in enumerate(tree.label) if label == "Mul + mask"]
    assert [n.op_type for n in analysis.model.nodes if tree.node[n.id] in made] == ops
