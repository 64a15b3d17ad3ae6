"""Every module of every model of the zoo, and every call of it, as a model that runs.

All that is expected comes from the full model in ONNX Runtime: the sub-model, fed with the full model's
tensors, must return the full model's tensors, bit for bit.
"""

from __future__ import annotations

import functools

import numpy as np
import onnx
import pytest
import torch
from export_zoo import MODELS, TRACED, exported, parts
from extract_oracle import Oracle, session

from py_autodoc.errors import OptionError
from py_autodoc.extract import extract, extract_module_subgraph
from py_autodoc.extract import write_sub_model as extract_model
from py_autodoc.tags import load_tags

pytestmark = pytest.mark.slow

FOLDED = {"module-folded", "module-without-nodes", "unknown-module"}
MANY = {"mobilenet", "swin"}
"""TorchScript makes about a thousand nodes of each, dynamo a tenth: the same modules in minutes less."""
CASES = [("dynamo", name) for name in MODELS] + [("torchscript", n) for n in TRACED if n not in MANY]
IN_BODIES = {"choice"}


def feeds_of(path, inputs):
    args, kwargs = parts(inputs)
    values = [value.numpy() for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
    known = session(str(path)).get_inputs()
    return {one.name: value for one, value in zip(known, values, strict=True)}


def targets(tags):
    """Every tag, every module path, and every call of modules that are called several times."""
    for tag in sorted(set(tags.by_tag())):
        yield tag, None
    for path in sorted({*tags.namer.tags, *tags.namer.classes, *(r.scope for r in tags.records.values())}):
        yield path, None
        calls = tags.calls(path)
        if calls > 1:
            yield from ((path, call) for call in range(calls))


@pytest.fixture
def read_once(monkeypatch):
    """One reading of the file serves all of its parts, which is what takes the time."""
    monkeypatch.setattr(extract_model, "_open", functools.cache(extract_model._open))


@pytest.mark.parametrize(("exporter", "name"), CASES)
@pytest.mark.usefixtures("read_once")
def test_every_module_runs_alone(exporter, name, tmp_path):
    _, inputs, result = exported(exporter, name)
    oracles = {"": Oracle(result.path, feeds_of(result.path, inputs))}
    if name in IN_BODIES:
        oracles |= branches(result.path, inputs)
    _, tags = load_tags(result.path)
    seen = {}
    left_out = 0
    for path, call in targets(tags):
        if not path.startswith("/") and not tags.below(path, call):
            with pytest.raises(OptionError) as why:
                extract_module_subgraph(result.path, path, call=call)
            assert why.value.code in FOLDED
            left_out += 1
            continue
        part = extract_module_subgraph(result.path, path, call=call)
        if name not in IN_BODIES and not path.startswith("/"):
            assert {node.name for node in tags.below(path, call)} == {*part.operations}
        known = seen.setdefault(part.operations, part)
        if known is not part:  # a wrapper around one part is that part
            assert known.external_inputs == part.external_inputs
            continue
        # A new name: file systems write to the disk at once what replaces another file.
        out = tmp_path / f"part{len(seen)}.onnx"
        found = extract(result.path, out, path, call=call)
        assert found.subgraph == part
        owner = next((key for key, one in oracles.items() if set(part.outputs) <= one.values.keys()), None)
        assert owner is not None, f"{path}: nobody can tell what {part.outputs} should be"
        assert oracles[owner].check(out) == len(part.outputs)
    assert len(seen) > 1
    assert left_out < len(tags.namer.classes)


def branches(path, inputs):
    """The model with one branch in place of each If, so that its tensors can be asked for."""
    found = {}
    for key in ("then_branch", "else_branch"):
        model = onnx.load(path)
        nodes = []
        for node in model.graph.node:
            if node.op_type != "If":
                nodes.append(node)
                continue
            (body,) = [attribute.g for attribute in node.attribute if attribute.name == key]
            nodes.extend(body.node)
            model.graph.initializer.extend(body.initializer)
            ends = zip(body.output, node.output, strict=True)
            nodes.extend(onnx.helper.make_node("Identity", [one.name], [out]) for one, out in ends)
        inlined = path.with_suffix(f".{key}.onnx")
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        onnx.save(model, inlined)
        found[key] = Oracle(inlined, feeds_of(inlined, inputs))
    return found


def test_the_zoo_has_what_it_is_for():
    """Repeated calls, and modules in the branches of an If."""
    _, tags = load_tags(exported("dynamo", "repeat")[2].path)
    assert max(tags.calls(path) for path in tags.namer.tags) > 1
    path = exported("dynamo", "choice")[2].path
    for branch in ("yes", "no"):
        part = extract_module_subgraph(onnx.load(path), branch)
        assert part.widened == ()
        assert part.outputs
    assert MODELS


def test_calls_of_one_module_share_no_node():
    path = exported("torchscript", "repeat")[2].path
    proto = onnx.load(path)
    _, tags = load_tags(path)
    calls = tags.calls("block")
    parts_ = [extract_module_subgraph(proto, "block", call=call).operations for call in range(calls)]
    assert calls == 3
    assert np.unique([name for one in parts_ for name in one]).size == sum(map(len, parts_))
