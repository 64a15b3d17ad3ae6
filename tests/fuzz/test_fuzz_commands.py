"""A small, fixed share of ``make fuzz``, and the inputs that once broke its rule, as makers."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile

import fuzz_inputs
import fuzz_mutate
import fuzz_rule
import fuzz_seeds
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import COMMANDS
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline import analysis

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits a child as Linux does"),
]
SHARE = 20
"""Inputs a command; `make fuzz` makes up to 50,000."""


@pytest.mark.parametrize("command", fuzz_inputs.commands())
def test_broken_inputs(command):
    """``python tests/fuzz/fuzz_run.py`` finds more; a fault's number makes its input again."""
    if command == "export":
        pytest.importorskip("h5py")
    # Here nobody measures time: the machine may do other things too.
    found = list(fuzz_rule.survey(command, 0, SHARE, cpu_s=60.0))
    assert [number for number, _ in found] == list(range(SHARE))
    assert [(number, fault) for number, fault in found if fault is not None] == []


def test_every_command_is_fuzzed():
    assert set(fuzz_inputs.commands()) == set(COMMANDS) - {"schema"}


def test_inputs_are_the_same_each_time():
    for command in fuzz_inputs.commands():
        assert fuzz_inputs.make(command, 7) == fuzz_inputs.make(command, 7)
    models = {fuzz_inputs.make("analyze", number).files.get("m.onnx") for number in range(20)}
    assert len(models) > 10


def test_the_rule_sees_faults():
    """What it is for: it must not be content with everything."""

    def judged(status, out=b"", err=b"", took=0.0, left=(), command="analyze"):
        made = fuzz_inputs.Input(command, [command], {})
        return fuzz_rule._judge(made, status, out, err, took, list(left), 5.0)

    assert judged(0, b'{"a": 1}') is None
    assert judged(1, b"", b"error: m.onnx: no.\n") is None
    assert "exit 7" in judged(7)
    assert "internal error" in judged(
        2, b"", b"error: The analysis failed because of an internal error in x (KeyError).\n"
    )
    assert "2 lines" in judged(1, b"", b"error: a\nerror: b\n")
    assert "0 lines" in judged(1)
    assert "exit 0 with an error" in judged(0, b"", b"error: a\n")
    assert "control" in judged(1, b"", b"error: a\x1b[31m\n")
    assert "CPU" in judged(0, b"", b"", 6.0)
    assert "left behind" in judged(0, left=[".m.tmp"])
    assert "not JSON" in judged(0, b'{"a": NaN}')
    assert "diagnostic" in judged(0, b'{"code": "analysis-failed"}')
    assert judged(1, command="compare") is None
    listing = fuzz_inputs.Input("to-torch", ["to-torch", "--list", "m.onnx"], {})
    assert fuzz_rule._judge(listing, 1, b"{} 1 node\n", b"", 0.0, [], 5.0) is None


def run(arguments, **files):
    """What the rule says of a command with these files, dots of names written as ``__``."""
    named = {name.replace("__", "."): data for name, data in files.items()}
    return fuzz_rule.check(fuzz_inputs.Input(arguments[0], list(arguments), named), 60.0)


def mangled(old: bytes) -> bytes:
    """The rich model with a byte in a text that is not UTF-8."""
    data = fuzz_seeds.rich()
    assert old in data
    return data.replace(old, b"\xff" + old[1:])


NOT_UTF8 = [
    b"local",
    b"Twice",
    b"/Net/Block.0/Part.1",
    b"batch",
    b"seeds",
    b"words",
    b"text-classification",
    b"autodoc.tag",
]


