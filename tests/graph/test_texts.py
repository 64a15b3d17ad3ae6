"""Local paths and stack traces in a model's free text."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes

F = TensorProto.FLOAT


def facts(*, doc="", graph_doc="", metadata=(), nodes=(), trace=""):
    made = [
        helper.make_node("Relu", ["x"], ["h0"]),
        *(helper.make_node("Relu", ["h0"], [f"y{i}"]) for i in range(3)),
    ]
    for i, held in enumerate(nodes):
        made[i].metadata_props.add(key="note", value=held)
    for node in made if trace else ():
        node.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=trace)
    info = [helper.make_tensor_value_info(name, F, [1]) for name in ("x", "y0")]
    graph = helper.make_graph(made, "g", info[:1], info[1:], doc_string=graph_doc)
    proto = helper.make_model(graph, doc_string=doc, ir_version=10)
    helper.set_model_props(proto, dict(metadata))
    return build(load_bytes(proto.SerializeToString())).texts


@pytest.mark.parametrize(
    ("text", "form", "person"),
    [
        ('File "/home/jane.doe/work/net.py", line 3', "/home/<user>", True),
        ("/Users/jane/net.py", "/Users/<user>", True),
        (r"C:\Users\Jane Doe\net.pt", r"C:\Users\<user>", True),
        (r"d:\\Users\\jane\\net.pt", r"d:\\Users\\<user>", True),
        ("C:/Users/jane/net.pt", "C:/Users/<user>", True),
        ("/mnt/c/Users/jane/net.pt", "/mnt/c/Users/<user>", True),
        ("file:///home/jane/net.py", "/home/<user>", True),
        ("/home/ubuntu/net.py", "/home/<user>", False),
        ("/home/ubuntu/net.py then /home/jane/net.py", "/home/<user>", True),
        ('"/root/net.py"', "/root/", False),
    ],
)
def test_a_local_path(text, form, person):
    (found,) = facts(metadata={"source": text}).paths
    assert (found.place, found.form, found.count, found.person) == ("metadata source", form, 1, person)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "see https://example.org/home/jane/net",
        "the module encoder/home/layer/x",
        "/home/page",
        "site-packages/transformers/models/bert.py",
        "/usr/lib/python3/dist-packages/onnx",
        "C:\\Windows\\x",
        "/root",
        "../Users/jane/x",
    ],
)
def test_no_local_path(text):
    assert facts(doc=text, metadata={"source": text}, nodes=[text]).paths == ()


def test_every_place_is_looked_at_and_counted():
    held = "made from /home/jane/net.py"
    found = facts(doc=held, graph_doc=held, metadata={"/home/jane/key": held}, nodes=[held, held, "x"]).paths
    assert {(p.place, p.count) for p in found} == {
        ("doc_string", 1),
        ("graph doc_string", 1),
        ("metadata <path>", 1),
        ("node metadata note", 2),
    }
    assert "jane" not in repr(found)


def test_stack_traces_are_counted():
    found = facts(trace="line\n" * 40)
    assert (found.stack_traces, found.stack_trace_bytes) == (4, 4 * 200)
    assert facts().stack_traces == 0
    assert facts(doc="pkg.torch.onnx.stack_trace is a key").stack_traces == 0


def test_many_matches_take_linear_time():
    held = "/home/" * 200_000 + "/home/" + "a" * 1_000_000 + "C:/Users/" * 100_000
    assert facts(doc=held).paths == ()
