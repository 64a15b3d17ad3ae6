"""The front door to transformers' exporter adds metadata to what that exporter gives, and nothing else."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest
import torch
from export_zoo import make
from transformers.exporters import OnnxConfig, OnnxExporter

import py_autodoc.torch
from py_autodoc.compare import same_topology
from py_autodoc.tags import strip_tags

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["bert", "resnet"])
def test_only_metadata_is_added_to_what_transformers_exports(name, tmp_path):
    model, inputs = make(name)
    result = py_autodoc.torch.export(model, inputs, tmp_path / "ours.onnx", exporter="hf", dynamic=True)
    other, inputs = make(name)
    with torch.no_grad():
        (alone,) = OnnxExporter().export(other, inputs, OnnxConfig(dynamic=True)).components.values()
    theirs, ours = ir.to_proto(alone.program), onnx.load(result.path)
    assert same_topology(theirs, ours) == []
    assert strip_tags(ours) == result.coverage.nodes
    for proto in (ours, theirs):
        for node in proto.graph.node:  # a stack trace names the file that torch generated, by a counter
            kept = [entry for entry in node.metadata_props if not entry.key.endswith("stack_trace")]
            del node.metadata_props[:]
            node.metadata_props.extend(kept)
    known = {entry.key for entry in theirs.metadata_props}
    added = {entry.key for entry in ours.metadata_props} - known
    assert all(key.startswith("hf_") for key in added)  # its configuration and processor
    kept = [entry for entry in ours.metadata_props if entry.key in known]
    del ours.metadata_props[:]
    ours.metadata_props.extend(kept)
    assert ours.SerializeToString(deterministic=True) == theirs.SerializeToString(deterministic=True)
