"""Rules on deployment: dynamic-shapes, old-opset, custom-ops, external-outside, local-paths."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper
from rule_help import INT, F, found, model, weight

node = helper.make_node


def ints(name, *values):
    return helper.make_tensor(name, INT, [len(values)], values)


# dynamic-shapes


def image(shape, resize="scales"):
    """An image → normalization → Conv → Resize by constant scales, or to a computed size."""
    if resize == "scales":
        size = [node("Resize", ["h", "", "s"], ["y"], name="up")]
        constants = [helper.make_tensor("s", F, [4], [1.0, 1.0, 2.0, 2.0])]
    else:
        size = [node("Shape", ["x"], ["all"]), node("Slice", ["all", "two", "four"], ["hw"]),
                node("Concat", ["nc", "hw"], ["size"], axis=0),
                node("Resize", ["h", "", "", "size"], ["y"], name="up")]  # fmt: skip
        constants = [ints("two", 2), ints("four", 4), ints("nc", 1, 8)]
    nodes = [node("Sub", ["x", "mean"], ["m"]), node("Conv", ["m", "w"], ["h"], pads=[1] * 4), *size]
    mean = helper.make_tensor("mean", F, [1, 3, 1, 1], [0.4, 0.5, 0.6])
    return model(nodes, [("x", shape)], [("y", None)], [weight("w", 8, 3, 3, 3), mean, *constants])


def test_free_spatial_sizes():
    (finding,) = found("dynamic-shapes", image(["batch", 3, "height", "width"]))
    assert finding.severity == "info"
    assert finding.evidence == {"inputs": ["x"], "computed_sizes": 0}


def test_free_spatial_sizes_that_a_resize_follows():
    (finding,) = found("dynamic-shapes", image(["batch", 3, "height", "width"], "computed"))
    assert finding.severity == "low"
    assert finding.nodes == (5,)


def test_a_binding_does_not_hide_it():
    shape = ["batch", 3, "height", "width"]
    (finding,) = found("dynamic-shapes", image(shape, "computed"), bindings={"*": 32})
    assert finding.severity == "low"


@pytest.mark.parametrize("shape", [["batch", 3, 32, 32], [1, 3, 32, 32], [None, 3, 32, 32]])
def test_batch_alone_is_no_finding(shape):
    assert found("dynamic-shapes", image(shape, "computed")) == []


def test_batch_and_sequence_are_no_finding():
    nodes = [node("Gather", ["table", "ids"], ["h"]), node("MatMul", ["h", "w"], ["y"])]
    weights = [weight("table", 100, 16), weight("w", 16, 16)]
    ids = ("ids", ["batch", "sequence"], INT)
    past = ("past", ["batch", 4, "past_sequence", 16])
    graph = model(
        [*nodes, node("Concat", ["past", "new"], ["present"], axis=2)],
        [ids, past, ("new", ["batch", 4, "sequence", 16])],
        [("y", None), ("present", None)],
        weights,
    )
    assert found("dynamic-shapes", graph) == []


def test_dimensions_without_a_name():
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    (finding,) = found(
        "dynamic-shapes", model(nodes, [("x", [None, "?", 16])], [("y", None)], [weight("w", 16, 4)])
    )
    assert finding.severity == "low"
    assert finding.evidence == {"dimensions": 1, "places": ["x[1]"]}


def by_value(layers_after):
    nodes = [node("MatMul", ["x", "w0"], ["h0"]), node("NonZero", ["h0"], ["where"], name="pick")]
    nodes += [node("Transpose", ["where"], ["t"]), node("GatherND", ["h0", "t"], ["picked"])]
    nodes += [node("Cast", ["picked"], ["c"], to=F), node("Unsqueeze", ["c", "one"], ["g0"])]
    weights = [weight("w0", 16, 16), ints("one", 1)]
    for i in range(layers_after):
        size = [1 if not i else 16, 16]
        nodes.append(node("MatMul", [f"g{i}", f"v{i}"], [f"g{i + 1}"]))
        weights.append(weight(f"v{i}", *size))
    return model(nodes, [("x", [4, 16])], [(f"g{layers_after}", None)], weights)


def test_sizes_that_depend_on_values():
    (finding,) = found("dynamic-shapes", by_value(0))
    assert finding.severity == "low"
    assert finding.nodes == (1,)
    (finding,) = found("dynamic-shapes", by_value(3))
    assert finding.severity == "medium"
    assert (finding.evidence["layers_after"], finding.evidence["layers"]) == (3, 4)


def test_nonzero_of_a_constant_is_no_finding():
    nodes = [node("NonZero", ["c"], ["i"]), node("Squeeze", ["i"], ["s"]), node("Gather", ["x", "s"], ["y"])]
    constant = helper.make_tensor("c", F, [4], [1, 0, 1, 1])
    assert found("dynamic-shapes", model(nodes, [("x", [4, 2])], [("y", None)], [constant])) == []


# old-opset


@pytest.mark.parametrize(
    ("opset", "severity"),
    [(6, "medium"), (7, "low"), (8, "low"), (9, "info"), (12, "info"), (13, None), (21, None)],
)
def test_opset(opset, severity):
    findings = found(
        "old-opset", model([node("Relu", ["x"], ["y"])], [("x", [4])], [("y", [4])], opset=opset)
    )
    assert [f.severity for f in findings] == ([severity] if severity else [])
    assert all(f.evidence["opset"] == opset for f in findings)


def test_ir_version():
    proto = model([node("Relu", ["x"], ["y"])], [("x", [4])], [("y", [4])])
    proto.ir_version = 2
    (finding,) = found("old-opset", proto)
    assert finding.severity == "medium"
    assert finding.evidence["ir_version"] == 2


def test_a_model_without_standard_operators_has_no_opset_to_be_old():
    nodes = [node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0])]
    proto = model(nodes, [("x", [1, 4])], [("y", [1, 4])], opset=6)
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    assert found("old-opset", proto) == []


# custom-ops


def custom(domain, op):
    proto = model([node(op, ["x"], ["y"], domain=domain, name="n")], [("x", [1, 4])], [("y", [1, 4])])
    if domain and domain != "com.microsoft":
        proto.opset_import.append(helper.make_opsetid(domain, 1))
    return proto


@pytest.mark.parametrize(
    ("domain", "op", "severity"),
    [
        ("com.example", "Magic", "medium"),
        ("", "BatchedNMS_TRT", "medium"),
        ("ai.onnx.contrib", "BertTokenizer", "low"),
        ("com.microsoft", "FastGelu", "info"),
        ("", "Relu", None),
        ("ai.onnx", "Relu", None),
        ("ai.onnx.ml", "Normalizer", None),
    ],
)
def test_custom(domain, op, severity):
    findings = found("custom-ops", custom(domain, op))
    assert [f.severity for f in findings] == ([severity] if severity else [])
    assert all(f.nodes == (0,) and f.evidence["operators"] == [op] for f in findings)


def test_local_functions_are_not_custom():
    proto = custom("com.example", "Twice")
    body = [node("Add", ["a", "a"], ["b"])]
    opsets = [helper.make_opsetid("", 20)]
    proto.functions.append(helper.make_function("com.example", "Twice", ["a"], ["b"], body, opsets))
    assert found("custom-ops", proto) == []


# external-outside


def with_data_at(tmp_path, location):
    tensor = TensorProto(name="w", data_type=F, dims=[4, 4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    proto = model([node("MatMul", ["x", "w"], ["y"])], [("x", [1, 4])], [("y", [1, 4])], [tensor])
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(64))
    (folder / "w.bin").write_bytes(bytes(64))
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    return folder / "m.onnx"


def test_data_outside(tmp_path):
    (finding,) = found("external-outside", with_data_at(tmp_path, "../w.bin"))
    assert finding.severity == "high"
    assert finding.evidence == {"files": 1, "complete": True, "names": ["../w.bin"]}


def test_an_absolute_location_is_shown_by_its_last_part(tmp_path):
    (finding,) = found("external-outside", with_data_at(tmp_path, str(tmp_path / "w.bin")))
    assert finding.evidence["names"] == ["w.bin"]
    assert str(tmp_path) not in repr(finding)


@pytest.mark.parametrize("location", ["w.bin", "./w.bin", "gone.bin"])
def test_data_beside_the_model(tmp_path, location):
    assert found("external-outside", with_data_at(tmp_path, location)) == []


# local-paths


def told(text="", key="note", trace=""):
    relu = node("Relu", ["x"], ["y"], name="r")
    relu.metadata_props.add(key=key, value=text)
    if trace:
        relu.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=trace)
    return model([relu], [("x", [4])], [("y", [4])])


def test_a_path_with_a_user():
    (finding,) = found("local-paths", told('File "/home/jane.doe/net.py", line 1'))
    assert finding.severity == "low"
    assert finding.evidence == {"texts": 1, "places": ["node metadata note"], "forms": ["/home/<user>"]}
    assert "jane" not in repr(finding)


def test_a_path_of_nobody():
    (finding,) = found("local-paths", told("/home/runner/net.py"))
    assert finding.severity == "info"


def test_stack_traces():
    trace = 'File "net.py", line 3, in forward\n'
    (finding,) = found("local-paths", told(trace=trace * 4000))
    assert finding.severity == "info"
    assert finding.evidence["trace_nodes"] == 1
    assert found("local-paths", told(trace=trace)) == []


def test_no_local_paths():
    assert found("local-paths", told("https://example.org/home/jane/ and src/net.py")) == []
