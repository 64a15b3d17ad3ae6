"""The graphs of the layout's quality test: real models from tests/data and two built here, as plain graphs.

Writes ``src/core/testing/layouts.json``: sizes of the items and wires by their ends. The figures of the
libraries in it are kept where a graph is unchanged; ``node scripts/layout_rivals.mjs`` measures them again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import onnx

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
TARGET = ROOT / "src" / "core" / "testing" / "layouts.json"

#: Models laid out whole, all nodes at once; `gpt2` has a causal mask that every layer reads.
MODELS = {
    "resnet50": "stripped/resnet50.stripped.onnx",
    "bert_base": "stripped/bert_base.stripped.onnx",
    "detr_r50": "stripped/detr_r50.stripped.onnx",
    "ppocr_v4_det": "models/ppocr_v4_det.onnx",
    "gpt2_masks": "stripped/gpt2.stripped.onnx",
}
#: One layer of a model: where it is, and the module its nodes are from.
LAYER = ("llama_layer", "stripped/llama32_narrow.stripped.onnx", "layers.3")


class Graph:
    """A plain graph under construction; items are numbered as they are added."""

    def __init__(self) -> None:
        self.width: list[int] = []
        self.height: list[int] = []
        self._wires: dict[tuple[int, int], int] = {}
        self._tensors: dict[str, int] = {}

    def item(self, width: int, height: int) -> int:
        self.width.append(width)
        self.height.append(height)
        return len(self.width) - 1

    def node(self, op: str, weights: bool) -> int:
        """A card as wide as its operator's name, higher with weights."""
        return self.item(max(48, 7 * len(op) + 20), 46 if weights else 28)

    def pill(self) -> int:
        return self.item(60, 22)

    def wire(self, source: int, target: int, tensor: str) -> None:
        number = self._tensors.setdefault(tensor, len(self._tensors))
        self._wires.setdefault((source, target), number)

    def plain(self) -> dict[str, list[int]]:
        return {
            "width": self.width,
            "height": self.height,
            "source": [source for source, _ in self._wires],
            "target": [target for _, target in self._wires],
            "trunk": list(self._wires.values()),
        }


def of_model(path: Path, scope: str | None = None) -> Graph:
    """All nodes but constants, with pills for inputs and outputs; only those of a scope when given."""
    model = onnx.load(path, load_external_data=False).graph
    constant = {tensor.name for tensor in model.initializer}
    graph, made = Graph(), {}
    nodes = []
    for node in model.node:
        if node.op_type == "Constant":
            constant.update(node.output)
        elif scope is None or stands_in(node, scope):
            nodes.append(node)
    inside = {name for node in nodes for name in node.output}
    for node in nodes:
        for name in node.input:
            if name and name not in constant | inside and name not in made:
                made[name] = graph.pill()
    placed = [
        (graph.node(node.op_type, any(name in constant for name in node.input)), node) for node in nodes
    ]
    for item, node in placed:
        made.update(dict.fromkeys(node.output, item))
    for item, node in placed:
        for name in node.input:
            if name in made:
                graph.wire(made[name], item, name)
    results = {value.name for value in model.output} if scope is None else outside(model, nodes)
    for name in sorted(inside & results):
        graph.wire(made[name], graph.pill(), name)
    return graph


def outside(model: onnx.GraphProto, nodes: list[onnx.NodeProto]) -> set[str]:
    """Tensors that nodes other than these read."""
    own = {id(node) for node in nodes}
    return {name for node in model.node if id(node) not in own for name in node.input}


def stands_in(node: onnx.NodeProto, scope: str) -> bool:
    """Whether the exporter recorded the module among those around the node."""
    return any(entry.key == "namespace" and f".{scope}:" in entry.value for entry in node.metadata_props)


def mixture(layers: int = 3, experts: int = 8) -> Graph:
    """Layers that send their input through a gate and through experts side by side."""
    graph = Graph()
    x = graph.pill()
    for layer in range(layers):
        norm = graph.node("LayerNormalization", True)
        gate, chosen = graph.node("MatMul", True), graph.node("Softmax", False)
        split, total = graph.node("Split", False), graph.node("Sum", False)
        graph.wire(x, norm, f"x{layer}")
        for s, t in ((norm, gate), (gate, chosen), (chosen, split)):
            graph.wire(s, t, f"{s}")
        for expert in range(experts):
            up, act, mul = graph.node("MatMul", True), graph.node("Sigmoid", False), graph.node("Mul", False)
            down, scale = graph.node("MatMul", True), graph.node("Mul", False)
            graph.wire(norm, up, f"{norm}")
            for s, t in ((up, act), (up, mul), (act, mul), (mul, down), (down, scale), (scale, total)):
                graph.wire(s, t, f"{s}")
            graph.wire(split, scale, f"{split}:{expert}")
        add = graph.node("Add", False)
        graph.wire(x, add, f"x{layer}")
        graph.wire(total, add, f"{total}")
        x = add
    graph.wire(x, graph.pill(), "y")
    return graph


def inception(blocks: int = 6) -> Graph:
    """Blocks of four branches of one, two and three convolutions and a pooling, joined by Concat."""
    graph = Graph()
    x = graph.pill()
    for _ in range(blocks):
        join = graph.node("Concat", False)
        for branch in (["Conv"], ["Conv"] * 2, ["Conv"] * 3, ["MaxPool", "Conv"]):
            at = x
            for op in branch:
                node, relu = graph.node(op, op == "Conv"), graph.node("Relu", False)
                graph.wire(at, node, f"{at}")
                graph.wire(node, relu, f"{node}")
                at = relu
            graph.wire(at, join, f"{at}")
        x = join
    graph.wire(x, graph.pill(), "y")
    return graph


def main() -> int:
    graphs = {name: of_model(DATA / path) for name, path in MODELS.items()}
    name, path, scope = LAYER
    graphs[name] = of_model(DATA / path, scope)
    graphs["mixture_of_experts"] = mixture()
    graphs["inception"] = inception()
    known: dict[str, Any] = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    wanted: dict[str, Any] = {}
    for name, graph in graphs.items():
        plain = graph.plain()
        before = known.get(name, {})
        same = before.get("graph") == plain
        wanted[name] = {"graph": plain, "rivals": before.get("rivals") if same else None}
        print(f"{name}: {len(graph.width)} items, {len(plain['source'])} wires", file=sys.stderr)
    rows = [
        f"{json.dumps(name)}:{json.dumps(entry, separators=(',', ':'))}" for name, entry in wanted.items()
    ]
    TARGET.write_text("{" + ",\n".join(rows) + "}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
