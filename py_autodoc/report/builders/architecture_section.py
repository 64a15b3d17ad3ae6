"""The attention that the model uses, and its architecture with evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from py_autodoc.blocks.architecture.context_length import ContextLimit
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.report.builders.quantization_section import quantization
from py_autodoc.report.encode.json_values import MAX_TEXT
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import ArchitectureInfo, AttentionGroup, AttentionInfo

_DIFFER = "layers differ"
_UNKNOWN = ContextLimit(None, "it could not be computed")
_MAX_GROUPS = 64
_MAX_LINES = 24
T = TypeVar("T")


def architecture(analysis: Analysis) -> ArchitectureInfo:
    """Return the architecture of the whole model."""
    verdict = analysis.structure.verdict
    return ArchitectureInfo(
        family=verdict.family,
        confidence=verdict.confidence,
        evidence=[shorten_middle(line, MAX_TEXT) for line in verdict.evidence[:_MAX_LINES]],
        quantization=quantization(analysis),
    )


def attention(analysis: Analysis) -> AttentionInfo | None:
    """Return the facts on the attention layers that one inference runs; None without attention."""
    # Of the branches of an If, only the one counted in the totals.
    layers = [layer for layer in analysis.structure.attention if analysis.costs[layer.anchor].counted]
    if not layers:
        return None
    groups = _groups(layers, analysis.contexts)
    # Cross-attention reads another sequence, whose layers have a limit of their own.
    limited = [group for group in groups if group.first.kind != "cross"] or groups
    reasons = list(dict.fromkeys(group.context.reason for group in limited))
    differ = len({group.context.positions for group in limited}) > 1
    windows = [layer.window for layer in layers if layer.window is not None]
    return AttentionInfo(
        num_layers=len(layers),
        self_layers=sum(layer.kind == "self" for layer in layers),
        cross_layers=sum(layer.kind == "cross" for layer in layers),
        causal_layers=sum(layer.causal is True for layer in layers),
        unknown_causal_layers=sum(layer.causal is None for layer in layers),
        num_heads=_common_value(layer.heads for layer in layers),
        num_kv_heads=_common_value(layer.kv_heads for layer in layers),
        head_dim=_common_value(layer.head_dim for layer in layers),
        hidden_size=_common_value(layer.hidden_size for layer in layers),
        mechanism=_common_value(mechanism(layer.heads, layer.kv_heads) for layer in layers),
        max_sequence_length=_common_value(group.context.positions for group in limited),
        max_sequence_length_reason=_DIFFER if differ else "; ".join(reasons[:4]),
        attention_window=_common_value(windows),
        window_layers=len(windows),
        groups=[group.wire() for group in groups[:_MAX_GROUPS]],
        kv_cache_bytes_per_token=analysis.kv_cache.bytes_per_token if analysis.kv_cache else None,
    )


def mechanism(heads: int | None, kv_heads: int | None) -> str | None:
    """Return MHA (a key head per query head), MQA (one in total, arXiv:1911.02150) or GQA (2305.13245)."""
    if heads is None or kv_heads is None:
        return None
    if heads == kv_heads:
        return "MHA"
    return "MQA" if kv_heads == 1 else "GQA"


def _common_value(values: Iterable[T | None]) -> T | None:
    """Return the value they all share; None if they differ."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else None


@dataclass(slots=True)
class _Group:
    """Layers with the same configuration."""

    first: AttentionLayer
    context: ContextLimit
    anchors: list[int]
    mask: bool = False

    def wire(self) -> AttentionGroup:
        layer = self.first
        return AttentionGroup(
            count=len(self.anchors),
            kind=layer.kind,
            causal=layer.causal,
            num_heads=layer.heads,
            num_kv_heads=layer.kv_heads,
            head_dim=layer.head_dim,
            value_dim=layer.value_dim,
            hidden_size=layer.hidden_size,
            mechanism=mechanism(layer.heads, layer.kv_heads),
            queries=shorten_middle(layer.queries) if isinstance(layer.queries, str) else layer.queries,
            keys=shorten_middle(layer.keys) if isinstance(layer.keys, str) else layer.keys,
            mask=self.mask,
            rotary=layer.rotary,
            relative_bias=layer.relative_bias,
            cached=bool(layer.past),
            fused=layer.variant == "fused",
            max_sequence_length=self.context.positions,
            max_sequence_length_reason=self.context.reason,
            attention_window=layer.window,
            nodes=self.anchors,
        )


def _groups(layers: Sequence[AttentionLayer], contexts: Mapping[int, ContextLimit]) -> list[_Group]:
    """Group layers by configuration, in order of their first layer."""
    groups: dict[object, _Group] = {}
    for layer in layers:
        context = contexts.get(layer.anchor, _UNKNOWN)
        key = (
            layer.kind,
            layer.causal,
            layer.heads,
            layer.kv_heads,
            layer.head_dim,
            layer.value_dim,
            layer.hidden_size,
            layer.queries,
            layer.keys,
            layer.rotary,
            layer.relative_bias,
            bool(layer.past),
            layer.variant,
            layer.window,
            context,
        )
        group = groups.setdefault(key, _Group(layer, context, []))
        group.anchors.append(layer.anchor)
        group.mask = group.mask or layer.mask
    return list(groups.values())
