"""An embedding table with a large share of the parameters.

What it finds:
A Gather from a trained table of two dimensions (also quantized: GatherBlockQuantized) that takes at least
`min_bytes`. It is `low`; `medium` when the table takes at least `major_bytes` and at least `major_share`
of all weights.

Why it matters:
A lookup reads a few rows, but the whole table has to be stored, loaded and kept in memory. It costs no
MACs, so MAC counts do not show it.

Example:
A translation model with 250,000 tokens of width 1,024: 1.02 GB in float32, more than its 12 layers.

Instead:
Prune the vocabulary to the languages in use, store the table in 16 or 8 bits (it is read, not multiplied),
factorize it (vocabulary × 128, then 128 × width, as ALBERT does), or keep the lookup outside the model.
A table that is also the output projection (`tied`) already serves twice: quantize rather than split it.

References:
Lan et al., *ALBERT: A Lite BERT*, 2020, section 3.1 (factorized embedding).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, weight, weighted
from py_autodoc.units import count, share, size

_LOOKUPS = frozenset({("", "Gather"), ("com.microsoft", "GatherBlockQuantized")})


@rule(
    "large-embedding",
    "Large embedding table",
    ("medium", "low"),
    min_bytes=50_000_000,
    major_bytes=250_000_000,
    major_share=0.5,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per table."""
    limits = ctx.thresholds["large-embedding"]
    weights = ctx.params.weight_bytes or 0
    readers: dict[int, list[int]] = {}
    for number in ctx.flow.of({op for _, op in _LOOKUPS}):
        node = ctx.flow.nodes[number]
        if (node.domain, node.op_type) in _LOOKUPS and len(node.inputs) > 1 and ctx.flow.data_inputs[number]:
            table = weight(ctx, node.inputs[0])
            if table is not None and table.bytes >= limits["min_bytes"] and _is_table(ctx, table.tensor):
                readers.setdefault(table.tensor, []).append(number)
    if not readers:
        return
    used = (t for number in weighted(ctx) for t in ctx.flow.constant_inputs[number])
    multiplied = {w.tensor for t in used if (w := weight(ctx, t)) is not None}
    for tensor, nodes in readers.items():
        table_bytes = ctx.sizes.bytes[tensor] or 0
        table_share = table_bytes / weights if weights else 0.0
        major = table_bytes >= limits["major_bytes"] and table_share >= limits["major_share"]
        rows, width = ctx.flow.shapes[tensor] or (0, 0)
        tied = tensor in multiplied
        yield Finding(
            "medium" if major else "low",
            f"The table of {label(ctx, nodes[0])} has {count(ctx.sizes.numel[tensor])} parameters "
            f"({rows:,} × {width:,}, {size(table_bytes)}), {share(table_bytes, weights)} of all weights.",
            "Store the table in fewer bits, prune the vocabulary or factorize the table."
            + (" It is also used elsewhere, so it cannot be split off." if tied else ""),
            tuple(nodes),
            {
                "rows": rows,
                "width": width,
                "table_bytes": table_bytes,
                "weight_bytes": ctx.params.weight_bytes,
                "share": round(table_share, 4),
                "tied": tied,
            },
        )


def _is_table(ctx: RuleContext, tensor: int) -> bool:
    """True for two dimensions of known size."""
    shape = ctx.flow.shapes[tensor]
    return shape is not None and len(shape) == 2 and all(isinstance(d, int) for d in shape)
