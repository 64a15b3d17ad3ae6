"""Validation of JSON reports: the schema, and whether totals match their parts."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import InputError, LimitError
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.limits import Bounds
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import SCHEMA_VERSION, Layer
from py_autodoc.tags.validate import PASSED, Check, checked

MAX_BYTES = 1 << 29
"""For comparison, a report of 300,000 nodes has 207 MB."""
_BOUNDS = Bounds(values=30_000_000)
_SUMS = {
    "total_macs": "macs",
    "total_flops": "flops",
    "read_bytes": "read_bytes",
    "write_bytes": "write_bytes",
}
"""Total → the layer field that it sums, times runs."""
_SHARES = ("nodes", "shapes", "macs")


def is_report(path: PathLike) -> bool:
    """Return whether the file starts like JSON. No ONNX model does: ``{`` is not a valid ONNX field.

    Raises: PathError: not a regular file.
    """
    with regular_file(path) as (fd, _):
        return os.read(fd, 64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def read_report(path: PathLike) -> Report:
    """Read a report from a file and check every field.

    Raises:
        PathError: not a regular file.
        LimitError: the file exceeds ``MAX_BYTES``.
        InputError: not JSON, another version, or not valid by the schema; the message gives the position.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        size = status.st_size
        if size > MAX_BYTES:
            text = f"{name}: {size:,} bytes, more than a report may have ({MAX_BYTES:,})."
            raise LimitError("file_bytes", size, MAX_BYTES, text)
        with os.fdopen(os.dup(fd), "rb") as file:
            data = file.read(MAX_BYTES).removeprefix(b"\xef\xbb\xbf")
    hint = "`onnx-autodoc analyze MODEL --out-json FILE` writes one; `onnx-autodoc schema` prints its schema."
    try:
        check_json(data, _BOUNDS)
        version = msgspec.json.decode(data, type=_Version).schema_version
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            message = f"{name}: schema version {version[:20]!r}; this version reads {SCHEMA_VERSION}."
            raise InputError("report-version", message, "Analyse the model again.")
        return Report.from_json(data)
    except TooMuch as fault:
        raise InputError("report-too-much", f"{name}: {fault}.", hint) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise InputError("not-a-report", f"{name}: not a JSON report: {fault}.", hint) from None


class _Version(msgspec.Struct):
    schema_version: str


def counts(report: Report) -> Iterator[str]:
    """Check that counts of nodes, layers and classes match the lists."""
    graph, listed = report.graph, len(report.layers)
    yield from _differ("graph.num_nodes", graph.num_nodes, listed + report.layers_omitted, "layers")
    yield from _differ("graph.num_nodes", graph.num_nodes, sum(graph.op_counts.values()), "graph.op_counts")
    of_op = sum(row.count for row in report.metrics.by_op)
    yield from _differ("graph.num_nodes", graph.num_nodes, of_op, "metrics.by_op")
    ids = {layer.id for layer in report.layers}
    if len(ids) < listed:
        yield f"layers: {listed - len(ids):,} have the id of another layer"
    data = report.dataset
    if data is not None:
        yield from _differ("dataset.num_classes", data.num_classes or 0, len(data.class_names), "its names")
        if strange := [number for number in data.class_names if not number.isdecimal()]:
            yield f"dataset.class_names has {strange[0][:40]!r}, which is not the number of a class"


def totals(report: Report) -> Iterator[str]:
    """Check that totals are sums over layers times runs (unless layers are omitted) and over operators."""
    metrics = report.metrics
    if not report.layers_omitted:
        for field, column in _SUMS.items():
            total = getattr(metrics, field)
            if total is not None:
                added_up = sum(_of_inference(layer, column) for layer in report.layers)
                yield from _differ(f"metrics.{field}", total, added_up, f"layers[].{column} × runs")
    for field, column in (("total_macs", "macs"), ("total_flops", "flops")):
        total = getattr(metrics, field)
        if total is not None:
            added_up = sum(getattr(row, column) or 0 for row in metrics.by_op)
            yield from _differ(f"metrics.{field}", total, added_up, f"metrics.by_op[].{column}")
    stored = metrics.precision_breakdown
    if stored is not None and metrics.total_params is not None:
        added_up = sum(stored.values())
        yield from _differ(
            "metrics.total_params", metrics.total_params, added_up, "metrics.precision_breakdown"
        )
    quantization, is_quantized = report.architecture.quantization, metrics.is_quantized
    if quantization is not None and is_quantized is not None and quantization.quantized != is_quantized:
        yield f"metrics.is_quantized is {is_quantized}, and architecture.quantization.quantized is not"
    attention, cache = metrics.attention, report.memory.kv_cache
    per_token = attention.kv_cache_bytes_per_token if attention else None
    if per_token is not None and per_token != (cache.bytes_per_token if cache else None):
        yield (
            f"metrics.attention.kv_cache_bytes_per_token is {per_token:,}, "
            "not memory.kv_cache.bytes_per_token"
        )
    params = sum(layer.params or 0 for layer in report.layers)
    if metrics.total_params is not None and params > metrics.total_params:
        yield f"metrics.total_params is {metrics.total_params:,}, but layers[].params add up to {params:,}"


def references(report: Report) -> Iterator[str]:
    """Check that every id refers to a layer or block of the report, except for ids of omitted layers."""
    if report.layers_omitted:
        return
    ids = {layer.id for layer in report.layers}
    for index, block in enumerate(report.blocks):
        if block.id != index:
            yield f"blocks[{index}].id is {block.id}"
        if block.parent is not None and not 0 <= block.parent < len(report.blocks):
            yield f"blocks[{index}].parent is {block.parent}, but there is no such block"
        if missing := set(block.nodes) - ids:
            yield f"blocks[{index}].nodes has {min(missing)}, but there is no such layer"
    for index, signal in enumerate(report.risk_signals):
        if missing := set(signal.nodes) - ids:
            yield f"risk_signals[{index}].nodes has {min(missing)}, but there is no such layer"


def shares(report: Report) -> Iterator[str]:
    """Check that shares are between 0 and 1, and that the share of nodes matches its counts."""
    cover = report.coverage
    for field in _SHARES:
        share = getattr(cover, field)
        if share is not None and not 0 <= share <= 1:
            yield f"coverage.{field} is {share}, not between 0 and 1"
    if not 0 <= cover.nodes_known <= cover.nodes_total:
        yield f"coverage.nodes_known is {cover.nodes_known:,} of {cover.nodes_total:,}"
    elif cover.nodes_total and abs(cover.nodes - cover.nodes_known / cover.nodes_total) > 1e-6:
        yield f"coverage.nodes is {cover.nodes}, but {cover.nodes_known:,} of {cover.nodes_total:,} are known"


CHECKS = {"counts": counts, "totals": totals, "references": references, "shares": shares}
"""Name → check that yields the problems found."""


def validate_report(path: PathLike) -> list[Check]:
    """Check a JSON report: schema, counts, totals, ids and shares.

    Raises:
        PathError, LimitError, InputError: as in ``read_report``, if the report cannot be read.
    """
    report = read_report(path)
    return [
        Check("schema", PASSED),
        *(checked(name, check_function(report)) for name, check_function in CHECKS.items()),
    ]


def _of_inference(layer: Layer, column: str) -> int:
    return (getattr(layer, column) or 0) * layer.runs if layer.counted else 0


def _differ(field: str, stated: int, added_up: int, parts: str) -> Iterator[str]:
    if stated != added_up:
        yield f"{field} is {stated:,}, but {parts} add up to {added_up:,}"
