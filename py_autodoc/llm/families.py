"""Families of decoders: how layers are built, and what holds where a configuration says nothing.

Parameters are those of the implementations in transformers, with which the tests compare them. To add a
family, add an entry to ``FAMILIES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from py_autodoc.llm.architecture import Matrix
from py_autodoc.llm.config_fields import Fields


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


def flag(fields: Fields, value: bool | str, default: bool = False) -> bool:
    """Return a setting of a family: fixed, or the field of that name."""
    return fields.flag(value, default) if isinstance(value, str) else value


def dense(
    fields: Fields, hidden: int, width: int, bias: bool, gated: bool, name: str = "mlp"
) -> tuple[Matrix, ...]:
    """Return the matrices of a feed-forward part; a gated one has two that widen."""
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
        *dense(fields, hidden, shared, False, True, "mlp.shared_expert"),
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
        *(dense(fields, hidden, width * shared, bias, True, "mlp.shared_experts") if shared else ()),
    )


EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
"""Names of the number of experts, of which versions of transformers write one or another."""
WIDE = ("gate_proj", "up_proj")
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
