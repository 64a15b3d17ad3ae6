#!/usr/bin/env python3
"""What tags cost an export of BERT-base, against the same exporter alone.

Each export is a fresh process with one torch thread: CPU seconds of the export and peak memory over what
model and imports take. The share of tagging is CPU inside our code over the CPU of the whole export, in one
process, since whole exports differ more from run to run than tagging takes.

    benchmarks/export.py [--quick] [--runs N]
    benchmarks/export.py --large    a model beyond 2 GiB instead (benchmarks/export_large.py)
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LIMITS = {"dynamo share": 0.03, "torchscript": 1.5, "memory": 1.3, "file": 1.01}

CHILD = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
kind, exporter, size, path = sys.argv[1:]
import torch, transformers
import py_autodoc.torch
from py_autodoc.torch import dynamo, exporting
torch.set_num_threads(1)
torch.manual_seed(0)
small = dict(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=2)
model = transformers.BertModel(transformers.BertConfig(**(small if size == "quick" else {}))).eval()
inputs = (torch.ones(1, 128, dtype=torch.long), torch.ones(1, 128, dtype=torch.long))
warm = torch.nn.Sequential(torch.nn.Linear(2, 2))
def plain(model, inputs, path):
    with torch.no_grad():
        if exporter == "dynamo":
            torch.onnx.export(model, inputs, verbose=False).save(path)
        else:  # which cannot give a decorated forward its inputs
            own_forward = model.forward
            model.forward = lambda *values: own_forward(*values)
            torch.onnx.export(model, inputs, path, dynamo=False)
own = 0.0
def counted(name, at):
    work = getattr(at, name)
    def run(*args, **kwargs):
        global own
        start = time.process_time()
        try:
            return work(*args, **kwargs)
        finally:
            own += time.process_time() - start
    setattr(at, name, run)
for name, at in (("tagged", dynamo), ("write_tags", exporting), ("_result", exporting)):
    counted(name, at)
def ours(model, inputs, path):
    py_autodoc.torch.export(model, inputs, path, exporter=exporter)
run = plain if kind == "plain" else ours
run(warm, (torch.ones(1, 2),), path)
own = 0.0
def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
before, start = status("VmRSS"), time.process_time()
run(model, inputs, path)
cpu = time.process_time() - start
print(json.dumps({"cpu": cpu, "own": own, "mb": status("VmHWM") - before, "bytes": os.path.getsize(path)}))
"""


def export(kind: str, exporter: str, size: str) -> dict[str, float]:
    """One export in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CHILD, kind, exporter, size, str(Path(folder) / "m.onnx")]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def median(rows: list[dict[str, float]], key: str) -> float:
    """Median of one number."""
    return statistics.median(row[key] for row in rows)


def main() -> int:
    """Print the figures; 1 when one is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small BERT; limits are not checked")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="a model beyond 2 GiB: memory and weights")
    options = parser.parse_args()
    if options.large:
        import export_large

        return export_large.main()
    size = "quick" if options.quick else "base"
    over = []
    for exporter in ("dynamo", "torchscript"):
        rows: dict[str, list[dict[str, float]]] = {"plain": [], "ours": []}
        for _ in range(options.runs):  # alternating, so that both see the same load
            for kind, found in rows.items():
                found.append(export(kind, exporter, size))
        ratios = {
            key: median(rows["ours"], key) / median(rows["plain"], key) for key in ("cpu", "mb", "bytes")
        }
        share = statistics.median(row["own"] / row["cpu"] for row in rows["ours"])
        cpu = f"plain {median(rows['plain'], 'cpu'):.2f} s CPU, ours {median(rows['ours'], 'cpu'):.2f} s"
        tagging = f"; tagging {share:.2%} of the export's CPU" if exporter == "dynamo" else ""
        print(f"{exporter:12} {cpu} (×{ratios['cpu']:.3f}); memory ×{ratios['mb']:.2f}; ", end="")
        print(f"file ×{ratios['bytes']:.5f}{tagging}")
        figures = {"memory": ratios["mb"], "file": ratios["bytes"]}
        figures["dynamo share" if exporter == "dynamo" else exporter] = (
            share if exporter == "dynamo" else ratios["cpu"]
        )
        over += [f"{exporter}: {k} {v:.3f} > {LIMITS[k]}" for k, v in figures.items() if v > LIMITS[k]]
    for line in over:
        print("over the limit:", line)
    return int(bool(over) and not options.quick)


if __name__ == "__main__":
    raise SystemExit(main())
