"""A payload under one binding, and what a new analysis says under others: for the viewer's own test.

python tests/report/rebind_fixture.py    # writes the fixture; a test checks that it is up to date
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.builders.batch_section import embedded_offer
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

FIXTURE = Path(__file__).parents[2] / "src" / "core" / "testing" / "rebind.json"
FIRST = {"batch": 1, "seq": 16}
BATCHES = (3, 8)
OTHERS = ({"batch": 3, "seq": 7}, {"batch": 2, "seq": 31})


def model() -> onnx.ModelProto:
    """Attention without heads over (batch, seq, 8), so that sizes enter squared."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "seq", 8])
    weights = [numpy_helper.from_array(np.ones((8, 8), np.float32), name) for name in ("wq", "wk", "wv")]
    nodes = [
        helper.make_node("MatMul", ["x", "wq"], ["q"], name="q_proj"),
        helper.make_node("MatMul", ["x", "wk"], ["k"], name="k_proj"),
        helper.make_node("MatMul", ["x", "wv"], ["v"], name="v_proj"),
        helper.make_node("Transpose", ["k"], ["kt"], name="flip", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "kt"], ["s"], name="scores"),
        helper.make_node("Softmax", ["s"], ["p"], name="softmax", axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["y"], name="context"),
    ]
    graph = helper.make_graph(nodes, "attention", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def scanned() -> onnx.ModelProto:
    """A product a slice of (batch, seq, 8): how often it runs is one of the sizes."""
    part = helper.make_tensor_value_info("part", TensorProto.FLOAT, ["batch", 8])
    done = helper.make_tensor_value_info("done", TensorProto.FLOAT, ["batch", 8])
    body = helper.make_graph(
        [helper.make_node("MatMul", ["part", "w"], ["done"], name="step")], "b", [part], [done]
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "seq", 8])
    scan = helper.make_node(
        "Scan", ["x"], ["y"], body=body, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1]
    )
    graph = helper.make_graph(
        [scan], "g", [x], [y], [numpy_helper.from_array(np.ones((8, 8), np.float32), "w")]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def fixed() -> onnx.ModelProto:
    """Batch 1 in the file: a class token that all items share, and a Reshape with the batch in it."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 40])
    weights = [
        numpy_helper.from_array(np.ones((1, 1, 8), np.float32), "token"),
        numpy_helper.from_array(np.ones((8, 8), np.float32), "w"),
        numpy_helper.from_array(np.array([1, 40]), "shape"),
    ]
    nodes = [
        helper.make_node("Concat", ["token", "x"], ["h"], name="join", axis=1),
        helper.make_node("MatMul", ["h", "w"], ["p"], name="product"),
        helper.make_node("Reshape", ["p", "shape"], ["y"], name="flat"),
    ]
    graph = helper.make_graph(nodes, "fixed", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _fixed() -> dict[str, Any]:
    analysis = run_analysis(fixed(), Options())
    payload = build_payload(analysis, embedded_offer(analysis))
    cases = []
    for batch in BATCHES:
        other = build_payload(run_analysis(fixed(), Options(batch_size=batch)))
        shapes = {
            name: other.shapes[at] for name, at in zip(other.tensors.name, other.tensors.shape, strict=True)
        }
        cases.append(
            {
                "batch": batch,
                "metrics": msgspec.to_builtins(other.metrics),
                "shapes": [shapes[name] for name in payload.tensors.name],
            }
        )
    first: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(payload, hardware=None))
    return {"payload": first, "cases": cases}


def _payload(sizes: dict[str, int], source: onnx.ModelProto | None = None) -> dict[str, Any]:
    payload = build_payload(run_analysis(source or model(), Options(bindings=sizes)))
    found: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(payload, hardware=None))
    return found


def fixture() -> bytes:
    """The JSON text of the fixture."""
    first, *others = (_payload(sizes) for sizes in (FIRST, *OTHERS))
    cases = [
        {
            "sizes": sizes,
            "metrics": other["metrics"],
            "nodes": {
                key: other["nodes"][key]
                for key in ("macs", "flops", "read_bytes", "write_bytes", "activation_bytes")
            },
            "shapes": [other["shapes"][at] for at in other["tensors"]["shape"]],
            "timeline": other["timeline"],
        }
        for sizes, other in zip(OTHERS, others, strict=True)
    ]
    within = [_payload(sizes, scanned()) for sizes in (FIRST, *OTHERS)]
    loops = [
        {"sizes": sizes, "metrics": other["metrics"], "nodes": other["nodes"]}
        for sizes, other in zip(OTHERS, within[1:], strict=True)
    ]
    loop = {"payload": within[0], "cases": loops}
    found = {"payload": first, "cases": cases, "loop": loop, "fixed": _fixed()}
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


if __name__ == "__main__":
    FIXTURE.write_bytes(fixture())
