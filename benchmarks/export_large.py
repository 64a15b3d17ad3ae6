#!/usr/bin/env python3
"""A model beyond protobuf's 2 GiB: exported, tagged, restored, cut up. Memory, time and every weight.

Each step is a process of its own; its memory is the peak over what it had before the step (for an export:
with the module and its weights in memory). Weights lie in a file beside the model and must stay in it byte
for byte. Needs three times the model's size on the disk and two times in memory.

    benchmarks/export_large.py [--gb 2.4]      also: benchmarks/export.py --large
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH = 8192
STRUCTURE_MB = 100
"""What reads no weights may take in memory, whatever their size; tagging an export too.

A part below 1.5 GiB is made in memory.
"""

CHILD = """
import hashlib, json, os, sys, time, warnings
warnings.simplefilter("ignore")
step, folder, layers, width = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
at = lambda name: os.path.join(folder, name)
def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
def net():
    import torch
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = torch.nn.Linear(width, width, bias=False)
        def forward(self, x):
            return torch.tanh(self.mix(x)) + x
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(Layer() for _ in range(layers))
        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Net()
    with torch.no_grad():
        for weight in model.parameters():
            weight.uniform_(-0.02, 0.02)
    return model.eval(), torch.linspace(-1, 1, width).reshape(1, width)
def digest(array):  # of the matrix or its transpose: the older exporter folds a transposition
    import numpy
    both = (array, array.T)
    return min(hashlib.sha256(numpy.ascontiguousarray(a).reshape(-1).view("uint8")).hexdigest() for a in both)
def forget():  # the peak of memory so far
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
def digests(path):
    import onnx, onnx_ir
    return {v.name: digest(v.const_value.numpy()) for v in onnx_ir.load(path).graph.initializers.values()
            if v.const_value.nbytes > 1 << 20}
def session(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)
found = {}
if step in ("plain", "dynamo", "torchscript"):
    import torch, py_autodoc.torch
    warm = torch.nn.Sequential(torch.nn.Linear(2, 2))
    torch.onnx.export(warm, (torch.ones(1, 2),), verbose=False)
    model, x = net()
    os.makedirs(at(step), exist_ok=True)
    forget()
    before, start = status("VmRSS"), time.perf_counter()
    if step == "plain":
        with torch.no_grad():
            torch.onnx.export(model, (x,), verbose=False).save(at("plain/m.onnx"))
    else:
        result = py_autodoc.torch.export(model, (x,), at(step + "/m.onnx"), exporter=step)
        found["coverage"] = result.coverage.traced
    found.update(mb=status("VmHWM") - before, seconds=time.perf_counter() - start)
    found["weights"] = sorted(digest(p.detach().numpy()) for p in model.parameters())
    with torch.no_grad():
        found["output"] = model(x)[0, ::64].tolist()
elif step == "check":
    import numpy, torch
    found["weights"] = sorted(digests(at(sys.argv[5])).values())
    run = session(at(sys.argv[5]))
    x = torch.linspace(-1, 1, width).reshape(1, width).numpy()
    out = run.run(None, {run.get_inputs()[0].name: x})[0]
    found["output"] = out[0, ::64].tolist()
else:
    import onnx, py_autodoc.tags, py_autodoc.extract
    model = at("dynamo/m.onnx")
    if step == "restore":  # after a tool that dropped what is on the nodes
        proto = onnx.load(model, load_external_data=False)
        for node in proto.graph.node:
            del node.metadata_props[:]
            node.ClearField("doc_string")
        onnx.save(proto, at("dynamo/bare.onnx"))
        del proto
    forget()
    before, start = status("VmRSS"), time.perf_counter()
    if step == "tags":
        found["coverage"] = py_autodoc.tags.load_tags(model)[1].coverage.traced
    elif step == "restore":
        tags = py_autodoc.tags.restore_file(at("dynamo/bare.onnx"), at("dynamo/restored.onnx"))
        found["coverage"] = tags.coverage.traced
    elif step == "assign":  # the file of the exporter alone
        tags = py_autodoc.tags.tag_file(at("plain/m.onnx"), at("plain/tagged.onnx"))
        found["coverage"] = tags.coverage.traced
    elif step == "extract":
        py_autodoc.extract.extract(model, at("part.onnx"), "layers.1")
    found.update(mb=status("VmHWM") - before, seconds=time.perf_counter() - start)
    if step == "extract":
        found["weights"] = sorted(digests(at("part.onnx")).values())
        session(at("part.onnx"))
print(json.dumps(found))
"""


def step(*arguments: str) -> dict[str, object]:
    """One step in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHILD, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments[0]}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def numbers(made: dict[str, object]) -> list[float]:
    """The output of a step."""
    return list(made["output"])  # type: ignore[call-overload]


def main(gb: float = 2.4) -> int:
    """Print the figures; 1 when a weight changed or a step took too much memory."""
    one = WIDTH * WIDTH * 4
    layers = round(gb * 1e9 / one)
    faults: list[str] = []
    found: dict[str, dict[str, object]] = {}
    print(f"{layers} layers, {layers * one / 1e9:.2f} GB of weights")
    with tempfile.TemporaryDirectory() as folder:

        def run(name: str, *more: str) -> dict[str, object]:
            made = found[" ".join((name, *more))] = step(name, folder, str(layers), str(WIDTH), *more)
            told = f"{made['seconds']:6.1f} s, {made['mb']:7.0f} MB" if "mb" in made else "weights and output"
            print(f"{' '.join((name, *more)):28} {told}", flush=True)
            return made

        def same(made: dict[str, object], what: str) -> None:
            if made["weights"] != truth["weights"]:
                faults.append(f"{what}: weights differ")
            pairs = zip(numbers(made), numbers(truth), strict=True)
            if not all(abs(a - b) <= 1e-3 for a, b in pairs):
                faults.append(f"{what}: output differs")

        truth = run("plain")
        for name in ("dynamo", "torchscript"):
            same(run(name), name)
            same(run("check", f"{name}/m.onnx"), name)
        for name in ("tags", "restore", "assign", "extract"):
            made = run(name)
            if float(str(made["mb"])) > STRUCTURE_MB + (3 * one >> 20 if name == "extract" else 0):
                faults.append(f"{name}: {made['mb']:.0f} MB")
            if made.get("coverage", 1.0) != 1.0:
                faults.append(f"{name}: coverage {made['coverage']}")
        same(run("check", "dynamo/restored.onnx"), "restored")
        same(run("check", "plain/tagged.onnx"), "assigned")
        (part,) = list(found["extract"]["weights"])  # type: ignore[call-overload]
        if part not in list(truth["weights"]):  # type: ignore[call-overload]
            faults.append("extract: another weight")
        sizes = {p.name: p.stat().st_size for p in sorted(Path(folder).rglob("*")) if p.is_file()}
    more = float(str(found["dynamo"]["mb"])) - float(str(truth["mb"]))
    print(f"export: {more:+.0f} MB against the exporter alone; part {sizes['part.onnx'] / 1e6:.0f} MB")
    if more > STRUCTURE_MB:
        faults.append(f"dynamo: {more:+.0f} MB")
    for line in faults:
        print("fault:", line)
    return int(bool(faults))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gb", type=float, default=2.4)
    raise SystemExit(main(parser.parse_args().gb))
