"""Stored weights that are not used.

What it finds:
Initializers that no node uses and no graph returns, if they take at least `min_bytes` and `min_share` of
all stored constants. It is `low`; `medium` from `major_bytes` and `major_share`. Weights that only dead
nodes use are counted by `dead-outputs`.

Why it matters:
They are downloaded, stored and, in some runtimes, loaded for nothing.

Example:
A training head that was cut off the graph while its 8 MB weight stayed in the file.

Instead:
Remove them: `onnxslim`, `onnx.utils.extract_model` and the onnxscript optimizer drop unused initializers;
by hand, keep only those that a node uses (including the subgraphs of If, Loop and Scan).

References:
[ONNX IR: initializers](https://github.com/onnx/onnx/blob/main/docs/IR.md#graphs).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.graph.ir.model import Tensor, TensorKind
from py_autodoc.units import plural, share, size

MAX_NAMES = 20


@rule(
    "unused-initializers",
    "Unused weights",
    ("medium", "low"),
    min_bytes=65_536,
    min_share=0.001,
    major_bytes=16_000_000,
    major_share=0.1,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits, model = ctx.thresholds["unused-initializers"], ctx.model
    returned = {t for graph in model.graphs for t in graph.outputs}
    unused = [
        tensor
        for tensor in model.tensors
        if not tensor.consumers and tensor.kind == TensorKind.INITIALIZER and tensor.id not in returned
    ]
    if not unused:
        return
    # Two tensors may share a range of an external file, which is used if one of them is.
    used = {_region(tensor) for tensor in model.tensors if tensor.consumers} - {None}
    sized = [(ctx.sizes.bytes[t.id] or 0, t) for t in unused if _region(t) not in used]
    unused_bytes = sum(tensor_bytes for tensor_bytes, _ in sized)
    weights = ctx.params.weight_bytes
    unused_share = unused_bytes / weights if weights else 0.0
    if (
        not unused_bytes
        or unused_bytes < limits["min_bytes"]
        or (weights and unused_share < limits["min_share"])
    ):
        return
    sized.sort(key=lambda item: (-item[0], item[1].id))
    major = unused_bytes >= limits["major_bytes"] and unused_share >= limits["major_share"]
    yield Finding(
        "medium" if major else "low",
        f"{plural(len(sized), 'unused initializer')}, {size(unused_bytes)} in total: "
        f"{share(unused_bytes, weights)} of the stored constants.",
        "Remove them from the file.",
        evidence={
            "initializers": len(sized),
            "unused_bytes": unused_bytes,
            "weight_bytes": weights,
            "largest": [t.name[:80] for _, t in sized[:MAX_NAMES]],
        },
    )


def _region(tensor: Tensor) -> tuple[str, int] | None:
    """Return the location of a tensor's bytes in an external file."""
    storage = tensor.storage
    return (storage.location, storage.offset or 0) if storage is not None and storage.location else None