@pytest.mark.parametrize("old", NOT_UTF8, ids=lambda old: old.decode())
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "m.onnx"),
        ("validate", "m.onnx"),
        ("tags", "m.onnx", "--output", "json"),
        ("extract", "m.onnx", "out.onnx", "--node", "0"),
        ("compare", "m.onnx", "b.onnx"),
        ("to-torch", "m.onnx", "out.py"),
        ("metadata", "m.onnx"),
        ("rebatch", "m.onnx", "out.onnx", "--batch", "2"),
        ("resize", "m.onnx", "out.onnx", "--input-shape", "x=2x4"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_texts_that_are_not_utf8(arguments, old):
    model = mangled(old)
    assert run(arguments, m__onnx=model, b__onnx=fuzz_seeds.rich(), w__bin=fuzz_seeds.WEIGHTS) is None


def test_a_doc_string_that_is_not_utf8():
    proto = onnx.ModelProto.FromString(fuzz_seeds.rich())
    proto.graph.node[0].doc_string = "words of a node"
    model = proto.SerializeToString().replace(b"words of a node", b"words of \xff node")
    for arguments in (("tags", "m.onnx"), ("extract", "m.onnx", "out.onnx", "--node", "0")):
        assert run(arguments, m__onnx=model) is None


@pytest.mark.parametrize(
    "kind", [TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ, TensorProto.COMPLEX128]
)
def test_weights_that_safetensors_has_no_name_for(kind):
    width = 16 if kind == TensorProto.COMPLEX128 else 1
    weight = TensorProto(name="w", data_type=kind, dims=[2], raw_data=bytes(2 * width))
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", kind, [2])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)]).SerializeToString()
    for weights in ("safetensors", "npz"):
        assert run(("to-torch", "m.onnx", "out.py", "--weights", weights), m__onnx=model) is None


def test_a_sparse_tensor_whose_sizes_differ():
    proto = onnx.ModelProto.FromString(fuzz_seeds.rich())
    proto.graph.sparse_initializer[0].indices.dims[0] = 3
    for arguments in (("validate", "m.onnx", "--json"), ("analyze", "m.onnx")):
        assert run(arguments, m__onnx=proto.SerializeToString()) is None


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("member", ["config.json", "metadata.json", "model.weights.h5"])
def test_damaged_members_of_an_archive(packing, member):
    pytest.importorskip("h5py")
    members = fuzz_seeds.keras_archives()[0]
    whole = fuzz_seeds.zipped(members, packing)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        info = archive.getinfo(member)
    start = info.header_offset + 30 + len(member)
    for at in (0, 1, 5, 9, 20, info.compress_size // 2, info.compress_size - 1):
        made = bytearray(whole)
        made[start + min(at, info.compress_size - 1)] ^= 0x5A
        assert run(("export", "m.keras", "out.onnx"), m__keras=bytes(made)) is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "m.onnx", "--out-json", ""),
        ("graph", "m.onnx", "--out", ""),
        ("compare", "m.onnx", "m.onnx", "--beside", ""),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_is_empty(arguments):
    assert run(arguments, m__onnx=fuzz_seeds.rich(), w__bin=fuzz_seeds.WEIGHTS) is None


def test_totals_that_no_float_can_hold():
    weight = TensorProto(name="w", data_type=1, dims=[2**62] * 20, data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.bin")
    graph = helper.make_graph(
        [helper.make_node("Relu", ["w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", 1, None)],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)]).SerializeToString()
    for output in ("--out-html", "--out-json", "--out-csv"):
        assert run(("analyze", "m.onnx", output, "out"), m__onnx=model, w__bin=fuzz_seeds.WEIGHTS) is None


def test_a_layer_without_outputs():
    proto = onnx.ModelProto.FromString(fuzz_seeds.fixed())
    del proto.graph.node[0].output[:]
    for arguments in (("analyze", "m.onnx", "--bind", "*=3"), ("validate", "m.onnx")):
        assert run(arguments, m__onnx=proto.SerializeToString()) is None


def test_one_error_is_told_at_a_time():
    """The model cannot run, and what is asked for is not there."""
    proto = onnx.ModelProto.FromString(fuzz_seeds.rich())
    proto.graph.node[0].input[0] = "nobody makes it"
    given = ("graph", "m.onnx", "--out", "out.json", "--format", "model-explorer", "--overlay", "none")
    assert run(given, m__onnx=proto.SerializeToString(), w__bin=fuzz_seeds.WEIGHTS) is None


def test_a_source_whose_name_no_file_can_have():
    pytest.importorskip("torch")
    for name in ("a" * 300 + ".h5", "~nobody-has-this-name/m.h5", "a\0.h5"):
        assert run(("export", "--exporter", "dynamo", name, "out.onnx")) is None


@pytest.mark.parametrize("op", ["Conv", "MaxPool", "Reshape", "Expand", "MatMul", "Add", "Relu", "Mul"])
@pytest.mark.parametrize("name", ["yolov3_raw.ts", "centernet.ts", "qwen3.dy", "mixtral_batched_mm.dy"])
def test_nodes_without_ends(name, op):
    """Whatever is recognised around them, no recogniser and no rule fails."""
    with zipfile.ZipFile(fuzz_seeds.DATA / "zoo.zip") as zoo:
        whole = zoo.read(f"{name}.onnx")
    count = [node.op_type for node in onnx.ModelProto.FromString(whole).graph.node].count(op)
    for ends in ("input", "output"):
        for at in {0, count // 2} if count else ():
            proto = onnx.ModelProto.FromString(whole)
            node = [one for one in proto.graph.node if one.op_type == op][at]
            del getattr(node, ends)[:]
            found = build_report(
                analysis.run_analysis(proto.SerializeToString(), analysis.Options(assume=True))
            )
            assert not {one.code for one in found.diagnostics} & set(fuzz_rule.INTERNAL)


@pytest.mark.parametrize("number", [0, 127])
def test_tensors_whose_type_is_none(number):
    """In an attribute and as a weight; the same, and of other bytes."""
    proto = onnx.ModelProto.FromString(fuzz_seeds.rich())
    constant = next(node for node in proto.graph.node if node.op_type == "Constant").attribute[0].t
    for tensor in (constant, proto.graph.initializer[0]):
        tensor.data_type = number
    model = proto.SerializeToString()
    constant.raw_data = b"others"
    other = proto.SerializeToString()
    for second in (model, other, fuzz_seeds.rich()):
        for given in ((), ("--topology",), ("--json",)):
            assert run(("compare", "m.onnx", "b.onnx", *given), m__onnx=model, b__onnx=second) is None


def test_texts_that_do_not_fill_their_shape():
    proto = onnx.ModelProto.FromString(fuzz_seeds.rich())
    proto.graph.initializer[-1].dims[0] = 3
    model = proto.SerializeToString()
    for second in (model, fuzz_seeds.rich()):
        assert run(("compare", "--json", "m.onnx", "b.onnx"), m__onnx=model, b__onnx=second) is None


@pytest.mark.parametrize("node", ["Slice(x, zero, one, far)", "Gather <axis = 1099511627776> (x, zero)"])
def test_axes_far_away_in_to_torch(node):
    weights = "int64[1] zero = {0}, int64[1] one = {1}, int64[1] far = {1099511627776}"
    head = '<ir_version: 8, opset_import: ["": 17]> g (float[N, 1] x) => (float[N, 1] y)'
    model = onnx.parser.parse_model(f"{head} <{weights}> {{ y = {node} }}").SerializeToString()
    assert run(("to-torch", "m.onnx", "out.py"), m__onnx=model) is None


def test_inferred_sizes_that_no_file_holds():
    """2^64 - 1 elements: the Concat of two parts, each of which is a size."""
    text = """<ir_version: 8, opset_import: ["": 17]> g (float[9223372036854775807] x) => (float[N] y) {
        both = Concat <axis = 0> (x, x) y = Relu(both) }"""
    model = onnx.parser.parse_model(text).SerializeToString()
    assert run(("extract", "--tensor", "both", "m.onnx", "out.onnx"), m__onnx=model) is None


@pytest.mark.parametrize("op", ["Cast", "Range", "Dequantize", "Gather", "Mul"])
def test_layers_whose_other_side_has_no_inputs(op):
    """What decides whether a constant is a weight looks at the producers around it."""
    bare = helper.make_node(op, [], ["z"])
    weight = numpy_helper.from_array(np.ones((3, 4), np.float32), "w")
    product = helper.make_node("MatMul", ["z", "w"], ["u"])
    for command in ("analyze", "sensitivity", "run"):
        assert run((command, "m.onnx"), m__onnx=plain(bare, product, weights=[weight])) is None


def test_the_fuzz_of_the_command_line_starts():
    """It is started as a script, without the folders that pytest adds."""
    code = "import fuzz_run, fuzz_seeds; fuzz_seeds.models()"
    folder = fuzz_seeds.TESTS / "fuzz"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)


def test_mutations_break_things_but_stay_models():
    import random

    dice = random.Random(0)
    data = fuzz_seeds.rich()
    changed = {fuzz_mutate.model(dice, data, data) for _ in range(50)}
    assert len(changed) > 40
    for one in changed:
        onnx.ModelProto.FromString(one)
    assert any(fuzz_mutate.tree(dice, {"a": [1, 2], "b": {"c": "d"}}) != {"a": [1, 2]} for _ in range(9))
    assert json.dumps(fuzz_mutate.tree(dice, [[1]] * 20))


def of_many_axes(rank: int) -> bytes:
    """Small constants of a high rank that are added, looked up in each other, reshaped and filled."""
    ones = np.ones((1,) * rank, np.int64)
    nodes = [
        onnx.helper.make_node("Add", ["a", "b"], ["sum"]),
        onnx.helper.make_node("Gather", ["sum", "zeros"], ["chosen"], axis=0),
        onnx.helper.make_node("Unsqueeze", ["a", "axes"], ["wide"]),
        onnx.helper.make_node("Shape", ["wide"], ["sizes"]),
        onnx.helper.make_node("Reshape", ["a", "sizes"], ["again"]),
        onnx.helper.make_node("Where", ["true", "a", "again"], ["either"]),
        onnx.helper.make_node("Expand", ["x", "sizes"], ["full"]),
        onnx.helper.make_node("ConstantOfShape", ["sizes"], ["filled"]),
        onnx.helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(ones)),
        onnx.helper.make_node("Concat", ["a", "b", "c"], ["joined"], axis=-1),
    ]
    held = {
        "a": ones,
        "b": ones,
        "zeros": ones - 1,
        "axes": np.arange(rank),
        "true": np.ones((1,) * rank, bool),
    }
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.INT64, [1])],
        [
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, None)
            for name in ("chosen", "either", "full", "filled", "joined")
        ],
        [onnx.numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


@pytest.mark.parametrize("rank", [31, 33, 44, 64])
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "m.onnx"),
        ("analyze", "m.onnx", "--read-weights"),
        ("validate", "m.onnx"),
        ("extract", "m.onnx", "out.onnx", "--node", "0"),
        ("rebatch", "m.onnx", "out.onnx", "--batch", "2"),
        ("resize", "m.onnx", "out.onnx", "--input-shape", "x=3"),
        ("to-torch", "m.onnx", "out.py"),
    ],
    ids=" ".join,
)
def test_constants_of_many_axes(arguments, rank):
    """numpy broadcasts 32 axes, and ends the process where a lookup would make more than 64."""
    assert run(arguments, m__onnx=of_many_axes(rank)) is None


