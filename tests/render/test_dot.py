"""The DOT writer: valid syntax whatever a model holds, every node once, clusters that fit the depth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from py_autodoc.errors import LimitError
from py_autodoc.render.dot import dot, quote
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data"
HOSTILE = 'x"]; evil -> n0 [label="\\" <b>\\N\n\x00}'
STRING = r'"(?:[^"\\\n]|\\.)*"'
WORD = r"[A-Za-z_][A-Za-z0-9_]*"
ATTRIBUTES = rf"\[(?:{WORD}=(?:{STRING}|[A-Za-z0-9_.]+) ?)*\]"
LINE = re.compile(
    rf"digraph {STRING} \{{|subgraph cluster_\d+ \{{|\}}|label={STRING};"
    rf"|rankdir=LR; fontname={STRING}; fontsize=\d+;"
    rf"|(?:node|edge) {ATTRIBUTES};|[nsio]\d+ {ATTRIBUTES};|[nsi]\d+ -> [nso]\d+ {ATTRIBUTES};"
)


def payload(source, **options):
    return build_payload(
        run_analysis(str(source) if isinstance(source, Path) else source, Options(**options))
    )


def parsed(text):
    """(boxes, edges, deepest cluster) of a file, each line checked against the grammar of the writer."""
    boxes, edges, depth, deepest = set(), [], 0, 0
    for line in text.splitlines():
        assert LINE.fullmatch(line), line
        depth += line.endswith("{") - (line == "}")
        deepest = max(deepest, depth - 1)
        if found := re.match(r"([nsio]\d+) -> ([nsio]\d+)", line):
            edges.append(found.groups())
        elif found := re.match(r"[nsio]\d+", line):
            assert found[0] not in boxes
            boxes.add(found[0])
    assert depth == 0
    for source, target in edges:
        assert {source, target} <= boxes
        assert source != target
    assert len(edges) == len(set(edges))
    return boxes, edges, deepest


def named(name):
    nodes = [
        helper.make_node("Relu", ["x"], [name + "1"], name=name),
        helper.make_node("Sigmoid", [name + "1"], ["y"], name=name),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3]) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((DATA / "models").glob("*.onnx")), ids=lambda p: p.stem)
def test_every_node_is_a_box(path):
    data = payload(path, assume=True)
    boxes, _, _ = parsed(dot(data, max_boxes=10**6))
    drawn = {f"n{n}" for n in range(len(data.nodes.op))} - {f"n{n}" for n in data.nodes.constant}
    assert {box for box in boxes if box[0] == "n"} == drawn


def test_direction():
    report = payload(DATA / "models" / "mnist_cntk.onnx")
    assert "rankdir=LR;" in dot(report)
    assert "rankdir=TB;" in dot(report, direction="down")


def test_names_stay_text():
    text = dot(payload(named(HOSTILE)))
    boxes, edges, _ = parsed(text)
    assert len(boxes) == 4
    assert len(edges) == 3
    assert 'label="1×3"' in text


@pytest.mark.parametrize("text", ['a"b', "a\\", "\\N", "\n", "\x00\x85\u2028", "…" * 500, "\ud800"])
def test_quoted(text):
    assert re.fullmatch(STRING, quote(text))
    assert len(quote(text)) < 200


def test_entities_stay_text():
    assert quote("a&lt;b", "&#60;&amp;", "a & b; &") == r'"a&amp;lt;b\n&amp;#60;&amp;amp;\na & b; &"'


def test_depth_closes_modules_and_keeps_the_sums():
    data = payload(DATA / "stripped" / "bert_base.stripped.onnx", assume=True)
    whole = parsed(dot(data))
    sizes = []
    for depth in range(4):
        boxes, edges, deepest = parsed(dot(data, depth))
        assert deepest <= depth
        assert edges
        sizes.append(len(boxes))
    assert sizes == sorted(sizes)
    assert sizes[0] < 10 < sizes[-1] <= len(whole[0])
    assert "109 M params" in dot(data, 0)


def test_too_large_names_a_depth_that_fits():
    data = payload(DATA / "stripped" / "bert_base.stripped.onnx", assume=True)
    with pytest.raises(LimitError) as caught:
        dot(data, max_boxes=100)
    depth = int(re.search(r"--depth (\d+)", caught.value.hint)[1])
    parsed(dot(data, depth, max_boxes=100))
    with pytest.raises(LimitError):
        dot(data, depth + 1, max_boxes=100)


def test_unknown_costs_are_not_zero():
    graph = helper.make_graph(
        [
            helper.make_node("Odd", ["x"], ["a"], domain="vendor", name="/block/odd"),
            helper.make_node("MatMul", ["a", "w"], ["y"], name="/block/mul"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor("w", TensorProto.FLOAT, [3, 4], [0.0] * 12)],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("vendor", 1)]
    model = helper.make_model(graph, opset_imports=opsets)
    text = dot(payload(model))
    assert re.search(r'label="Odd\\n[^"]*MACs unknown', text)


def test_free_dimensions_are_told():
    data = payload(DATA / "stripped" / "bert_base_dyn.stripped.onnx")
    assert " symbolic" in dot(data).splitlines()[1]
    assumed = payload(DATA / "stripped" / "bert_base_dyn.stripped.onnx", assume=True)
    assert "(assumed)" in dot(assumed).splitlines()[1]


def test_roles_and_settings_are_told():
    data = payload(DATA / "models" / "silero_vad_half.onnx", assume=True)
    roles = {role for kind, role in zip(data.scopes.type, data.scopes.role, strict=True) if role and not kind}
    text = dot(data, max_boxes=10**6)
    assert roles
    assert all(f'label="{role}' in text for role in roles)
    setting = next(iter(data.nodes.settings))
    kind = data.ops[data.nodes.op[int(setting)]].type
    assert f'n{setting} [label="{kind} {data.nodes.settings[setting]}' in text
