"""Decoders from configurations: parameters, experts, caches and windows as transformers builds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llm.published import CONFIGS, SMALL, VARIANTS

from py_autodoc.llm import PlanOptions, plan
from py_autodoc.llm.config import decoder_of_config
from py_autodoc.llm.decoder import Decoder

ALL = {**CONFIGS, **VARIANTS}
LATENT = ("deepseek_v2", "deepseek_v3")


def made(tmp_path: Path, config: dict[str, Any] | str) -> Decoder:
    path = tmp_path / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return decoder_of_config(str(path))


def built(config: dict[str, Any], device: str = "meta") -> Any:
    """The model as transformers builds it, without values on the device ``meta``."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    chosen = transformers.AutoConfig.for_model(**{"pad_token_id": None, **config})
    with torch.device(device):
        return transformers.AutoModelForCausalLM.from_config(chosen)


@pytest.mark.parametrize("name", ALL)
def test_parameters_are_those_of_transformers(name, tmp_path):
    """As published with few fields, and as transformers writes it in both of its forms."""
    model = built(ALL[name])
    total = sum(parameter.numel() for parameter in model.parameters())
    assert made(tmp_path, ALL[name]).parameters == total
    for short in (True, False):
        found = made(tmp_path, model.config.to_json_string(use_diff=short))
        assert found.parameters == total


@pytest.mark.parametrize("name", ALL)
def test_active_parameters_are_the_matrices_a_token_is_multiplied_with(name, tmp_path):
    model = built(ALL[name])
    chosen = ALL[name].get("num_experts_per_tok", 1)
    expected = 0
    for path, parameter in model.named_parameters():
        if path.endswith(("bias", "_norm.weight", "conv1d.weight")) or parameter.dim() < 2:
            continue
        if "embed_tokens" in path and not model.config.tie_word_embeddings:
            continue
        experts = parameter.shape[0] if parameter.dim() == 3 else 1
        expected += parameter.numel() // experts * (chosen if parameter.dim() == 3 else 1)
    assert made(tmp_path, ALL[name]).active == expected


