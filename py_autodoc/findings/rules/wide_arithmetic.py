"""64-bit arithmetic in layers with a large share of the cost.

What it finds:
float64 (or complex128) in operators that carry multiply-accumulates, or in elementwise arithmetic on at
least `min_elements` elements; int64 arithmetic on the same number of elements. Each must take at least
`min_flops_share` of the model's FLOPs, and MAC-carrying ones at least `min_macs` (`min_params` parameters
where MACs are unknown). float64 multiply-accumulates are `medium`, the rest is `low`. Sizes, indices and
ids are not on the hot path and never count; models of ai.onnx.ml are not reported.

Why it matters:
float64 runs at 1/2 of the float32 rate on CPUs and at 1/32 or 1/64 on most consumer GPUs, NPUs do not have
it at all, and TensorRT casts it down or refuses. It often comes from one Python float or NumPy array in the
model. int64 is twice the traffic of int32 and is emulated on GPUs.

Example:
A spectrogram front end whose window was a NumPy float64 array: all of its MatMuls run in double precision.

Instead:
Cast the constants to float32 before the export (`torch.set_default_dtype(torch.float32)`,
`array.astype(np.float32)`); keep masks and positions in int32 or bool where they meet large tensors.

References:
NVIDIA CUDA C++ Programming Guide, arithmetic instructions (throughput by compute capability).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.costs.registry import carries_macs
from py_autodoc.findings.mac_share import MacShare
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import flops, label, macs
from py_autodoc.graph.ir.model import Node
from py_autodoc.units import count, plural, share

_DOUBLE = frozenset({11, 15})
_INT64 = frozenset({7, 13})
_WIDE = _DOUBLE | _INT64
_ADVICE = "Cast constants and inputs to 32 bits before the export."


@rule(
    "wide-arithmetic",
    "64-bit arithmetic",
    ("medium", "low"),
    min_elements=65_536,
    min_macs=1_000_000,
    min_params=10_000,
    min_flops_share=0.01,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding on float64 MACs, one on other float64 and one on int64 arithmetic."""
    floor = ctx.thresholds["wide-arithmetic"]["min_elements"]
    heavy: list[int] = []
    double: list[int] = []
    integer: list[int] = []
    dtypes = ctx.types.dtypes
    for node in ctx.model.nodes:
        dtype = dtypes[node.inputs[0]] if node.inputs and node.inputs[0] >= 0 else 0
        if dtype not in _WIDE or node.domain == "ai.onnx.ml":
            continue
        if carries_macs(node.domain, node.op_type):
            (heavy if dtype in _DOUBLE else integer).append(node.id)
            continue
        entry = ctx.costs[node.id]
        if entry.cost is not None and entry.counted and entry.cost.flops and _elements(ctx, node) >= floor:
            (double if dtype in _DOUBLE else integer).append(node.id)
    yield from _float64_layers(ctx, heavy)
    yield from _finding(ctx, "low", double, "compute in float64")
    yield from _finding(ctx, "low", integer, "compute in int64")


def _float64_layers(ctx: RuleContext, nodes: list[int]) -> Iterator[Finding]:
    """Report float64 layers, weighted by their parameters if MACs are unknown."""
    if not nodes:
        return
    limits, work = ctx.thresholds["wide-arithmetic"], MacShare(ctx)
    work_share, amount = work.share(nodes), work.of(nodes)
    floor = limits["min_macs"] if work.basis == "macs" else limits["min_params"]
    if amount < floor or work_share < limits["min_flops_share"]:
        return
    verb = "multiplies and accumulates" if len(nodes) == 1 else "multiply and accumulate"
    yield Finding(
        "medium",
        f"{plural(len(nodes), 'layer')} (first: {label(ctx, nodes[0])}) {verb} in float64, "
        f"{share(work_share, 1)} of the {work.words}.",
        _ADVICE,
        tuple(nodes),
        {"count": len(nodes), "share": round(work_share, 4), "basis": work.basis, work.basis: amount},
    )


def _elements(ctx: RuleContext, node: Node) -> int:
    """Return the elements of the largest input or output of known size."""
    return max((ctx.sizes.numel[t] or 0 for t in (*node.inputs, *node.outputs) if t >= 0), default=0)


def _finding(ctx: RuleContext, severity: str, nodes: list[int], arithmetic: str) -> Iterator[Finding]:
    wide_flops = sum(flops(ctx, number) for number in nodes)
    total_flops = ctx.totals.flops
    if ctx.totals.mac_nodes_known < ctx.totals.mac_nodes_total:
        return  # an incomplete sum has no shares
    if (
        not nodes
        or not total_flops
        or wide_flops < ctx.thresholds["wide-arithmetic"]["min_flops_share"] * total_flops
    ):
        return
    yield Finding(
        severity,
        f"{plural(len(nodes), 'node')} (first: {label(ctx, nodes[0])}) {arithmetic}: "
        f"{count(wide_flops, 'FLOPs')}, {share(wide_flops, total_flops)} of the model.",
        _ADVICE,
        tuple(nodes),
        {
            "count": len(nodes),
            "flops": wide_flops,
            "total_flops": total_flops,
            "macs": sum(macs(ctx, number) for number in nodes),
        },
    )
