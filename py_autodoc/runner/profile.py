"""The time of each node: measured with ONNX Runtime, or read from a profile."""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.limits import PROFILE_FILE, Bounds
from py_autodoc.option_files import opened, read_text, shown_name
from py_autodoc.ort import open_session, read_model, run_session
from py_autodoc.outputs import scratch
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.runner.attribution import Kernel, attribute_kernels
from py_autodoc.runner.latency import LOW
from py_autodoc.runner.layer_info import TensorRTLayer, read_layer_info
from py_autodoc.samples import Sample

SCHEMA = "autodoc.node-times/1"
PROFILE = Bounds(values=40_000_000)
"""ONNX Runtime records up to a million events of about 25 values."""
MAX_NAME = 10_000
"""Maximum characters of a kernel's name; TensorRT names all fused nodes."""
_LARGEST = 1e15
"""Larger numbers, in microseconds or milliseconds, are not valid times."""
_HEAD = 4096
"""Bytes that are read to recognise a file."""
_SUFFIX = "_kernel_time"


class NodeTime(msgspec.Struct, frozen=True, kw_only=True):
    """Time of a kernel, and the nodes that it computes."""

    node: int
    """``layers[].id`` of the node in ``nodes`` with the most work."""
    name: str
    op: str
    nodes: list[int]
    ms: float
    """Of one run: a fifth of the runs are faster. The mean, if a profile has one."""
    conversion_ms: float
    """Share of ``ms`` that converts layouts and types, in milliseconds."""


class NodeTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a model's nodes."""

    schema: str = SCHEMA
    model: str
    source: str
    """``ONNX Runtime`` or the profile's file."""
    runs: int
    total_ms: float
    """Total of all kernels in one run."""
    attributed_ms: float
    nodes: list[NodeTime]
    """Slowest first."""
    lost: dict[str, float]
    """Kernels that belong to no node → milliseconds."""

    @property
    def share(self) -> float | None:
        """Share of the time that was attributed; None if the total is 0."""
        return self.attributed_ms / self.total_ms if self.total_ms else None

    def heat(self) -> dict[str, object]:
        """Return the times as a heatmap."""
        values = {str(node.node): node.ms for node in self.nodes}
        return {"label": "Measured latency in ms", "unit": "ms", "values": values}

    def to_json(self, pretty: bool = False) -> str:
        """Return the times as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"


def measure_nodes(
    path: PathLike,
    analysis: Analysis,
    samples: Sequence[Sample],
    runs: int,
    warmup: int,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> NodeTimes:
    """Run the model with ONNX Runtime's profiler and attribute its kernels to nodes.

    ``progress`` is called with the number of completed runs and of all.

    Raises: ModelRefused, AnalysisError: ONNX Runtime refuses the model, or fails on it.
    """
    with scratch() as folder:
        optimized = str(Path(folder, "optimized.onnx"))
        session = open_session(
            path,
            "A profile",
            proto=_named_nodes(path),
            threads=threads,
            profile=str(Path(folder, "profile")),
            optimized=optimized,
        )
        for index in range(warmup + runs):
            run_session(session, None, samples[index % len(samples)], base_name(path))
            if progress is not None:
                progress(index + 1, warmup + runs)
        events = json.loads(Path(session.end_profiling()).read_bytes())
        graph = onnx.load(optimized, load_external_data=False)
    kernels = _kernels(events, warmup, runs)
    return _times(analysis, kernels, graph, "ONNX Runtime", runs)


def _named_nodes(path: PathLike) -> onnx.ModelProto | None:
    """Return the model with a unique name for each node, for profiles; None if all have one."""
    proto = read_model(path, weights=False)
    lacking = [node for node in proto.graph.node if not node.name]
    for index, node in enumerate(lacking):
        node.name = f"autodoc_{index}_{node.op_type}"
    return proto if lacking else None


def read_profile(file: PathLike, analysis: Analysis, layer_info: PathLike | None = None) -> NodeTimes:
    """Read times from a file: ONNX Runtime's profile, ``trtexec --exportProfile``, or node → ms.

    The last is a JSON object, a list of objects with ``name`` and ``ms``, or CSV with such columns. Names are
    those of nodes or of their outputs; TensorRT's layers name the nodes that they fuse.

    Args:
        file: file with the times.
        analysis: analysis of the same model.
        layer_info: file of ``trtexec --exportLayerInfo`` for the same engine, for layers whose names contain
            no node.

    Raises: PathError, InputError: no such file, or another format.
    """
    name, text = shown_name(file), read_text(file, PROFILE_FILE)
    content = _parsed(text, name)
    if isinstance(content, list) and any(
        isinstance(event, dict) and event.get("cat") == "Node" for event in content
    ):
        if layer_info is not None:
            raise InputError(
                "layer-info-not-tensorrt",
                f"{name} is a profile of ONNX Runtime, not of TensorRT.",
                "Omit --layer-info, or pass the file that trtexec --exportProfile writes.",
            )
        runs = _runs(content)
        return _of_this_model(_times(analysis, _kernels(content, 0, runs), None, name, runs), analysis)
    kernels = _listed(content, name)
    layers = None if layer_info is None else _matching(read_layer_info(layer_info), kernels, layer_info, name)
    # Rows of a plain table are nodes; layers of an engine include others.
    is_node_table = layers is None and not any(
        isinstance(event, dict) and "averageMs" in event for event in content
    )
    times = _times(analysis, kernels, None, name, 1, layers, named_only=is_node_table)
    return _of_this_model(times, analysis) if is_node_table else times


def _of_this_model(times: NodeTimes, analysis: Analysis) -> NodeTimes:
    """Return the times. Raises: InputError: none of them is of a node of the model."""
    if times.nodes:
        return times
    named = next((f" (it names {name[:60]!r} …)" for name in times.lost), "")
    raise InputError(
        "profile-of-another-model",
        f"No time in {times.source} is of a node of {analysis.model.file.name}{named}.",
        "Pass the profile of this model.",
    )


def identify_profile_files(files: Sequence[PathLike]) -> tuple[PathLike, PathLike | None]:
    """Return the profile and TensorRT's layer information among one or two files.

    Raises: OptionError: there are more files, or not exactly one profile.
    """
    described = [file for file in files if _is_layer_info(file)]
    profiles = [file for file in files if file not in described]
    if len(profiles) == 1 and len(described) <= 1:
        return profiles[0], described[0] if described else None
    if described and not profiles:
        raise OptionError(
            "layer-info-alone",
            f"{base_name(described[0])[:100]} contains layer information, but no times.",
            "Pass it together with the file that trtexec --exportProfile writes.",
        )
    raise OptionError(
        "several-profiles",
        f"Expected one profile, but got {len(files)} files.",
        "Pass one profile; for TensorRT, optionally with its layer information.",
    )


def _is_layer_info(file: PathLike) -> bool:
    try:
        with opened(file, PROFILE_FILE) as start:
            return (
                re.match(rb'\s*\{\s*"Layers"\s*:\s*\[', start.read(_HEAD).removeprefix(b"\xef\xbb\xbf"))
                is not None
            )
    except InputError:
        # ``read_profile`` reports this error.
        return False


def _matching(
    layers: dict[str, TensorRTLayer], kernels: list[Kernel], file: PathLike, profile: str
) -> dict[str, TensorRTLayer]:
    """Return the layers if they are of the profiled engine. Raises: InputError."""
    if not any(kernel.name in layers for kernel in kernels):
        raise InputError(
            "layer-info-differs",
            f"{base_name(file)} and {profile} have no layer in common.",
            "Export both from one engine, with trtexec --exportProfile and --exportLayerInfo in one run.",
        )
    return layers


def _parsed(text: str, name: str) -> Any:
    why = ""
    try:
        check_json(text, PROFILE)
        # trtexec writes names unescaped, including control characters.
        return json.loads(text, strict=False)
    except TooMuch as fault:
        why = f": it {fault}"
    except (ValueError, RecursionError):
        rows = _rows(text)
        if any(_ms(row) is not None for row in rows):
            return rows
    raise InputError(
        "bad-profile",
        f"{name} is not a profile{why}.",
        "Pass a JSON profile of ONNX Runtime or trtexec, or a table with the columns name and ms.",
    )


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV file; empty if it is not CSV."""
    try:
        return list(csv.DictReader(io.StringIO(text)))
    except csv.Error:
        return []


def _runs(events: list[Any]) -> int:
    """Return the number of runs, which the profiler records as events."""
    return max(
        1, len([event for event in events if isinstance(event, dict) and event.get("name") == "model_run"])
    )


