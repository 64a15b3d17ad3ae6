"""A large share of the memory traffic for little arithmetic.

What it finds:
Two things, in models that move at least `min_bytes` per inference. Layers with weights whose arithmetic
intensity is below `min_intensity` FLOPs per byte, when they move at least `min_share` of all bytes: `low`;
`medium` from `major_share` and `major_bytes`. And operators that only move data (Transpose, Concat, Slice,
Gather, Pad …) when they move at least `min_moved_share`: `low`. Bytes are those of unfused execution, each
input and output once; views (Reshape, Squeeze …) move none.

Why it matters:
A processor that does 10 to 100 FLOPs in the time it takes to move a byte waits for memory in such layers:
faster arithmetic does not help, fewer bytes do. MAC counts suggest a speed that is not reached.

Example:
AlexNet at batch size 1: its three dense layers read 234 MB of weights for 117 MFLOPs, 0.5 FLOPs per byte.

Instead:
For weights: a larger batch, 8- or 4-bit weights, smaller dense layers. For moved data: a layout that needs no
Transpose, views instead of copies, fused operators.

References:
Williams et al., *Roofline: An Insightful Visual Performance Model*, 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from py_autodoc.costs.engine import in_inference
from py_autodoc.costs.registry import carries_macs
from py_autodoc.findings.registry import Finding, Number, RuleContext, rule
from py_autodoc.findings.weighted_layers import flops, has_weight, weighted
from py_autodoc.units import plural, share, size

_MIN_KNOWN_SHARE = 0.9
"""Minimum share of nodes with known costs."""


@rule(
    "memory-bottleneck",
    "Memory traffic without arithmetic",
    ("medium", "low"),
    min_bytes=50_000_000,
    min_intensity=4.0,
    min_share=0.5,
    major_share=0.75,
    major_bytes=200_000_000,
    min_moved_share=0.4,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding of each kind."""
    limits = ctx.thresholds["memory-bottleneck"]
    if ctx.totals.node_share < _MIN_KNOWN_SHARE:
        return
    total_bytes = slow_bytes = slow_flops = moved_bytes = 0
    slow: list[tuple[int, int]] = []
    moved: list[tuple[int, int]] = []
    constants, firsts, layers = ctx.flow.constants, ctx.flow.first_outputs, set(weighted(ctx))
    for node, entry in zip(ctx.model.nodes, ctx.costs, strict=True):
        cost = entry.cost
        if cost is None or not entry.counted or cost.read_bytes is None or cost.write_bytes is None:
            continue
        first = firsts[node.id]
        if (first < 0 or constants[first]) and all(t < 0 or constants[t] for t in node.outputs):
            continue  # computed once, before the first inference
        traffic = in_inference(cost.read_bytes + cost.write_bytes, entry.runs) or 0
        total_bytes += traffic
        if not cost.flops and traffic:
            moved_bytes += traffic
            moved.append((traffic, node.id))
        elif node.id in layers or (
            node.graph and carries_macs(node.domain, node.op_type) and has_weight(ctx, node)
        ):
            node_flops = flops(ctx, node.id)
            if node_flops < limits["min_intensity"] * traffic:
                slow_bytes += traffic
                slow_flops += node_flops
                slow.append((traffic, node.id))
    if not total_bytes or total_bytes < limits["min_bytes"]:
        return
    if slow_bytes >= limits["min_share"] * total_bytes and slow:
        yield _low_intensity(slow, slow_bytes, slow_flops, total_bytes, limits)
    if moved_bytes >= limits["min_moved_share"] * total_bytes and moved:
        yield Finding(
            "low",
            f"{plural(len(moved), 'operator')} that compute nothing move {size(moved_bytes)} of "
            f"{size(total_bytes)}, {share(moved_bytes, total_bytes)} of the traffic.",
            "Look for layouts and views that make these copies unnecessary.",
            _largest_nodes(moved),
            {"bytes": moved_bytes, "total_bytes": total_bytes, "share": round(moved_bytes / total_bytes, 4)},
        )


def _low_intensity(
    slow: list[tuple[int, int]], moved: int, flops: int, total_bytes: int, limits: Mapping[str, Number]
) -> Finding:
    major = moved >= limits["major_share"] * total_bytes and total_bytes >= limits["major_bytes"]
    return Finding(
        "medium" if major else "low",
        f"{plural(len(slow), 'layer')} of low arithmetic intensity ({flops / moved:.1f} FLOPs per byte) move "
        f"{size(moved)} of {size(total_bytes)}, {share(moved, total_bytes)} of the traffic.",
        "Use a larger batch, weights of fewer bits, or smaller dense layers.",
        _largest_nodes(slow),
        {
            "bytes": moved,
            "total_bytes": total_bytes,
            "share": round(moved / total_bytes, 4),
            "flops_per_byte": round(flops / moved, 3),
        },
    )


def _largest_nodes(nodes: list[tuple[int, int]]) -> tuple[int, ...]:
    """Sort nodes by descending traffic."""
    return tuple(number for _, number in sorted(nodes, key=lambda pair: (-pair[0], pair[1])))
