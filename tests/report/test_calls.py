"""Modules that are called at several places: a box a call, and no picture with wires that run back."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import msgspec
import onnx
import pytest
from builders import model as make
from builders import weight
from onnx import helper

from py_autodoc.report.box_tree.grouping import build_box_tree
from py_autodoc.report.module_tree.scope_tree import scope_tree
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
MODELS = sorted([*DATA.glob("models/*.onnx"), *DATA.glob("stripped/*.onnx")])
READY = shutil.which("node") and (ROOT / "node_modules" / "esbuild").is_dir()


def chained(*names, width=8):
    """A chain of elementwise nodes with these names."""
    nodes = [helper.make_node("Relu", [f"t{at}"], [f"t{at + 1}"], name=name) for at, name in enumerate(names)]
    return make(nodes, [("t0", [1, width])], [(f"t{len(names)}", [1, width])])


def waits(count, sources, names):
    """A graph of Sum nodes: node i reads the nodes in ``sources[i]``."""
    nodes = [
        helper.make_node("Sum", [f"t{s}" for s in sources[i]] or ["x"], [f"t{i}"], name=names[i])
        for i in range(count)
    ]
    return make(nodes, [("x", [1, 8])], [(f"t{count - 1}", [1, 8])])


def analysed(proto, tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    return run_analysis(path, Options(assume=True))


def paths(tree):
    """The labels around each node, from the outside in."""
    return ["/".join(tree.path(scope)) for scope in tree.node]


def circles(model, tree):
    """Levels whose boxes wait for each other, found by taking away what waits for nothing."""

    def chain(scope):
        found = []
        while scope >= 0:
            found.append(scope)
            scope = tree.parent[scope]
        return found[::-1]

    chains = [chain(scope) for scope in tree.node]
    links: dict[int, set[tuple]] = {}
    for node in model.nodes:
        for tensor in node.outputs:
            for found in model.tensors[tensor].consumers if tensor >= 0 else ():
                reader = found
                while reader >= 0 and model.nodes[reader].graph != node.graph:
                    reader = model.graphs[model.nodes[reader].graph].parent_node
                if reader < 0:
                    continue
                a, b = chains[node.id], chains[reader]
                depth = 0
                while depth < min(len(a), len(b)) and a[depth] == b[depth]:
                    depth += 1
                ends = [
                    ("box", c[depth]) if depth < len(c) else ("node", n)
                    for c, n in ((a, node.id), (b, reader))
                ]
                if ends[0] != ends[1]:
                    links.setdefault(a[depth - 1] if depth else -1, set()).add(tuple(ends))
    waiting = []
    for level, pairs in links.items():
        left = set(pairs)
        while left:
            targets = {b for _, b in left}
            rest = {(a, b) for a, b in left if a in targets}
            if rest == left:
                waiting.append(level)
                break
            left = rest
    return waiting


def test_a_shared_pooling_layer_is_a_box_a_call(tmp_path):
    """Two nodes a call, or a box would be no box."""
    calls = [("/pool/Relu", "/pool/Tanh"), ("/conv1/a", "/conv1/b")]
    names = [*calls[0], *calls[1], *calls[0], "/conv2/a", "/conv2/b", *calls[0]]
    analysis = analysed(chained(*names), tmp_path)
    tree = build_box_tree(analysis)
    assert paths(tree) == [
        *["pool (1 of 3)"] * 2, *["conv1"] * 2, *["pool (2 of 3)"] * 2, *["conv2"] * 2, *["pool (3 of 3)"] * 2
    ]  # fmt: skip
    assert circles(analysis.model, scope_tree(analysis.model)) == [-1]
    assert not circles(analysis.model, tree)


def test_the_sums_of_the_calls_are_those_of_the_module(tmp_path):
    """Each node is in one call; a weight that the calls share is counted once, at its first user."""
    nodes, last = [], "x"
    for call in range(3):
        nodes.append(helper.make_node("MatMul", [last, "w"], [f"a{call}"], name="/shared/MatMul"))
        nodes.append(helper.make_node("Add", [f"a{call}", "b"], [f"b{call}"], name="/shared/Add"))
        nodes.append(helper.make_node("Relu", [f"b{call}"], [f"c{call}"], name="/Relu"))
        last = f"c{call}"
    proto = make(nodes, [("x", [2, 4])], [(last, [2, 4])], [weight("w", 4, 4), weight("b", 4)])
    payload = build_payload(analysed(proto, tmp_path))
    boxes = [at for at, label in enumerate(payload.scopes.label) if label.startswith("shared (")]
    assert [payload.scopes.label[at] for at in boxes] == [f"shared ({n} of 3)" for n in (1, 2, 3)]
    macs, params = payload.nodes.macs, payload.nodes.params

    def summed(column):
        return [sum(v for v, s in zip(column, payload.nodes.scope, strict=True) if s == box) for box in boxes]

    assert summed(macs) == [2 * 4 * 4] * 3
    assert summed(params) == [20, 0, 0]


def test_calls_side_by_side_stay_one_box(tmp_path):
    """Nothing runs back: one box for both says the same with less."""
    sources = [[], [0], [], [2], [1, 3]]
    names = ["/enc/a", "/enc/b", "/enc/a", "/enc/b", "/join"]
    tree = build_box_tree(analysed(waits(5, sources, names), tmp_path))
    assert paths(tree) == [*["enc"] * 4, ""]


def test_two_modules_that_wait_for_each_other(tmp_path):
    """a → b and b → a by other nodes: each could stand alone, both can not."""
    sources = [[], [0], [], [2], [1, 3]]
    names = ["/a/one", "/b/one", "/b/two", "/a/two", "/join"]
    analysis = analysed(waits(5, sources, names), tmp_path)
    tree = build_box_tree(analysis)
    assert not circles(analysis.model, tree)
    assert sum(len({p for p in paths(tree) if p.startswith(name)}) for name in "ab") == 3


def test_one_layer_called_again_and_again_is_cut_between_its_calls(tmp_path):
    parts = ["/enc/layer/attention/a", "/enc/layer/attention/b", "/enc/layer/ffn/a", "/enc/layer/ffn/b"]
    tree = build_box_tree(analysed(chained(*parts * 4), tmp_path))
    around = [tree.path(scope) for scope in tree.node]
    assert around[0][0] == "enc"
    assert [path[-2:] for path in around] == [
        [f"layer ({call} of 4)", part]
        for call in (1, 2, 3, 4)
        for part in ("attention", "attention", "ffn", "ffn")
    ]


def test_bodies_go_with_their_node(tmp_path):
    """A shared module with an If in it: the body of each call stands in the box of its call."""

    def branch(name):
        out = helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 8])
        nodes = [
            helper.make_node("Relu", ["x"], [f"{name}_r"], name=f"/gate/in/{name}"),
            helper.make_node("Tanh", [f"{name}_r"], [name], name=f"/gate/in/{name}2"),
        ]
        return helper.make_graph(nodes, name, [], [out])

    nodes = []
    for call, data in enumerate(("x", "m0")):
        nodes += [
            helper.make_node("ReduceSum", [data], [f"s{call}"], keepdims=0, name="/gate/sum"),
            helper.make_node("Cast", [f"s{call}"], [f"c{call}"], to=onnx.TensorProto.BOOL, name="/gate/cast"),
            helper.make_node(
                "If", [f"c{call}"], [f"y{call}"], name="/gate/If",
                then_branch=branch(f"then{call}"), else_branch=branch(f"else{call}"),
            ),
            helper.make_node("Neg", [f"y{call}"], [f"m{call}"], name="/Neg"),
        ]  # fmt: skip
    analysis = analysed(make(nodes, [("x", [1, 8])], [("m1", [1, 8])]), tmp_path)
    model, tree = analysis.model, build_box_tree(analysis)
    assert not circles(model, tree)
    for node in model.nodes:
        if node.graph:
            control = model.graphs[node.graph].parent_node
            outer = tree.path(tree.node[control])
            assert outer[0].startswith("gate (")
            assert tree.path(tree.node[node.id])[: len(outer)] == outer


@pytest.mark.parametrize("seed", range(60))
def test_no_level_of_a_random_graph_has_a_circle(seed, tmp_path):
    """Whatever the names say; and boxes that are in order are left as they are."""
    draw = random.Random(seed)
    count = draw.randrange(5, 60)
    sources = [sorted(draw.sample(range(i), min(i, draw.randrange(0, 4)))) for i in range(count)]
    names = ["/" + "/".join(draw.choice("abc") for _ in range(draw.randrange(1, 4))) for _ in range(count)]
    analysis = analysed(waits(count, sources, names), tmp_path)
    before, tree = scope_tree(analysis.model), build_box_tree(analysis)
    assert not circles(analysis.model, tree)
    for node, scope in enumerate(tree.node):
        named = [
            tree.label[s].partition(" (")[0]
            for s in _around(tree, scope)
            if tree.origin[s] not in ("repeat", "repeat-part", "structure")
        ]
        assert named == before.path(before.node[node])
    if not circles(analysis.model, before):
        assert not any(" of " in label for label in tree.label)


def _around(tree, scope):
    found = []
    while scope >= 0:
        found.append(scope)
        scope = tree.parent[scope]
    return found[::-1]


@pytest.mark.skipif(not READY, reason="needs Node and the packages of the viewer")
def test_no_picture_has_a_wire_that_runs_back(tmp_path):
    """The corpus and made graphs: the first picture, all closed, all open."""
    made = []
    for seed in range(12):
        draw = random.Random(1000 + seed)
        sources = [sorted(draw.sample(range(i), min(i, draw.randrange(0, 4)))) for i in range(40)]
        names = ["/" + "/".join(draw.choice("abc") for _ in range(draw.randrange(1, 4))) for _ in range(40)]
        made.append(tmp_path / f"random{seed}.onnx")
        onnx.save(waits(40, sources, names), made[-1])
    files = []
    for path in [*MODELS, *made]:
        files.append(tmp_path / f"{path.stem}.json")
        files[-1].write_bytes(msgspec.json.encode(build_payload(run_analysis(path, Options(assume=True)))))
    done = subprocess.run(
        ["node", Path(__file__).with_name("back_wires.mjs"), *files],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {file.stem: json.loads(line) for file, line in zip(files, done.stdout.splitlines(), strict=True)}
    assert {name: views for name, views in found.items() if any(views.values())} == {}
