"""Lines of the terminal summary about memory."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.render import units
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import KVCacheInfo, MemoryInfo, MemoryPeak, WeightMemory

MAX_SHOWN = 3
"""Maximum number of tensors at the peak, and of element types, that are named."""
NAME = 28


def memory_lines(report: Report) -> list[tuple[str, str]]:
    """Return (label, text) for the peak, its live tensors, weights by type, and the KV cache if any."""
    memory = report.memory
    lines: list[tuple[str, str]] = []
    if memory.peak is not None:
        lines.append(("Peak", _peak(report, memory, memory.peak)))
        if memory.peak.tensors:
            lines.append(("Live at peak", _live(memory.peak)))
    elif memory.reason:
        lines.append(("Peak", f"{units.UNKNOWN}  ({printable(memory.reason)})"))
    if memory.weights is not None and memory.weights.by_dtype:
        lines.append(("Weights", _weights(memory.weights)))
    if memory.kv_cache is not None and memory.kv_cache.source != "none":
        lines.append(("KV cache", _cache(memory.kv_cache)))
    return lines


def _peak(report: Report, memory: MemoryInfo, peak: MemoryPeak) -> str:
    location = "before the first layer"
    if peak.nodes:
        names = {layer.id: layer.name for layer in report.layers}
        path = " › ".join(shorten(printable(names.get(node, f"layer {node}")), NAME) for node in peak.nodes)
        location = f"at {path} (step {peak.step + 1:,} of {memory.steps:,})"
    parts = [f"{units.size(peak.bytes)} {location}"]
    if memory.peak_simple is not None and memory.peak_simple.bytes != peak.bytes:
        parts.append(f"{units.size(memory.peak_simple.bytes)} without reuse")
    return " · ".join(parts)


def _live(peak: MemoryPeak) -> str:
    parts = [
        f"{shorten(printable(item.name), NAME) or 'unnamed'} {units.size(item.bytes)}"
        + (" (constant)" if item.constant else "")
        for item in peak.tensors[:MAX_SHOWN]
    ]
    others = peak.tensors[MAX_SHOWN:]
    count = len(others) + peak.others
    if count:
        others_bytes = sum(item.bytes for item in others) + peak.others_bytes
        parts.append(f"{count:,} other{'' if count == 1 else 's'} {units.size(others_bytes)}")
    return " · ".join(parts)


def _weights(weights: WeightMemory) -> str:
    parts = [
        row.elem_type
        + (f" ({row.bits_per_weight}-bit weights)" if row.bits_per_weight else "")
        + f" {units.size(row.bytes)}"
        for row in weights.by_dtype[:MAX_SHOWN]
    ]
    others = weights.by_dtype[MAX_SHOWN:]
    if others:
        kinds = f"{len(others)} other type{'' if len(others) == 1 else 's'}"
        parts.append(f"{kinds} {units.size(_sum(row.bytes for row in others))}")
    if weights.external_bytes:
        parts.append(f"{units.size(weights.external_bytes)} of it external")
    return " · ".join(parts)


def _sum(parts: Iterable[int | None]) -> int | None:
    """Return the sum; None if a value is unknown."""
    total = 0
    for value in parts:
        if value is None:
            return None
        total += value
    return total


def _cache(cache: KVCacheInfo) -> str:
    layers = f"{cache.num_layers:,} layer{'' if cache.num_layers == 1 else 's'}"
    shape = [layers]
    if cache.kv_heads is not None and cache.head_dim is not None:
        shape.append(f"{cache.kv_heads:,} head{'' if cache.kv_heads == 1 else 's'} × {cache.head_dim:,}")
    if cache.elem_type:
        shape.append(cache.elem_type)
    parts = [f"{units.size(cache.bytes_per_token)} per token ({', '.join(shape)})"]
    if cache.context_bytes is not None and cache.context_length is not None:
        parts.append(f"{units.size(cache.context_bytes)} for {cache.context_length:,} tokens")
    if cache.source == "estimated" and cache.confidence is not None:
        parts.append(f"estimated, {units.confidence(cache.confidence)} sure")
    return " · ".join(parts)
