"""Run with the extended copy on the path: prints where each invented thing is seen, as JSON."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

import py_autodoc
from py_autodoc import metrics
from py_autodoc.cli.app import COMMANDS
from py_autodoc.findings.registry import rules
from py_autodoc.operators import coverage
from py_autodoc.render.markdown import card
from py_autodoc.render.viewer_attachments import available_metrics
from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.openapi_spec.openapi import openapi_document
from py_autodoc.report.openapi_spec.operations import OPERATIONS
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.sections.section_model import SectionContext
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.server.routes import ROUTES, tornado_rules
from py_autodoc.to_torch import write


def wobbling(path: Path) -> None:
    """Conv → Wobble → Conv, of fixed sizes."""
    weight = numpy_helper.from_array(np.ones((4, 4, 3, 3), np.float32), "w")
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w"], ["a"], "first", pads=[1, 1, 1, 1]),
        node("Wobble", ["a"], ["b"], "middle", domain="com.microsoft"),
        node("Conv", ["b", "w"], ["y"], "last", pads=[1, 1, 1, 1]),
    ]
    shape = [1, 4, 8, 8]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph(nodes, "wobbling", ends[:1], ends[1:], [weight])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def shell(*args: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "py_autodoc", *args], capture_output=True, text=True, check=True
    )
    return done.stdout


def main(folder: Path) -> None:
    """Everything that is seen."""
    model = folder / "wobbling.onnx"
    wobbling(model)
    report = py_autodoc.analyze(model, hardware="l4")
    payload = build_payload(run_analysis(model, Options(hardware="l4")))
    (layer,) = (one for one in report.layers if one.type == "Wobble")
    (row,) = (one for one in coverage() if one.type == "Wobble")
    write(model, folder / "wobbling.py")
    estimate = report.hardware_estimates
    assert estimate is not None
    sys.path.insert(0, str(Path(py_autodoc.__file__).parents[1] / "scripts"))
    from metrics_ts import metrics_module

    found = {
        "package": py_autodoc.__file__,
        "shape": layer.output_shape,
        "flops": layer.flops,
        "coverage": report.coverage.nodes,
        "category": next(op.category for op in payload.ops if op.type == "Wobble"),
        "unknown_kernels": estimate.unknown_kernels,
        "aspects": sorted(row.links),
        "files": sorted({link.path for link in row.links.values()}),
        "torch": "torch.sin(torch.sin(" in (folder / "wobbling.py").read_text("utf-8"),
        "batch": py_autodoc.analyze(model, batch_size=3).graph.inputs[0].shape,
        "size": py_autodoc.analyze(model, resize={"x": [1, 4, 12, 12]}).graph.inputs[0].shape,
        "findings": [one.id for one in report.risk_signals],
        "rules": list(rules()),
        "rule_page": shell("rule", "invented-wobble"),
        "heatmap": list(metrics.ids("heatmap")),
        "attachments": list(available_metrics(run_analysis(model))),
        "typescript": "invented_density" in metrics_module(),
        "commands": list(COMMANDS),
        "help": shell("--help"),
        "command": shell("invented"),
        "routes": [route.pattern for route in ROUTES],
        "tornado": {pattern: handler.__name__ for pattern, handler in tornado_rules()},
        "openapi": list(openapi_document(OPERATIONS)["paths"]),
        "markdown": card(SectionContext(report)),
        "query": [report.layers[node].name for node in NodeMatcher(payload).find("density>0")],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
