"""Dimensions other than batch and sequence that are unknown before the model runs.

What it finds:
Symbolic dimensions that cause problems in deployment tools. Batch and sequence dimensions alone are not
reported.

- Spatial sizes of an input that feeds convolutions: `info`; `low` when a Resize takes its output size from
  a computation.
- Inputs with dimensions that have no name (other than the batch): `low`.
- Operators whose output size depends on values (NonZero, Unique, Compress, NonMaxSuppression): `low`;
  `medium` if at least `major_share` of the layers with weights come after them.

Why it matters:
Static compilers (mobile NPUs, Core ML, most microcontroller runtimes) need every size; TensorRT needs a
range for each and builds slower kernels; memory cannot be planned. Two dimensions without names may or may
not be equal, so that they cannot be bound. A size that depends on values splits the graph at that point.

Example:
A detector exported with `dynamic_axes={"image": [0, 2, 3]}`: its Resize computes the output size from
`Shape`.

Instead:
Export with fixed sizes, or with names for those that must vary (`dynamic_axes={"image": {0: "batch"}}`);
fix them afterwards with `onnxruntime.tools.make_dynamic_shape_fixed`. Give Resize constant scales. Keep
selection by value (NMS, masks) outside the model or at its very end, with a fixed number of results.

References:
[ONNX Runtime: make dynamic shapes
fixed](https://onnxruntime.ai/docs/tutorials/mobile/helpers/make-dynamic-shape-fixed.html); [TensorRT:
dynamic
shapes](https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/work-dynamic-shapes.html).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, weighted
from py_autodoc.graph.ir.model import Dim, Tensor, TensorKind
from py_autodoc.units import plural

_BY_VALUE = frozenset({"NonZero", "Unique", "Compress", "NonMaxSuppression"})
_SPATIAL = frozenset(
    {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "Resize", "Upsample", "DeformConv", "QLinearConv"}
)
_PREPARES = frozenset(
    {"Transpose", "Cast", "Mul", "Sub", "Div", "Add", "Pad", "Identity", "Concat", "Slice", "Split", "Clip",
     "BatchNormalization", "QuantizeLinear", "DequantizeLinear"}
)  # fmt: skip
"""Operators between an image and its first convolution."""
_STEPS = 64
"""Maximum nodes visited downstream of one input."""
_UNNAMED = frozenset({"", "?", "-1", "none", "unk", "unknown", "*"})
MAX_NAMES = 20


@rule("dynamic-shapes", "Dynamic shapes", ("medium", "low", "info"), major_share=0.1)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding of each kind."""
    inputs = [ctx.model.tensors[t] for t in ctx.model.graphs[0].inputs]
    inputs = [t for t in inputs if t.kind == TensorKind.INPUT and t.shape is not None]
    yield from _spatial(ctx, inputs)
    yield from _unnamed(inputs)
    yield from _by_value(ctx)


def _free(dim: Dim) -> bool:
    return not isinstance(dim, int)


def _spatial(ctx: RuleContext, inputs: list[Tensor]) -> Iterator[Finding]:
    names: list[str] = []
    for tensor in inputs:
        shape = tensor.shape or ()
        if len(shape) >= 4 and any(_free(d) for d in shape[1:]) and _meets_convolution(ctx, tensor.id):
            names.append(tensor.name[:80])
    if not names:
        return
    computed = [number for number in ctx.flow.order if _computes_size(ctx, number)]
    first_inputs = f"{plural(len(names), 'input')} ({names[0]}{' …' * (len(names) > 1)})"
    subject = f"The spatial dimensions of {first_inputs} are symbolic"
    consequence = f", and {plural(len(computed), 'node')} compute their output size." if computed else "."
    yield Finding(
        "low" if computed else "info",
        subject + consequence,
        "Fix the sizes for targets that need static shapes, and give Resize constant scales.",
        tuple(computed),
        {"inputs": names[:MAX_NAMES], "computed_sizes": len(computed)},
    )


def _meets_convolution(ctx: RuleContext, tensor: int) -> bool:
    """True if a spatial operator reads the tensor, past image preprocessing."""
    seen, stack = {tensor}, [tensor]
    for _ in range(_STEPS):
        if not stack:
            return False
        for number in ctx.flow.readers[stack.pop()][:_STEPS]:
            node = ctx.flow.nodes[number]
            if node.op_type in _SPATIAL:
                return True
            if node.op_type in _PREPARES:
                stack.extend(t for t in node.outputs if t >= 0 and t not in seen)
                seen.update(node.outputs)
    return False


def _computes_size(ctx: RuleContext, number: int) -> bool:
    """True for a Resize or Upsample whose sizes or scales are computed."""
    node = ctx.flow.nodes[number]
    if node.domain or node.op_type not in ("Resize", "Upsample"):
        return False
    return any(t >= 0 and not ctx.flow.constants[t] for t in node.inputs[1:])


def _unnamed(inputs: list[Tensor]) -> Iterator[Finding]:
    unnamed = [
        f"{tensor.name[:80]}[{axis}]"
        for tensor in inputs
        for axis, d in enumerate(tensor.shape or ())
        if axis and (d is None or (isinstance(d, str) and d.strip().lower() in _UNNAMED))
    ]
    if unnamed:
        verb = "has" if len(unnamed) == 1 else "have"
        yield Finding(
            "low",
            f"{plural(len(unnamed), 'input dimension')} ({', '.join(unnamed[:3])}{' …' * (len(unnamed) > 3)})"
            f" {verb} neither a size nor a name.",
            "Name dimensions that vary, with one name where sizes are equal, and fix the others.",
            evidence={"dimensions": len(unnamed), "places": unnamed[:MAX_NAMES]},
        )


def _by_value(ctx: RuleContext) -> Iterator[Finding]:
    flow = ctx.flow
    by_value = [
        number
        for number in flow.of(_BY_VALUE)
        if not flow.nodes[number].domain and flow.data_inputs[number] and not _about_shape(ctx, number)
    ]
    if not by_value:
        return
    downstream: set[int] = set(by_value)
    for number in flow.order:
        if any(p in downstream for p in flow.predecessors(number)):
            downstream.add(number)
    layers = weighted(ctx)
    after = sum(number in downstream for number in layers)
    major = bool(after) and after >= ctx.thresholds["dynamic-shapes"]["major_share"] * len(layers)
    types = sorted({flow.nodes[number].op_type for number in by_value})
    verb = "makes an output" if len(by_value) == 1 else "make outputs"
    yield Finding(
        "medium" if major else "low",
        f"{plural(len(by_value), 'node')} ({', '.join(types)}; first: {label(ctx, by_value[0])}) {verb} "
        f"whose size depends on values; {after:,} of {plural(len(layers), 'layer')} with weights come after.",
        "Keep selection by value at the end of the model or outside it, with a fixed number of results.",
        tuple(by_value),
        {"count": len(by_value), "layers_after": after, "layers": len(layers), "operators": types},
    )


def _about_shape(ctx: RuleContext, number: int) -> bool:
    """True if the value or the size of the result is known, so that it depends on shapes only."""
    outputs = [t for t in ctx.flow.nodes[number].outputs if t >= 0]
    return all(ctx.sizes.numel[t] is not None or ctx.flow.value(t) is not None for t in outputs)
