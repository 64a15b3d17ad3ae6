"""Cutting graphs written by hand: wiring, constants, bodies, weights, errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from extract_oracle import Oracle
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AnalysisError, ExternalDataError, OptionError, OutputError
from py_autodoc.extract import extract, extract_module_subgraph
from py_autodoc.extract import write_sub_model as extracting

FLOAT = TensorProto.FLOAT


def tagged(node: onnx.NodeProto, scope: str) -> onnx.NodeProto:
    """A node as torch's exporter leaves it, with our tags."""
    tag = "/Net" + "".join(f"/{part.title()}" for part in scope.split(".") if part)
    for key, value in (("autodoc.tag", tag), ("autodoc.scope", scope), ("autodoc.via", "trace")):
        node.metadata_props.add(key=key, value=value)
    return node


def weight(name: str, *shape: int, seed: int = 0) -> onnx.TensorProto:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def model(
    nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], outputs: list[str], **graph
) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("x", FLOAT, ["n", 4])]
    made = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs]
    body = helper.make_graph(nodes, "net", inputs, made, weights, **graph)
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def two_layers() -> onnx.ModelProto:
    nodes = [
        tagged(helper.make_node("Constant", [], ["two"], "c", value_float=2.0), ""),
        tagged(helper.make_node("Mul", ["scale", "two"], ["scaled"], "m"), ""),
        tagged(helper.make_node("MatMul", ["x", "w1"], ["a"], "mm1"), "one"),
        tagged(helper.make_node("Mul", ["a", "scaled"], ["b"], "mul1"), "one"),
        tagged(helper.make_node("Relu", ["b"], ["r"], "relu"), ""),
        tagged(helper.make_node("MatMul", ["r", "w2"], ["d"], "mm2"), "two"),
        tagged(helper.make_node("Add", ["d", "b"], ["y"], "add"), "two"),
    ]
    return model(nodes, [weight("w1", 4, 4), weight("w2", 4, 4, seed=1), weight("scale", 1)], ["y"])


@pytest.fixture
def saved(tmp_path: Path):
    def save(proto: onnx.ModelProto, **options) -> tuple[Path, Oracle]:
        path = tmp_path / "net.onnx"
        onnx.save(proto, path, **options)
        feeds = {"x": np.random.default_rng(5).normal(size=(3, 4)).astype(np.float32)}
        return path, Oracle(path, feeds)

    return save


def test_a_module_with_the_constants_it_needs(saved, tmp_path: Path) -> None:
    path, oracle = saved(two_layers())
    found = extract(path, tmp_path / "one.onnx", "/Net/One")
    part = found.subgraph
    assert part.operations == ("mm1", "mul1")
    assert part.external_inputs == ("x",)
    assert part.internal_tensors == ("a",)
    assert part.outputs == ("b",)
    assert part.constants == ("c", "m")
    assert part.boundary_operations == ()
    assert part.convex
    assert oracle.check(tmp_path / "one.onnx") == 1
    written = onnx.load(tmp_path / "one.onnx")
    assert {one.name for one in written.graph.initializer} == {"w1", "scale"}
    facts = json.loads({entry.key: entry.value for entry in written.metadata_props}["autodoc.extracted"])
    assert facts == {"from": "net.onnx", "target": "/Net/One", "call": None, "convex": True}


def test_by_path_by_tensor_and_by_id_are_the_same(saved, tmp_path: Path) -> None:
    path, oracle = saved(two_layers())
    by_tag = extract(path, tmp_path / "tag.onnx", "/Net/Two").subgraph
    by_path = extract(path, tmp_path / "path.onnx", "two").subgraph
    by_name = extract(path, tmp_path / "names.onnx", outputs=["d", "y"]).subgraph
    by_id = extract(path, tmp_path / "ids.onnx", nodes=[6, 5]).subgraph
    assert by_tag.operations == by_path.operations == by_name.operations == by_id.operations == ("mm2", "add")
    assert by_tag.external_inputs == ("r", "b")
    assert by_tag.boundary_operations == ("mul1", "relu")
    for name in ("tag", "path", "names", "ids"):
        oracle.check(tmp_path / f"{name}.onnx")


def test_nodes_around_others_are_not_convex_and_still_right(saved, tmp_path: Path) -> None:
    path, oracle = saved(two_layers())
    part = extract(path, tmp_path / "hole.onnx", outputs=["b", "d"]).subgraph  # the Relu between is left out
    assert not part.convex
    assert set(part.external_inputs) == {"a", "r"}
    oracle.check(tmp_path / "hole.onnx")


