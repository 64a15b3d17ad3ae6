"""Published latencies beside our estimates, for models that are in the repository."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx

from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.latency_estimate import Estimate, estimate
from py_autodoc.hardware.latency_model import device
from py_autodoc.hardware.profile import find_profile
from py_autodoc.hardware.runtimes import runtime
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs, kernels_in

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data"
sys.path.append(str(ROOT / "benchmarks"))

from synthetic import Encoder, save_external  # noqa: E402


@dataclass(frozen=True)
class Row:
    """One published latency and ours."""

    model: str
    device: str
    precision: str
    batch: int
    seq: int | None
    runtime: str
    split: str
    estimated_as: str
    """Id of the runtime whose estimate it is."""
    measured: float
    """Seconds."""
    estimate: Estimate

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        assert self.estimate.seconds is not None
        return self.estimate.seconds / self.measured

    @property
    def inside(self) -> bool:
        """True when the published latency lies in the band that we show."""
        assert self.estimate.low is not None
        assert self.estimate.high is not None
        return self.estimate.low <= self.measured <= self.estimate.high


@dataclass(frozen=True)
class Score:
    """How far a set of estimates is off."""

    count: int
    median: float
    """Of |ratio - 1|."""
    ninth: float
    """Nine of ten are at most this far off."""
    bias: float
    """Median ratio."""
    inside: float
    """Share of the published latencies that lie in the band."""


@cache
def source(model: str) -> str | onnx.ModelProto:
    """The file of a model. BERT-large is made here, in the form of the TorchScript exporter.

    ``resnet50_unfolded`` is ResNet-50 with the normalizations that an exporter folds into convolutions.
    """
    if model == "resnet50_unfolded":
        return _unfolded(onnx.load(DATA / "stripped/resnet50_dyn.stripped.onnx", load_external_data=False))
    if model != "bert_large":
        places = (DATA / folder / f"{model}.stripped.onnx" for folder in ("stripped", "timed"))
        return str(next(path for path in places if path.exists()))
    maker = Encoder(24, 1024, 16, vocabulary=30522)
    proto = maker.proto()
    proto.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "seq"
    proto.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "seq"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bert_large.onnx")
        save_external(proto, maker.weights, path)
        return onnx.load_from_string(path.read_bytes())


def _unfolded(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with a BatchNormalization after every convolution."""
    graph, nodes = proto.graph, []
    channels = {one.name: one.dims[0] for one in graph.initializer}
    for node in graph.node:
        if node.op_type == "Conv":
            made, count = node.output[0], channels[node.input[1]]
            node.output[0] = f"{made}_convolved"
            names = [f"{made}_{part}" for part in ("scale", "bias", "mean", "variance")]
            graph.initializer.extend(
                onnx.numpy_helper.from_array(np.ones(count, np.float32), name) for name in names
            )
            nodes += [node, onnx.helper.make_node("BatchNormalization", [node.output[0], *names], [made])]
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    return proto


Analyses = dict[tuple[str, int, int | None], Analysis]
"""Model, batch and length of the text → its analysis."""


def rows(only: str = "", analyses: Analyses | None = None) -> list[Row]:
    """Every row of ``tests/data/latency_measured.json``; ``only``: a runtime that all are estimated for.

    ``analyses`` are those that are there already; what else is needed is added.
    """
    analyses = {} if analyses is None else analyses
    kernels: dict[tuple[str, int, int | None, str], Kernels] = {}
    found = []
    for row in json.loads((DATA / "latency_measured.json").read_text("utf-8")):
        key = (row["model"], row["batch"], row["seq"])
        if key not in analyses:
            sizes = {"seq": row["seq"]} if row["seq"] else {}
            options = Options(bindings=sizes, batch_size=row["batch"])
            analyses[key] = run_analysis(source(row["model"]), options)
        analysis, one = analyses[key], device(find_profile(row["device"]))
        runs = runtime(only or row.get("estimated_as", "tensorrt"))
        if (*key, runs.id) not in kernels:
            kernels[(*key, runs.id)] = kernels_in(analysis, runs)
        assert one is not None
        ours = estimate(
            kernels[(*key, runs.id)], estimate_inputs(analysis), one, row["precision"], runs.model
        )
        found.append(
            Row(
                *(row[name] for name in ("model", "device", "precision", "batch", "seq", "runtime", "split")),
                estimated_as=runs.id,
                measured=row["latency_ms"] / 1e3,
                estimate=ours,
            )
        )
    return found


def score(several: Sequence[Row]) -> Score:
    """How far the rows are off."""
    errors = sorted(abs(row.ratio - 1) for row in several)
    return Score(
        len(errors),
        statistics.median(errors),
        errors[min(len(errors) - 1, int(0.9 * len(errors)))],
        statistics.median(row.ratio for row in several),
        sum(row.inside for row in several) / len(several),
    )
