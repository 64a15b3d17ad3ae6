"""Every model of the zoo, in both exporters, against what can be known without our code."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from export_zoo import FOLDER, MODELS, TRACED, exported, make, parts

from py_autodoc.compare import same_topology
from py_autodoc.tags import load_tags, strip_tags

pytestmark = pytest.mark.slow

CASES = [("dynamo", name) for name in MODELS] + [("torchscript", name) for name in TRACED]


@functools.cache
def plain(exporter, name):
    """What the exporter alone gives, of another instance of the model."""
    model, inputs = make(name)
    args, kwargs = parts(inputs)
    path = Path(FOLDER.name) / f"{name}.{exporter}.plain.onnx"
    with torch.no_grad():
        if exporter == "dynamo":
            torch.onnx.export(model, args, kwargs=kwargs, verbose=False).save(path)
        else:
            own = model.forward
            if kwargs:  # the exporter cannot give decorated methods their inputs by name
                model.forward = lambda *values: own(**dict(zip(kwargs, values, strict=True)))
            values = args or tuple(kwargs.values())
            torch.onnx.export(model, values, str(path), dynamo=False, input_names=list(kwargs) or None)
    return path


def without_traces(proto):
    """Stack traces name a generated file by a counter of the process; ours and its own run differ there."""
    for node in proto.graph.node:
        pending = [node]
        while pending:
            one = pending.pop()
            for entry in one.metadata_props:
                if entry.key.endswith("stack_trace"):
                    entry.value = ""
            pending.extend(inner for a in one.attribute if a.HasField("g") for inner in a.g.node)
    return proto.SerializeToString(deterministic=True)


@pytest.mark.parametrize(("exporter", "name"), CASES)
def test_only_metadata_is_added(exporter, name):
    _, _, result = exported(exporter, name)
    assert same_topology(plain(exporter, name), result.path) == []
    ours, theirs = onnx.load(result.path), onnx.load(plain(exporter, name))
    assert strip_tags(ours) == result.coverage.nodes
    own = [entry for entry in ours.metadata_props if not entry.key.startswith("hf_")]
    del ours.metadata_props[:]
    ours.metadata_props.extend(own)
    assert without_traces(ours) == without_traces(theirs)


@pytest.mark.parametrize(("exporter", "name"), CASES)
def test_every_node_is_attributed(exporter, name):
    model, _, result = exported(exporter, name)
    modules = dict(model.named_modules())
    proto = onnx.load(result.path)
    onnx.checker.check_model(proto, full_check=True)
    assert result.coverage.root == 0
    for record in result.tags.records.values():
        assert record.tag.startswith("/" + type(model).__name__)
        assert "//" not in record.tag
        assert record.scope in modules
    # What is not recorded is aliases of shared initializers, constants of LSTMs, a folded sequence.
    assert result.coverage.traced > 0.6
    _, again = load_tags(result.path)
    assert [*again.records.values()] == [*result.tags.records.values()]
    assert again.source == "nodes"
    assert [node.name for node in again.records] == [node.name for node in result.tags.records]


@pytest.mark.parametrize(("exporter", "name"), CASES)
def test_no_two_modules_share_a_tag(exporter, name):
    _, _, result = exported(exporter, name)
    tags = result.tags.namer.tags
    assert len(set(tags.values())) == len(tags)
    for path, tag in tags.items():  # the full chain of parents
        above = path.rpartition(".")[0]
        while above and above not in tags:
            above = above.rpartition(".")[0]
        assert not path or tag.rpartition("/")[0] == tags[above]


@pytest.mark.parametrize(("exporter", "name"), CASES)
def test_scopes_are_where_the_numbers_are(exporter, name):
    """Run model and file: the nodes of a module must make what a hook on that module sees."""
    model, inputs, result = exported(exporter, name)
    if name == "choice":
        pytest.skip("hooks do not run in branches")
    args, kwargs = parts(inputs)
    seen: dict[str, list[np.ndarray]] = {}

    def look(path):
        def after(_module, _inputs, output):
            first = output[0] if isinstance(output, tuple) else output
            if isinstance(first, torch.Tensor):
                seen.setdefault(path, []).append(first.detach().numpy().ravel())

        return after

    leaves = {p: m for p, m in model.named_modules() if not list(m.children()) and list(m.parameters())}
    hooks = [module.register_forward_hook(look(path)) for path, module in leaves.items()]
    with torch.no_grad():
        model(*args, **kwargs)
    for hook in hooks:
        hook.remove()
    values = all_values(result.path, [*args, *kwargs.values()])
    checked = 0
    for path, outputs in seen.items():
        mine = [n for n, record in result.tags.records.items() if path in record.origins]
        assert bool(mine) == (result.sidecar["modules"][path]["status"] == "traced") or any(
            result.tags.of(n).scopes for n in mine
        )
        made = [values[v.name] for n in mine for v in n.outputs if v.name in values]
        if not made:
            continue
        merged = any(result.tags.of(n).scopes for n in mine) or folded_into(path, result)
        if merged:  # the file has the result of both modules only: that of the later one
            continue
        for output in outputs:
            same = [m for m in made if m.size == output.size and np.allclose(m, output, atol=1e-4)]
            assert same, f"no node of {path} makes what the module returns"
        checked += 1
    assert checked or name in ("plain", "repeat")


def folded_into(path, result):
    """The module beside this one left no node: the older exporter merges a norm into what comes before."""
    above = path.rpartition(".")[0]
    rows = result.sidecar["modules"]
    beside = [rows[p] for p in rows if p.rpartition(".")[0] == above and "BatchNorm" in rows[p]["class"]]
    return any(row["status"] == "folded" for row in beside)


def all_values(path, inputs):
    proto = onnx.load(path)
    names = [o for node in proto.graph.node for o in node.output if o]
    proto.graph.output.extend(
        onnx.ValueInfoProto(name=n) for n in names if n not in {o.name for o in proto.graph.output}
    )
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    feeds = {i.name: value.numpy() for i, value in zip(session.get_inputs(), inputs, strict=True)}
    found = zip((o.name for o in session.get_outputs()), session.run(None, feeds), strict=True)
    return {name: np.asarray(value).ravel() for name, value in found if isinstance(value, np.ndarray)}


@pytest.mark.parametrize(("exporter", "name"), CASES)
def test_readers_of_a_parameter_are_in_its_owner(exporter, name):
    model, _, result = exported(exporter, name)
    owners: dict[int, set[str]] = {}
    names = dict(model.named_parameters(remove_duplicate=False))
    for full, tensor in names.items():
        owners.setdefault(tensor.data_ptr(), set()).add(result.tags.namer.canonical(full.rpartition(".")[0]))
    checked = 0
    for node, record in result.tags.records.items():
        for value in node.inputs:
            if value is None or value.producer() is not None or value.name not in names or record.scopes:
                continue
            tensor = names[value.name]
            equal = {
                o
                for n, t in names.items()
                if t.shape == tensor.shape and torch.equal(t, tensor)
                for o in owners[t.data_ptr()]
            }
            inside = any(record.scope == owner or owner.startswith(record.scope) for owner in equal)
            assert inside or record.scope in equal, (node.name, record.scope, value.name)
            checked += 1
    assert checked or (exporter, name) == ("torchscript", "repeat")  # folded norms rename its weights


@pytest.mark.parametrize(("name", "count"), [("resnet", 6), ("mobilenet", 25), ("segformer", 1)])
def test_a_merged_norm_belongs_to_the_owner_of_the_weight(name, count):
    _, _, result = exported("dynamo", name)
    merged = {n: r for n, r in result.tags.records.items() if r.via == "fused"}
    rows = result.sidecar["modules"]
    assert len(merged) == count
    norms = set()
    for record in merged.values():
        assert rows[record.scope]["class"].endswith("Conv2d")
        (norm,) = [path for path in record.scopes if path != record.scope]
        assert rows[norm]["class"].endswith("BatchNorm2d")
        assert rows[norm]["status"] == "folded"
        norms.add(norm)
    assert norms == {path for path, row in rows.items() if row["class"].endswith("BatchNorm2d")}


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_calls_and_aliases_are_told_apart(exporter):
    _, _, result = exported(exporter, "repeat")
    assert result.tags.namer.aliases == {"again": "block"}
    assert result.tags.calls("block") == 3
    sizes = [len(result.tags.below("again", call)) for call in range(3)]
    assert all(sizes)
    relus = [n for n in result.tags.below("block") if n.op_type == "Relu"]
    assert [result.tags.of(n).call.get("block", 0) for n in relus] == [0, 1, 2]
    rows = result.sidecar["modules"]
    assert rows["unused"]["status"] == "not_executed"
    assert rows["block.drop"]["status"] == "folded"
    assert "again" not in rows


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_a_part_called_inside_another_is_found_from_both(exporter):
    _, _, result = exported(exporter, "tied")
    (lookup,) = [
        n for n in result.tags.records if result.tags.of(n).scope == "shared" and n.op_type == "Gather"
    ]
    assert result.tags.of(lookup).stack == ("", "encoder", "shared")
    assert lookup in result.tags.below("encoder")
    assert lookup in result.tags.below("shared")


def test_branches_belong_to_their_modules():
    _, _, result = exported("dynamo", "choice")
    scopes = {}
    for node, record in result.tags.records.items():
        scopes.setdefault(node.op_type, []).append((record.scope, record.via))
    assert scopes["LayerNormalization"] == [("yes.norm", "trace"), ("no.norm", "trace")]
    assert scopes["Relu"] == [("yes", "trace"), ("no", "trace")]
    assert scopes["If"] == [("", "trace")]
    assert all(row["status"] in ("traced", None) for row in result.sidecar["modules"].values())


def test_torch_modules_alone_get_tags():
    _, _, result = exported("dynamo", "sequential")
    assert sorted({r.tag for r in result.tags.records.values()}) == [
        "/Sequential/Linear.0", "/Sequential/ReLU.1", "/Sequential/Sequential.2/Linear.0",
        "/Sequential/Sequential.2/ReLU.1",
    ]  # fmt: skip


def test_tags_of_a_known_model():
    _, _, result = exported("dynamo", "bert")
    tags = {r.tag for r in result.tags.records.values()}
    for layer in (0, 1):
        assert f"/BertModel/BertEncoder/BertLayer.{layer}/BertAttention/BertSelfAttention" in tags
        assert f"/BertModel/BertEncoder/BertLayer.{layer}/BertOutput/LayerNorm" in tags
    assert "/BertModel/BertEmbeddings/Embedding.word_embeddings" in tags
    assert not any("Linear" in tag or "ModuleList" in tag for tag in tags)


@pytest.mark.parametrize(("exporter", "name"), [("dynamo", "bert"), ("torchscript", "bert")])
def test_the_sidecar(exporter, name):
    model, _, result = exported(exporter, name)
    content = result.sidecar
    assert result.sidecar_path.name == f"{name}.{exporter}.onnx.json"
    rows = content["modules"]
    assert set(rows) == {path for path, _ in model.named_modules()}
    attention = rows["encoder.layer.1.attention.self"]
    assert attention["children"] == {
        "query": "Linear",
        "key": "Linear",
        "value": "Linear",
        "dropout": "Dropout",
    }
    assert "hidden_states" in attention["forward_args"]
    assert attention["parameters"] == [n for n, _ in model.encoder.layer[1].attention.self.named_parameters()]
    assert attention["direct_parameters"] == []
    assert rows["encoder.layer.1.attention.self.query"]["direct_parameters"] == ["weight", "bias"]
    assert rows["embeddings"]["buffers"] == [n for n, _ in model.embeddings.named_buffers(recurse=False)]
    assert content["expected_hierarchy"] == sorted(set(result.tags.namer.tags.values()))
    total = content["modules"][""]["nodes_total"]
    assert total == result.coverage.nodes == len(content["nodes"])
    graph = onnx.load(result.path).graph
    readers = {}
    for node in graph.node:
        for tensor in node.input:
            readers.setdefault(tensor, set()).add(content["nodes"][node.name]["tag"])
    for node in graph.node:
        for tensor in node.output:
            row = content["tensors"][tensor]
            assert row["producer"] == content["nodes"][node.name]["tag"]
            assert set(row["consumers"]) == readers.get(tensor, set())
    assert {i.name for i in graph.input} <= set(content["tensors"])