def test_the_whole_model(saved, tmp_path: Path) -> None:
    path, oracle = saved(two_layers())
    part = extract(path, tmp_path / "all.onnx", "/").subgraph
    assert part.external_inputs == ("x",)
    assert part.outputs == ("y",)
    oracle.check(tmp_path / "all.onnx")


def test_random_nodes_are_no_constants(saved) -> None:
    nodes = [
        tagged(helper.make_node("RandomNormal", [], ["noise"], "noise", shape=[1]), ""),
        tagged(helper.make_node("Mul", ["x", "noise"], ["y"], "mul"), "one"),
    ]
    part = extract_module_subgraph(model(nodes, [], ["y"]), "one")
    assert part.constants == ()
    assert part.external_inputs == ("x", "noise")


def conditional() -> onnx.ModelProto:
    def branch(name: str, op: str) -> onnx.GraphProto:
        inner = tagged(helper.make_node(op, ["a", "w2"], [f"{name}_y"], f"{name}_op"), name)
        return helper.make_graph([inner], name, [], [helper.make_tensor_value_info(f"{name}_y", FLOAT, None)])

    choose = helper.make_node(
        "If", ["flag"], ["y"], "if", then_branch=branch("then", "Mul"), else_branch=branch("other", "Add")
    )
    nodes = [
        tagged(helper.make_node("MatMul", ["x", "w1"], ["a"], "mm"), "pre"),
        tagged(helper.make_node("ReduceSum", ["a"], ["s"], "sum", keepdims=0), "pre"),
        tagged(helper.make_node("Greater", ["s", "zero"], ["flag"], "flag"), "pre"),
        tagged(choose, "choice"),
    ]
    zero = numpy_helper.from_array(np.float32(0), "zero")
    return model(nodes, [weight("w1", 4, 4), weight("w2", 4), zero], ["y"])


def test_what_bodies_capture_goes_in(saved, tmp_path: Path) -> None:
    path, oracle = saved(conditional())
    part = extract(path, tmp_path / "if.onnx", "choice").subgraph
    assert part.external_inputs == ("flag", "a")
    assert oracle.check(tmp_path / "if.onnx") == 1
    assert {one.name for one in onnx.load(tmp_path / "if.onnx").graph.initializer} == {"w2"}


def test_a_module_in_one_branch(saved, tmp_path: Path) -> None:
    path, _oracle = saved(conditional())
    part = extract(path, tmp_path / "then.onnx", "then").subgraph
    assert part.operations == ("then_op",)
    assert part.external_inputs == ("a", "w2") or part.external_inputs == ("a",)
    assert part.outputs == ("then_y",)
    assert part.widened == ()
    onnx.checker.check_model(str(tmp_path / "then.onnx"), full_check=True)


def test_nodes_of_both_branches_take_the_whole_if(saved, tmp_path: Path) -> None:
    path, oracle = saved(conditional())
    part = extract(path, tmp_path / "both.onnx", outputs=["then_y", "other_y"]).subgraph
    assert part.operations == ("if",)
    assert part.widened == ("if",)
    oracle.check(tmp_path / "both.onnx")


def test_local_functions_are_expanded(saved, tmp_path: Path) -> None:
    body = helper.make_function(
        "local",
        "Twice",
        ["v"],
        ["o"],
        [helper.make_node("Add", ["v", "v"], ["o"], "add")],
        [helper.make_opsetid("", 20)],
    )
    nodes = [
        helper.make_node("Twice", ["x"], ["t"], "call", domain="local"),
        helper.make_node("Relu", ["t"], ["y"]),
    ]
    proto = model(nodes, [], ["y"])
    proto.functions.append(body)
    proto.opset_import.append(helper.make_opsetid("local", 1))
    path, oracle = saved(proto)
    extract(path, tmp_path / "twice.onnx", nodes=[0])
    assert [node.op_type for node in onnx.load(tmp_path / "twice.onnx").graph.node] == ["Add"]
    oracle.check(tmp_path / "twice.onnx")


@pytest.mark.parametrize("external", [False, True])
def test_large_weights(saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, external: bool) -> None:
    proto = two_layers()
    big = np.random.default_rng(9).normal(size=(4, 4000)).astype(np.float32)
    proto.graph.initializer.append(numpy_helper.from_array(big, "big"))
    proto.graph.node.append(tagged(helper.make_node("MatMul", ["y", "big"], ["z"], "wide"), "wide"))
    proto.graph.output.append(helper.make_tensor_value_info("z", FLOAT, None))
    options = {"save_as_external_data": True, "location": "net.bin", "size_threshold": 16} if external else {}
    path, oracle = saved(proto, **options)
    found = extract(path, tmp_path / "wide.onnx", "wide")
    assert found.weight_bytes == big.nbytes
    assert found.paths == (tmp_path / "wide.onnx",)
    oracle.check(tmp_path / "wide.onnx")
    monkeypatch.setattr(extracting, "LARGE", 1000)
    found = extract(path, tmp_path / "split.onnx", "wide")
    assert found.paths == (tmp_path / "split.onnx", tmp_path / "split.onnx.data")
    assert (tmp_path / "split.onnx").stat().st_size < 3000
    oracle.check(tmp_path / "split.onnx")


