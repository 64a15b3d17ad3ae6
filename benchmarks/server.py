#!/usr/bin/env python3
"""What an analysis costs the Jupyter server: time from POST to the picture, stall of the event loop.

Baselines of the stall: an idle loop (what the machine's other work does to any process), and the same
analysis in a thread of the server process. Models of a given number of
nodes are made on the spot.

    python benchmarks/server.py [--sizes 1000,10000,50000] [--model FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from py_autodoc.jobs.file_stamps import Stamp
from py_autodoc.jobs.ipc_frames import AnalysisSpec
from py_autodoc.jobs.job_queue import JobQueue
from py_autodoc.jobs.launch import default_launcher
from py_autodoc.limits import SERVER

TICK_S = 0.001
IDLE_S = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,50000")
    parser.add_argument("--model", type=Path, action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = list(options.model)
        for size in map(int, filter(None, options.sizes.split(","))):
            models.append(Path(folder) / f"{size}.onnx")
            make_model(models[-1], size)
        asyncio.run(measure(models))


async def measure(models: list[Path]) -> None:
    queue = JobQueue(default_launcher())
    try:
        _, seconds, stall = await watched(queue.warm())
        print(f"first start (in the background): {seconds:.2f} s, {stall}")
        for model in models:
            await measure_model(queue, model)
    finally:
        await queue.close()
    _, _, stall = await watched(asyncio.sleep(IDLE_S))
    print(f"baseline, an idle loop for {IDLE_S} s: {stall}")
    for model in models:
        await measure_thread(model)


async def measure_model(queue: JobQueue, path: Path) -> None:
    job, seconds, stall = await watched(finish(queue, path))
    body = await queue.body(job.id, "graph")
    _, node_first, _ = await watched(queue.body(job.id, "node", 5))
    slowest = max([(await watched(queue.body(job.id, "node", node)))[1] for node in range(0, 50, 5)])
    report, report_s, report_stall = await watched(queue.body(job.id, "report"))
    record = queue._store.get(job.id, 0)
    queue._stop_worker(record)
    _, revived, _ = await watched(queue.body(job.id, "node", 5))
    queue._stop_worker(record)
    print(
        f"{path.name}: request to picture {seconds:.2f} s, payload {body.raw_size / 1e6:.2f} MB"
        f" (gzip {body.size / 1e6:.2f}), {stall};"
        f" report {report.raw_size / 1e6:.1f} MB {report_s:.2f} s, {report_stall};"
        f" node {node_first * 1e3:.1f} ms, slowest {slowest * 1e3:.1f} ms,"
        f" with a new child {revived:.2f} s"
    )


async def measure_thread(path: Path) -> None:
    from py_autodoc.jobs.model_session import open_session

    def work() -> None:
        open_session(spec_of(path), lambda *_: None).graph()

    loop = asyncio.get_running_loop()
    _, seconds, stall = await watched(loop.run_in_executor(None, work))
    print(f"{path.name}: baseline, in a thread: {seconds:.2f} s, {stall}")


async def finish(queue: JobQueue, path: Path) -> Any:
    started = await queue.submit(spec_of(path))
    *_, job = [state async for state in queue.watch(started.id)]
    assert job.state == "done", job.problem
    return job


async def watched(work: Awaitable[Any]) -> tuple[Any, float, str]:
    """Result, seconds, and how late a timer of 1 ms came at worst.

    On a busy machine that has the scheduler's share in it; so the CPU time the loop itself used between
    two ticks at worst is given too.
    """
    late = own = 0.0

    async def tick() -> None:
        nonlocal late, own
        while True:
            wall, cpu = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TICK_S)
            late = max(late, time.perf_counter() - wall - TICK_S)
            own = max(own, time.thread_time() - cpu)

    ticker = asyncio.ensure_future(tick())
    await asyncio.sleep(0)
    begun = time.perf_counter()
    result = await work
    seconds = time.perf_counter() - begun
    await asyncio.sleep(0)
    ticker.cancel()
    return result, seconds, f"stall {late * 1e3:.1f} ms (loop's own CPU {own * 1e3:.1f} ms)"


def spec_of(path: Path) -> AnalysisSpec:
    return AnalysisSpec(path=str(path.resolve()), stamp=Stamp.of(os.stat(path)), assume=True, limits=SERVER)


def make_model(path: Path, size: int) -> None:
    """A transformer-like stack of about ``size`` nodes with names like an exporter's."""
    nodes: list[onnx.NodeProto] = []
    weight = helper.make_tensor("w", TensorProto.FLOAT, [64, 64], b"\0" * (4 * 64 * 64), raw=True)
    bias = helper.make_tensor("b", TensorProto.FLOAT, [64], b"\0" * 256, raw=True)
    names = itertools.count()
    last = "x"

    def add(op: str, inputs: list[str], where: str) -> str:
        out = f"{where}/{op}_{next(names)}_output"
        nodes.append(helper.make_node(op, inputs, [out], name=out.removesuffix("_output")))
        return out

    for layer in itertools.count():
        if len(nodes) >= size:
            break
        attention, mlp = f"/encoder/layer.{layer}/attention", f"/encoder/layer.{layer}/mlp"
        q, k, v = (add("Add", [add("MatMul", [last, "w"], attention), "b"], attention) for _ in "qkv")
        weights = add("Softmax", [add("MatMul", [q, add("Transpose", [k], attention)], attention)], attention)
        mixed = add("MatMul", [add("MatMul", [weights, v], attention), "w"], attention)
        last = add("LayerNormalization", [add("Add", [mixed, last], attention), "b"], attention)
        hidden = add("Relu", [add("MatMul", [last, "w"], mlp)], mlp)
        last = add(
            "LayerNormalization", [add("Add", [add("MatMul", [hidden, "w"], mlp), last], mlp), "b"], mlp
        )
    graph = helper.make_graph(
        nodes,
        "stack",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["seq", 64])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)],
        [weight, bias],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


if __name__ == "__main__":
    main()
