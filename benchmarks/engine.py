#!/usr/bin/env python3
"""What analysing costs, against what it may cost and against onnx and onnx-tool in the same run.

Every measurement is a fresh process: CPU seconds after import, and peak memory over what the imports
take. onnx-tool is measured where it is installed (``ONNX_TOOL_PYTHON`` names another interpreter).

The passes over the foundation (load, build, shapes, costs, parameters, peak) are held against it in one warm
process: the recognisers of structure alone, and all passes together, identity, findings and memory over time
included.

    benchmarks/engine.py [--quick] [--runs N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import onnx
from synthetic import Decoder, chain, save_external, save_single

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
ALONE = "alone"
"""Kind of a case without a comparison."""
MAY_STRUCTURE, MAY_SHARE = 0.4, 0.7
"""What the recognisers of structure, and all passes, may cost as a share of the foundation."""

_METER = """
import json, sys, time
def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
def measure(work):
    rss, start = status("VmRSS"), time.process_time()
    work()
    print(json.dumps({"cpu": time.process_time() - start, "mb": status("VmHWM") - rss}))
path = sys.argv[1]
"""
OURS = (
    _METER
    + """
from py_autodoc.findings.registry import rules
from py_autodoc.graph.shapes import infer
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.document.build_report import build_report
rules()
nodes = []
measure(lambda: nodes.append(build_report(run_analysis(path)).graph.num_nodes))
print(json.dumps({"nodes": nodes[0]}))
"""
)
ONNX = (
    _METER
    + """
import onnx
import onnx.shape_inference
external = sys.argv[2] == "external"
measure(lambda: onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=not external)))
"""
)
ONNX_TOOL = (
    _METER
    + """
import contextlib, io, onnx_tool
def work():
    with contextlib.redirect_stdout(io.StringIO()):
        model = onnx_tool.Model(path)
        model.graph.shape_infer()
        model.graph.profile()
measure(work)
"""
)
PAYLOAD = (
    _METER
    + """
import msgspec
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload
found, size = run_analysis(path), []
measure(lambda: size.append(len(msgspec.json.encode(build_payload(found)))))
print(json.dumps({"bytes": size[0]}))
"""
)
PASSES = """
import json, statistics, sys, time
from py_autodoc.blocks import analyse
from py_autodoc.costs.engine import cost_table, totals
from py_autodoc.costs.liveness import peak_activation
from py_autodoc.costs.params import count_params
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.shapes import infer
from py_autodoc.report.pipeline.analysis import run_analysis

spent, guard = {}, analyse._Recognition._guard
def timed(self, name, *arguments):
    start = time.process_time()
    try:
        return guard(self, name, *arguments)
    finally:
        spent[name] = spent.get(name, 0) + time.process_time() - start
analyse._Recognition._guard = timed

def foundation(path):
    loaded = load(path)
    model = build(loaded)
    types = infer(loaded, model, {}, {})
    sizes = TensorSizes(model, types)
    totals(model, cost_table(model, types, sizes).nodes)
    count_params(model, types, sizes)
    peak_activation(model, types, sizes)
    return model, types

def cpu(work):
    start = time.process_time()
    work()
    return time.process_time() - start

path, rounds = sys.argv[1], int(sys.argv[2])
import gc
gc.disable()  # as an analysis does
model, types = foundation(path)
base, new, whole, each = [], [], [], {}
for _ in range(rounds):
    base.append(cpu(lambda: foundation(path)))
    spent.clear()
    new.append(cpu(lambda: analyse.recognise_structure(model, types)))
    for name, seconds in spent.items():
        each.setdefault(name, []).append(seconds)
    whole.append(cpu(lambda: run_analysis(path)))
    gc.collect()
