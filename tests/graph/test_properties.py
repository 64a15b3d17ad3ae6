"""Properties over random models, cuts and bytes."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from py_autodoc.errors import AutodocError, CorruptModel, NotAModel
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes

NAMES = st.text(min_size=1, max_size=8)


@st.composite
def models(draw):
    """A model of random named nodes, each reading values made before it; returned with its edges."""
    names = draw(st.lists(NAMES, min_size=2, max_size=24, unique=True))
    known, nodes = [names[0]], []
    for name in names[1:]:
        sources = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
        op = draw(st.sampled_from(["Relu", "Add", "Sum", "Frob"]))
        nodes.append((op, f"n_{name}", sources, name))
        known.append(name)
    protos = [helper.make_node(op, sources, [made], name=label) for op, label, sources, made in nodes]
    order = draw(st.permutations(range(len(protos))))
    graph = helper.make_graph(
        [protos[i] for i in order],
        draw(NAMES),
        [helper.make_tensor_value_info(names[0], TensorProto.FLOAT, [1, "n", None])],
        [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), nodes


@pytest.mark.slow
@given(models())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_names_and_edges_survive(drawn):
    proto, nodes = drawn
    model = build(load_bytes(proto.SerializeToString()))
    name = {tensor.id: tensor.name for tensor in model.tensors}
    found = {
        (node.op_type, node.name, tuple(name[i] for i in node.inputs), name[node.outputs[0]])
        for node in model.nodes
    }
    assert found == {(op, label, tuple(sources), made) for op, label, sources, made in nodes}
    place = {node: i for i, node in enumerate(model.graphs[0].nodes)}
    assert sorted(place) == list(range(len(nodes)))
    for node in model.nodes:
        for source in node.inputs:
            producer = model.tensors[source].producer
            assert producer < 0 or place[producer] < place[node.id]
            assert node.id in model.tensors[source].consumers
    for tensor in model.tensors:
        assert list(tensor.consumers) == sorted(set(tensor.consumers))
    assert not {note.code for note in model.diagnostics} - {
        "unsorted",
        "wrong-signature",
        "undefined-operator",
    }


def small():
    body = helper.make_graph(
        [helper.make_node("Neg", ["h"], ["r"])],
        "b",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
    )
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [1.0] * 4)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["h"], name="é", strides=[1, 1], auto_pad="VALID"),
            helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body),
        ],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, "n"]) for n in "xc"],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [weight],
    )
    function = helper.make_function(
        "f", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    return helper.make_model(graph, functions=[function], opset_imports=[helper.make_opsetid("", 17)])


CONTENT = small().SerializeToString()


def attempt(data):
    """The message of the error that loading and building raises, if any; no other exception may come."""
    try:
        build(load_bytes(data))
    except AutodocError as error:
        return error.message
    return ""


def test_cut_at_every_byte():
    codes = set()
    for end in range(len(CONTENT)):
        try:
            build(load_bytes(CONTENT[:end]))
        except (CorruptModel, NotAModel) as error:
            codes.add(error.code)
    assert "corrupt-model" in codes


@pytest.mark.parametrize("value", [0x00, 0x7F, 0x80, 0xFF])
def test_every_byte_replaced(value):
    for place in range(len(CONTENT)):
        damaged = CONTENT[:place] + bytes([value]) + CONTENT[place + 1 :]
        assert "\n" not in attempt(damaged)


@given(st.binary(max_size=300))
@example(b"\x08\x00")
@example(b"\x3a\x00")
@settings(max_examples=200, deadline=None)
def test_random_bytes(data):
    attempt(data)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_random_damage(data):
    content = bytearray(CONTENT)
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    attempt(bytes(content))
