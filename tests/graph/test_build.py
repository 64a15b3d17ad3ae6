"""From protobuf to the frozen graph."""

import gc
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import ConstTensor, TensorKind
from py_autodoc.graph.ir.topological_order import execution_order, find_cycle
from py_autodoc.graph.loading.load import load, load_bytes

DATA = Path(__file__).parent.parent / "data"
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


def value(name, shape=(2, 3), dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def graph_of(nodes, inputs=("x",), outputs=("y",), **kw):
    made = helper.make_graph(nodes, "g", [value(n) for n in inputs], [value(n, None) for n in outputs], **kw)
    proto = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return build(load_bytes(proto.SerializeToString()))


def by_name(model):
    return {tensor.name: tensor for tensor in model.tensors}


def codes(model):
    return [note.code for note in model.diagnostics]


def test_kinds_and_edges():
    weight = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    model = graph_of(
        [
            node("Constant", [], ["k"], value=numpy_helper.from_array(np.array([2, 3], np.int64))),
            node("MatMul", ["x", "w"], ["h"]),
            node("Reshape", ["h", "k"], ["r"]),
            node("Add", ["r", "r"], ["y"]),
        ],
        initializer=[weight],
    )
    tensors = by_name(model)
    kinds = {name: tensor.kind.name for name, tensor in tensors.items()}
    assert kinds == {"w": "INITIALIZER", "x": "INPUT", "k": "CONSTANT", "h": "ACTIVATION", "r": "ACTIVATION",
                     "y": "ACTIVATION"}  # fmt: skip
    assert tensors["r"].consumers == (3,)
    assert tensors["h"].producer == 1
    assert tensors["y"].is_output
    assert not tensors["x"].is_output
    assert tensors["w"].storage.bytes == 36
    np.testing.assert_array_equal(model.constants[tensors["k"].id], [2, 3])
    assert [node.opset for node in model.nodes] == [17] * 4
    for i, item in enumerate(model.tensors):
        assert item.id == i
    for i, item in enumerate(model.nodes):
        assert item.id == i


def test_initializers_listed_as_inputs():
    model = build(load(DATA / "models" / "mnist_cntk.onnx"))
    proto = onnx.load(DATA / "models" / "mnist_cntk.onnx")
    assert len(proto.graph.input) > len(model.graphs[0].inputs) == 1
    assert len(model.graphs[0].initializers) == len(proto.graph.initializer)


@pytest.mark.parametrize(
    ("dtype", "count", "size"),
    [(TensorProto.INT4, 7, 4), (TensorProto.UINT4, 8, 4), (TensorProto.FLOAT4E2M1, 3, 2), (25, 5, 2),
     (TensorProto.BFLOAT16, 7, 14), (TensorProto.FLOAT8E4M3FN, 7, 7), (TensorProto.COMPLEX128, 2, 32),
     (TensorProto.BOOL, 9, 9)],
)  # fmt: skip
def test_packed_sizes(dtype, count, size):
    weight = TensorProto(name="w", data_type=dtype, dims=[count], raw_data=bytes(size))
    model = graph_of([node("Identity", ["w"], ["y"])], initializer=[weight])
    assert by_name(model)["w"].storage.bytes == size
    assert codes(model) == []
    short = TensorProto(name="w", data_type=dtype, dims=[count], raw_data=bytes(size - 1))
    assert codes(graph_of([node("Identity", ["w"], ["y"])], initializer=[short])) == ["data-size-mismatch"]


def test_every_known_type_has_a_size():
    from py_autodoc.graph.protobuf.tensor_protos import KNOWN_TYPES

    known = set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}
    assert known <= KNOWN_TYPES


def test_attributes():
    inner = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "t")
    large = numpy_helper.from_array(np.zeros(2000, np.float32), "t")
    model = graph_of(
        [
            node("Odd", ["x"], ["y"], domain="d", i=3, f=0.5, s="text", ii=[1, 2], ff=[0.5], ss=["a", "b"],
                 t=inner, big=large)
        ]
    )  # fmt: skip
    held = dict(model.nodes[0].attributes)
    tensor, big = held.pop("t"), held.pop("big")
    assert held == {"i": 3, "f": 0.5, "s": "text", "ii": [1, 2], "ff": [0.5], "ss": ["a", "b"]}
    assert isinstance(tensor, ConstTensor)
    assert tensor.shape == (2, 3)
    np.testing.assert_array_equal(tensor.values, np.arange(6).reshape(2, 3))
    assert big.values is None
    assert big.storage.bytes == 8000


