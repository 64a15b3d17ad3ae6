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
        at = "/memory/kv_cache"
        facts = (
            ("Bytes per token", Value(cache.bytes_per_token, "size", f"{at}/bytes_per_token")),
            ("Layers", Value(cache.num_layers, "exact", f"{at}/num_layers")),
            ("Key heads", Value(cache.kv_heads, "exact", f"{at}/kv_heads")),
            ("Head size", Value(cache.head_dim, "exact", f"{at}/head_dim")),
            ("Tokens of the full cache", Value(cache.context_length, "exact", f"{at}/context_length")),
            ("Bytes of the full cache", Value(cache.context_bytes, "size", f"{at}/context_bytes")),
        )
        rows = tuple(((label,), (value,)) for label, value in facts)
        blocks.append(Table(("KV cache of one sequence", "Value"), rows))
        if cache.source == "estimated":
            sure = Value(cache.confidence, "confidence", f"{at}/confidence")
            blocks.append(
                Paragraph(
                    (
                        "Estimated from causal attention, ",
                        sure,
                        " sure.",
                    )
                )
            )
        blocks += [Paragraph((why, ".")) for why in (cache.reason, cache.context_reason) if why]
    return Section("attention", "Attention and KV cache", tuple(blocks)) if blocks else None


def _groups(info: AttentionInfo) -> Table:
    rows = tuple(_row(one, f"/metrics/attention/groups/{at}") for at, one in enumerate(info.groups))
    return Table(_HEAD, rows)


def _row(one: AttentionGroup, at: str) -> tuple[Line, ...]:
    marks = [
        word
        for word, held in (
            ("fused", one.fused), ("masked", one.mask), ("rotary", one.rotary), ("cached", one.cached),
            ("relative bias", one.relative_bias),
        )
        if held
    ]  # fmt: skip
    numbers = ("num_heads", "num_kv_heads", "head_dim", "hidden_size", "max_sequence_length")
    return (
        (Value(one.count, "exact", f"{at}/count"),),
        (f"{one.kind} {one.mechanism or ''}".strip(),),
        (_CAUSAL[one.causal],),
        *((Value(getattr(one, name), "exact", f"{at}/{name}"),) for name in numbers),
        (", ".join(marks),),
    )
