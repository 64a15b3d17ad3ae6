"""Attention of ai.onnx: the products Q·Kᵀ and P·V over the full square (not halved for causal masks)."""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.costs.flop_weights import ROTARY, SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, maximum, minimum, prod


@dataclass(frozen=True)
class Heads:
    """Sizes of one attention: ``b`` batch, ``h`` query heads, ``s`` queries, ``t`` keys, head sizes d, dv."""

    b: int
    h: int
    s: int
    t: int
    d: int
    dv: int

    @property
    def scores(self) -> int:
        """Elements of Q·Kᵀ: b · h · s · t."""
        return self.b * self.h * self.s * self.t

    @property
    def macs(self) -> int:
        """b·h·s·t·d for Q·Kᵀ plus b·h·s·t·dv for P·V."""
        return self.scores * (self.d + self.dv)


def split(shape: tuple[int, ...], heads: int) -> int:
    """Return the head size of a (…, heads · size) tensor. Raises: UnknownSize if it is not divisible."""
    if not shape:
        raise UnknownSize("a scalar has no heads")
    if shape[-1] % heads:
        raise UnknownSize(f"{shape[-1]} channels do not divide into {heads} heads")
    return shape[-1] // heads


def attention_heads(v: NodeView) -> Heads:
    """Return the sizes of ai.onnx Attention from 4-D (B, H, S, D) or 3-D (B, S, H·D) inputs.

    The keys include cached and new ones. Raises: UnknownSize.
    """
    q, k, val = v.shape(0), v.shape(1), v.shape(2)
    past = v.dim(4, 2) if v.has(4) else 0
    if len(q) == 4 and len(k) == 4 and len(val) == 4:
        return Heads(q[0], q[1], q[2], k[2] + past, q[3], val[3])
    if len(q) == 3 and len(k) == 3 and len(val) == 3:
        h, kv = v.positive_attr("q_num_heads"), v.positive_attr("kv_num_heads")
        return Heads(q[0], h, q[1], k[1] + past, split(q, h), split(val, kv))
    raise UnknownSize("Q, K and V must all be 4-D or all be 3-D")


@cost("", "Attention", macs=True)
def attention(v: NodeView) -> Cost:
    """ONNX Attention-23/24: softmax(softcap(scale·Q·Kᵀ) + mask)·V, with grouped queries and a KV cache.

    FLOPs per score, in addition to the MACs: scale, softmax, + for the mask, 3 for the soft cap (÷, tanh, ×).
    """
    n = attention_heads(v)
    softcap = 3 if v.attr("softcap", 0.0) else 0
    masks = v.has(3) + bool(v.int_attr("is_causal", 0))
    return Cost.of(n.macs, n.scores * (1 + SOFTMAX + masks + softcap))


@cost("ai.onnx.preview", "FlexAttention", macs=True)
def flex_attention(v: NodeView) -> Cost:
    """Q·Kᵀ, scale, softmax, P·V on 4-D inputs. The score and probability graphs have separate costs."""
    n = attention_heads(v)
    return Cost.of(n.macs, n.scores * (1 + SOFTMAX))


@cost("", "LinearAttention", macs=True)
def linear_attention(v: NodeView) -> Cost:
    """Linear attention, token by token over a state S (B, H_kv, d_k, d_v).

    Per token and key head: k ⊗ v into S takes d_k·d_v MACs; the delta rules first read Sᵀk, another
    d_k·d_v. Per token and query head: qᵀS takes d_k·d_v. In addition, the decay multiplies S (exp(g)·S), the
    delta rules compute v − Sᵀk and × β on d_v, and the output is scaled.
    """
    q, val = v.shape(0), v.shape(2)
    h, kv = v.positive_attr("q_num_heads"), v.positive_attr("kv_num_heads")
    if len(q) != 3 or len(val) != 3:
        raise UnknownSize("query and value must be 3-D")
    work = delta_rule(
        q[0] * q[1], (h, kv), (split(q, h), split(val, kv)), v.text_attr("update_rule", "gated_delta")
    )
    decay = v.numel(4) if v.has(4) and v.text_attr("update_rule", "gated_delta").startswith("gated") else 0
    return Cost(work.macs, work.flops + decay)


def delta_rule(tokens: int, heads: tuple[int, int], sizes: tuple[int, int], rule: str) -> Cost:
    """Return the work of ``tokens`` on states of ``sizes`` (d_k, d_v), for (query, key) ``heads``.

    Raises: UnknownSize for an unknown rule.
    """
    if rule not in ("linear", "gated", "delta", "gated_delta"):
        raise UnknownSize(f"update rule {rule} is unknown")
    delta, gated = rule.endswith("delta"), rule.startswith("gated")
    (h, kv), (d_k, d_v) = heads, sizes
    state, reading = d_k * d_v, maximum(h, kv)
    macs = tokens * state * (kv * (2 if delta else 1) + reading)
    extra = tokens * (reading * d_v + (2 * kv * d_v if delta else 0))
    return Cost.of(macs, extra + (tokens * kv * state if gated else 0))


@cost("", "RotaryEmbedding")
def rotary(v: NodeView) -> Cost:
    """x·cos + rotated(x)·sin on the first ``rotary_embedding_dim`` channels of each head."""
    x = v.shape(0)
    rotated = v.int_attr("rotary_embedding_dim", 0)
    if rotated <= 0:
        return Cost(0, ROTARY * v.numel(0))
    if len(x) == 4:
        return Cost(0, ROTARY * prod(x[:3]) * minimum(rotated, x[3]))
    if len(x) != 3:
        raise UnknownSize("input 0 must be 3-D or 4-D")
    heads = v.positive_attr("num_heads")
    return Cost(0, ROTARY * prod(x[:2]) * heads * minimum(rotated, split(x, heads)))