def test_plain_constants():
    model = graph_of(
        [
            node("Constant", [], ["a"], value_int=7),
            node("Constant", [], ["b"], value_floats=[1.0, 2.0]),
            node("Constant", [], ["c"], value_string="word"),
            node("Sum", ["a", "b", "c"], ["y"]),
        ],
        inputs=(),
    )
    tensors = by_name(model)
    assert model.constants[tensors["a"].id] == 7
    assert tensors["a"].shape == ()
    assert tensors["b"].dtype == F
    assert tensors["b"].storage.bytes == 8
    assert tensors["c"].dtype == TensorProto.STRING
    assert tensors["c"].storage.bytes == 4


def test_sparse_initializer():
    values = numpy_helper.from_array(np.ones(3, np.float32), "w")
    indices = numpy_helper.from_array(np.array([0, 5, 9], np.int64), "")
    sparse = helper.make_sparse_tensor(values, indices, [4, 4])
    model = graph_of([node("MatMul", ["x", "w"], ["y"])], sparse_initializer=[sparse])
    weight = by_name(model)["w"]
    assert weight.container == "sparse"
    assert weight.shape == (4, 4)
    assert weight.storage.sparse_values == 3
    assert weight.storage.bytes == 12 + 24


def test_declared_containers():
    sequence = helper.make_tensor_sequence_value_info("x", F, ["n", 3])
    made = helper.make_graph([node("SequenceLength", ["x"], ["y"])], "g", [sequence], [value("y", (), I64)])
    proto = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)])
    tensor = by_name(build(load_bytes(proto.SerializeToString())))["x"]
    assert (tensor.container, tensor.dtype, tensor.shape) == ("sequence", F, None)


def test_value_info_and_symbols():
    model = graph_of(
        [node("Relu", ["x"], ["h"]), node("Relu", ["h"], ["y"])], value_info=[value("h", ["batch", None, 3])]
    )
    assert by_name(model)["h"].shape == ("batch", None, 3)


def branch(name, nodes, output):
    return helper.make_graph(nodes, name, [], [value(output, None)])


def test_captures_and_shadowing():
    """A branch that makes a name itself means its own; else the graph around it."""
    then = branch("then", [node("Neg", ["x"], ["h"]), node("Abs", ["h"], ["t"])], "t")
    other = branch("else", [node("Abs", ["h"], ["e"])], "e")
    model = graph_of(
        [node("If", ["x"], ["y"], then_branch=then, else_branch=other), node("Relu", ["x"], ["h"])]
    )
    outer, inner = [t for t in model.tensors if t.name == "h"]
    assert (outer.graph, inner.graph) == (0, 2), "else_branch comes first in the file"
    ops = {n.id: n.op_type for n in model.nodes}
    assert [(ops[i], model.nodes[i].graph) for i in outer.consumers] == [("Abs", 1)]
    assert [(ops[i], model.nodes[i].graph) for i in inner.consumers] == [("Abs", 2)]
    assert [ops[i] for i in model.graphs[0].nodes] == ["Relu", "If"], "the If waits for what it captures"
    assert codes(model) == ["unsorted"]
    holders = [(graph.parent_node, graph.attribute) for graph in model.graphs[1:]]
    assert holders == [
        (0, "else_branch"),
        (0, "then_branch"),
    ]
    assert model.nodes[0].subgraphs == (("else_branch", 1), ("then_branch", 2))
    assert model.nodes[0].attributes["then_branch"] == 2


def test_branch_that_returns_an_outer_value():
    then = branch("then", [], "h")
    model = graph_of(
        [node("Relu", ["x"], ["h"]), node("If", ["x"], ["y"], then_branch=then, else_branch=then)]
    )
    assert by_name(model)["h"].consumers == (1,)
    assert model.graphs[1].outputs == model.graphs[2].outputs == (by_name(model)["h"].id,)
    assert codes(model) == []


def test_loop_body_inputs_are_formal():
    body = helper.make_graph(
        [node("Add", ["v", "x"], ["o"]), node("Identity", ["c"], ["d"])],
        "body",
        [value("i", (), I64), value("c", (), BOOL), value("v")],
        [value("d", (), BOOL), value("o")],
    )
    model = graph_of([node("Loop", ["n", "", "x"], ["y"], body=body)], inputs=("x", "n"))
    formal = [t.name for t in model.tensors if t.kind == TensorKind.OUTER]
    assert formal == ["i", "c", "v"]
    assert model.nodes[0].inputs[1] == -1
    assert [by_name(model)["x"].consumers] == [(0, 1)]


