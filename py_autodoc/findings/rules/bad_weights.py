"""Weights that are NaN, infinite or all zero.

What it finds:
Only with `--read-weights`: a weight of a layer (Conv, Gemm, MatMul, LSTM, normalization … also behind
DequantizeLinear and views) that holds NaN or infinite values is `high`. A weight matrix or kernel of at
least `min_elements` that is all zero is `medium`. Constants of other operators, such as a mask of −∞, are
not reported, and neither are biases and shifts that are zero.

Why it matters:
One NaN in a weight turns every output that depends on it into NaN. A layer whose kernel is zero computes
nothing: the checkpoint was not loaded, was pruned away or underflowed when it was converted to float16.

Example:
A model converted to float16 whose largest weights became infinite because they exceed 65,504.

Instead:
Check the exported checkpoint and the conversion: keep such layers in float32 or bfloat16, load weights
strictly, remove layers that are zero.

References:
IEEE 754-2019, section 6 (infinity and NaN arithmetic); Micikevicius et al., *Mixed Precision Training*,
2018.
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.costs.tensor_sizes import FLOAT_TYPES
from py_autodoc.costs.weight_slots import LEARNED, PASSES_ON
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label
from py_autodoc.graph.tensor_data.weight_stats import TensorFacts
from py_autodoc.units import plural

_KERNELS = {
    "Conv": (1,), "ConvTranspose": (1,), "DeformConv": (1,), "Gemm": (0, 1), "MatMul": (0, 1),
    "LSTM": (1, 2), "GRU": (1, 2), "RNN": (1, 2),
}  # fmt: skip
"""Inputs that make the layer useless if they are all zero."""
_MAX_USES = 64
MAX_NAMES = 20


@rule("bad-weights", "NaN, infinite or all-zero weights", ("high", "medium"), min_elements=64)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report NaN and infinite values in one finding, and all-zero weights in another."""
    floor = ctx.thresholds["bad-weights"]["min_elements"]
    broken: list[tuple[TensorFacts, int]] = []
    zero: list[tuple[TensorFacts, int]] = []
    for fact in ctx.weights or ():
        has_non_finite = bool(fact.nan or fact.inf)
        if not has_non_finite and (
            fact.zero < fact.elements or fact.elements < floor or not _is_float(ctx, fact.tensor)
        ):
            continue
        for number, index in _uses(ctx, fact.tensor):
            node = ctx.model.nodes[number]
            key = (node.domain, node.op_type)
            if has_non_finite and index in LEARNED.get(key, ()) and (fact.nan or node.op_type != "Gather"):
                broken.append((fact, number))
                break
            if not has_non_finite and not node.domain and index in _KERNELS.get(node.op_type, ()):
                zero.append((fact, number))
                break
    if broken:
        yield _broken(ctx, broken)
    if zero:
        first = label(ctx, zero[0][1])
        verb, more = ("computes", "") if len(zero) == 1 else ("compute", " …")
        yield Finding(
            "medium",
            f"{plural(len(zero), 'layer')} ({first}{more}) {verb} nothing: all weights are zero.",
            "Check that the checkpoint was loaded and did not underflow; remove layers meant to be zero.",
            tuple(dict.fromkeys(number for _, number in zero)),
            {
                "tensors": len(zero),
                "elements": sum(fact.elements for fact, _ in zero),
                "names": [ctx.model.tensors[fact.tensor].name[:80] for fact, _ in zero[:MAX_NAMES]],
            },
        )


def _broken(ctx: RuleContext, invalid: list[tuple[TensorFacts, int]]) -> Finding:
    nan, inf = sum(fact.nan for fact, _ in invalid), sum(fact.inf for fact, _ in invalid)
    counts_text = " and ".join(f"{n:,} {kind}" for n, kind in ((nan, "NaN"), (inf, "infinite")) if n)
    return Finding(
        "high",
        f"{plural(len(invalid), 'weight')} hold {counts_text} values (first: {label(ctx, invalid[0][1])}).",
        "Find where the values broke: the checkpoint, or the conversion to a narrower type; export again.",
        tuple(dict.fromkeys(number for _, number in invalid)),
        {
            "tensors": len(invalid),
            "nan": nan,
            "infinite": inf,
            "elements": sum(fact.elements for fact, _ in invalid),
            "names": [ctx.model.tensors[fact.tensor].name[:80] for fact, _ in invalid[:MAX_NAMES]],
        },
    )


def _is_float(ctx: RuleContext, tensor: int) -> bool:
    """False for integer types, whose zeros are relative to the zero point."""
    return (ctx.types.dtypes[tensor] or ctx.model.tensors[tensor].dtype) in FLOAT_TYPES


def _uses(ctx: RuleContext, tensor: int) -> Iterator[tuple[int, int]]:
    """Yield (node, input) pairs that use the tensor, past operators that only prepare a weight."""
    seen, stack = {tensor}, [tensor]
    for _ in range(_MAX_USES):
        if not stack:
            return
        current = stack.pop()
        for number in ctx.model.tensors[current].consumers[:_MAX_USES]:
            node = ctx.model.nodes[number]
            for index, tensor_read in enumerate(node.inputs):
                if tensor_read != current:
                    continue
                yield number, index
                if index == 0 and node.op_type in PASSES_ON and not node.domain:
                    stack.extend(t for t in node.outputs if t >= 0 and t not in seen)
                    seen.update(node.outputs)
