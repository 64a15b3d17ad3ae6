"""A decoder from the config.json of transformers, without weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from py_autodoc.bounded import check_json
from py_autodoc.errors import OptionError
from py_autodoc.limits import CONFIG_FILE, SETTINGS
from py_autodoc.llm.architecture import Architecture
from py_autodoc.llm.config_fields import Fields
from py_autodoc.llm.decoder import Decoder
from py_autodoc.llm.families import FAMILIES, WITHIN
from py_autodoc.llm.family_architecture import architecture_of
from py_autodoc.llm.quantization_config import Storage, storage_of
from py_autodoc.option_files import read_bytes, shown_name

_STORED = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def decoder_of_config(path: str) -> Decoder:
    """Return the decoder that a config.json describes. Raises: InputError for unsupported files or models."""
    name, data = shown_name(path), read_bytes(path, CONFIG_FILE)
    try:
        check_json(data, SETTINGS)
        fields = Fields(msgspec.json.decode(data, type=dict[str, Any]))
        return _decoder(name, fields)
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise _fault(name, str(fault)[:400] or "it is not JSON") from None


def _decoder(name: str, whole: Fields) -> Decoder:
    fields, kind, notes = whole, whole.text("model_type"), []
    inner = whole.inner("text_config")
    if kind in WITHIN and inner is not None:
        fields, kind = (
            inner.with_defaults(whole.some("tie_word_embeddings")),
            WITHIN[kind],
        )
        notes.append("only the language model is counted, not the encoder of images")
    family = FAMILIES.get(kind)
    if family is None:
        raise ValueError(
            f"its model_type is {kind[:40]!r}; known are {', '.join(sorted([*FAMILIES, *WITHIN]))}"
        )
    architecture = architecture_of(family, fields)
    quantization = whole.inner("quantization_config") or fields.inner("quantization_config")
    storage = None if quantization is None else storage_of(quantization)
    stored = (
        fields.text("dtype") or fields.text("torch_dtype") or whole.text("dtype") or whole.text("torch_dtype")
    )
    weights = _StoredWeights(architecture, storage)
    layers = architecture.layers
    windows = [layer.window for layer in layers if layer.window is not None]
    widest = max(layer.widest for layer in layers)
    cached = architecture.cached_per_token
    return Decoder(
        name=name,
        source="config",
        layers=len(layers),
        hidden=architecture.hidden,
        attention=None,
        kv_heads=architecture.kv_heads,
        parameters=architecture.parameters,
        active=architecture.active,
        weights=weights.total,
        read=weights.read,
        cache=lambda width: cached * width,
        cache_source="config",
        max_context=architecture.max_context,
        window=max(windows, default=None),
        window_layers=len(windows),
        kept=_kept(architecture),
        score_flops=_score_flops(architecture),
        weight_only=storage is not None and not storage.arithmetic and weights.mostly_quantized,
        quantization=None if storage is None else storage.method,
        stored=(_STORED.get(stored, "bf16"),),
        experts=any(matrix.experts > 1 for _, matrix in architecture.matrices),
        pass_bytes=lambda batch, tokens, width: (
            width * batch * (tokens * (2 * architecture.hidden + widest) + architecture.vocabulary)
        ),
        assumptions=(
            "made from a configuration: activations are the residual stream, twice, and the widest part of a "
            "layer in a pass, and logits of its last tokens",
            *notes,
            *architecture.notes,
        ),
    )


def _kept(architecture: Architecture) -> Callable[[int], int]:
    """Return the cached elements by tokens, for layers grouped by their window."""
    groups = Counter[int | None]()
    for layer in architecture.layers:
        groups[layer.window] += layer.cached
    state = architecture.state
    return lambda context: (
        state + sum(elements * min(context, window or context) for window, elements in groups.items())
    )


def _score_flops(architecture: Architecture) -> Callable[[int], int]:
    known: dict[int, int] = {}

    def flops(prompt: int) -> int:
        if prompt not in known:
            known[prompt] = architecture.score_flops(prompt)
        return known[prompt]

    return flops


class _StoredWeights:
    """Bytes of the weights, floats of any width or quantized, by the share of experts that a step reads."""

    def __init__(self, architecture: Architecture, storage: Storage | None) -> None:
        floats, fixed = Counter[float](), Counter[float]()
        for name, matrix in architecture.matrices:
            if matrix is architecture.table and architecture.head is not None:
                continue  # A step reads one row of it.
            share = matrix.chosen / matrix.experts
            size = None if storage is None else storage.size(name, matrix)
            if size is None:
                floats[share] += matrix.elements
            else:
                fixed[share] += size
        floats[1.0] += architecture.vectors
        self._unread = 0 if architecture.head is None else architecture.table.elements
        self._floats, self._fixed = dict(floats), dict(fixed)

    @property
    def mostly_quantized(self) -> bool:
        """True if most bytes that are read are quantized."""
        return sum(self._fixed.values()) > sum(self._floats.values()) * 2

    def total(self, width: int) -> int:
        """Return the bytes of all weights."""
        return (sum(self._floats.values()) + self._unread) * width + sum(self._fixed.values())

    def read(self, width: int, tokens: int) -> float:
        """Return the bytes that a step of ``tokens`` reads, spreading tokens evenly over experts."""
        total = 0.0
        for share in self._floats.keys() | self._fixed.keys():
            used = 1.0 - (1.0 - share) ** tokens
            total += used * (self._floats.get(share, 0) * width + self._fixed.get(share, 0))
        return total


def _fault(name: str, what: str) -> OptionError:
    return OptionError(
        "bad-config", f"{name} does not describe a supported decoder: {what}.", "Pass an ONNX model."
    )