print(json.dumps({"nodes": len(model.nodes), "base": min(base), "structure": min(new), "whole": min(whole)}))
print(json.dumps({"each": {name: min(seconds) for name, seconds in each.items()}}))
"""


@dataclass(frozen=True)
class Case:
    """A model and what its analysis may cost (CPU seconds, MB over import)."""

    name: str
    path: Path
    kind: str
    cpu: float
    mb: float


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one run each, without the models of gigabytes")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    runs = 1 if args.quick else args.runs
    tool = onnx_tool_python()
    if tool is None:
        print("onnx-tool is not installed here: its column stays empty (set ONNX_TOOL_PYTHON)\n")
    with tempfile.TemporaryDirectory() as folder:
        within = [engine_row(case, runs, tool) for case in cases(Path(folder), args.quick)]
        within.append(payload_row(Path(folder), runs))
    within.extend(passes_rows(runs))
    within.append(command_row(runs))
    return 0 if all(within) else 1


def cases(folder: Path, quick: bool) -> list[Case]:
    print(
        f"{'model':34}{'nodes':>7}{'CPU s':>8}{'may':>6}{'MB':>7}{'may':>5}"
        f"   {'onnx':>15}   {'onnx-tool':>14}"
        "   (our CPU and memory as a share of theirs; * without reading the external data)"
    )
    found = [
        Case("ResNet-50, 102 MB", embedded("resnet50", folder), "single", 0.14, 60),
        Case("Llama, 1,929 nodes", DATA / "stripped/llama32_narrow.stripped.onnx", "external", 0.49, 100),
    ]
    if not quick:
        single, external = Decoder(28, 1024, 16), Decoder(36, 1600, 25)
        save_single(single.proto(), single.weights, folder / "single.onnx")
        save_external(external.proto(), external.weights, folder / "external.onnx")
        found.append(Case("decoder, 1.4 GB in one file", folder / "single.onnx", "single", 0.35, 60))
        found.append(Case("decoder, 4.4 GB external data", folder / "external.onnx", "external", 0.8, 120))
    found += large(folder)
    return found


def large(folder: Path) -> list[Case]:
    """50,000 nodes: small operators in modules, a decoder of 1,020 layers, and the same without names."""
    (folder / "large_chain.onnx").write_bytes(chain(50_000).SerializeToString())
    deep = Decoder(1020, 64, 4)
    proto = deep.proto()
    save_external(proto, deep.weights, folder / "large.onnx")
    for node in proto.graph.node:
        node.name = ""
    save_external(proto, deep.weights, folder / "large_bare.onnx")
    return [
        Case("chain, 50,000 nodes", folder / "large_chain.onnx", ALONE, 15, 1000),
        Case("decoder, 1,020 layers", folder / "large.onnx", ALONE, 15, 1000),
        Case("the same without names", folder / "large_bare.onnx", ALONE, 15, 1000),
    ]


def embedded(name: str, folder: Path) -> Path:
    """A stripped model with its weights (zeros) back inside the file."""
    proto = onnx.load(DATA / f"stripped/{name}.stripped.onnx", load_external_data=False)
    outside = [t for t in proto.graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
    weights = [(t.name, tuple(t.dims)) for t in outside if t.data_type == onnx.TensorProto.FLOAT]
    if len(weights) != len(outside):
        sys.exit(f"{name}: a weight is no float32")
    for tensor in outside:
        proto.graph.initializer.remove(tensor)
    save_single(proto, weights, folder / f"{name}.onnx")
    return folder / f"{name}.onnx"


def onnx_tool_python() -> str | None:
    """An interpreter that has onnx-tool."""
    python = os.environ.get("ONNX_TOOL_PYTHON", sys.executable)
    probe = subprocess.run([python, "-c", "import onnx_tool"], capture_output=True, check=False)
    return python if probe.returncode == 0 else None


def measured(code: str, args: list[str], runs: int, python: str = sys.executable) -> dict[str, float] | None:
    """Medians over fresh processes; None when one fails."""
    found: list[dict[str, float]] = []
    for _ in range(runs):
        done = subprocess.run(
            [python, "-c", code, *args], capture_output=True, text=True, cwd=ROOT, check=False
        )
        if done.returncode:
            return None
        found.append({k: v for line in done.stdout.splitlines() for k, v in json.loads(line).items()})
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def engine_row(case: Case, runs: int, tool: str | None) -> bool:
    args = [str(case.path), case.kind]
    ours = measured(OURS, args, runs)
    if ours is None:
        print(f"{case.name:34} failed")
        return False
    others = [
        None if case.kind == ALONE else measured(ONNX, args, 1 if runs == 1 else 2),
        None if case.kind == ALONE or not tool else measured(ONNX_TOOL, args, 1, tool),
    ]
    ratios = ("*  " if case.kind == "external" else "   ").join(ratio(ours, other) for other in others)
    count = f"{ours['nodes']:,.0f}"
    print(
        f"{case.name:34}{count:>7}{ours['cpu']:8.3f}{case.cpu:6.2f}{ours['mb']:7.1f}{case.mb:5.0f}   {ratios}"
        f"   {verdict(ours['cpu'] <= case.cpu and ours['mb'] <= case.mb)}"
    )
    return ours["cpu"] <= case.cpu and ours["mb"] <= case.mb


def ratio(ours: dict[str, float], other: dict[str, float] | None) -> str:
    """How much of the other's CPU time and memory we need."""
    if other is None:
        return f"{'—':>14}"
    return f"{ours['cpu'] / max(other['cpu'], 1e-9):6.1%} {ours['mb'] / max(other['mb'], 1e-9):6.1%}"


