"""Report of an export: its inputs, its results, and the evidence for each node's module.

The report names files without their folders.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_autodoc import units
from py_autodoc.tags.sidecar import coverage
from py_autodoc.version import NAME, installed, version

if TYPE_CHECKING:  # The report of a Keras file works without torch.
    from py_autodoc.hf.write import EmbeddedMetadata
    from py_autodoc.torch.result import ExportResult

SCHEMA = "autodoc.export/1"
_PACKAGES = ("torch", "transformers", "onnx", "onnx-ir", "onnxscript", "keras")
_VIAS = ("trace", "fused", "param", "context", "root")


def report_of(
    result: ExportResult,
    facts: Mapping[str, Any],
    named: Mapping[str, Any],
    dynamic: Mapping[str, Mapping[int, str]] | None,
    warnings: Sequence[str],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Return the report as JSON data.

    Args:
        result: the result of the export.
        facts: facts about the source, as in ``LoadedSource.facts``.
        named: example inputs by name.
        dynamic: axes that were made symbolic.
        warnings: warnings of loading; those of the export are appended.
        seconds: durations of the stages before the export.
    """
    parts = result.components or {"": result}
    return {
        "schema": SCHEMA,
        "source": dict(facts),
        "exporter": result.exporter,
        "inputs": [_input(name, value, (dynamic or {}).get(name, {})) for name, value in named.items()],
        "models": [_model(name, component, result.carried) for name, component in parts.items()],
        "warnings": [*warnings, *result.warnings],
        "seconds": {name: round(duration, 3) for name, duration in {**seconds, **result.timings}.items()},
        "versions": {NAME: version(), "python": platform.python_version(), **installed(_PACKAGES)},
    }


def _input(name: str, value: Any, axes: Mapping[int, str]) -> dict[str, Any]:
    if not hasattr(value, "dtype"):
        return {"name": name, "type": type(value).__name__, "shape": None}
    shape = [axes.get(axis, int(size)) for axis, size in enumerate(value.shape)]
    example = [int(size) for size in value.shape]
    kind = str(value.dtype).removeprefix("torch.")
    return {"name": name, "type": kind, "shape": shape, "example_shape": example}


def _carried(carried: EmbeddedMetadata | None) -> dict[str, Any] | None:
    """Return the embedded metadata for the report; None without any."""
    if carried is None:
        return None
    return {
        "task": carried.task,
        "task_source": carried.task_source,
        "characters": carried.characters,
        "processor_files": [
            {"name": name, "bytes": size, "characters": stored}
            for name, (size, stored) in carried.files.items()
        ],
        "left_out": list(carried.left_out),
    }


def _model(name: str, result: ExportResult, carried: EmbeddedMetadata | None) -> dict[str, Any]:
    graph = result.model.graph
    row = {
        "file": result.path.name,
        "opset": {
            domain or "ai.onnx": number for domain, number in sorted(result.model.opset_imports.items())
        },
        "files": [{"name": path.name, "bytes": path.stat().st_size} for path in files_of(result)],
        "outputs": [_value(value) for value in graph.outputs],
        "graph_inputs": [_value(value) for value in graph.inputs],
        "coverage": coverage(result.tags),
        "metadata": _carried(carried),
        "modules": [
            {"path": path, **{key: module[key] for key in ("tag", "class", "status", "nodes", "nodes_total")}}
            for path, module in result.sidecar["modules"].items()
        ],
    }
    return {"component": name, **row} if name else row


def files_of(result: ExportResult) -> list[Path]:
    """Return the files written for one model: the model, its weights, its sidecar."""
    model_path = result.path
    return [
        path
        for path in (model_path, model_path.with_name(f"{model_path.name}.data"), result.sidecar_path)
        if path and path.is_file()
    ]


def _value(value: Any) -> dict[str, Any]:
    shape = None
    if value.shape is not None:
        shape = [size if isinstance(size, int) else getattr(size, "value", None) for size in value.shape]
    return {"name": value.name, "type": str(value.dtype or ""), "shape": shape}


def markdown(report: Mapping[str, Any]) -> str:
    """Return the report as Markdown."""
    source = report["source"]
    lines = [f"# Export of {_cell(source['name'])}", ""]
    lines += [f"- {key.replace('_', ' ')}: {_cell(_as_text(value))}" for key, value in source.items()]
    lines += [f"- exporter: {report['exporter']}", ""]
    if report["inputs"]:
        rows = map(_input_row, report["inputs"])
        lines += ["## Inputs", "", *_table(("input", "type", "shape"), rows), ""]
    for model in report["models"]:
        lines += _model_lines(model)
    if report["warnings"]:
        lines += ["## Warnings", "", *(f"- {_cell(line)}" for line in report["warnings"]), ""]
    lines += ["## Seconds", "", *_table(("stage", "s"), report["seconds"].items()), ""]
    lines += ["## Versions", "", *_table(("package", "version"), report["versions"].items()), ""]
    return "\n".join(lines)


def _input_row(value: Mapping[str, Any]) -> tuple[str, str, str]:
    return value["name"], value["type"], "×".join(map(str, value["shape"] or ())) or "–"


def _model_lines(model: Mapping[str, Any]) -> list[str]:
    counted = model["coverage"]
    shares = counted["shares"]
    opset = ", ".join(f"{domain} {number}" for domain, number in model["opset"].items())
    files = ", ".join(f"{file['name']} ({file['bytes']:,} bytes)" for file in model["files"])
    rows = [("traced", shares["traced"]), ("inferred", shares["inferred"]), ("unknown", shares["unknown"])]
    counts = [counted["trace"] + counted["fused"], counted["param"] + counted["context"], counted["root"]]
    table_rows = [
        (name, count, units.share(share, 1)) for (name, share), count in zip(rows, counts, strict=True)
    ]
    ran = [module for module in model["modules"] if module["nodes_total"]]
    modules = ((module["tag"], module["class"], module["nodes"], module["nodes_total"]) for module in ran)
    return [
        f"## {_cell(model['file'])}",
        "",
        f"- files: {_cell(files)}",
        f"- opset: {opset}",
        f"- nodes: {counted['nodes']:,} ({', '.join(f'{via} {counted[via]:,}' for via in _VIAS)})",
        *_carried_lines(model["metadata"]),
        "",
        *_table(("module is", "nodes", "share"), table_rows),
        "",
        *_table(("tag", "class", "own nodes", "nodes"), modules),
        "",
    ]


def _carried_lines(carried: Mapping[str, Any] | None) -> list[str]:
    if carried is None:
        return []
    files = [
        f"{_cell(file['name'])} ({file['bytes']:,} bytes, {file['characters']:,} in the model)"
        for file in carried["processor_files"]
    ]
    lines = [
        f"- task: {_cell(carried['task'] or 'unknown')} ({carried['task_source'] or 'not in any registry'})",
        f"- metadata: {carried['characters']:,} characters",
    ]
    lines += [f"- processor: {', '.join(files)}"] if files else []
    left_out = ", ".join(map(_cell, carried["left_out"]))
    return lines + ([f"- processor files not included: {left_out}"] if left_out else [])


def _as_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(heads: Sequence[str], rows: Any) -> list[str]:
    def line(cells: Any) -> str:
        return f"| {' | '.join(_cell(_as_text(cell)) for cell in cells)} |"

    return [line(heads), line(["---"] * len(heads)), *map(line, rows)]


def _cell(text: object) -> str:
    """Escape text for a table cell, since module names may contain any characters."""
    flat = " ".join(str(text).split())
    for mark in "\\`|<>[]*":
        flat = flat.replace(mark, f"\\{mark}")
    return flat
