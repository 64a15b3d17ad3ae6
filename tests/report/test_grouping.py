"""Boxes for repeats and recognised structures in the viewer's tree."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from py_autodoc.report.box_tree.grouping import (
    FOLD,
    MAX_LOOSE_NODES,
    PART,
    PLUMBING,
    STRUCTURE,
    build_box_tree,
)
from py_autodoc.report.box_tree.preparation_nodes import (
    MASK,
    SIZES,
    WEIGHTS,
    move_to_readers,
    preparation_nodes,
    with_masks,
)
from py_autodoc.report.module_tree.scope_tree import ScopeTree, scope_tree
from py_autodoc.report.pipeline.analysis import Options, run_analysis

MADE = (FOLD, PART, STRUCTURE, PLUMBING)
DATA = Path(__file__).parents[1] / "data"
MODELS = sorted([*DATA.glob("models/*.onnx"), *DATA.glob("stripped/*.onnx")])


def analysed(name):
    return run_analysis(DATA / f"{name}.onnx", Options(assume=True))


def chain(tree, node):
    """Scopes of a node from the inside out."""
    scope, found = tree.node[node], []
    while scope >= 0:
        found.append(scope)
        scope = tree.parent[scope]
    return found


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_tree_is_sound(path):
    analysis = run_analysis(path, Options(assume=True))
    model, modules, tree = analysis.model, scope_tree(analysis.model), build_box_tree(analysis)
    assert all(parent < scope for scope, parent in enumerate(tree.parent))
    inputs = [tensor for tensor, role in analysis.identified.roles.items() if "mask" in role]
    prepares = with_masks(model, analysis.types, preparation_nodes(model, analysis.types), inputs, ()).kind
    drawn = [node.id for node in model.nodes if not node.is_constant]
    others = {scope for node in drawn if prepares.get(node) != SIZES for scope in chain(modules, node)}
    for node in model.nodes:
        kind = prepares.get(node.id)
        if kind == WEIGHTS:
            continue
        # The modules of a node are what they were, or one call of them; the other boxes lie between them.
        before = [modules.label[scope] for scope in chain(modules, node.id)]
        after = [
            re.sub(r" \(\d+ of \d+\)$", "", tree.label[scope])
            for scope in chain(tree, node.id)
            if tree.origin[scope] not in MADE
        ]
        if kind in (SIZES, MASK):
            # They stay in their modules, except those that hold only sizes, or go deeper, to their reader.
            before = [modules.label[scope] for scope in chain(modules, node.id) if scope in others]
            assert after[len(after) - len(before) :] == before
            continue
        assert after == before
    assert [tree.label[s] if s >= 0 else "" for s in tree.graph] == [
        modules.label[s] if s >= 0 else "" for s in modules.graph
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_no_box_waits_for_itself(path):
    """No path leaves a box that is made here and comes back."""
    analysis = run_analysis(path, Options(assume=True))
    model, tree = analysis.model, build_box_tree(analysis)
    inside: dict[int, set[int]] = {}
    for node in model.nodes:
        for scope in chain(tree, node.id):
            if tree.origin[scope] in MADE:
                inside.setdefault(scope, set()).add(node.id)
    readers = [
        {reader for tensor in node.outputs if tensor >= 0 for reader in model.tensors[tensor].consumers}
        for node in model.nodes
    ]
    for nodes in inside.values():
        left = {reader for node in nodes for reader in readers[node]} - nodes
        seen = set(left)
        while left:
            left = {reader for node in left for reader in readers[node]} - seen
            seen |= left
        assert not seen & nodes


@pytest.mark.parametrize(
    ("name", "label", "parts"),
    [
        ("stripped/bert_base.stripped", "BertLayer ×12", 12),
        ("stripped/gpt2.stripped", "GPT2Block ×12", 12),
        ("stripped/llama32_narrow.stripped", "LlamaDecoderLayer ×32", 32),
        ("stripped/vit_b16.stripped", "ViTLayer ×12", 12),
    ],
)
def test_equal_layers_are_one_box_that_opens_into_all(name, label, parts):
    tree = build_box_tree(analysed(name))
    folds = [scope for scope, text in enumerate(tree.label) if text == label]
    assert [tree.origin[scope] for scope in folds] == [FOLD]
    assert sum(parent == folds[0] for parent in tree.parent) == parts


def test_a_model_without_names_gets_boxes_by_structure():
    analysis = analysed("models/ddddocr_det.stripped")
    tree = build_box_tree(analysis)
    assert {"scope", "name"}.isdisjoint(tree.origin)
    titles = {
        re.split(r" \(| \d| · ", label)[0]
        for label, o in zip(tree.label, tree.origin, strict=True)
        if o == STRUCTURE
    }
    assert {"Residual", "Conv block"} <= titles
    top = sum(scope == -1 for scope in tree.node) + sum(parent == -1 for parent in tree.parent)
    assert top < len(analysis.model.nodes) / 2


def test_named_modules_get_no_boxes_by_structure():
    tree = build_box_tree(analysed("stripped/resnet50.stripped"))
    assert STRUCTURE not in tree.origin
    assert MAX_LOOSE_NODES < 40  # below the first picture's budget of boxes


@pytest.mark.parametrize("name", ["squeezenet", "resnet50", "vgg19", "bvlc_alexnet"])
def test_weights_that_the_graph_makes_stand_with_what_reads_them(name):
    """A maker of one reader is in its box, whatever names the makers share; no box is left empty."""
    analysis = analysed(f"models/light_{name}")
    model, tree = analysis.model, build_box_tree(analysis)
    made = preparation_nodes(model, analysis.types).of(WEIGHTS)
    assert len(made) > 10
    for node in made:
        readers = model.tensors[model.nodes[node].outputs[0]].consumers
        if len(readers) == 1:
            assert tree.node[node] == tree.node[readers[0]]
            assert tree.origin[tree.node[node]] == PLUMBING
    kept = {scope for node in model.nodes if node.id not in made for scope in chain(tree, node.id)}
    assert kept == set(range(len(tree.parent)))


def test_a_maker_is_in_no_box_of_parts_but_beside_it():
    """Two parts of a repeat read it: a box of parts holds nothing else."""
    tree = ScopeTree(
        parent=[-1, 0, 1, 1], label=["m", "L ×2", "#1", "#2"], type=[""] * 4,
        origin=["module", FOLD, PART, PART], node=[-1, 2, 3, 3], graph=[-1],
    )  # fmt: skip
    move_to_readers(tree, [0], lambda _: [1, 2], frozenset({1}))
    assert tree.node[0] == 0
    move_to_readers(tree, [0], lambda _: [2, 3], frozenset({1}))
    assert tree.node[0] == 3
    move_to_readers(tree, [0], lambda _: [], frozenset())
    assert tree.node[0] == 3


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("mixtral_batched_mm.ts", "layers ×2"),
        ("bertd.fused", "layer ×2"),
        ("bert.q8dyn", "layer ×2"),
        ("bert.nbits", "layer ×2"),
        ("llama.nbits", "layers ×2"),
        ("gpt2.ts", "h ×2"),
        ("vit.fused", "Transformer layer ×2"),
    ],
)
def test_two_equal_layers_are_one_box(name, label):
    """Also where the first of them makes what both read, and where an optimizer fused what they were."""
    with zipfile.ZipFile(DATA / "zoo.zip") as zoo:
        tree = build_box_tree(run_analysis(zoo.read(f"{name}.onnx"), Options(assume=True)))
    folds = [scope for scope, text in enumerate(tree.label) if text == label]
    assert [tree.origin[scope] for scope in folds] == [FOLD]
    assert sum(parent == folds[0] for parent in tree.parent) == 2
