"""Small builders for models, good and bad; also of protobuf that no library would write."""

from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from py_autodoc.graph.protobuf.protobuf_wire import encode_bytes, encode_varint

F = TensorProto.FLOAT


def value(name, shape=(1, 4), dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), functions=(), opsets=None, name="g", **kw):
    """A model around the given nodes; x and y are its input and output unless told otherwise."""
    graph = helper.make_graph(
        nodes,
        name,
        [value("x")] if inputs is None else inputs,
        [value("y", None)] if outputs is None else outputs,
        list(initializers),
    )
    opsets = [("", 17)] if opsets is None else opsets
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid(d, v) for d, v in opsets], functions=list(functions), **kw
    )
    made.ir_version = 9
    return made


def relu(source="x", target="y", **kw):
    return helper.make_node("Relu", [source], [target], **kw)


def good():
    """Gemm with a real weight, then Relu."""
    weight = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    return model([helper.make_node("Gemm", ["x", "w"], ["h"], name="gemm"), relu("h")], initializers=[weight])


def save(proto, folder, name="model.onnx") -> Path:
    path = Path(folder) / name
    path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
    return path


def tensor(name, dtype, dims, raw=None):
    made = TensorProto(name=name, data_type=dtype, dims=dims)
    if raw is not None:
        made.raw_data = raw
    return made


def external(name, dims, dtype=F, **entries):
    made = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, held in entries.items():
        made.external_data.add(key=key, value=str(held))
    return made


def with_weight(weight):
    """A MatMul with the given initializer as its weight."""
    return model([helper.make_node("MatMul", ["x", weight.name], ["y"], name="mm")], initializers=[weight])


# Protobuf by hand


def raw_model(graph: bytes) -> bytes:
    """A ModelProto of ir_version 9, opset 17 and the given graph."""
    return b"\x08\x09" + encode_bytes(7, graph) + encode_bytes(8, encode_bytes(1, b"") + b"\x10\x11")


def raw_text(field: int, value: str) -> bytes:
    return encode_bytes(field, value.encode())


def raw_node(op, inputs, outputs, attributes: bytes = b"", name="") -> bytes:
    parts = [raw_text(1, i) for i in inputs] + [raw_text(2, o) for o in outputs]
    return encode_bytes(1, b"".join(parts) + raw_text(3, name) + raw_text(4, op) + attributes)


def raw_value(field: int, name: str) -> bytes:
    """Graph input (11) or output (12): a float tensor of shape (1, 4)."""
    dims = b"".join(encode_bytes(1, b"\x08" + encode_varint(d)) for d in (1, 4))
    kind = encode_bytes(1, b"\x08\x01" + encode_bytes(2, dims))
    return encode_bytes(field, raw_text(1, name) + encode_bytes(2, kind))


def nested_if(depth: int) -> bytes:
    """If inside If, ``depth`` bodies deep; protobuf"s own writer stops at a hundred levels."""
    graph = raw_node("Relu", ["x"], ["r0"], name="innermost") + raw_text(2, "b0") + raw_value(12, "r0")
    for level in range(1, depth + 1):
        branches = b""
        for branch in ("then_branch", "else_branch"):
            body = graph if branch == "then_branch" else _leaf(level)
            kind = encode_varint(20 << 3) + encode_varint(AttributeProto.GRAPH)
            branches += encode_bytes(5, raw_text(1, branch) + encode_bytes(6, body) + kind)
        graph = raw_node("If", ["c"], [f"r{level}"], branches, f"if{level}")
        graph += raw_text(2, f"b{level}") + raw_value(12, f"r{level}")
    return raw_model(graph + raw_value(11, "x") + raw_value(11, "c"))


def _leaf(level: int) -> bytes:
    return raw_node("Neg", ["x"], [f"e{level}"]) + raw_text(2, f"e{level}") + raw_value(12, f"e{level}")


def deep_type(depth: int) -> bytes:
    """An input whose type is a sequence of sequences of …"""
    kind = encode_bytes(1, b"\x08\x01")
    for _ in range(depth):
        kind = encode_bytes(4, encode_bytes(1, kind))
    info = encode_bytes(11, raw_text(1, "x") + encode_bytes(2, kind))
    return raw_model(raw_node("Identity", ["x"], ["y"]) + raw_text(2, "g") + info + raw_value(12, "y"))


def chain(length: int) -> bytes:
    """``length`` Relu in a row."""
    nodes = b"".join(raw_node("Relu", [f"t{i}"], [f"t{i + 1}"], name=f"n{i}") for i in range(length))
    return raw_model(nodes + raw_text(2, "g") + raw_value(11, "t0") + raw_value(12, f"t{length}"))


def laughs(levels=10, calls=10):
    """Functions of which each calls the next ``calls`` times: calls^levels nodes in 2 kB."""
    functions = []
    for level in range(levels):
        if level == levels - 1:
            nodes = [relu("a", "b")]
        else:
            names = ["a", *(f"v{i}" for i in range(calls - 1)), "b"]
            nodes = [
                helper.make_node(f"F{level + 1}", [names[i]], [names[i + 1]], domain="f")
                for i in range(calls)
            ]
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
        functions.append(helper.make_function("f", f"F{level}", ["a"], ["b"], nodes, opsets))
    call = helper.make_node("F0", ["x"], ["y"], domain="f")
    return model([call], functions=functions, opsets=[("", 17), ("f", 1)])


def load_proto(path):
    """A parsed model without external data, for tests that compare."""
    return onnx.load(path, load_external_data=False)
