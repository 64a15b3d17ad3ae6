"""Names of modules: chains of classes, instance numbers, and no two the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_autodoc.tags import KEEP, Namer
from py_autodoc.tags.paths import below, common, parent, self_and_ancestors

BERT = {
    "": "t.BertModel",
    "embeddings": "t.BertEmbeddings",
    "embeddings.word": "torch.nn.modules.sparse.Embedding",
    "embeddings.position": "torch.nn.modules.sparse.Embedding",
    "embeddings.norm": "torch.nn.modules.normalization.LayerNorm",
    "encoder": "t.BertEncoder",
    "encoder.layer": "torch.nn.modules.container.ModuleList",
    "encoder.layer.0": "t.BertLayer",
    "encoder.layer.0.attention": "t.BertAttention",
    "encoder.layer.0.attention.query": "torch.nn.modules.linear.Linear",
    "encoder.layer.1": "t.BertLayer",
    "encoder.layer.1.attention": "t.BertAttention",
}


def test_the_required_form():
    namer = Namer(BERT)
    assert namer.tag("encoder.layer.1.attention") == "/BertModel/BertEncoder/BertLayer.1/BertAttention"
    assert namer.tag("encoder.layer.0.attention.query") == "/BertModel/BertEncoder/BertLayer.0/BertAttention"
    assert namer.tag("encoder.layer") == "/BertModel/BertEncoder"
    assert namer.tag("embeddings.norm") == "/BertModel/BertEmbeddings/LayerNorm"
    assert namer.tag("embeddings.word") == "/BertModel/BertEmbeddings/Embedding.word"
    assert namer.tag("") == "/BertModel"
    assert namer.tag("embeddings.unheard.of") == "/BertModel/BertEmbeddings"


def test_the_exceptions_can_be_chosen():
    assert Namer(BERT, keep=()).tag("embeddings.norm") == "/BertModel/BertEmbeddings"
    assert Namer(BERT, keep=("Lin*",)).tag("encoder.layer.0.attention.query").endswith("/Linear")
    listed = {
        name.rpartition(".")[2]
        for name in ("a.BatchNorm1d", "a.BatchNorm3d", "a.GroupNorm", "a.InstanceNorm2d")
    }
    classes = {"": "m.Net", **{name: f"torch.nn.{name}" for name in listed}, "r": "torch.nn.ReLU"}
    assert set(Namer(classes, keep=KEEP).tags) == {"", *listed}


def test_a_model_of_torch_alone():
    classes = {
        "": "torch.nn.Sequential",
        "0": "torch.nn.Linear",
        "1": "torch.nn.ReLU",
        "2": "torch.nn.Linear",
    }
    assert list(Namer(classes).tags.values()) == [
        "/Sequential", "/Sequential/Linear.0", "/Sequential/ReLU.1", "/Sequential/Linear.2",
    ]  # fmt: skip


def test_aliases():
    namer = Namer(BERT, {"first": "encoder.layer.0", "other.way": "first"})
    assert namer.canonical("first.attention.query") == "encoder.layer.0.attention.query"
    assert namer.canonical("other.way.attention") == "encoder.layer.0.attention"
    assert namer.tag("other.way") == "/BertModel/BertEncoder/BertLayer.0"
    assert namer.knows("first.attention")
    assert not namer.knows("first.nothing")
    assert Namer(BERT, {"a": "b", "b": "a"}).canonical("a.x").endswith(".x")  # ends


def test_slashes_in_names_are_no_levels():
    classes = {"": "m.Net", "by.a/b": "m.Part", "by.a%2Fb": "m.Part"}
    tags = Namer(classes).tags
    assert tags["by.a/b"] == "/Net/Part.by.a%2Fb"
    assert tags["by.a%2Fb"] == "/Net/Part.by.a%252Fb"


names = st.text(st.sampled_from("ab01_/%@"), min_size=1, max_size=3)
kinds = st.sampled_from(
    ["m.A", "m.B", "m.A.B", "torch.nn.Linear", "torch.nn.LayerNorm", "torch.X", "n.A/B", "", "m.A%2FB"]
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.lists(names, min_size=1, max_size=4).map(".".join), kinds, max_size=12), kinds)
def test_tags_are_injective_and_chains_complete(classes, root):
    whole = {"": root}
    for path, kind in classes.items():
        for above in self_and_ancestors(path):
            whole.setdefault(above, "m.Between")
        whole[path] = kind
    namer = Namer(whole)
    assert len(set(namer.tags.values())) == len(namer.tags)
    assert list(namer.collisions()) == []
    for path, tag in namer.tags.items():
        assert tag.startswith("/")
        assert "//" not in tag
        assert not tag.endswith("/")
        above = parent(path)
        while above and above not in namer.tags:
            above = parent(above)
        assert not path or tag.rpartition("/")[0] == namer.tags[above]


@pytest.mark.parametrize(
    ("paths", "shared"),
    [
        ((), ""),
        (("a.b",), "a.b"),
        (("a.b", "a.b.c"), "a.b"),
        (("a.b", "a.bc"), "a"),
        (("a", "b"), ""),
        (("", "a"), ""),
    ],
)
def test_common(paths, shared):
    assert common(paths) == shared
    assert all(below(path, shared) for path in paths)
    assert self_and_ancestors("a.b.c") == ["", "a", "a.b", "a.b.c"]
    assert self_and_ancestors("") == [""]
