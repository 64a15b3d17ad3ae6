"""Attention layers, and the KV cache of generative models."""

from __future__ import annotations

from py_autodoc.report.schema import AttentionGroup, AttentionInfo
from py_autodoc.report.sections.section_model import (
    Block,
    Line,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

_CAUSAL = {True: "yes", False: "no", None: "—"}
_HEAD = ("Layers", "Kind", "Causal", "Heads", "Key heads", "Head size", "Width", "Longest sequence", "Marks")


def section(context: SectionContext) -> Section | None:
    """Return one row per configuration, and the cache."""
    info, cache = context.report.metrics.attention, context.report.memory.kv_cache
    blocks: list[Block] = []
    if info is not None:
        blocks.append(_groups(info))
        if info.max_sequence_length_reason:
            blocks.append(Paragraph((info.max_sequence_length_reason, "."), "Longest sequence"))
    if cache is not None and cache.source != "none":
        pointer = "/memory/kv_cache"
        facts = (
            ("Bytes per token", Value(cache.bytes_per_token, "size", f"{pointer}/bytes_per_token")),
            ("Layers", Value(cache.num_layers, "exact", f"{pointer}/num_layers")),
            ("Key heads", Value(cache.kv_heads, "exact", f"{pointer}/kv_heads")),
            ("Head size", Value(cache.head_dim, "exact", f"{pointer}/head_dim")),
            ("Tokens of the full cache", Value(cache.context_length, "exact", f"{pointer}/context_length")),
            ("Bytes of the full cache", Value(cache.context_bytes, "size", f"{pointer}/context_bytes")),
        )
        rows = tuple(((label,), (value,)) for label, value in facts)
        blocks.append(Table(("KV cache of one sequence", "Value"), rows))
        if cache.source == "estimated":
            confidence = Value(cache.confidence, "confidence", f"{pointer}/confidence")
            blocks.append(
                Paragraph(
                    (
                        "Estimated from causal attention, ",
                        confidence,
                        " sure.",
                    )
                )
            )
        blocks += [Paragraph((reason, ".")) for reason in (cache.reason, cache.context_reason) if reason]
    return Section("attention", "Attention and KV cache", tuple(blocks)) if blocks else None


def _groups(info: AttentionInfo) -> Table:
    rows = tuple(_row(group, f"/metrics/attention/groups/{index}") for index, group in enumerate(info.groups))
    return Table(_HEAD, rows)


def _row(group: AttentionGroup, pointer: str) -> tuple[Line, ...]:
    marks = [
        word
        for word, is_set in (
            ("fused", group.fused),
            ("masked", group.mask),
            ("rotary", group.rotary),
            ("cached", group.cached),
            ("relative bias", group.relative_bias),
        )
        if is_set
    ]
    if group.attention_window is not None:
        marks.append(f"window of {group.attention_window:,} keys")
    numbers = ("num_heads", "num_kv_heads", "head_dim", "hidden_size", "max_sequence_length")
    return (
        (Value(group.count, "exact", f"{pointer}/count"),),
        (f"{group.kind} {group.mechanism or ''}".strip(),),
        (_CAUSAL[group.causal],),
        *((Value(getattr(group, name), "exact", f"{pointer}/{name}"),) for name in numbers),
        (", ".join(marks),),
    )