def passes_rows(runs: int) -> list[bool]:
    """What the passes cost, as a share of the foundation: loading, building, shapes, costs, peak."""
    print(
        f"\n{'passes':34}{'nodes':>7}{'CPU ms':>8}{'of':>8}{'share':>7}{'may':>6}"
        f"{'structure':>12}{'may':>6}          the slowest recognisers"
    )
    return [
        passes_row(name, DATA / f"stripped/{file}.stripped.onnx", 3 * runs)
        for name, file in (
            ("ResNet-50", "resnet50"),
            ("BERT", "bert_base"),
            ("Llama, 1,929 nodes", "llama32_narrow"),
        )
    ]


def passes_row(name: str, path: Path, rounds: int) -> bool:
    done = subprocess.run(
        [sys.executable, "-c", PASSES, str(path), str(rounds)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    if done.returncode:
        print(f"{name:34} failed")
        return False
    found, each = (json.loads(line) for line in done.stdout.splitlines())
    spent = found["whole"] - found["base"]
    share, structure = spent / found["base"], found["structure"] / found["base"]
    good = share <= MAY_SHARE and structure <= MAY_STRUCTURE
    slow = sorted(each["each"].items(), key=lambda item: -item[1])[:4]
    text = ", ".join(f"{key} {seconds / found['base']:.0%}" for key, seconds in slow)
    print(
        f"{name:34}{found['nodes']:7,}{spent * 1e3:8.1f}{found['base'] * 1e3:8.1f}{share:7.0%}"
        f"{MAY_SHARE:6.0%}{structure:12.0%}{MAY_STRUCTURE:6.0%}   {verdict(good):4}   {text}"
    )
    return good


def verdict(good: bool) -> str:
    return "ok" if good else "OVER"


def payload_row(folder: Path, runs: int) -> bool:
    path = folder / "chain.onnx"
    path.write_bytes(chain(50_000).SerializeToString())
    found = measured(PAYLOAD, [str(path)], runs)
    if found is None:
        print("viewer payload: failed")
        return False
    good = found["cpu"] <= 2 and found["bytes"] <= 10e6
    size = found["bytes"] / 1e6
    print(
        f"\nviewer payload, 50,000 nodes: {found['cpu']:.2f} CPU s (may 2), {size:.1f} MB (may 10)"
        f"  {verdict(good)}"
    )
    return good


def command_row(runs: int) -> bool:
    """The whole command on a small model, process start included."""
    spent = []
    for _ in range(max(runs, 3)):
        before = os.times()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "py_autodoc",
                "analyze",
                DATA / "models/bert_tiny.onnx",
                "--out-json",
                os.devnull,
            ],
            cwd=ROOT,
            check=True,
        )
        after = os.times()
        spent.append(
            after.children_user - before.children_user + after.children_system - before.children_system
        )
    median = statistics.median(spent)
    print(f"onnx-autodoc analyze bert_tiny.onnx: {median:.2f} CPU s (may 0.9)  {verdict(median <= 0.9)}")
    return median <= 0.9


if __name__ == "__main__":
    sys.exit(main())
