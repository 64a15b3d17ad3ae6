"""The architecture line of the summary."""

from __future__ import annotations

from py_autodoc import units
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import AttentionInfo
from py_autodoc.units import plural

_NAMES = {"cnn": "CNN", "mlp": "MLP", "unknown": "not recognised"}
_MAX_NAMES = 3
"""Maximum number of layers named if many are not quantized."""
_SURE = 0.8
"""Confidence from which the family is shown without a question mark."""


def architecture_line(report: Report) -> str:
    """Return ``transformer encoder · 12 layers · 12 heads × 64 · hidden 768``."""
    info = report.architecture
    name = _NAMES.get(
        info.family, info.family.replace("-", " ", 1) if info.family.startswith("tr") else info.family
    )
    if info.family != "unknown" and info.confidence < _SURE:
        name = f"probably {name}"
    attention = report.metrics.attention
    parts = [name] if attention is None else [name, *_attention(attention)]
    if attention is None and info.evidence:
        parts.append(info.evidence[0])
    return " · ".join(parts)


def quantization_line(report: Report) -> str:
    """Return ``int8 weights and uint8 activations (QDQ) · 53 of 54 layers · not: /fc/Gemm`` and the like."""
    info = report.architecture.quantization
    if info is None:
        return ""
    if not info.quantized:
        return "none" if report.coverage.macs is not None else ""
    activations = f" and {'/'.join(info.activations)} activations" if info.activations else ""
    schemes = ", ".join(
        scheme if len(info.schemes) == 1 else f"{scheme} ×{count:,}" for scheme, count in info.schemes.items()
    )
    total = info.layers_total or info.layers
    layers = f"{info.layers:,} of {total:,} layers"
    if info.layers == total:
        layers = "the one layer" if total == 1 else f"all {total:,} layers"
    parts = [f"{'/'.join(info.weights) or 'few-bit'} weights{activations} ({schemes})", layers]
    if info.macs_share is not None:
        parts.append(f"{units.share(info.macs_share, 1.0)} of the MACs")
    if info.not_quantized:
        named = {layer.id: layer.name for layer in report.layers}
        names = [named.get(node) or f"node {node}" for node in info.not_quantized[:_MAX_NAMES]]
        omitted = total - info.layers - len(names)
        parts.append(f"not: {', '.join(names)}" + (f" and {omitted:,} more" if omitted > 0 else ""))
    return " · ".join(parts)


def _attention(attention: AttentionInfo) -> list[str]:
    """Return layers, heads, width and context, as far as all layers agree."""
    count = attention.num_layers
    causal = "causal " if attention.causal_layers == count else ""
    cross = f" ({attention.cross_layers} cross)" if attention.cross_layers else ""
    parts = [f"{count} {causal}attention layer{'' if count == 1 else 's'}{cross}"]
    if attention.num_heads is not None:
        heads = f"{attention.num_heads} head{'' if attention.num_heads == 1 else 's'}"
        size = f" × {attention.head_dim}" if attention.head_dim is not None else ""
        grouped = ""
        if attention.num_kv_heads is not None and attention.num_kv_heads != attention.num_heads:
            grouped = f" ({attention.num_kv_heads} for keys)"
        parts.append(heads + size + grouped)
    if attention.hidden_size is not None:
        parts.append(f"hidden {attention.hidden_size:,}")
    elif len(attention.groups) > 1:
        parts.append(f"{len(attention.groups)} configurations")
    if attention.max_sequence_length is not None:
        parts.append(f"context {attention.max_sequence_length:,}")
    if attention.attention_window is not None:
        some = "" if attention.window_layers == count else f" in {plural(attention.window_layers, 'layer')}"
        parts.append(f"window {attention.attention_window:,}{some}")
    return parts
