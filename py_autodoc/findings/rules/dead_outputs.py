"""Nodes whose results are not used, and outputs that never change.

What it finds:
Nodes that no output of the model needs, directly or through others, if at least `min_nodes` of them produce
more than 64 elements, or they take `min_flops_share` of all FLOPs, or they alone use weights of
`min_bytes`. It is `info`, and `low` if the FLOPs or the bytes reach their threshold. Also, as `low`,
outputs of the model that are the same in every run: a constant, or computed from constants alone. Operators
outside the standard count as needed, since they may have effects.

Why it matters:
Most runtimes drop dead nodes when they load the model, others (and every converter and cost table) do not;
their weights stay in the file. An output that never changes is often a sign that an input was traced into a
constant.

Example:
An auxiliary classifier used in training whose output was removed from the list of outputs.

Instead:
Cut the graph at the outputs that are used: `onnx.utils.extract_model`, `onnxslim`, or export a wrapper
module that returns only them. For a constant output check the export: a Python branch or `.item()` may have
frozen it.

References:
Aho, Lam, Sethi, Ullman, *Compilers*, section 8.5 (dead code); [ONNX IR:
graphs](https://github.com/onnx/onnx/blob/main/docs/IR.md#graphs).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.dependencies import needed_nodes, varying_tensors
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import flops, label, total
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.units import plural, share, size

_SMALL = 64
MAX_NAMES = 20


@rule(
    "dead-outputs",
    "Unused results",
    ("low", "info"),
    min_nodes=4,
    min_flops_share=0.01,
    min_bytes=65_536,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding on dead nodes and one on constant outputs."""
    yield from _dead_nodes(ctx)
    yield from _constant(ctx)


def _dead_nodes(ctx: RuleContext) -> Iterator[Finding]:
    limits, model = ctx.thresholds["dead-outputs"], ctx.model
    if not model.graphs[0].outputs:  # an invalid file without outputs: every node would be dead
        return
    needed = needed_nodes(model)
    idle = [number for number in range(len(model.nodes)) if number not in needed]
    dead = [number for number in idle if not model.nodes[number].is_constant]
    if not dead:
        return
    entries = [ctx.costs[number] for number in dead]
    idle_flops = sum(flops(ctx, number) for number in dead)
    weight_bytes = total(
        ctx.sizes.bytes[tensor.id]
        for tensor in model.tensors
        if tensor.is_constant
        and tensor.consumers
        and not needed.intersection(tensor.consumers)
        and not tensor.is_output
    )
    all_known = ctx.totals.nodes_known == ctx.totals.nodes_total and all(e.cost is not None for e in entries)
    flops_share = idle_flops / ctx.totals.flops if all_known and ctx.totals.flops else None
    major = (flops_share or 0) >= limits["min_flops_share"] or (weight_bytes or 0) >= limits["min_bytes"]
    if not major and sum(not _is_small(ctx, number) for number in dead) < limits["min_nodes"]:
        return
    yield Finding(
        "low" if major else "info",
        f"{plural(len(dead), 'node')} (first: {label(ctx, dead[0])}) lead to no output: "
        f"{share(flops_share, 1)} of the FLOPs and {size(weight_bytes)} of weights.",
        "Cut the graph at the outputs that are used.",
        tuple(dead),
        {
            "count": len(dead),
            "flops": idle_flops if all_known else None,
            "flops_share": None if flops_share is None else round(flops_share, 6),
            "weight_bytes": weight_bytes,
        },
    )


def _is_small(ctx: RuleContext, number: int) -> bool:
    """True if a node produces only a few elements, as shape arithmetic does."""
    counts = [ctx.sizes.numel[t] for t in ctx.model.nodes[number].outputs if t >= 0]
    return all(count is not None and count <= _SMALL for count in counts)


def _constant(ctx: RuleContext) -> Iterator[Finding]:
    model = ctx.model
    main = model.graphs[0]
    if not any(model.tensors[t].kind == TensorKind.INPUT for t in main.inputs):
        return  # a graph without inputs is constant by design
    changing = varying_tensors(model)
    constant_outputs = [
        t
        for t in dict.fromkeys(main.outputs)
        if t not in changing
        and (model.tensors[t].producer >= 0 or model.tensors[t].is_constant)
        and model.tensors[t].graph == 0
    ]
    if constant_outputs:
        names = [model.tensors[t].name[:80] for t in constant_outputs]
        verb = "is the same" if len(constant_outputs) == 1 else "are the same"
        count_text = plural(len(constant_outputs), "output")
        yield Finding(
            "low",
            f"{count_text} ({names[0]}{' …' * (len(names) > 1)}) {verb} in every run.",
            "Check whether the export froze a value; otherwise ship the constant next to the model.",
            tuple(model.tensors[t].producer for t in constant_outputs if model.tensors[t].producer >= 0),
            {"outputs": len(constant_outputs), "names": names[:MAX_NAMES]},
        )