def _kernels(events: list[Any], warmup: int, runs: int) -> list[Kernel]:
    """Return the milliseconds of each kernel in one run, without the time of kernels inside it.

    A fifth of its runs are faster: on a busy machine, means are those of kernels that other programs
    interrupted.
    """
    timed = [
        event
        for event in events
        if isinstance(event, dict)
        and event.get("cat") == "Node"
        and str(event.get("name", "")).endswith(_SUFFIX)
    ]
    run_ends = sorted(
        event["ts"] + event["dur"]
        for event in events
        if isinstance(event, dict) and event.get("name") == "model_run" and _timed(event)
    )
    begins = run_ends[warmup - 1] if 0 < warmup <= len(run_ends) else float("-inf")
    spent: dict[str, dict[int, float]] = {}
    ops: dict[str, str] = {}
    stack: list[tuple[float, str, int]] = []
    for event in sorted(
        (event for event in timed if _timed(event)), key=lambda event: (event["ts"], -event["dur"])
    ):
        if event["ts"] < begins:
            continue
        name = _name(event["name"].removesuffix(_SUFFIX))
        run = bisect_right(run_ends, event["ts"])
        while stack and stack[-1][0] <= event["ts"]:
            stack.pop()
        if stack:
            spent[stack[-1][1]][stack[-1][2]] -= event["dur"]
        of_runs = spent.setdefault(name, {})
        of_runs[run] = of_runs.get(run, 0.0) + event["dur"]
        args = event.get("args")
        ops[name] = _name(args.get("op_name", "")) if isinstance(args, dict) else ""
        stack.append((event["ts"] + event["dur"], name, run))
    return [
        Kernel(name, ops[name], _per_run_ms(list(us.values()), runs if run_ends else 1))
        for name, us in spent.items()
    ]


def _per_run_ms(us: Sequence[float], runs: int) -> float:
    """Return the low quantile of a kernel's runs, times the share of runs that have it (branches of If)."""
    return max(0.0, float(np.quantile(us, LOW))) / 1e3 * min(1.0, len(us) / runs)


def _timed(event: Mapping[str, Any]) -> bool:
    """True if start and duration are numbers in the valid range; NaN is not."""
    times = (event.get("ts"), event.get("dur"))
    return all(isinstance(value, (int, float)) and abs(value) <= _LARGEST for value in times)


def _name(text: Any) -> str:
    """Return a printable text of limited length."""
    return str(text)[:MAX_NAME].encode("utf-8", "replace").decode()


def _listed(content: Any, name: str) -> list[Kernel]:
    """Return the kernels of a trtexec profile or a plain table."""
    if isinstance(content, dict):
        rows: list[Any] = [{"name": key, "ms": value} for key, value in content.items()]
    else:
        rows = content if isinstance(content, list) else []
    kernels = []
    for row in rows:
        ms = _ms(row) if isinstance(row, dict) else None
        if ms is not None and isinstance(row.get("name") or row.get("node"), str):
            kernels.append(Kernel(_name(row.get("name") or row["node"]), _name(row.get("op", "")), ms))
    if not kernels:
        raise InputError(
            "bad-profile",
            f"{name} contains no times of nodes.",
            "Write the name and the milliseconds (ms) of each node.",
        )
    return kernels


def _ms(row: Mapping[str, Any]) -> float | None:
    """Return the milliseconds of a row: ``averageMs`` of trtexec, ``ms``, ``time_ms`` or ``latency_ms``."""
    for key in ("averageMs", "ms", "time_ms", "latency_ms", "average_ms"):
        try:
            value = float(row[key])
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if 0 <= value <= _LARGEST:
            return value
    return None


def _times(
    analysis: Analysis,
    kernels: list[Kernel],
    graph: onnx.ModelProto | None,
    source: str,
    runs: int,
    layers: dict[str, TensorRTLayer] | None = None,
    named_only: bool = False,
) -> NodeTimes:
    attribution = attribute_kernels(analysis.model, kernels, graph, layers, named_only)
    nodes = []
    for members, (ms, conversion) in attribution.groups.items():
        anchor = max(members, key=lambda node: (_work(analysis, node), -node))
        node = analysis.model.nodes[anchor]
        nodes.append(
            NodeTime(
                node=anchor,
                name=".".join(node.scope) or node.name or node.op_type,
                op=node.op_type,
                nodes=list(members),
                ms=ms,
                conversion_ms=conversion,
            )
        )
    nodes.sort(key=lambda node: -node.ms)
    attributed_ms = sum(node.ms for node in nodes)
    return NodeTimes(
        model=analysis.model.file.name,
        source=source,
        runs=runs,
        total_ms=attributed_ms + sum(attribution.lost.values()),
        attributed_ms=attributed_ms,
        nodes=nodes,
        lost=dict(sorted(attribution.lost.items(), key=lambda item: -item[1])[:50]),
    )


def _work(analysis: Analysis, node: int) -> float:
    """Return the FLOPs of a node, or else its output elements."""
    cost = analysis.costs[node].cost
    if cost is not None and cost.flops:
        return float(cost.flops)
    outputs = [tensor for tensor in analysis.model.nodes[node].outputs if tensor >= 0]
    kinds = [analysis.model.tensors[tensor].kind for tensor in outputs]
    return 0.0 if all(kind != TensorKind.ACTIVATION for kind in kinds) else 0.5
