"""Equal weights that are stored more than once.

What it finds:
Constants of equal type, shape and bytes. Without `--read-weights` only small constants whose values are in
the structure can be compared; with it all are, by a hash of their bytes. Equal shapes alone do not count as
equal values. Tensors with one repeated value (all ones, all zeros) and tensors that share a part of a file
are not included. It is `low` from `min_bytes` stored twice, `medium` from `major_bytes` and `major_share`
of all stored constants.

Why it matters:
Exporters write a tied weight (embedding and output projection, layers that share parameters) once per use:
file and memory grow, and the copies can diverge when the model is edited or quantized.

Example:
A language model whose 154 MB token table is stored a second time as its output projection.

Instead:
Let all uses read one initializer (rename the inputs, drop the copies); `onnxslim` and the onnxscript
optimizer merge equal initializers.

References:
Press & Wolf, *Using the Output Embedding to Improve Language Models*, 2017 (tied weights).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.graph.ir.model import Tensor
from py_autodoc.units import plural, share, size

MAX_NAMES = 20


@rule(
    "duplicated-weights",
    "Duplicated weights",
    ("medium", "low"),
    min_bytes=65_536,
    major_bytes=16_000_000,
    major_share=0.1,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits = ctx.thresholds["duplicated-weights"]
    groups: dict[tuple[object, ...], dict[tuple[object, ...], int]] = {}
    """Content → location of the bytes → tensor."""
    for tensor, content in _contents(ctx):
        key = (ctx.types.dtypes[tensor.id] or tensor.dtype, tensor.shape, content)
        groups.setdefault(key, {}).setdefault(_storage_key(tensor), tensor.id)
    copies = [list(by_storage.values()) for by_storage in groups.values() if len(by_storage) > 1]
    wasted = [((len(ids) - 1) * (ctx.sizes.bytes[ids[0]] or 0), ids) for ids in copies]
    wasted_bytes = sum(extra for extra, _ in wasted)
    if not wasted_bytes or wasted_bytes < limits["min_bytes"]:
        return
    weights = ctx.params.weight_bytes
    copied_share = wasted_bytes / weights if weights else 0.0
    wasted.sort(key=lambda item: (-item[0], item[1]))
    major = wasted_bytes >= limits["major_bytes"] and copied_share >= limits["major_share"]
    tensors = ctx.model.tensors
    yield Finding(
        "medium" if major else "low",
        f"{plural(len(wasted), 'tensor')} are stored more than once: {size(wasted_bytes)} of copies, "
        f"{share(wasted_bytes, weights)} of the stored constants.",
        "Let all uses read one initializer and drop the copies.",
        tuple(n for _, ids in wasted for t in ids for n in tensors[t].consumers[:1]),
        {
            "groups": len(wasted),
            "copies": sum(len(ids) - 1 for _, ids in wasted),
            "copied_bytes": wasted_bytes,
            "weight_bytes": weights,
            "all_weights_compared": ctx.weights is not None,
            "largest": [" = ".join(tensors[t].name[:60] for t in ids[:3]) for _, ids in wasted[:MAX_NAMES]],
        },
    )


def _contents(ctx: RuleContext) -> Iterator[tuple[Tensor, object]]:
    """Yield (tensor, key of its content) for constants with more than one distinct value."""
    tensors = ctx.model.tensors
    if ctx.weights is not None:
        for fact in ctx.weights:
            if fact.elements > 1 and (fact.minimum != fact.maximum or fact.nan or fact.inf):
                yield tensors[fact.tensor], fact.digest
        return
    for number, value in ctx.model.constants.items():
        if not isinstance(value, np.ndarray) or value.size < 2 or value.dtype.kind not in "fiu":
            continue
        flat = value.reshape(-1)
        if tensors[number].is_constant and (flat != flat[0]).any():
            yield tensors[number], value.tobytes()


def _storage_key(tensor: Tensor) -> tuple[object, ...]:
    """Return the location of the bytes; tensors with the same location already share them."""
    storage = tensor.storage
    if storage is not None and storage.location:
        return storage.location, storage.offset or 0
    return (tensor.id,)
