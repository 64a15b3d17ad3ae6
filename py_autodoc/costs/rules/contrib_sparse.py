"""Operators of com.microsoft for decoders with sparse attention, n-gram memories and residual streams.

Source of the shapes: ONNX Runtime, docs/ContribOperators.md.
"""

from __future__ import annotations

from py_autodoc.costs.flop_weights import PER_ELEMENT, RMS_NORM, ROTARY, SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, minimum
from py_autodoc.costs.rules.attention import Heads, split

MS = "com.microsoft"
_GATE = 6 + PER_ELEMENT["Sigmoid"]
"""Scale, sign, absolute value, maximum, root and product of one gate, then its sigmoid."""


@cost(MS, "EngramGate")
def engram_gate(v: NodeView) -> Cost:
    """Key and query (B, S, C, D), normalized; one gate for each (B, S, C) times value (B, S, D)."""
    elements, width = v.numel(0), v.dim(0, -1)
    if width < 1:
        raise UnknownSize("input 0 has no features")
    norms = 2 + v.has_out(1)
    return Cost(0, elements * (norms * (RMS_NORM + 1) + 2 + 1) + elements // width * _GATE)


@cost(MS, "HyperConnectionPreMix")
def pre_mix(v: NodeView) -> Cost:
    """Streams times gates, summed over the streams; scaled by reduction_scale."""
    return Cost(0, 2 * v.numel(0) + (v.attr("reduction_scale", 1.0) != 1.0) * v.out_numel())


@cost(MS, "HyperConnectionPostMix", macs=True)
def post_mix(v: NodeView) -> Cost:
    """Streams mixed by stream_mix (…, C, C) at 3, or kept; plus the branch times its gates."""
    mixed = v.out_numel() * v.dim(3, -1) if v.has(3) else 0
    return Cost.of(mixed, 2 * v.out_numel())


@cost(MS, "LinearAttentionGate")
def linear_attention_gate(v: NodeView) -> Cost:
    """Softplus of the sum with a bias, times a factor; the second output is a sigmoid."""
    beta = PER_ELEMENT["Sigmoid"] * v.numel(3) if v.has(3) and v.has_out(1) else 0
    return Cost(0, (2 + PER_ELEMENT["Softplus"]) * v.numel(0) + beta)


@cost(MS, "NGramHashMapping")
def ngram_hashes(v: NodeView) -> Cost:
    """For n = 2 … N: n products and n − 1 exclusive ors for each token, then one remainder for each head."""
    largest, heads = v.positive_attr("max_ngram_size"), v.positive_attr("n_head_per_ngram")
    mixes = sum(2 * n - 1 for n in range(2, min(largest, 64) + 1))
    return Cost(0, v.numel(0) * (mixes + (1 + v.has(4)) * heads * max(0, largest - 1)))


@cost(MS, "DynamicSparseAttention", macs=True)
def dynamic_sparse_attention(v: NodeView) -> Cost:
    """Grouped queries that read the selected keys: selected_indices (B·S, most) at 7, all of them counted.

    ``local_plus_selected`` adds those of the local window. Query (B, S, N·H), or packed with key and value.
    """
    b, s, width = v.dims(0, 3)
    heads, kv = v.positive_attr("num_heads"), v.positive_attr("kv_num_heads")
    d = split((width,), heads if v.has(1) else heads + 2 * kv)
    keys = v.dim(7, -1)
    if v.text_attr("attention_mode", "selected_only") == "local_plus_selected":
        local = v.positive_attr("local_window_size")
        past = v.dim(3, 2) if v.has(3) else 0
        keys += minimum(local, past + s)
    n = Heads(b, heads, s, keys, d, d)
    new = b * s * (heads + kv) * d
    rotary = ROTARY * new if v.int_attr("do_rotary", 0) else 0
    norms = (RMS_NORM + 1) * new if v.has(14) else 0
    return Cost.of(n.macs, rotary + norms + n.scores * (1 + SOFTMAX))


@cost(MS, "SparseAttentionIndexer", "PackedSparseAttentionIndexer", "SparsePagedAttention", macs=True)
def selected_at_run_time(v: NodeView) -> Cost:
    """A named gap. Raises: UnknownSize."""
    raise UnknownSize("how many keys are scored and selected is known at run time only")
