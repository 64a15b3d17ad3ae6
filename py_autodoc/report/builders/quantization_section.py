"""Whether and how a model is quantized, the share of its MACs, and the layers that are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from py_autodoc.report.builders.node_numbers import per_inference
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import QuantizationInfo

MAX_LISTED = 200
"""Maximum number of layers listed by id."""


def quantization(analysis: Analysis) -> QuantizationInfo:
    """Return the quantization of all layers that one inference runs."""
    layers = [q for q in analysis.structure.quantized if analysis.costs[q.node].counted]
    schemes = Counter(q.scheme for q in layers if q.scheme and q.weighted)
    quantized = {q.node for q in layers if q.scheme}
    not_quantized = [q.node for q in layers if q.weighted and not q.scheme]
    return QuantizationInfo(
        quantized=bool(schemes),
        schemes=dict(schemes.most_common()),
        weights=_kinds(q.weights for q in layers if q.scheme and q.weighted),
        activations=_kinds(q.data for q in layers if q.scheme and q.weighted),
        layers=sum(schemes.values()),
        layers_total=sum(schemes.values()) + len(not_quantized) if schemes else None,
        macs_share=_share(analysis, quantized) if schemes else None,
        not_quantized=not_quantized[:MAX_LISTED] if schemes else [],
    )


def _kinds(names: Iterable[str]) -> list[str]:
    """Return the element types, most frequent first."""
    counted = Counter(name for name in names if name)
    return [name for name, _ in counted.most_common()]


def _share(analysis: Analysis, quantized: set[int]) -> float | None:
    """Return the share of known MACs computed by quantized operators; None if no MACs are known."""
    total = inside = 0
    for node, entry in zip(analysis.model.nodes, analysis.costs, strict=True):
        macs = per_inference(entry).macs or 0
        if node.subgraphs:
            continue
        total += macs
        inside += macs if node.id in quantized else 0
    return inside / total if total else None
