"""Estimates for this machine's CPU beside its own times: ``python benchmarks/calibrate.py [--threads N]``.

The profile is the one that ``onnx-autodoc hardware calibrate`` measures; the times are those of ONNX
Runtime's CPU kernels, the quickest of several runs. Models are those of ``tests/data``; where weights were
taken out, random ones are put in. The baseline is one division: the FLOPs of the model by the measured rate
of products.
The last column is the estimate with the fusion of TensorRT in place of ONNX Runtime's. With one thread
both sides are CPU seconds, so that other work on the machine disturbs less; with more they are wall
seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import AttributeProto, GraphProto, TensorProto, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.runtimes import TENSORRT
from py_autodoc.measure.calibrate import Clock, calibrate, quickest
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs, kernels_in
from py_autodoc.report.pipeline.device_choice import choose_device

DATA = Path(__file__).parents[1] / "tests/data"
SECONDS = 1.0
"""For the runs of one model."""
TWICE = ("llama32", "mamba", "bert_tiny", "resnet_tiny", "bert_base_dyn", "resnet50_dyn")
"""Stripped ones that are there with weights too, or with other sizes, or that random weights do not fit."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", type=int, default=0, help="0: as many as ONNX Runtime takes")
    threads = options.parse_args().threads
    clock = time.process_time if threads == 1 else time.perf_counter
    start = time.perf_counter()
    profile = calibrate(threads, clock=clock)
    print(f"{profile['name']}: {time.perf_counter() - start:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cpu.json"
        path.write_text(json.dumps(profile), encoding="utf-8")
        chosen = choose_device(str(path))
        assert chosen is not None
        print("| model | ms | estimate | ratio | FLOPs | as TensorRT |\n|---|---|---|---|---|---|")
        rows, inside = [], 0
        for name, model in models():
            try:
                analysis = run_analysis(model.SerializeToString(), Options(assume=True))
                measured = runtime(model, analysis, threads, clock)
                found, fused = (
                    estimate(
                        kernels_in(analysis, one), estimate_inputs(analysis), chosen.device, "fp32", one.model
                    )
                    for one in (chosen.runtime, TENSORRT)
                )
            except (AutodocError, Exception) as fault:  # noqa: BLE001 - it does not run here, and is told so
                print(f"| {name} | not run: {str(fault).splitlines()[0][:90]} | | | | |")
                continue
            if found.seconds is None or found.unknown:
                print(f"| {name} | {measured * 1e3:.2f} | {found.unknown} kernels of unknown time | | | |")
                continue
            alone = (analysis.totals.flops or 0) / profile["measured_product_flops"]
            rows.append((found.seconds / measured, alone / measured, (fused.seconds or 0) / measured))
            inside += (found.low or 0) <= measured <= (found.high or 0)
            print(
                f"| {name} | {measured * 1e3:.2f} | {found.seconds * 1e3:.2f} "
                f"| {rows[-1][0]:.2f} | {rows[-1][1]:.2f} | {rows[-1][2]:.2f} |"
            )
    for what, at in (("estimate", 0), ("FLOPs alone", 1), ("fused as TensorRT", 2)):
        errors = [abs(row[at] - 1) for row in rows]
        print(f"{what}: median error {statistics.median(errors):.0%} of {len(errors)} models, "
              f"median ratio {statistics.median(row[at] for row in rows):.2f}")  # fmt: skip
    print(f"in the likely range: {inside} of {len(rows)}")


def models() -> Any:
    """(name, model with weights): the usual ones, then the small ones."""
    for path in sorted((DATA / "stripped").glob("*.onnx")):
        if not path.name.startswith(TWICE):
            yield path.name.removesuffix(".stripped.onnx"), filled(onnx.load(path, load_external_data=False))
    for path in sorted((DATA / "models").glob("*.onnx")):
        if not path.name.startswith(("light_", "trt_", "resnet_tiny_ext")) and "stripped" not in path.name:
            yield path.stem, onnx.load(path)


def filled(model: Any) -> Any:
    """The model with random weights in place of those in files that are not there."""
    random = np.random.default_rng(0)
    for tensor in tensors(model.graph):
        if tensor.data_location == TensorProto.EXTERNAL:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
            shape = tuple(tensor.dims)
            value = np.zeros(shape, dtype)
            if np.issubdtype(dtype, np.floating):
                # Variances must be positive, and nothing may grow without end.
                value = (random.random(shape, dtype=np.float32) * 0.04 + (len(shape) == 1)).astype(dtype)
            tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
    return model


def tensors(graph: GraphProto) -> Any:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == AttributeProto.GRAPH:
                yield from tensors(attribute.g)


def runtime(model: Any, analysis: Analysis, threads: int, clock: Clock) -> float:
    """Seconds of the quickest run, at the sizes of the analysis."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        onnx.save(model, file.name)
        session = onnxruntime.InferenceSession(file.name, options, providers=["CPUExecutionProvider"])
    shapes = {
        analysis.model.tensors[tensor].name: analysis.types.shapes[tensor]
        for tensor in analysis.model.graphs[0].inputs
    }
    feeds = {one.name: values(one.type, shapes[one.name] or ()) for one in session.get_inputs()}
    return quickest(partial(session.run, None, feeds), SECONDS, clock)


def values(kind: str, shape: Any) -> Any:
    sizes = [int(size) for size in shape]
    dtype = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(bool)": bool}.get(kind)
    if dtype is None:
        return np.ones(sizes, np.int32 if "int32" in kind else np.int64 if "int64" in kind else np.uint8)
    return np.random.default_rng(1).random(sizes).astype(dtype)


if __name__ == "__main__":
    main()
