"""The decoder of a family that a configuration describes: matrices, vectors and caches of each layer."""

from __future__ import annotations

from py_autodoc.llm.architecture import Architecture, Layer, Matrix
from py_autodoc.llm.config_fields import Fields
from py_autodoc.llm.families import EXPERTS, WIDE, Family, dense, flag

MAX_LAYERS = 4096
SLIDING = ("sliding_attention", "chunked_attention")


def architecture_of(family: Family, given: Fields) -> Architecture:
    """Return the decoder that a configuration describes. Raises: ValueError for a field that does not fit."""
    fields = given.alike(EXPERTS).with_defaults(family.defaults)
    hidden, vocabulary = fields.size("hidden_size"), fields.size("vocab_size")
    count = fields.size("num_hidden_layers")
    if count > MAX_LAYERS:
        raise ValueError(f"num_hidden_layers is {count}, more than {MAX_LAYERS:,}")
    heads = fields.size("num_attention_heads")
    windows, linear = _windows(family, fields, count), _linear(family, fields, count)
    layers = []
    for number in range(count):
        state, build = 0, _latent if family.latent else _grouped
        if linear[number]:
            state, build = _state(fields), _delta_rule
        attention, vectors, cached, width, live = build(family, fields, hidden, heads)
        parts = None if family.experts is None else family.experts(fields, hidden, number)
        if parts is None:
            size = fields.size("intermediate_size")
            parts = dense(fields, hidden, size, flag(fields, family.mlp_bias), family.gated)
        norms = family.norms * hidden * (2 if family.norm_bias else 1)
        up = sum(part.outputs * part.chosen for part in parts if part.name.endswith(WIDE))
        layers.append(
            Layer((*attention, *parts), vectors + norms, cached, width, windows[number], state, max(live, up))
        )
    tied = fields.flag("tie_word_embeddings")
    head_bias = flag(fields, family.head_bias)
    notes = []
    if any(linear):
        notes.append(
            "states of linear attention are counted in the precision of the cache, their updates not"
        )
    if family.latent:
        notes.append("keys and values are kept as one compressed vector of each token (latent attention)")
    return Architecture(
        vocabulary=vocabulary,
        hidden=hidden,
        layers=tuple(layers),
        table=Matrix("embed_tokens", vocabulary, hidden, linear=False),
        head=None if tied else Matrix("lm_head", hidden, vocabulary, head_bias),
        last_norm=hidden * (2 if family.norm_bias else 1) + (vocabulary if tied and head_bias else 0),
        kv_heads=1 if family.latent else _kv_heads(fields, heads),
        max_context=fields.optional("max_position_embeddings"),
        notes=tuple(notes),
    )


def _kv_heads(fields: Fields, heads: int) -> int:
    return fields.optional("num_key_value_heads") or heads


def _windows(family: Family, fields: Fields, count: int) -> list[int | None]:
    size = fields.count("sliding_window", 0) or None if fields.has("sliding_window") else family.window
    kinds = fields.texts("layer_types")
    if kinds and len(kinds) != count:
        raise ValueError(f"layer_types names {len(kinds)} of {count} layers")
    if kinds:
        return [size if kind in SLIDING else None for kind in kinds]
    return [size if family.windowed(fields, layer) else None for layer in range(count)]


def _linear(family: Family, fields: Fields, count: int) -> list[bool]:
    """Return for each layer whether it is linear attention."""
    if not family.delta_rule:
        return [False] * count
    kinds = fields.texts("layer_types")
    if kinds:
        return [kind == "linear_attention" for kind in kinds]
    return [(layer + 1) % fields.size("full_attention_interval", 4) != 0 for layer in range(count)]


Attention = tuple[tuple[Matrix, ...], int, int, int, int]
"""Matrices, elements of vectors, cached elements of a token, half of the score width, live elements."""


def _grouped(family: Family, fields: Fields, hidden: int, heads: int) -> Attention:
    kv_heads = _kv_heads(fields, heads)
    size = fields.optional("head_dim") or hidden // heads
    bias = flag(fields, family.qkv_bias)
    matrices = (
        Matrix("self_attn.q_proj", hidden, heads * size * (2 if family.gated_queries else 1), bias),
        Matrix("self_attn.k_proj", hidden, kv_heads * size, bias),
        Matrix("self_attn.v_proj", hidden, kv_heads * size, bias),
        Matrix("self_attn.o_proj", heads * size, hidden, flag(fields, family.output_bias)),
    )
    vectors = heads if family.sinks else 0
    if flag(fields, family.head_norm):
        vectors += 2 * size * (2 if family.norm_bias else 1)
    if family.full_norm:
        vectors += (heads + kv_heads) * size
    return matrices, vectors, 2 * kv_heads * size, heads * size, (heads + 2 * kv_heads) * size


def _latent(family: Family, fields: Fields, hidden: int, heads: int) -> Attention:
    rank, rotary = fields.size("kv_lora_rank"), fields.size("qk_rope_head_dim")
    plain, value = fields.size("qk_nope_head_dim"), fields.size("v_head_dim")
    query_rank = fields.optional("q_lora_rank")
    bias, size = flag(fields, family.qkv_bias), plain + rotary
    if query_rank is None:
        queries: tuple[Matrix, ...] = (Matrix("self_attn.q_proj", hidden, heads * size),)
    else:
        queries = (
            Matrix("self_attn.q_a_proj", hidden, query_rank, bias),
            Matrix("self_attn.q_b_proj", query_rank, heads * size),
        )
    matrices = (
        *queries,
        Matrix("self_attn.kv_a_proj_with_mqa", hidden, rank + rotary, bias),
        Matrix("self_attn.kv_b_proj", rank, heads * (plain + value)),
        Matrix("self_attn.o_proj", heads * value, hidden, flag(fields, family.output_bias)),
    )
    width = heads * (size + value) // 2
    return matrices, rank + (query_rank or 0), rank + rotary, width, heads * (2 * size + value)


def _delta_sizes(fields: Fields) -> tuple[int, int, int]:
    """Return the widths of keys and values, and the value heads."""
    heads = fields.size("linear_num_value_heads")
    keys = fields.size("linear_num_key_heads") * fields.size("linear_key_head_dim")
    return keys, heads * fields.size("linear_value_head_dim"), heads


def _delta_rule(family: Family, fields: Fields, hidden: int, heads: int) -> Attention:
    keys, values, value_heads = _delta_sizes(fields)
    mixed = 2 * keys + values
    matrices = (
        Matrix("linear_attn.in_proj_qkvz", hidden, mixed + values),
        Matrix("linear_attn.in_proj_ba", hidden, 2 * value_heads),
        Matrix("linear_attn.out_proj", values, hidden),
    )
    # A depthwise convolution, decay and step of each head, and the norm of its output.
    convolution = mixed * fields.size("linear_conv_kernel_dim", 4)
    vectors = convolution + 2 * value_heads + fields.size("linear_value_head_dim")
    return matrices, vectors, 0, 0, mixed + values


def _state(fields: Fields) -> int:
    """Return the elements of a layer's state: keys × values of each head, and inputs of the convolution."""
    keys, values, _ = _delta_sizes(fields)
    size = values * fields.size("linear_key_head_dim")
    return size + (2 * keys + values) * fields.size("linear_conv_kernel_dim", 4)
