"""A decoder from the config.json of transformers, without weights: Llama and Mistral."""

from __future__ import annotations

from typing import Any

import msgspec

from py_autodoc.bounded import check_json
from py_autodoc.errors import OptionError
from py_autodoc.limits import CONFIG_FILE, SETTINGS
from py_autodoc.llm.decoder import Decoder
from py_autodoc.llm.formulas import cache_bytes_per_token, llama_params
from py_autodoc.option_files import read_bytes, shown_name

KINDS = ("llama", "mistral")
_MOST = 1 << 32
_STORED = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


class _Config(msgspec.Struct, kw_only=True):
    model_type: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    tie_word_embeddings: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    max_position_embeddings: int | None = None
    sliding_window: int | None = None
    torch_dtype: str | None = None
    dtype: str | None = None
    quantization_config: Any = None


def decoder_of_config(path: str) -> Decoder:
    """Return the decoder that a config.json describes. Raises: InputError for unsupported files or models."""
    name, data = shown_name(path), read_bytes(path, CONFIG_FILE)
    try:
        check_json(data, SETTINGS)
        kind = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("model_type")
        model_type = msgspec.json.decode(kind, type=str) if kind is not None else ""
        if model_type not in KINDS:
            raise _fault(
                name, f"its model_type is {model_type[:40]!r}, and only {' and '.join(KINDS)} are known"
            )
        config = msgspec.json.decode(data, type=_Config)
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise _fault(name, str(fault)[:200] or "it is not JSON") from None
    if config.attention_bias or config.mlp_bias:
        raise _fault(name, "it has biases, which the formulas do not include")
    if config.quantization_config is not None:
        raise _fault(name, "its weights are quantized; pass the ONNX file")
    return _decoder(name, config)


def _decoder(name: str, config: _Config) -> Decoder:
    heads = config.num_attention_heads
    kv_heads = config.num_key_value_heads or heads
    sizes = {
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "num_attention_heads": heads,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_key_value_heads": kv_heads,
        "head_dim": config.head_dim or 1,
        "max_position_embeddings": config.max_position_embeddings or 1,
        "sliding_window": config.sliding_window or 1,
    }
    for field, size in sizes.items():
        if not 1 <= size <= _MOST:
            raise _fault(name, f"{field} is {str(size)[:24]}")
    head_dim = config.head_dim or config.hidden_size // heads
    attention, layers, hidden = heads * head_dim, config.num_hidden_layers, config.hidden_size
    total = llama_params(
        config.vocab_size,
        hidden,
        layers,
        kv_heads * head_dim,
        config.intermediate_size,
        config.tie_word_embeddings,
        attention,
    )
    table = config.vocab_size * hidden
    # A step reads one row of the embedding table; if the head shares the table, it reads all of it.
    read = total if config.tie_word_embeddings else total - table
    norms = layers * 2 * hidden + hidden
    return Decoder(
        name=name,
        source="config",
        layers=layers,
        hidden=hidden,
        attention=attention,
        kv_heads=kv_heads,
        parameters=total,
        active=read - norms,
        weights=lambda width: total * width,
        read=lambda width, tokens: float(read * width),
        cache=lambda width: cache_bytes_per_token(layers, kv_heads, head_dim, width),
        cache_source="config",
        max_context=config.max_position_embeddings,
        window=config.sliding_window,
        weight_only=False,
        stored=(_STORED.get(config.torch_dtype or config.dtype or "", "bf16"),),
        pass_bytes=lambda batch, tokens, width: (
            width * batch * (tokens * 2 * (hidden + config.intermediate_size) + config.vocab_size)
        ),
        assumptions=(
            "made from a configuration: activations are the residual stream, twice, and the gated "
            "feed-forward part of a pass, and logits of its last tokens",
        ),
    )


def _fault(name: str, what: str) -> OptionError:
    return OptionError(
        "bad-config", f"{name} does not describe a supported decoder: {what}.", "Pass an ONNX model."
    )
