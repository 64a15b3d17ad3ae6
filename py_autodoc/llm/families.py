"""Families of decoders: how layers are built, and what holds where a configuration says nothing.

Parameters are those of the implementations in transformers, with which the tests compare them. To add a
family, add an entry to ``FAMILIES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from py_autodoc.llm.architecture import Architecture, Layer, Matrix
from py_autodoc.llm.config_fields import Fields

MAX_LAYERS = 4096
SLIDING = ("sliding_attention", "chunked_attention")


def _no_window(_fields: Fields, _layer: int) -> bool:
    return False


def _every_layer(_fields: Fields, _layer: int) -> bool:
    return True


def _first_of_two(_fields: Fields, layer: int) -> bool:
    return layer % 2 == 0


def _all_but_each(default: int) -> Callable[[Fields, int], bool]:
    def windowed(fields: Fields, layer: int) -> bool:
        return (layer + 1) % fields.size("sliding_window_pattern", default) != 0

    return windowed


def _asked(fields: Fields, layer: int) -> bool:
    return fields.flag("use_sliding_window")


def _last_layers(fields: Fields, layer: int) -> bool:
    return fields.flag("use_sliding_window") and layer >= fields.count("max_window_layers", 28)


def _even_first_layers(fields: Fields, layer: int) -> bool:
    wanted = fields.flag("use_sliding_window") and layer < fields.count("max_window_layers", 28)
    return wanted and layer % 2 == 0


@dataclass(frozen=True, slots=True)
class Family:
    """How a family builds its layers.

    A bias is True, False, or the name of the flag that says so. ``experts`` builds the feed-forward part of a
    layer that is a mixture; without it every layer is dense.
    """

    defaults: Mapping[str, Any] = field(default_factory=dict)
    qkv_bias: bool | str = False
    output_bias: bool | str = False
    mlp_bias: bool | str = False
    head_bias: bool | str = False
    gated: bool = True
    head_norm: bool | str = False
    """Norms of queries and keys with the size of a head."""
    full_norm: bool = False
    """Norms of queries and keys with the size of all heads."""
    norms: int = 2
    norm_bias: bool = False
    sinks: bool = False
    latent: bool = False
    """Multi-head latent attention: keys and values are kept as one compressed vector."""
    gated_queries: bool = False
    """A gate of each query beside it."""
    delta_rule: bool = False
    """Layers other than every fourth are linear attention with a state (gated delta rule)."""
    windowed: Callable[[Fields, int], bool] = _no_window
    window: int | None = None
    """Window where the configuration has none."""
    experts: Callable[[Fields, int, int], tuple[Matrix, ...] | None] | None = None


def _flag(fields: Fields, value: bool | str, default: bool = False) -> bool:
    return fields.flag(value, default) if isinstance(value, str) else value


def _dense(
    fields: Fields, hidden: int, width: int, bias: bool, gated: bool, name: str = "mlp"
) -> tuple[Matrix, ...]:
    up = ("gate_proj", "up_proj") if gated else ("up_proj",)
    return (
        *(Matrix(f"{name}.{part}", hidden, width, bias) for part in up),
        Matrix(f"{name}.down_proj", width, hidden, bias),
    )


def _mixture(
    hidden: int, width: int, experts: int, chosen: int, bias: bool = False, router_bias: bool = False
) -> tuple[Matrix, ...]:
    chosen = min(chosen, experts)
    return (
        Matrix("mlp.gate", hidden, experts, router_bias, linear=False),
        Matrix("mlp.experts.gate_proj", hidden, width, bias, experts, chosen),
        Matrix("mlp.experts.up_proj", hidden, width, bias, experts, chosen),
        Matrix("mlp.experts.down_proj", width, hidden, bias, experts, chosen),
    )


def _local_experts(fields: Fields, hidden: int, layer: int) -> tuple[Matrix, ...]:
    """Every layer is a mixture of ``num_local_experts``."""
    return _mixture(
        hidden,
        fields.size("intermediate_size"),
        fields.size("num_local_experts"),
        fields.size("num_experts_per_tok"),
    )


def _biased_experts(fields: Fields, hidden: int, layer: int) -> tuple[Matrix, ...]:
    return _mixture(
        hidden,
        fields.size("intermediate_size"),
        fields.size("num_local_experts"),
        fields.size("num_experts_per_tok"),
        bias=True,
        router_bias=True,
    )


def _whole_experts(fields: Fields, hidden: int, layer: int) -> tuple[Matrix, ...]:
    """Every layer is a mixture of ``num_experts``."""
    return _mixture(
        hidden,
        fields.size("intermediate_size"),
        fields.size("num_experts"),
        fields.size("num_experts_per_tok"),
    )


def _qwen_experts(fields: Fields, hidden: int, layer: int) -> tuple[Matrix, ...] | None:
    """Mixtures in every n-th layer that is not listed as dense, with a gated shared expert if any."""
    experts = fields.count("num_experts")
    sparse = (layer + 1) % fields.size("decoder_sparse_step", 1) == 0
    if not experts or not sparse or layer in fields.numbers("mlp_only_layers"):
        return None
    chosen = fields.size("num_experts_per_tok")
    mixture = _mixture(hidden, fields.size("moe_intermediate_size"), experts, chosen)
    shared = fields.count("shared_expert_intermediate_size", 0)
    if not shared:
        return mixture
    return (
        *mixture,
        *_dense(fields, hidden, shared, False, True, "mlp.shared_expert"),
        Matrix("mlp.shared_expert_gate", hidden, 1, linear=False),
    )


def _deepseek_experts(fields: Fields, hidden: int, layer: int) -> tuple[Matrix, ...] | None:
    """Mixtures after the first dense layers, with shared experts as one wide one."""
    experts = fields.count("n_routed_experts", 0)
    if not experts or layer < fields.count("first_k_dense_replace", 0):
        return None
    width = fields.size("moe_intermediate_size")
    mixture = _mixture(hidden, width, experts, fields.size("num_experts_per_tok"))
    shared = fields.count("n_shared_experts", 0)
    bias = fields.flag("mlp_bias")
    return (
        *mixture,
        *(_dense(fields, hidden, width * shared, bias, True, "mlp.shared_experts") if shared else ()),
    )


_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
"""Names of the number of experts, of which versions of transformers write one or another."""
_WIDE = ("gate_proj", "up_proj")
_TIED = {"tie_word_embeddings": True}
_GEMMA3 = {
    **_TIED, "vocab_size": 262_208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 131_072,
}  # fmt: skip
_DEEPSEEK3 = {
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
    "moe_intermediate_size": 2048, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128, "max_position_embeddings": 4096,
}  # fmt: skip
_DEEPSEEK2 = {
    **_DEEPSEEK3, "n_routed_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 0,
    "moe_intermediate_size": 1407, "max_position_embeddings": 2048,
}  # fmt: skip
FAMILIES: dict[str, Family] = {
    "llama": Family(qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias"),
    "mistral": Family({"num_key_value_heads": 8}, windowed=_every_layer, window=4096),
    "mixtral": Family(
        {"num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2},
        windowed=_every_layer,
        experts=_local_experts,
    ),
    "qwen2": Family({"num_key_value_heads": 32}, qkv_bias=True, windowed=_last_layers, window=4096),
    "qwen3": Family(
        {"num_key_value_heads": 32, "head_dim": 128},
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_norm=True,
        windowed=_last_layers,
        window=4096,
    ),
    "qwen2_moe": Family(
        {
            "num_key_value_heads": 16, "qkv_bias": True, "num_experts": 60, "num_experts_per_tok": 4,
            "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
        },
        qkv_bias="qkv_bias",
        windowed=_even_first_layers,
        window=4096,
        experts=_qwen_experts,
    ),
    "qwen3_moe": Family(
        {
            "num_key_value_heads": 4, "num_experts": 128, "num_experts_per_tok": 8,
            "moe_intermediate_size": 768,
        },
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_norm=True,
        windowed=_asked,
        window=4096,
        experts=_qwen_experts,
    ),
    "qwen3_next": Family(
        {
            "num_key_value_heads": 2, "head_dim": 256, "num_experts": 512, "num_experts_per_tok": 10,
            "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
            "linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_num_value_heads": 32,
            "linear_value_head_dim": 128,
        },
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_norm=True,
        gated_queries=True,
        delta_rule=True,
        experts=_qwen_experts,
    ),
    "gemma": Family(
        {**_TIED, "num_key_value_heads": 16, "head_dim": 256, "max_position_embeddings": 8192},
        qkv_bias="attention_bias",
        output_bias="attention_bias",
    ),
    "gemma2": Family(
        {**_TIED, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 8192},
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        norms=4,
        windowed=_first_of_two,
        window=4096,
    ),
    "gemma3_text": Family(
        _GEMMA3,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        norms=4,
        head_norm=True,
        windowed=_all_but_each(6),
        window=4096,
    ),
    "phi": Family(
        qkv_bias=True, output_bias=True, mlp_bias=True, head_bias=True, gated=False, norms=1, norm_bias=True,
        head_norm="qk_layernorm",
    ),
    "phi3": Family({"max_position_embeddings": 4096}, windowed=_every_layer),
    "phimoe": Family(
        {"num_key_value_heads": 8, "num_local_experts": 16, "num_experts_per_tok": 2},
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_bias="lm_head_bias",
        norm_bias=True,
        windowed=_every_layer,
        experts=_local_experts,
    ),
    "deepseek_v2": Family(
        _DEEPSEEK2,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias="mlp_bias",
        latent=True,
        experts=_deepseek_experts,
    ),
    "deepseek_v3": Family(
        _DEEPSEEK3,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        latent=True,
        experts=_deepseek_experts,
    ),
    "gpt_oss": Family(
        {
            "num_key_value_heads": 8, "head_dim": 64, "attention_bias": True, "num_local_experts": 128,
            "num_experts_per_tok": 4, "max_position_embeddings": 131_072,
        },
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        sinks=True,
        windowed=_first_of_two,
        window=128,
        experts=_biased_experts,
    ),
    "glm": Family(
        {"num_key_value_heads": 2, "head_dim": 128, "attention_bias": True}, qkv_bias="attention_bias"
    ),
    "glm4": Family(
        {"num_key_value_heads": 2, "head_dim": 128, "attention_bias": True},
        qkv_bias="attention_bias",
        norms=4,
    ),
    "glm4_moe": Family(
        {
            "num_key_value_heads": 8, "n_routed_experts": 128, "n_shared_experts": 1,
            "num_experts_per_tok": 8, "first_k_dense_replace": 1, "moe_intermediate_size": 1408,
        },
        qkv_bias="attention_bias",
        head_norm="use_qk_norm",
        experts=_deepseek_experts,
    ),
    "granite": Family(qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias"),
    "smollm3": Family(
        {**_TIED, "num_key_value_heads": 4},
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias="mlp_bias",
    ),
    "olmo2": Family(qkv_bias="attention_bias", output_bias="attention_bias", full_norm=True),
    "olmoe": Family(
        {"num_experts": 64, "num_experts_per_tok": 8},
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        full_norm=True,
        experts=_whole_experts,
    ),
    "cohere2": Family(
        _TIED,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        norms=1,
        windowed=_all_but_each(4),
        window=4096,
    ),
}  # fmt: skip
WITHIN = {"gemma3": "gemma3_text", "mistral3": "mistral"}
"""Models for images and text → the family of their ``text_config``."""


def architecture_of(family: Family, given: Fields) -> Architecture:
    """Return the decoder that a configuration describes. Raises: ValueError for a field that does not fit."""
    fields = given.alike(_EXPERTS).with_defaults(family.defaults)
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
            parts = _dense(fields, hidden, size, _flag(fields, family.mlp_bias), family.gated)
        norms = family.norms * hidden * (2 if family.norm_bias else 1)
        up = sum(part.outputs * part.chosen for part in parts if part.name.endswith(_WIDE))
        layers.append(
            Layer((*attention, *parts), vectors + norms, cached, width, windows[number], state, max(live, up))
        )
    tied = fields.flag("tie_word_embeddings")
    head_bias = _flag(fields, family.head_bias)
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
    bias = _flag(fields, family.qkv_bias)
    matrices = (
        Matrix("self_attn.q_proj", hidden, heads * size * (2 if family.gated_queries else 1), bias),
        Matrix("self_attn.k_proj", hidden, kv_heads * size, bias),
        Matrix("self_attn.v_proj", hidden, kv_heads * size, bias),
        Matrix("self_attn.o_proj", heads * size, hidden, _flag(fields, family.output_bias)),
    )
    vectors = heads if family.sinks else 0
    if _flag(fields, family.head_norm):
        vectors += 2 * size * (2 if family.norm_bias else 1)
    if family.full_norm:
        vectors += (heads + kv_heads) * size
    return matrices, vectors, 2 * kv_heads * size, heads * size, (heads + 2 * kv_heads) * size


def _latent(family: Family, fields: Fields, hidden: int, heads: int) -> Attention:
    rank, rotary = fields.size("kv_lora_rank"), fields.size("qk_rope_head_dim")
    plain, value = fields.size("qk_nope_head_dim"), fields.size("v_head_dim")
    query_rank = fields.optional("q_lora_rank")
    bias, size = _flag(fields, family.qkv_bias), plain + rotary
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
        Matrix("self_attn.o_proj", heads * value, hidden, _flag(fields, family.output_bias)),
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
