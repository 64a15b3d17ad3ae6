#!/usr/bin/env python3
"""CPU time of all expressions of a 2,000-node model under new sizes, in the browser's evaluator, against a
new analysis in Python in the same run; and what expressions add to an analysis.

Usage: python benchmarks/expressions.py

The evaluator runs under Node. Exits 1 when evaluating takes more than three times its target.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.pipeline import analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

ROOT = Path(__file__).resolve().parent.parent
TARGET_MS = 10
RUNS = 7
BERT = ROOT / "tests/data/stripped/bert_base_dyn.stripped.onnx"


def tower(nodes: int) -> bytes:
    """A network with free batch, height and width whose every fourth layer has sizes of its own."""
    graph_nodes, weights, last = [], [], "x"
    for i in range(nodes // 4):
        channels = 8 + i % 61
        before = 8 + (i - 1) % 61 if i else 3
        weight = np.zeros((channels, before, 3, 3), np.float32)
        weights.append(numpy_helper.from_array(weight, f"w{i}"))
        strides = [2, 2] if i and i % 125 == 0 else [1, 1]
        graph_nodes += [
            helper.make_node("Conv", [last, f"w{i}"], [f"c{i}"], pads=[1, 1, 1, 1], strides=strides),
            helper.make_node("Sigmoid", [f"c{i}"], [f"s{i}"]),
            helper.make_node("Mul", [f"c{i}", f"s{i}"], [f"m{i}"]),
            helper.make_node("Relu", [f"m{i}"], [f"r{i}"]),
        ]
        last = f"r{i}"
    graph = helper.make_graph(
        graph_nodes,
        "tower",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "height", "width"])],
        [onnx.ValueInfoProto(name=last)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString()


def cpu(work) -> float:
    """Best CPU milliseconds of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        work()
        best = min(best, 1000 * (time.process_time() - start))
    return best


def without_expressions(source) -> float:
    """CPU milliseconds of an analysis that makes none."""
    make = analysis._Pipeline._symbolic
    analysis._Pipeline._symbolic = lambda *_: None
    try:
        return cpu(lambda: analysis.run_analysis(source))
    finally:
        analysis._Pipeline._symbolic = make


def browser(pool: bytes, sizes: dict[str, int]) -> dict[str, float]:
    """Milliseconds of compiling and of evaluating, and a total to compare."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.json"
        path.write_bytes(pool)
        command = ["node", str(ROOT / "benchmarks/expressions.mjs"), str(path), json.dumps(sizes)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return json.loads(done.stdout)


def main() -> int:
    source, sizes = tower(2000), {"batch": 3, "height": 224, "width": 320}
    found = analysis.run_analysis(source)
    pool = build_payload(found).expressions
    assert pool is not None
    bound = analysis.Options(bindings=sizes)
    again = cpu(lambda: analysis.run_analysis(source, bound))
    web = browser(msgspec.json.encode(pool), sizes)
    assert web["macs"] == analysis.run_analysis(source, bound).totals.macs, "the evaluators disagree"
    size = len(msgspec.json.encode(pool))
    print(f"nodes {len(found.model.nodes):,}  trees {len(pool.trees):,}  pool {size:,} bytes")
    print(f"new analysis            {again:8.2f} ms")
    print(f"compile the pool once   {web['compile']:8.2f} ms")
    ratio = again / web["evaluate"]
    print(
        f"evaluate for new sizes  {web['evaluate']:8.2f} ms   target {TARGET_MS}   {ratio:,.0f} times faster"
    )
    for name, model in (("BERT-base, free batch and seq", BERT), ("the 2,000 nodes", source)):
        plain, whole = without_expressions(model), cpu(lambda model=model: analysis.run_analysis(model))
        print(
            f"analysis of {name}: {plain:.1f} ms, with expressions {whole:.1f} ms, {whole / plain:.2f} times"
        )
    return int(web["evaluate"] > 3 * TARGET_MS)


if __name__ == "__main__":
    sys.exit(main())
