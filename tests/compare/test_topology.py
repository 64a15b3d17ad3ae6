"""The same graph byte for byte, and what differs when it is not."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.compare import same_topology
from py_autodoc.errors import InputError, NotAModel, PathError

MODEL = "tests/data/models/resnet_tiny.onnx"


def branches():
    """An If whose branches hold an initializer and a node each, and a function."""

    def body(name, value):
        weight = numpy_helper.from_array(np.array([value], np.float32), f"w{name}")
        node = helper.make_node("Add", ["x", f"w{name}"], [f"y{name}"], name=f"add{name}")
        return helper.make_graph(
            [node], name, [], [helper.make_tensor_value_info(f"y{name}", TensorProto.FLOAT, [1])], [weight]
        )

    choose = helper.make_node(
        "If", ["c"], ["z"], name="choose", then_branch=body("a", 1.0), else_branch=body("b", 2.0)
    )
    scale = helper.make_node("Elu", ["z"], ["s"], name="elu", alpha=float("nan"))
    call = helper.make_node("F", ["s"], ["out"], domain="own", name="call")
    function = helper.make_function(
        "own",
        "F",
        ["i"],
        ["o"],
        [helper.make_node("Relu", ["i"], ["o"], name="r")],
        [helper.make_opsetid("", 18)],
    )
    graph = helper.make_graph(
        [choose, scale, call], "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1])],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=10)


def test_every_form_of_one_model_is_the_same():
    proto = onnx.load(MODEL)
    forms = [MODEL, proto, onnx_ir.from_proto(proto)]
    assert [same_topology(a, b) for a in forms for b in forms] == [[]] * 9
    assert same_topology(branches(), branches()) == []


def test_metadata_does_not_count():
    a, b = branches(), branches()
    b.doc_string, b.producer_name = "other", "somebody"
    b.graph.node[0].doc_string = "text"
    b.graph.node[0].metadata_props.add(key="k", value="v")
    b.metadata_props.add(key="k", value="v")
    assert same_topology(a, b) == []


def change(what):
    proto = branches()
    graph = proto.graph
    first = graph.node[0]
    inner = first.attribute[0].g
    {
        "operator": lambda: setattr(graph.node[1], "op_type", "Selu"),
        "inputs": lambda: graph.node[1].input.__setitem__(0, "x"),
        "outputs": lambda: graph.node[1].output.__setitem__(0, "t"),
        "name": lambda: setattr(graph.node[1], "name", "n"),
        "value": lambda: setattr(graph.node[1].attribute[0], "f", 1.0),
        "attributes": lambda: graph.node[1].ClearField("attribute"),
        "present": lambda: graph.node.pop(),
        "bytes": lambda: setattr(inner.initializer[0], "raw_data", np.array([9.0], np.float32).tobytes()),
        "shape": lambda: inner.initializer[0].dims.insert(0, 1),
        "initializers": lambda: inner.initializer.append(
            numpy_helper.from_array(np.ones(1, np.float32), "more")
        ),
        "declaration": lambda: setattr(graph.input[0].type.tensor_type, "elem_type", TensorProto.DOUBLE),
        "operator versions": lambda: setattr(proto.opset_import[0], "version", 19),
        "ir_version": lambda: setattr(proto, "ir_version", 9),
        "functions": lambda: proto.functions.pop(),
        "types of outputs": lambda: graph.value_info.append(
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [1])
        ),
    }[what]()
    return proto


@pytest.mark.parametrize(
    "what",
    [
        "operator", "inputs", "outputs", "name", "value", "attributes", "present", "bytes", "shape",
        "initializers", "declaration", "operator versions", "ir_version", "functions", "types of outputs",
    ],
)  # fmt: skip
def test_each_difference_is_named(what):
    found = same_topology(branches(), change(what))
    assert what in [difference.what for difference in found]
    assert all(str(difference) for difference in found)


def texts(a, b):
    return [str(difference) for difference in same_topology(a, b)]


def test_operators_and_lists_are_written_as_a_reader_would():
    a, b = branches(), branches()
    b.graph.node[1].op_type, b.graph.node[1].domain = "Gelu", "com.microsoft"
    b.graph.node[1].ClearField("attribute")
    b.graph.node[1].input.append("x")
    b.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    assert texts(a, b) == [
        "model: operator versions: – → com.microsoft 1",
        "node 1 (elu): operator: Elu → com.microsoft.Gelu",
        "node 1 (elu): inputs: z → z, x",
        "node 1 (elu): attributes: alpha → –",
    ]
    b = branches()
    b.functions.pop()
    assert texts(a, b) == ["model: functions: own.F → –"]


def test_values_and_types_are_written_as_a_reader_would():
    a, b = branches(), branches()
    a.graph.node[1].attribute[0].f, b.graph.node[1].attribute[0].f = 0.1, -0.0
    b.graph.value_info.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, "n"]))
    b.graph.input[1].CopyFrom(helper.make_tensor_value_info("c", TensorProto.BOOL, [2]))
    b.graph.node[0].attribute[0].g.initializer[0].raw_data = np.array([9.5], np.float32).tobytes()
    assert texts(a, b) == [
        "input 1: declaration: c: bool scalar → c: bool 2",
        "node 0 (choose): types of outputs: unknown → float32 1×n",
        "node 1 (elu) attribute alpha: value: 0.1 → -0.0",
        "node 0 (choose) attribute else_branch: initializer wb: bytes: 2.0 → 9.5",
    ]


def test_long_lists_begin_with_the_first_name_that_differs():
    def concat(*names):
        node = helper.make_node("Concat", list(names), ["y"], "join", axis=0)
        inputs = [helper.make_tensor_value_info(name, 1, [1]) for name in sorted(names)]
        weights = [numpy_helper.from_array(np.ones(1, np.float32), name) for name in sorted(names)]
        graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 1, None)], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])

    names = [f"a_rather_long_name_{number}" for number in range(8)]
    swapped = [*names[:6], names[7], names[6]]
    assert texts(concat(*names), concat(*swapped)) == [
        "node 0 (join): inputs: …, a_rather_long_name_6, a_rather_long_name_7"
        " → …, a_rather_long_name_7, a_rather_long_name_6"
    ]
    renamed = concat(*(f"b{number}" for number in range(8)))
    (initializers,) = [d for d in same_topology(concat(*names), renamed) if d.what == "initializers"]
    assert initializers.a.startswith("8 not in the other model: a_rather_long_name_0, a_rather")
    assert initializers.b == "b0, b1, b2, b3, b4, b5, b6, b7"


def test_differences_come_in_the_order_of_the_file():
    other = onnx.load(MODEL)
    for tensor in other.graph.initializer:
        tensor.raw_data = bytes(len(tensor.raw_data))
    order = [f"initializer {tensor.name}" for tensor in other.graph.initializer]
    listed = [difference.where for difference in same_topology(MODEL, other)]
    assert listed == [where for where in order if where in listed]
    assert len(listed) > 10


def test_a_difference_inside_a_function():
    other = branches()
    other.functions[0].node[0].op_type = "Sigmoid"
    (found,) = same_topology(branches(), other)
    assert (found.what, found.where) == ("operator", "function F: node 0 (r)")


def test_the_list_is_bounded():
    other = onnx.load(MODEL)
    for node in other.graph.node:
        node.name += "x"
    assert len(same_topology(MODEL, other, limit=3)) == 3


def test_weights_beside_the_model(tmp_path):
    proto = onnx.load(MODEL)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    assert same_topology(MODEL, tmp_path / "m.onnx") == []
    data = bytearray((tmp_path / "w.bin").read_bytes())
    data[0] ^= 1
    (tmp_path / "w.bin").write_bytes(data)
    (found,) = same_topology(MODEL, tmp_path / "m.onnx")
    assert found.what == "bytes"
    (tmp_path / "w.bin").unlink()
    with pytest.raises(InputError):
        same_topology(MODEL, tmp_path / "m.onnx")


def test_weights_outside_the_folder_are_not_read(tmp_path):
    (tmp_path / "secret").write_bytes(b"\0" * 4)
    (tmp_path / "in").mkdir()
    weight = TensorProto(name="w", data_type=1, dims=[1], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="../secret")
    graph = helper.make_graph(
        [helper.make_node("Relu", ["w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", 1, [1])],
        [weight],
    )
    path = tmp_path / "in" / "m.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(InputError) as caught:
        same_topology(path, path)
    assert caught.value.code == "external-outside"


def test_what_is_no_model(tmp_path):
    with pytest.raises(PathError):
        same_topology(tmp_path / "none.onnx", MODEL)
    (tmp_path / "page.onnx").write_text("<html></html>")
    with pytest.raises(NotAModel):
        same_topology(MODEL, tmp_path / "page.onnx")


def declared(*names, weight=1.0):
    """Two inputs of one free size each, added; a weight of 8 kB."""
    info = helper.make_tensor_value_info
    big = numpy_helper.from_array(np.full((2, 1024), weight, np.float32), "w")
    nodes = [
        helper.make_node("Add", ["a", "b"], ["c"], "add"),
        helper.make_node("MatMul", ["c", "w"], ["d"], "mm"),
    ]
    one, two = names
    graph = helper.make_graph(
        nodes, "g",
        [info("a", 1, [one, 2]), info("b", 1, [two, 2])], [info("d", 1, [f"{one} + {two}", 1024])],
        [big], value_info=[info("c", 1, [one, 2])],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def test_a_renamed_dimension_is_one_difference():
    assert same_topology(declared("batch", "seq"), declared("batch", "seq")) == []
    (one,) = same_topology(declared("batch", "seq"), declared("N", "seq"))
    assert str(one) == "dimension batch: name: batch → N"
    assert len(same_topology(declared("batch", "seq"), declared("N", "L"))) == 2


def test_dimensions_that_are_told_apart_in_one_model_only_are_no_renaming():
    found = same_topology(declared("batch", "seq"), declared("n", "n"))
    assert any(one.what == "declaration" for one in found)
    found = same_topology(declared("n", "n"), declared("batch", "seq"))
    assert any(one.what == "declaration" for one in found)
    assert any(one.what == "declaration" for one in same_topology(declared("n", "m"), declared("m", 4)))


def test_without_weights(tmp_path):
    a, b = declared("n", "m"), declared("n", "m", weight=2.0)
    assert [one.what for one in same_topology(a, b)] == ["bytes"]
    assert same_topology(a, b, weights=False) == []
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for path, model in zip(paths, (a, b), strict=True):
        onnx.save(model, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=0)
    assert [one.what for one in same_topology(*paths)] == ["bytes"]
    for path in paths:
        path.with_name(f"{path.name}.data").unlink()
    with pytest.raises(InputError) as caught:
        same_topology(*paths)
    assert caught.value.code == "external-missing"
    assert same_topology(*paths, weights=False) == []
    # A small tensor that says what is computed counts also without weights.
    assert same_topology(branches(), _other_branch(), weights=False) != []


def _other_branch():
    other = branches()
    other.graph.node[0].attribute[0].g.initializer[0].raw_data = np.array([5.0], np.float32).tobytes()
    return other