def test_typed_fields_and_large_constants(saved, tmp_path: Path) -> None:
    values = np.arange(4 * 2000, dtype=np.float32).reshape(4, 2000)
    typed = helper.make_tensor("typed", FLOAT, [4, 2000], values.ravel().tolist())
    assert typed.float_data
    attribute = numpy_helper.from_array(values, "constant")
    nodes = [
        tagged(helper.make_node("Constant", [], ["k"], "k", value=attribute), "one"),
        tagged(helper.make_node("MatMul", ["x", "typed"], ["a"], "mm"), "one"),
        tagged(helper.make_node("MatMul", ["x", "k"], ["b"], "mk"), "one"),
        tagged(helper.make_node("Add", ["a", "b"], ["y"], "add"), "one"),
    ]
    path, oracle = saved(model(nodes, [typed], ["y"]))
    extract(path, tmp_path / "one.onnx", "one")
    oracle.check(tmp_path / "one.onnx")


def test_faults_leave_nothing(saved, tmp_path: Path) -> None:
    path, _ = saved(two_layers(), save_as_external_data=True, location="net.bin", size_threshold=0)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OptionError, match="Did you mean /Net/One"):
        extract(path, tmp_path / "out.onnx", "/Net/Onne")
    with pytest.raises(OptionError, match="It has only call 0"):
        extract(path, tmp_path / "out.onnx", "one", call=3)
    with pytest.raises(OptionError, match="Unknown node 70"):
        extract(path, tmp_path / "out.onnx", nodes=[70])
    with pytest.raises(OptionError):
        extract(path, tmp_path / "out.onnx")
    with pytest.raises(OutputError):
        extract(path, tmp_path / "missing" / "out.onnx", "one")
    (tmp_path / "net.bin").unlink()
    with pytest.raises(ExternalDataError, match="w1"):
        extract(path, tmp_path / "out.onnx", "one")
    assert sorted(tmp_path.iterdir()) == [one for one in before if one.name != "net.bin"]


def test_unknown_types_are_said(saved, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Strange", ["x"], ["s"], "strange", domain="theirs"),
        helper.make_node("Stranger", ["s"], ["y"], "stranger", domain="theirs"),
    ]
    proto = model(nodes, [], ["y"])
    proto.opset_import.append(helper.make_opsetid("theirs", 1))
    path = tmp_path / "net.onnx"
    onnx.save(proto, path)
    with pytest.raises(AnalysisError, match="type of s is unknown"):
        extract(path, tmp_path / "out.onnx", outputs=["y"])


def test_the_source_is_not_changed(saved) -> None:
    proto = two_layers()
    before = proto.SerializeToString()
    extract_module_subgraph(proto, "one")
    assert proto.SerializeToString() == before


def test_the_target_may_come_third(saved) -> None:
    """The metadata of a sidecar as second argument is accepted: the model has its tags."""
    proto = two_layers()
    expected = extract_module_subgraph(proto, "one")
    assert extract_module_subgraph(proto, {"nodes": {}}, "one") == expected
    assert extract_module_subgraph(proto, target="one") == expected
    with pytest.raises(OptionError, match="target is missing"):
        extract_module_subgraph(proto, {"nodes": {}})


def test_nodes_by_name(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from py_autodoc.cli.app import app

    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="/act/Relu"),
        helper.make_node("Relu", ["a"], ["b"], name="twice"),
        helper.make_node("Relu", ["b"], ["y"], name="twice"),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("x", "y")]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", values[:1], values[1:])), tmp_path / "m.onnx")

    def run(node: str):
        arguments = ["extract", str(tmp_path / "m.onnx"), str(tmp_path / "o.onnx"), "--node", node, "--force"]
        return CliRunner().invoke(app, arguments)

    assert run("/act/Relu").exit_code == 0
    assert [node.name for node in onnx.load(tmp_path / "o.onnx").graph.node] == ["/act/Relu"]
    assert run("2").exit_code == 0
    for name, said in (("twice", "Ids: 1, 2."), ("/act/Relo", "Did you mean /act/Relu?"), ("-1", "-1")):
        refused = run(name)
        assert refused.exit_code == 1
        assert said in refused.output
