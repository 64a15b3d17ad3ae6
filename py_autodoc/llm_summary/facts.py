"""The facts of a report sent to a language model: a bounded document, with or without names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from py_autodoc.graph.building.operator_docs import op_doc
from py_autodoc.report.builders.node_numbers import layer_in_inference
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema import Layer

_LAYERS, _BLOCKS, _FINDINGS, _VALUES, _DIMS, _OPERATORS = 12, 16, 12, 16, 16, 20
_MAX_CHARACTERS = 200
"""Maximum number of characters of a text."""


def facts(report: Report, redact: bool = False) -> dict[str, Any]:
    """Return the facts as JSON. With ``redact``, they contain no text from the model.

    Layers are then ``n`` plus their id, inputs ``i``, outputs ``o`` and dimensions ``d`` plus their index.
    All fields are selected explicitly: what is not listed here is not sent.
    """
    document = {
        "what": _identity(report, redact),
        "interface": _interface(report, redact),
        "totals": _totals(report),
        "coverage": {"nodes": report.coverage.nodes, "macs": report.coverage.macs},
        "runs_with_these_sizes": report.runnable.verdict,
        "dimensions": _dims(report, redact),
        "operators": _operators(report, redact),
        "heaviest_layers": [_layer(layer, redact) for layer in _heaviest(report.layers)],
        "precision": _precision(report),
        "findings": _findings(report, redact),
    }
    if report.hardware_estimates is not None:
        document["device"] = _device(report)
    if not redact:
        document["blocks"] = [
            _without_none(
                {
                    "name": shorten_middle(b.name, _MAX_CHARACTERS),
                    "kind": b.kind,
                    "params": b.params,
                    "macs": b.macs,
                }
            )
            for b in sorted(report.blocks, key=lambda block: -(block.macs or 0))[:_BLOCKS]
        ]
    return document


def _identity(report: Report, redact: bool) -> dict[str, Any]:
    identity = report.identity
    opset = next((entry.version for entry in report.model.opset_imports if entry.domain == "ai.onnx"), None)
    content: dict[str, Any] = {
        "family": report.architecture.family,
        "nodes": report.graph.num_nodes,
        "opset": opset,
        "file_bytes": report.model.file_bytes + report.model.external_bytes,
    }
    if identity is not None:
        content |= {"task": identity.task, "task_known_from": identity.known.task}
    if not redact:
        content |= {
            "file": shorten_middle(report.model.name, _MAX_CHARACTERS),
            "producer": shorten_middle(report.model.producer_name, _MAX_CHARACTERS),
            "in_words": shorten_middle(identity.text, _MAX_CHARACTERS) if identity is not None else None,
        }
    return _without_none(content)


def _interface(report: Report, redact: bool) -> dict[str, Any]:
    interface: dict[str, Any] = {}
    for direction, letter in (("inputs", "i"), ("outputs", "o")):
        values = getattr(report.graph, direction)
        interface[f"{direction}_count"] = len(values)
        interface[direction] = [
            _without_none(
                {
                    "name": f"{letter}{index}" if redact else shorten_middle(value.name, _MAX_CHARACTERS),
                    "shape": [_size(size, report, redact) for size in value.shape or ()],
                    "type": value.elem_type,
                }
            )
            for index, value in enumerate(values[:_VALUES])
        ]
    return interface


def _size(size: Any, report: Report, redact: bool) -> Any:
    if isinstance(size, int) or size is None:
        return size
    if not redact:
        return shorten_middle(str(size), 60)
    names = [dim.name for dim in report.dims]
    return f"d{names.index(str(size))}" if str(size) in names else None


def _totals(report: Report) -> dict[str, Any]:
    numbers, cache = report.metrics, report.memory.kv_cache
    totals = {
        "parameters": numbers.total_params,
        "macs": numbers.total_macs,
        "flops": numbers.total_flops,
        "weight_bytes": numbers.weight_bytes,
        "peak_activation_bytes": numbers.peak_activation_bytes,
        "kv_cache_bytes_per_token": cache.bytes_per_token if cache is not None else None,
    }
    return _without_none(totals)


def _dims(report: Report, redact: bool) -> list[dict[str, Any]]:
    return [
        {"name": f"d{index}" if redact else shorten_middle(dim.name, 60), "value": dim.value}
        for index, dim in enumerate(report.dims[:_DIMS])
    ]


def _operators(report: Report, redact: bool) -> dict[str, int]:
    """Return operator → nodes."""
    counts: dict[str, int] = {}
    for layer in report.layers:
        name = _operator(layer, redact)
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1])[:_OPERATORS])


def _operator(layer: Layer, redact: bool) -> str:
    """Return the operator's name unless it is redacted: names outside ONNX come from the model."""
    domain = "" if layer.domain == "ai.onnx" else layer.domain
    is_public = not redact or op_doc(domain, layer.type, 0) is not None
    return shorten_middle(layer.type, 60) if is_public else "custom operator"


def _heaviest(layers: Iterable[Layer]) -> list[Layer]:
    return sorted(layers, key=lambda layer: -(layer_in_inference(layer, "macs") or 0))[:_LAYERS]


def _layer(layer: Layer, redact: bool) -> dict[str, Any]:
    macs = layer_in_inference(layer, "macs")
    name = f"n{layer.id}" if redact else shorten_middle(layer.name, _MAX_CHARACTERS)
    return _without_none(
        {"name": name, "operator": _operator(layer, redact), "macs": macs, "params": layer.params}
    )


def _precision(report: Report) -> dict[str, Any]:
    quantization = report.architecture.quantization
    precision: dict[str, Any] = {"quantized": report.metrics.is_quantized}
    if report.identity is not None:
        precision["stored_as"] = report.identity.precision
    if quantization is not None and quantization.quantized:
        precision |= {"weights": list(quantization.weights), "schemes": list(quantization.schemes)}
    return precision


def _findings(report: Report, redact: bool) -> list[dict[str, Any]]:
    """Return the findings by rule; their texts would contain node names."""
    return [
        _without_none(
            {
                "rule": finding.id,
                "severity": finding.severity,
                "nodes": len(finding.nodes),
                "text": None if redact else shorten_middle(finding.description, 400),
            }
        )
        for finding in report.risk_signals[:_FINDINGS]
    ]


def _device(report: Report) -> dict[str, Any]:
    estimates = report.hardware_estimates
    assert estimates is not None
    return _without_none(
        {
            "name": estimates.device_name,
            "precision": estimates.precision,
            "estimated_latency_ms": estimates.estimated_latency_ms,
            "latency_low_ms": estimates.latency_low_ms,
            "latency_high_ms": estimates.latency_high_ms,
            "fits_in_memory": estimates.fits_in_vram,
        }
    )


def _without_none(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value is not None}