@pytest.mark.parametrize("name", ALL)
def test_windows_are_those_of_the_cache_of_transformers(name, tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(**{"pad_token_id": None, **ALL[name]})
    layers = transformers.DynamicCache(config=config).layers
    windows = [layer.sliding_window for layer in layers if getattr(layer, "is_sliding", False)]
    found = made(tmp_path, ALL[name])
    assert (found.window_layers, found.window) == (len(windows), max(windows, default=None))


@pytest.mark.parametrize("name", [name for name in VARIANTS if VARIANTS[name]["model_type"] not in LATENT])
def test_a_token_keeps_what_transformers_keeps(name, tmp_path):
    torch = pytest.importorskip("torch")
    model = built(VARIANTS[name], "cpu").eval()
    with torch.no_grad():
        cache = model(torch.ones(1, 3, dtype=torch.long), use_cache=True).past_key_values
    kept = 0
    for layer in cache.layers:
        parts = ("keys", "values", "conv_states", "recurrent_states")
        for held in (getattr(layer, part, ()) for part in parts):
            several = held.values() if isinstance(held, dict) else held
            tensors = [held] if torch.is_tensor(held) else [one for one in several if torch.is_tensor(one)]
            kept += sum(tensor.numel() for tensor in tensors)
    assert made(tmp_path, VARIANTS[name]).cached(3, 4) == kept * 4


def test_latent_caches_are_compressed(tmp_path):
    """Published: 70,272 bytes a token of DeepSeek-V3 in 16 bits; all devices keep the whole vector."""
    found = made(tmp_path, CONFIGS["deepseek-v3"])
    assert found.cache(2) == 70_272
    assert found.kv_heads == 1
    one = plan(str(tmp_path / "config.json"), PlanOptions(["h100-sxm"], [1], [1024], (), [8])).plans[0]
    assert one.kv_cache_bytes_per_token_per_device == 70_272


@pytest.mark.parametrize("name", ["gemma-2-9b", "gemma-3-1b", "gpt-oss-20b", "qwen2 with windows"])
def test_layers_without_a_window_keep_all_positions(name, tmp_path):
    found = made(tmp_path, ALL[name])
    a_layer = found.cache(2) // found.layers
    full = found.layers - found.window_layers
    for context in (1, found.window, found.window + 1, 50 * found.window):
        expected = a_layer * (full * context + found.window_layers * min(context, found.window))
        assert found.cached(context, 2) == expected
    pairs = found.score_flops(4 * found.window)
    assert pairs < made(tmp_path, {**ALL[name], "sliding_window": 1 << 30}).score_flops(4 * found.window)


@pytest.mark.parametrize("name", ["mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "gpt-oss-20b"])
def test_more_tokens_read_more_experts(name, tmp_path):
    found = made(tmp_path, ALL[name])
    reads = [found.read(2, tokens) for tokens in (1, 2, 16, 100_000)]
    assert reads == sorted(reads)
    assert reads[0] == pytest.approx(found.active * 2, rel=0.01)
    assert reads[-1] == pytest.approx(found.weights(2), rel=0.05)
    point = (
        plan(str(tmp_path / "config.json"), PlanOptions(["h200-sxm"], [4], [512], ["bf16"]))
        .plans[0]
        .points[0]
    )
    assert point.prefill_flops >= 2 * found.active * 4 * 512


def test_images_and_text(tmp_path):
    """The language model alone, as its own class counts it; defaults fill a short text_config."""
    text = {key: value for key, value in SMALL.items() if key != "intermediate_size"}
    nested = {
        "model_type": "gemma3",
        "text_config": {"model_type": "gemma3_text", **text, "intermediate_size": 200, "sliding_window": 32},
        "vision_config": {"hidden_size": 64},
        "dtype": "bfloat16",
    }
    found = made(tmp_path, nested)
    model = built(nested["text_config"])
    assert found.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert any("images" in line for line in found.assumptions)
    # gemma-3-4b as published: heads, sizes of heads and the vocabulary are those of the family.
    short = {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}
    four = made(tmp_path, {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", **short}})
    assert four.parameters == 3_880_263_168
    assert (four.window, four.window_layers) == (1024, 29)


AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
OSS = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]


@pytest.mark.parametrize(
    ("name", "method", "size"),
    [("qwen2.5-7b", AWQ, 5.57e9),
     ("gpt-oss-20b", {"quant_method": "mxfp4", "modules_to_not_convert": OSS}, 13.76e9)],
)  # fmt: skip
def test_quantized_files_are_as_large_as_those_published(name, method, size, tmp_path):
    found = made(tmp_path, {**CONFIGS[name], "quantization_config": method})
    assert found.weights(2) == pytest.approx(size, rel=1e-3)
    assert found.parameters == made(tmp_path, CONFIGS[name]).parameters
    assert found.weight_only
    assert found.quantization == method["quant_method"]


def _compressed(**weights: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None}
    return {"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups": {"group_0": group}}


LINEAR = {"q": (96, 96), "k": (96, 48), "v": (96, 48), "o": (96, 96), "gate": (96, 168), "up": (96, 168),
          "down": (168, 96)}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "stored"),
    [({"quant_method": "gptq", "bits": 4, "group_size": 32},
      lambda m, n: m * n / 2 + -(-m // 32) * n * 2.5 + 4 * m),
     ({"bits": 8, "group_size": -1}, lambda m, n: m * n + 3 * n + 4 * m),
     ({**AWQ, "group_size": 24}, lambda m, n: m * n / 2 + m // 24 * n * 2.5),
     ({"quant_method": "bitsandbytes", "load_in_4bit": True}, lambda m, n: m * n / 2 + -(-m // 64) * n * 4),
     ({"quant_method": "bitsandbytes", "load_in_8bit": True}, lambda m, n: m * n + 4 * n),
     ({"quant_method": "fp8", "weight_block_size": [32, 48]},
      lambda m, n: m * n + -(-m // 48) * -(-n // 32) * 4),
     ({"quant_method": "fp8"}, lambda m, n: m * n + 4),
     (_compressed(num_bits=4, type="int", strategy="group", group_size=24),
      lambda m, n: m * n / 2 + m // 24 * n * 2),
     (_compressed(num_bits=8, type="int", strategy="channel"), lambda m, n: m * n + 2 * n),
     ({"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 24}},
      lambda m, n: m * n / 2 + m // 24 * n * 4),
     ({"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8WeightOnlyConfig", "_data": {}}}},
      lambda m, n: m * n + 2 * n)],
)  # fmt: skip
def test_what_quantized_layers_store(method, stored, tmp_path):
    """Integers with their scales and zero points; the table, the head and norms stay floats."""
    config = {"model_type": "llama", **SMALL}
    found = made(tmp_path, {**config, "quantization_config": method})
    layer = sum(round(stored(*shape)) for shape in LINEAR.values())
    floats = 2 * 331 * 96 + 11 * 96
    assert found.weights(2) == 5 * layer + 2 * floats
    assert found.weights(4) == 5 * layer + 4 * floats
    assert found.read(2, 1) == 5 * layer + 2 * (floats - 331 * 96)


@pytest.mark.parametrize(
    ("pattern", "layers"),
    [("self_attn.o_proj", 5), ("model.layers.0.self_attn.o_proj", 1), ("model.layers.*.self_attn.o_proj", 5),
     ("re:.*o_proj$", 5), ("re:model\\.layers\\.3\\..*o_proj", 1), ("re:.*o_pro$", 0), ("proj", 0)],
)  # fmt: skip
def test_modules_that_are_left_alone(pattern, layers, tmp_path):
    config = {"model_type": "llama", **SMALL}
    method = {"quant_method": "fp8", "modules_to_not_convert": [pattern]}
    all_of_them = made(tmp_path, {**config, "quantization_config": {"quant_method": "fp8"}}).weights(2)
    some = made(tmp_path, {**config, "quantization_config": method}).weights(2)
    assert some - all_of_them == layers * (96 * 96 - 4)
