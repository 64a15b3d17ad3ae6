"""Milliseconds from an edit in the playground to new outputs, against building a session for it.

    python benchmarks/playground.py [EDITS]

Baseline: the scale is written into the model and a session of ONNX Runtime is made for it, in the same run.
Models: ResNet8, and ResNet-50 with made-up weights at 224×224. Prints medians of wall and CPU time for
another scale of a tensor or a weight, another precision of a layer, the error of every tensor; and ratios.
"""

from __future__ import annotations

import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/graph/rebatch"))

from rebatch_proof import complete  # noqa: E402

from py_autodoc.playground import Playground  # noqa: E402


def measured(work: Callable[[int], object], count: int) -> tuple[float, float]:
    """Medians of wall and CPU milliseconds."""
    wall, cpu = [], []
    work(0)
    for at in range(1, count + 1):
        began, used = time.perf_counter(), time.process_time()
        work(at)
        wall.append(1e3 * (time.perf_counter() - began))
        cpu.append(1e3 * (time.process_time() - used))
    return statistics.median(wall), statistics.median(cpu)


def rebuilt(play: Playground, tensor: str, sample: dict[str, np.ndarray]) -> Callable[[int], object]:
    """The baseline: a new session for each scale."""
    model = onnx.ModelProto()
    model.CopyFrom(play.proto)
    name = model.graph.node[play.points.data[tensor].node].input[1]
    stored = next(one for one in model.graph.initializer if one.name == name)
    scale = play.points.data[tensor].scale
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL

    def work(at: int) -> object:
        stored.CopyFrom(onnx.numpy_helper.from_array(np.array(scale * (1 + at / 100), np.float32), name))
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        return session.run(None, sample)

    return work


def show(title: str, play: Playground, count: int) -> None:
    """Prints the times of one model."""
    tensor = list(play.points.data)[len(play.points.data) // 2]
    layer = list(play.points.layers.values())[len(play.points.layers) // 2]
    scale = play.points.data[tensor].scale

    def data(at: int) -> object:
        play.set_scale(tensor, scale * (1 + at / 100), instead=at > 0)
        return play.outputs

    def weight(at: int) -> object:
        play.set_scale(layer.weight, 1 + at / 100, instead=at > 0)
        return play.outputs

    def precision(at: int) -> object:
        play.set_precision(layer.name, "float" if at % 2 else "int8")
        return play.outputs

    print(f"{title}: {len(play.points.data)} tensors, {len(play.points.weights)} weights")
    base, _ = measured(rebuilt(play, tensor, play.samples[0]), max(3, count // 4))
    rows = [("scale of a tensor", data), ("scale of a weight", weight), ("precision of a layer", precision)]
    for name, work in rows:
        play.reset()
        wall, cpu = measured(work, count)
        faster = f"{base / wall:5.1f} times faster than a new session"
        print(f"  {name:22} {wall:8.1f} ms wall {cpu:8.1f} ms CPU   {faster}")
    wall, cpu = measured(lambda at: play.errors(), max(3, count // 2))
    print(f"  {'error of every tensor':22} {wall:8.1f} ms wall {cpu:8.1f} ms CPU")
    print(f"  {'new session':22} {base:8.1f} ms wall")


def main() -> None:
    """Prints both models."""
    count = int([*sys.argv[1:], "20"][0])
    logging.disable(logging.WARNING)
    random = np.random.default_rng(0)
    data = ROOT / "tests/data/quant/resnet8_fp32_bn.onnx"
    name = onnx.load(data).graph.input[0].name
    shape = [one.dim_value or 1 for one in onnx.load(data).graph.input[0].type.tensor_type.shape.dim]
    show(
        "ResNet8", Playground(data, {name: random.standard_normal((4, *shape[1:]), dtype=np.float32)}), count
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "resnet50.onnx")
        model = complete(
            onnx.load(ROOT / "tests/data/stripped/resnet50.stripped.onnx", load_external_data=False)
        )
        del model.graph.value_info[:]
        onnx.save(model, path)
        name = model.graph.input[0].name
        images = {name: random.standard_normal((1, 3, 224, 224), dtype=np.float32)}
        show("ResNet-50", Playground(path, images), count)


if __name__ == "__main__":
    main()
