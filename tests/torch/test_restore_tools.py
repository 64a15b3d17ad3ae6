"""After tools that drop the tags of nodes, every node gets its module back."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import numpy as np
import onnx
import onnx_ir
import onnxruntime
import onnxsim
import onnxslim
import pytest
from export_zoo import exported
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static

from py_autodoc.compare import same_topology
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
from py_autodoc.tags import load_tags, read_tags, restore_file, strip_tags
from py_autodoc.tags.paths import below

pytestmark = pytest.mark.slow

LEVELS = onnxruntime.GraphOptimizationLevel
CASES = [
    ("dynamo", "bert"),
    ("torchscript", "bert"),
    ("dynamo", "resnet"),
    ("dynamo", "choice"),
    ("dynamo", "repeat"),
    ("dynamo", "llama"),
    ("dynamo", "whisper"),
    ("dynamo", "segformer"),
]


class Once(CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = [feeds]

    def get_next(self):
        return self.feeds.pop() if self.feeds else None


def optimized(level):
    def run(source, out, feeds):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(out)
        options.log_severity_level = 4
        onnxruntime.InferenceSession(str(source), options)

    return run


def bare(source, out):
    """The quantizers refuse shapes that the exporter wrote and folding changed."""
    proto = onnx.load(source)
    del proto.graph.value_info[:]
    path = out.with_suffix(".bare.onnx")
    onnx.save(proto, path)
    return path


def simplified(source, out, feeds):
    onnx.save(onnxsim.simplify(onnx.load(source))[0], out)


def slim(source, out, feeds):
    with redirect_stdout(io.StringIO()):
        onnxslim.slim(str(source), str(out))


TOOLS = {
    "ort basic": optimized(LEVELS.ORT_ENABLE_BASIC),
    "ort extended": optimized(LEVELS.ORT_ENABLE_EXTENDED),
    "dynamic": lambda source, out, feeds: quantize_dynamic(bare(source, out), out),
    "qdq": lambda source, out, feeds: quantize_static(bare(source, out), out, Once(feeds)),
    "qoperator": lambda source, out, feeds: quantize_static(
        bare(source, out), out, Once(feeds), quant_format=QuantFormat.QOperator
    ),
    "onnxsim": simplified,
    "onnxslim": slim,
    "converter": lambda source, out, feeds: onnx.save(
        onnx.version_converter.convert_version(onnx.load(source), 21), out
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("exporter", "name"), CASES)
def test_restored(exporter, name, tool, tmp_path):
    _, inputs, result = exported(exporter, name)
    values = list(inputs.values()) if isinstance(inputs, dict) else inputs
    names = [value.name for value in result.model.graph.inputs]
    feeds = {key: value.numpy() for key, value in zip(names, values, strict=True)}
    out = tmp_path / "tool.onnx"
    TOOLS[tool](result.path, out, feeds)
    before = tmp_path / "before.onnx"
    before.write_bytes(out.read_bytes())
    tags = restore_file(out, out)
    assert same_topology(before, out) == []
    onnx.checker.check_model(out)
    assert tags.coverage.root == 0
    modules = {path for path, _ in exported(exporter, name)[0].named_modules()}
    for record in tags.records.values():
        assert record.scope in modules
        assert record.tag == result.tags.namer.tag(record.scope)
    _, again = load_tags(out)
    assert [*again.records.values()] == [*tags.records.values()]
    # A tensor that kept its name was made by the same module, unless the tool merged its node with another.
    made = {v.name: r for n, r in result.tags.records.items() for v in n.outputs}
    for node, record in tags.records.items():
        for value in node.outputs:
            if value.name in made:
                assert set(made[value.name].origins) & set(record.origins)
    named = {node.name: record for node, record in result.tags.records.items()}
    for node, record in tags.records.items():
        if node.name in named and not record.scopes and not named[node.name].scopes:
            assert record.scope == named[node.name].scope, node.name


def test_without_any_key_left_names_still_tell(tmp_path):
    """All metadata of nodes gone, quantized: judged by the nodes' names, which were not looked at first."""
    _, inputs, result = exported("dynamo", "bert")
    proto = onnx.load(result.path)
    table = proto.metadata_props[0]
    strip_tags(proto)
    proto.metadata_props.append(table)
    del proto.graph.value_info[:]
    bare_path, out = tmp_path / "bare.onnx", tmp_path / "quantized.onnx"
    onnx.save(proto, bare_path)
    feeds = {key: value.numpy() for key, value in inputs.items()}
    quantize_static(bare_path, out, Once(feeds))
    names = {node.name: record.scope for node, record in result.tags.records.items()}
    exact = near = 0
    proto = onnx.load(out)
    for node in proto.graph.node:
        fits = [n for n in names if node.name == n or node.name.startswith(n + "_")]
        base = max(fits, key=len, default="")
        node.name = f"{base}|{node.name}"  # names as no table has them, the truth in front
    tags = read_tags(onnx_ir.from_proto(proto))
    for node, record in tags.records.items():
        truth = names.get(node.name.partition("|")[0])
        if truth is not None:
            exact += record.scope == truth
            near += below(truth, record.scope)
    total = sum(1 for node in tags.records if node.name.partition("|")[0])
    assert total > 80
    assert exact / total > 0.9
    assert near / total > 0.95


def test_the_viewer_reads_what_a_tool_left(tmp_path):
    """Modules in the analysis of an optimized model come from the table, without restoring."""
    _, _, result = exported("dynamo", "bert")
    plain = build(load(result.path))
    by_output = {plain.tensors[n.outputs[0]].name: n for n in plain.nodes}
    assert {n.tag for n in plain.nodes} == {r.tag for r in result.tags.records.values()}
    out = tmp_path / "optimized.onnx"
    TOOLS["ort basic"](result.path, out, {})
    assert not any("autodoc.tag" in n.metadata_props for n in onnx_ir.load(out).graph)
    optimized_model = build(load(out))
    same = 0
    for node in optimized_model.nodes:
        known = by_output.get(optimized_model.tensors[node.outputs[0]].name)
        if known is not None:
            assert (node.scope, node.classes, node.tag) == (known.scope, known.classes, known.tag)
            same += 1
    assert same > 60
    assert np.mean([bool(node.scope) for node in optimized_model.nodes]) > 0.9
