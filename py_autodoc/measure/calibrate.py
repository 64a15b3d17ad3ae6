"""Creates a profile of this machine's CPU from the times of small models in ONNX Runtime."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.hardware.detect import cpu
from py_autodoc.measure.workloads import (
    CACHED,
    CONVOLUTION,
    DEPTHWISE,
    MOVED,
    PRODUCT,
    START,
    Workload,
    workloads,
)
from py_autodoc.ort import onnxruntime

SECONDS = 1.4
"""Total time of all runs, in addition to the start of ONNX Runtime and its sessions."""
LEAST_RUNS = 2
ROUNDS = 4
BUSY = 0.5
"""Processor load of other work from which a warning is given."""
SCHEMA = "autodoc.profile/1"
Profile = dict[str, Any]
Clock = Callable[[], float]


def calibrate(threads: int = 0, seconds: float = SECONDS, clock: Clock = time.perf_counter) -> Profile:
    """Measure the CPU and return a profile for ``--hardware FILE``.

    ``threads`` is the number per operator; 0: ONNX Runtime's default. The fastest run of each model counts,
    so that other work on the machine has little effect.

    Raises:
        RequirementError: ONNX Runtime is missing.
        OptionError: more threads than the machine has.
    """
    runtime, busy = onnxruntime("Calibration"), _busy()
    most = os.cpu_count() or 1
    if not 0 <= threads <= most:
        raise OptionError(
            "too-many-threads", f"This machine has {most} logical processors.", f"Pass 1 to {most} threads."
        )
    every = [(one, _runner(runtime, one, threads)) for one in workloads()]
    each = seconds / len(every) / ROUNDS
    # In rounds, so that a temporary disturbance does not affect all runs of one model.
    best = [
        min(times)
        for times in zip(
            *([quickest(once, each, clock) for _, once in every] for _ in range(ROUNDS)), strict=True
        )
    ]
    rates: dict[str, list[float]] = {}
    for (one, _), quick in zip(every, best, strict=True):
        rates.setdefault(one.kind, []).append(one.work / quick)
    return _profile(rates, threads, str(runtime.__version__), busy)


def _runner(runtime: Any, one: Workload, threads: int) -> Callable[[], object]:
    """Return a function that runs the model once."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = runtime.InferenceSession(one.model, options, providers=["CPUExecutionProvider"])
    feeds = {name: _numbers(shape) for name, shape in one.shapes.items()}
    return partial(session.run, None, feeds)


def lines(found: Profile) -> list[str]:
    """Return the profile as text."""

    def giga(name: str) -> str:
        return f"{found[name] / 1e9:,.1f} G"

    _, other, load = found.get("notes", "").partition("Other work")
    warning = [f"{other}{load} Rates are too low: measure again when nothing else runs."] if other else []
    return [
        found["name"],
        f"  products               {giga('measured_product_flops')}FLOP/s",
        f"  convolutions           {giga('measured_convolution_flops')}FLOP/s",
        f"  by channel (depthwise) {giga('measured_depthwise_flops')}FLOP/s",
        f"  element by element     {giga('measured_bandwidth_bytes_per_s')}B/s",
        f"  start of an operator   {found['measured_start_seconds'] * 1e6:.2g} µs",
        *warning,
    ]


def quickest(run: Callable[[], object], seconds: float, clock: Clock = time.perf_counter) -> float:
    """Return the fastest run within about ``seconds``; the first run is a warm-up and not counted."""
    end = clock() + seconds
    run()
    best, runs = math.inf, 0
    while runs < LEAST_RUNS or clock() < end:
        start = clock()
        run()
        best, runs = min(best, clock() - start), runs + 1
    return max(best, 1e-9)


def _numbers(shape: tuple[int, ...]) -> Any:
    import numpy as np

    return np.random.default_rng(1).random(shape, dtype=np.float32)


def _mean(values: list[float]) -> float:
    """Return the geometric mean of rates, so that no size dominates."""
    return math.exp(sum(map(math.log, values)) / len(values))


def _busy() -> str:
    """Return a warning about other work in the last minute; empty if there was little, or it is unknown."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    count = os.cpu_count() or 1
    if load <= BUSY * count:
        return ""
    return f"Other work ran meanwhile (load {load:.1f} on {count} logical processors)."


def _profile(rates: dict[str, list[float]], threads: int, version: str, busy: str) -> Profile:
    found = cpu()
    count = threads or "default"
    return {
        "schema": SCHEMA,
        "name": f"{found['name']}, measured ({count} threads)"[:200],
        "vendor": "",
        "type": "cpu",
        "category": "cpu",
        "vram_bytes": found["memory_bytes"],
        "memory_bandwidth_bytes_per_s": round(max(rates[CACHED] + rates[MOVED])),
        "peak_fp32_flops": round(max(rates[PRODUCT] + rates[CONVOLUTION] + rates[DEPTHWISE])),
        "measured_product_flops": round(_mean(rates[PRODUCT])),
        "measured_convolution_flops": round(_mean(rates[CONVOLUTION])),
        "measured_depthwise_flops": round(_mean(rates[DEPTHWISE])),
        "measured_bandwidth_bytes_per_s": round(_mean(rates[MOVED])),
        "measured_start_seconds": 1 / _mean(rates[START]),
        "notes": f"ONNX Runtime {version} on the CPU, {date.today().isoformat()}. {busy}".strip(),
    }