def test_omitted_outputs():
    model = graph_of([node("Dropout", ["x"], ["", "y"])])
    assert model.nodes[0].outputs[0] == -1


def test_quantization_parameters():
    model = build(load(DATA / "models" / "resnet_tiny_qdq_int8.onnx"))
    special = [t for t in model.tensors if t.quantized_scale]
    assert special
    assert all("scale" in t.name or "zero_point" in t.name for t in special)
    missed = [
        t for t in model.tensors if t.name.endswith(("_scale", "_zero_point")) and not t.quantized_scale
    ]
    assert not missed


def test_diagnostics_are_bounded():
    nodes = [node("Add", ["x", f"ghost{i}"], [f"y{i}"], name="same") for i in range(100)]
    model = graph_of(nodes, outputs=("y0",))
    assert codes(model).count("undefined-input") == 21
    assert any("80 more" in note.message for note in model.diagnostics if note.code == "undefined-input")


def test_diagnostics_say_where():
    model = graph_of([node("Add", ["x", "ghost"], ["y"], name="adder")])
    (note,) = model.diagnostics
    assert (note.where, note.node, note.severity) == ("adder", 0, "error")
    assert model.tensors[note.tensor].name == "ghost"


def test_collector_is_back_on():
    assert gc.isenabled()
    graph_of([node("Relu", ["x"], ["y"])])
    assert gc.isenabled()


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=60))
def test_execution_order(pairs):
    needs = [[] for _ in range(30)]
    for user, need in pairs:
        needs[user].append(need)
    order, stuck = execution_order(needs)
    assert sorted(order) == list(range(30))
    place = {n: i for i, n in enumerate(order)}
    for user in set(range(30)) - set(stuck):
        assert all(place[need] < place[user] for need in needs[user])
    if stuck:
        ring = find_cycle(needs, stuck)
        for before, after in zip(ring, ring[1:] + ring[:1], strict=True):
            assert before in needs[after]


def test_ring_names_the_nodes():
    model = graph_of(
        [
            node("Add", ["x", "b"], ["a"], name="A"),
            node("Relu", ["a"], ["b"], name="B"),
            node("Neg", ["b"], ["y"]),
        ]
    )
    (note,) = model.diagnostics
    assert note.code == "cycle"
    assert set(note.where.split(" → ")) == {"A", "B"}
    assert sorted(model.graphs[0].nodes) == [0, 1, 2]


def test_domains_used_but_not_imported():
    model = graph_of([node("Relu", ["x"], ["h"]), node("Gelu", ["h"], ["y"], domain="com.microsoft")])
    (note,) = model.diagnostics
    assert (note.code, note.where) == ("opset-missing", "com.microsoft")
    assert model.nodes[1].opset == 0


def test_codes_are_known():
    from py_autodoc.graph.ir.diagnostic_collector import SEVERITY, DiagnosticCollector

    assert set(SEVERITY.values()) <= {"info", "warning", "error"}
    with pytest.raises(KeyError):
        DiagnosticCollector().add("no-such-code", "")


TYPES = [*TensorProto.DataType.values(), 99]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_odd_tensors_are_survived(dtype, count):
    """Any element type with any kind and amount of data, as initializer and as attribute."""
    odd = [TensorProto(name="w", data_type=dtype, dims=[3], raw_data=bytes(count))]
    for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data"):
        held = TensorProto(name="w", data_type=dtype, dims=[3])
        getattr(held, field).extend([b"\xff" if field == "string_data" else 1] * count)
        odd.append(held)
    for tensor in odd:
        model = graph_of([node("Odd", ["w"], ["y"], domain="d", t=tensor)], initializer=[tensor])
        initializer, attribute = by_name(model)["w"], model.nodes[0].attributes["t"]
        assert initializer.shape == attribute.shape == (3,)
        assert (initializer.id in model.constants) <= (attribute.values is not None)
        if dtype == 99:
            assert "unknown-dtype" in codes(model)


def test_very_many_dimensions():
    weight = TensorProto(name="w", data_type=F, dims=[1 << 40] * 50_000)
    assert codes(graph_of([node("Identity", ["w"], ["y"])], initializer=[weight])) == ["dim-overflow"]
    weight.dims.append(0)
    assert codes(graph_of([node("Identity", ["w"], ["y"])], initializer=[weight])) == []
