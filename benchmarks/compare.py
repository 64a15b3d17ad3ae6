#!/usr/bin/env python3
"""CPU seconds of aligning a decoder with itself less one layer, every name changed.

    python benchmarks/compare.py [LAYERS …]      default 205 (10,047 nodes) and 1020 (49,982 nodes)

Beside it, in the same run and on the same two models: the analysis of both, the viewer's matcher in Node (it
knows names and wires; where Node is not there it is left out), and refinement of labels over all nodes
without contraction, as a general library for graphs would do it (operators and neighbours, six rounds).
``found`` is how many of the nodes that have a counterpart got one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import onnx
from onnx import TensorProto
from synthetic import Decoder

from py_autodoc.compare.align import align
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

HERE = Path(__file__).parent
ROUNDS = 6


def decoder(layers: int, renamed: bool) -> onnx.ModelProto:
    """A decoder without its weights' bytes; ``renamed``: with other names throughout."""
    made = Decoder(layers, 256, 8, tokens=16)
    model = made.proto()
    for name, shape in made.weights:
        tensor = model.graph.initializer.add(name=name, data_type=TensorProto.FLOAT)
        tensor.dims.extend(shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="none.bin")
    if renamed:
        names: dict[str, str] = {}

        def fresh(name: str) -> str:
            return names.setdefault(name, f"t{len(names) * 7919 % 1_000_003}") if name else ""

        graph = model.graph
        for number, node in enumerate(graph.node):
            node.name = f"n{number * 7919 % 1_000_003}"
            node.input[:] = [fresh(name) for name in node.input]
            node.output[:] = [fresh(name) for name in node.output]
        for about in (*graph.initializer, *graph.input, *graph.output):
            about.name = fresh(about.name)
    return model


def timed(work: Callable[[], object]) -> tuple[float, object]:
    before = time.process_time()
    made = work()
    return time.process_time() - before, made


def refinement(left: Analysis, right: Analysis) -> int:
    """Pairs by labels over all nodes, nothing contracted."""
    known: dict[object, int] = {}
    sides = []
    for side in (left, right):
        model = side.model
        nodes = [n for n in model.nodes if n.op_type != "Constant"]
        labels = {n.id: known.setdefault(n.op_type, len(known)) for n in nodes}
        for _ in range(ROUNDS):
            labels = {
                n.id: known.setdefault(
                    (
                        labels[n.id],
                        tuple(labels.get(model.tensors[t].producer, -1) for t in n.inputs if t >= 0),
                        tuple(sorted(labels[c] for t in n.outputs for c in model.tensors[t].consumers)),
                    ),
                    len(known),
                )
                for n in nodes
            }
        sides.append(Counter(labels.values()))
    return sum(count for label, count in sides[0].items() if sides[1][label] == count)


def viewer(left: Analysis, right: Analysis) -> dict[str, float] | None:
    node = shutil.which("node")
    if node is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, "left.json"), Path(folder, "right.json")]
        for path, one in zip(paths, (left, right), strict=True):
            path.write_bytes(msgspec.json.encode(build_payload(one)))
        done = subprocess.run(
            [node, HERE / "compare.mjs", *paths], capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> int:
    align(*(run_analysis(decoder(2, False), Options(assume=True)) for _ in range(2)))  # imports, schemas
    for layers in [int(one) for one in sys.argv[1:]] or [205, 1020]:
        models = [decoder(layers, False), decoder(layers - 1, True)]
        analysis, sides = timed(lambda models=models: [run_analysis(m, Options(assume=True)) for m in models])
        assert isinstance(sides, list)
        left, right = sides
        nodes = [len(one.model.nodes) for one in sides]
        seconds, made = timed(lambda left=left, right=right: align(left, right))
        paired = sum(len(pair.right) for pair in made.pairs)  # type: ignore[attr-defined]
        plain, labelled = timed(lambda left=left, right=right: refinement(left, right))
        print(f"{nodes[0]:,} and {nodes[1]:,} nodes, {nodes[1]:,} counterparts")
        rows = [
            ("analysis of both", analysis, None),
            ("alignment", seconds, paired),
            ("labels without contraction", plain, labelled),
        ]
        other = viewer(left, right)
        if other is not None:
            rows.append(("the viewer's matcher (Node)", other["seconds"], int(other["matched"])))
        for name, took, found in rows:
            told = "" if found is None else f"  found {found:,} of {nodes[1]:,}"
            print(f"  {name:<28}{took:6.2f} s  {took / seconds:5.2f} × alignment{told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
