"""Makes second models to put beside the first: the same network exported again after a change.

usage: python make_variants.py ROOT
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import onnx

BLOCK = "m.resnet.encoder.stages.2.layers.4."


def without_block(model: onnx.ModelProto, prefix: str = BLOCK) -> None:
    """Take out the residual block that reads the weights of ``prefix``; the wires run around it."""
    graph = model.graph
    nodes = list(graph.node)
    users = [i for i, node in enumerate(nodes) if any(x.startswith(prefix) for x in node.input)]
    first, last = users[0], users[-1]
    while nodes[last].op_type != "Add":
        last += 1
    last += 1
    assert nodes[last].op_type == "Relu"
    around, inside = nodes[first].input[0], nodes[last].output[0]
    del graph.node[:]
    graph.node.extend(nodes[:first] + nodes[last + 1 :])
    for node in graph.node:
        for k, name in enumerate(node.input):
            if name == inside:
                node.input[k] = around
    kept = [w for w in graph.initializer if not w.name.startswith(prefix)]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def renumber(model: onnx.ModelProto) -> None:
    """Number nodes and tensors anew from 1, as a second export does: the same numbers, other nodes."""
    graph = model.graph
    fixed = {x.name for x in [*graph.input, *graph.output, *graph.initializer]}
    tensors: dict[str, str] = {}
    counts: dict[str, int] = {}

    def fresh(name: str) -> str:
        family = re.sub(r"_?\d+$", "", name)
        counts[family] = counts.get(family, 0) + 1
        return f"{family}_{counts[family]}"

    for node in graph.node:
        node.name = fresh(node.name)
        for k, name in enumerate(node.input):
            node.input[k] = tensors.get(name, name)
        for k, name in enumerate(node.output):
            if name and name not in fixed:
                tensors[name] = fresh(name)
                node.output[k] = tensors[name]
    del graph.value_info[:]


def main(root: Path) -> None:
    """Write the models under ``root``."""
    from make_models import DATA, llama_like  # here: others import this file beside modules of that name

    model = onnx.load(DATA / "stripped/resnet50.stripped.onnx", load_external_data=False)
    without_block(model)
    renumber(model)
    onnx.save(model, root / "resnet50_shallow.onnx")
    llama_like(9_800, root / "llama_9800.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