@pytest.mark.parametrize("dtype", [TensorProto.INT4, TensorProto.UINT4, 25, TensorProto.FLOAT])
@pytest.mark.parametrize("command", ["analyze", "validate"])
def test_a_constant_without_elements_beside_huge_sizes(command, dtype):
    """Onnx unpacks small types by asking for the memory of all sizes but the zero."""
    empty = TensorProto(name="w", data_type=dtype, dims=[1 << 40, 1 << 40, 0, 1 << 40], raw_data=b"")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y], [empty])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])
    assert run((command, "m.onnx"), m__onnx=model.SerializeToString()) is None


def plain(*nodes, weights=()) -> bytes:
    """A model of these nodes from x to y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([*nodes, helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y], list(weights))
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])
    return model.SerializeToString()


@pytest.mark.parametrize(
    "op", ["Gather", "Conv", "MatMul", "Gemm", "Concat", "Where", "Resize", "Softmax", "LSTM"]
)
def test_operators_without_inputs_in_a_module(op):
    """What names a box looks at the operators in it."""
    bare = helper.make_node(op, [], ["z"], "/net/embed/op")
    beside = helper.make_node("Add", ["z", "x"], ["u"], "/net/embed/add")
    model = plain(bare, beside)
    for arguments in (("analyze", "m.onnx"), ("graph", "m.onnx", "--out", "g.dot")):
        assert run(arguments, m__onnx=model) is None


@pytest.mark.parametrize(
    "kind", [TensorProto.INT32, TensorProto.FLOAT, TensorProto.INT4, TensorProto.BOOL, 27]
)
@pytest.mark.parametrize("held", ["raw_data", "int64_data", "float_data", "double_data"])
def test_compared_weights_whose_data_do_not_fit_their_type(kind, held):
    data = {"raw_data": bytes(96)}.get(held, [1] * 12)
    weight = TensorProto(name="w", data_type=kind, dims=[3, 4], **{held: data})
    model = plain(weights=[weight])
    assert run(("compare", "m.onnx", "b.onnx"), m__onnx=model, b__onnx=model) is None
