"""Configurations of published decoders (the fields that decide sizes), and what their cards say."""

from __future__ import annotations

from typing import Any


def _sizes(
    vocabulary: int, hidden: int, wide: int, layers: int, heads: int, kv: int | None = None, **more: Any
) -> dict[str, Any]:
    kv_heads = {} if kv is None else {"num_key_value_heads": kv}
    return {
        "vocab_size": vocabulary, "hidden_size": hidden, "intermediate_size": wide,
        "num_hidden_layers": layers, "num_attention_heads": heads, **kv_heads, **more,
    }  # fmt: skip


_QWEN_WINDOW = {"use_sliding_window": False, "sliding_window": 32768, "max_window_layers": 28}
_OSS = {"head_dim": 64, "sliding_window": 128, "num_experts_per_tok": 4, "attention_bias": True}
CONFIGS: dict[str, dict[str, Any]] = {
    "llama-3-8b": {"model_type": "llama", **_sizes(128256, 4096, 14336, 32, 32, 8)},
    "llama-3.2-1b": {
        "model_type": "llama",
        **_sizes(128256, 2048, 8192, 16, 32, 8, head_dim=64, tie_word_embeddings=True),
    },
    "mistral-7b-0.1": {"model_type": "mistral", **_sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=4096)},
    "mistral-nemo": {
        "model_type": "mistral",
        **_sizes(131072, 5120, 14336, 40, 32, 8, head_dim=128, sliding_window=None),
    },
    "mixtral-8x7b": {
        "model_type": "mixtral",
        **_sizes(32000, 4096, 14336, 32, 32, 8, num_local_experts=8, num_experts_per_tok=2),
        "sliding_window": None,
    },
    "qwen2.5-7b": {"model_type": "qwen2", **_sizes(152064, 3584, 18944, 28, 28, 4), **_QWEN_WINDOW},
    "qwen2.5-0.5b": {
        "model_type": "qwen2", **_QWEN_WINDOW,
        **_sizes(151936, 896, 4864, 24, 14, 2, tie_word_embeddings=True),
    },
    "qwen3-8b": {"model_type": "qwen3", **_sizes(151936, 4096, 12288, 36, 32, 8, head_dim=128)},
    "qwen3-0.6b": {
        "model_type": "qwen3",
        **_sizes(151936, 1024, 3072, 28, 16, 8, head_dim=128, tie_word_embeddings=True),
    },
    "qwen1.5-moe-a2.7b": {
        "model_type": "qwen2_moe",
        **_sizes(
            151936, 2048, 5632, 24, 16, 16, moe_intermediate_size=1408, shared_expert_intermediate_size=5632,
            num_experts=60, num_experts_per_tok=4, decoder_sparse_step=1,
        ),
    },
    "qwen3-30b-a3b": {
        "model_type": "qwen3_moe",
        **_sizes(
            151936, 2048, 6144, 48, 32, 4, head_dim=128, moe_intermediate_size=768, num_experts=128,
            num_experts_per_tok=8, decoder_sparse_step=1, mlp_only_layers=[],
        ),
    },
    "qwen3-next-80b-a3b": {
        "model_type": "qwen3_next",
        **_sizes(
            151936, 2048, 5120, 48, 16, 2, head_dim=256, moe_intermediate_size=512, num_experts=512,
            num_experts_per_tok=10, shared_expert_intermediate_size=512, decoder_sparse_step=1,
            linear_num_key_heads=16, linear_key_head_dim=128, linear_num_value_heads=32,
            linear_value_head_dim=128, linear_conv_kernel_dim=4, full_attention_interval=4,
        ),
    },
    "gemma-7b": {"model_type": "gemma", **_sizes(256000, 3072, 24576, 28, 16, 16, head_dim=256)},
    "gemma-2-2b": {"model_type": "gemma2", **_sizes(256000, 2304, 9216, 26, 8, 4, head_dim=256)},
    "gemma-2-9b": {
        "model_type": "gemma2",
        **_sizes(256000, 3584, 14336, 42, 16, 8, head_dim=256, sliding_window=4096),
    },
    "gemma-3-1b": {
        "model_type": "gemma3_text",
        **_sizes(262144, 1152, 6912, 26, 4, 1, head_dim=256, sliding_window=512, sliding_window_pattern=6),
    },
    "phi-2": {"model_type": "phi", **_sizes(51200, 2560, 10240, 32, 32, 32)},
    "phi-3-mini": {"model_type": "phi3", **_sizes(32064, 3072, 8192, 32, 32, 32, sliding_window=2047)},
    "phi-4": {"model_type": "phi3", **_sizes(100352, 5120, 17920, 40, 40, 10, sliding_window=None)},
    "phi-4-mini": {
        "model_type": "phi3",
        **_sizes(200064, 3072, 8192, 32, 24, 8, tie_word_embeddings=True, sliding_window=262144),
    },
    "phi-3.5-moe": {
        "model_type": "phimoe",
        **_sizes(
            32064, 4096, 6400, 32, 32, 8, attention_bias=True, lm_head_bias=True, num_local_experts=16,
            num_experts_per_tok=2, sliding_window=131072,
        ),
    },
    "deepseek-v2-lite": {
        "model_type": "deepseek_v2",
        **_sizes(
            102400, 2048, 10944, 27, 16, 16, kv_lora_rank=512, q_lora_rank=None, qk_rope_head_dim=64,
            qk_nope_head_dim=128, v_head_dim=128, n_routed_experts=64, n_shared_experts=2,
            num_experts_per_tok=6, moe_intermediate_size=1408, first_k_dense_replace=1,
        ),
    },
    "deepseek-v2": {
        "model_type": "deepseek_v2",
        **_sizes(
            102400, 5120, 12288, 60, 128, 128, kv_lora_rank=512, q_lora_rank=1536, qk_rope_head_dim=64,
            qk_nope_head_dim=128, v_head_dim=128, n_routed_experts=160, n_shared_experts=2,
            num_experts_per_tok=6, moe_intermediate_size=1536, first_k_dense_replace=1,
        ),
    },
    "deepseek-v3": {
        "model_type": "deepseek_v3",
        **_sizes(
            129280, 7168, 18432, 61, 128, 128, kv_lora_rank=512, q_lora_rank=1536, qk_rope_head_dim=64,
            qk_nope_head_dim=128, v_head_dim=128, n_routed_experts=256, n_shared_experts=1,
            num_experts_per_tok=8, moe_intermediate_size=2048, first_k_dense_replace=3,
        ),
    },
    "gpt-oss-20b": {
        "model_type": "gpt_oss", **_sizes(201088, 2880, 2880, 24, 64, 8, num_local_experts=32, **_OSS),
    },
    "gpt-oss-120b": {
        "model_type": "gpt_oss", **_sizes(201088, 2880, 2880, 36, 64, 8, num_local_experts=128, **_OSS),
    },
    "glm-4-9b": {
        "model_type": "glm", **_sizes(151552, 4096, 13696, 40, 32, 2, head_dim=128, attention_bias=True),
    },
    "glm-4-9b-0414": {
        "model_type": "glm4", **_sizes(151552, 4096, 13696, 40, 32, 2, head_dim=128, attention_bias=False),
    },
    "glm-4.5-air": {
        "model_type": "glm4_moe",
        **_sizes(
            151552, 4096, 10944, 46, 96, 8, head_dim=128, attention_bias=True, use_qk_norm=False,
            n_routed_experts=128, n_shared_experts=1, num_experts_per_tok=8, moe_intermediate_size=1408,
            first_k_dense_replace=1,
        ),
    },
    "glm-4.5": {
        "model_type": "glm4_moe",
        **_sizes(
            151552, 5120, 12288, 92, 96, 8, head_dim=128, attention_bias=True, use_qk_norm=True,
            n_routed_experts=160, n_shared_experts=1, num_experts_per_tok=8, moe_intermediate_size=1536,
            first_k_dense_replace=3,
        ),
    },
    "granite-3-8b": {
        "model_type": "granite", **_sizes(49155, 4096, 12800, 40, 32, 8, tie_word_embeddings=True),
    },
    "smollm3-3b": {"model_type": "smollm3", **_sizes(128256, 2048, 11008, 36, 16, 4)},
    "olmo-2-7b": {"model_type": "olmo2", **_sizes(100352, 4096, 11008, 32, 32, 32)},
    "olmoe-1b-7b": {
        "model_type": "olmoe",
        **_sizes(50304, 2048, 1024, 16, 16, 16, num_experts=64, num_experts_per_tok=8),
    },
    "command-r7b": {"model_type": "cohere2", **_sizes(256000, 4096, 14336, 32, 32, 8, sliding_window=4096)},
}  # fmt: skip
SMALL = {"num_hidden_layers": 5, "hidden_size": 96, "num_attention_heads": 6, "num_key_value_heads": 3,
         "vocab_size": 331, "intermediate_size": 168, "max_position_embeddings": 512}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "llama with biases": {"model_type": "llama", **SMALL, "attention_bias": True, "mlp_bias": True},
    "llama, wide heads, tied": {"model_type": "llama", **SMALL, "head_dim": 24, "tie_word_embeddings": True},
    "mistral, wide heads": {"model_type": "mistral", **SMALL, "head_dim": 32, "sliding_window": 7},
    "qwen2 with windows": {
        "model_type": "qwen2", **SMALL, "use_sliding_window": True, "max_window_layers": 2,
        "sliding_window": 9,
    },
    "qwen3 with biases": {"model_type": "qwen3", **SMALL, "attention_bias": True, "head_dim": 20},
    "qwen2_moe, dense layers": {
        "model_type": "qwen2_moe", **SMALL, "decoder_sparse_step": 2, "mlp_only_layers": [1],
        "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 40,
        "shared_expert_intermediate_size": 56,
    },
    "qwen3_moe, dense layers": {
        "model_type": "qwen3_moe", **SMALL, "mlp_only_layers": [0, 3], "num_experts": 6,
        "num_experts_per_tok": 2, "moe_intermediate_size": 40, "attention_bias": True,
    },
    "qwen3_next, other layers": {
        "model_type": "qwen3_next", **SMALL, "head_dim": 16, "num_experts": 6, "num_experts_per_tok": 2,
        "moe_intermediate_size": 40, "shared_expert_intermediate_size": 56, "linear_num_key_heads": 2,
        "linear_key_head_dim": 12, "linear_num_value_heads": 4, "linear_value_head_dim": 20,
        "layer_types": ["linear_attention", "full_attention", *["linear_attention"] * 3],
    },
    "gemma2, biases, untied": {
        "model_type": "gemma2", **SMALL, "head_dim": 16, "attention_bias": True, "tie_word_embeddings": False,
        "sliding_window": 11,
    },
    "gemma3, layer types": {
        "model_type": "gemma3_text", **SMALL, "head_dim": 16, "sliding_window": 13,
        "layer_types": ["full_attention", *["sliding_attention"] * 3, "full_attention"],
    },
    "phi with query norms": {"model_type": "phi", **SMALL, "qk_layernorm": True},
    "phi, tied": {"model_type": "phi", **SMALL, "tie_word_embeddings": True},
    "deepseek_v2 with biases": {
        "model_type": "deepseek_v2", **SMALL, "attention_bias": True, "mlp_bias": True, "kv_lora_rank": 24,
        "q_lora_rank": 40, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 20,
        "n_routed_experts": 6, "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 36,
        "first_k_dense_replace": 2,
    },
    "deepseek_v3 without ranks": {
        "model_type": "deepseek_v3", **SMALL, "kv_lora_rank": 24, "q_lora_rank": None, "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 16, "v_head_dim": 20, "n_routed_experts": 8, "n_shared_experts": 1,
        "num_experts_per_tok": 2, "moe_intermediate_size": 36, "first_k_dense_replace": 1, "n_group": 1,
        "topk_group": 1, "attention_bias": True,
    },
    "gpt_oss without biases": {
        "model_type": "gpt_oss", **SMALL, "head_dim": 16, "attention_bias": False, "num_local_experts": 5,
        "num_experts_per_tok": 2, "sliding_window": 12,
    },
    "glm without biases": {
        "model_type": "glm", **SMALL, "head_dim": 16, "attention_bias": False, "pad_token_id": 0,
    },
    "olmo2 with biases": {"model_type": "olmo2", **SMALL, "attention_bias": True},
    "cohere2 with biases": {"model_type": "cohere2", **SMALL, "attention_bias": True, "sliding_window": 10},
}  # fmt: skip
