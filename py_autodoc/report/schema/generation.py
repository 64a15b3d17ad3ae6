"""What a plan of text generation is, as it is written. What is unknown is null, and ``reason`` says why."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.llm/1.0"


class DecoderFacts(Wire, frozen=True, kw_only=True):
    """What of the model the numbers stand on."""

    source: str
    """``model`` (an ONNX file) or ``config`` (a Hugging Face config.json)."""
    layers: int
    """Attention layers that keep keys and values."""
    hidden_size: int | None
    kv_heads: int | None
    """Heads of keys and values; null where the layers differ."""
    parameters: int
    active_parameters: int | None
    """Those that a token is multiplied with; of mixtures its own experts alone."""
    max_context: int | None
    """The longest context that the model was made for."""
    window: int | None
    """Positions that the cache keeps at most, with sliding attention."""
    cache: str
    """``inputs`` (measured on the past inputs), ``estimated`` (from causal attention) or ``config``."""


class LlmPoint(Wire, frozen=True, kw_only=True):
    """A prompt of ``context`` tokens for each of ``batch`` sequences, and a decode step after it."""

    batch: int
    context: int
    prefill_flops: int | None
    prefill_ms: float | None
    """The whole batch at once: the time to the first token."""
    prefill_low_ms: float | None
    prefill_high_ms: float | None
    prefill_method: str
    """``kernels`` (the estimate of ``analyze`` at these sizes) or ``formula``; empty without a time."""
    prefill_label: str
    """How sure: estimate, rough or order of magnitude."""
    prefill_tokens_per_s: float | None
    decode_ms: float | None
    """One token for each sequence."""
    decode_low_ms: float | None
    decode_high_ms: float | None
    decode_label: str
    decode_bottleneck: str
    """compute, memory_bandwidth, kernel_overhead or interconnect; empty without a time."""
    interconnect_share: float | None
    """Share of the prefill that devices spend exchanging results; 0 on one device."""
    tokens_per_s: float | None
    """Of all sequences."""
    tokens_per_s_per_request: float | None
    kv_cache_bytes: int
    """Of all sequences, over all devices."""
    activation_bytes: int | None
    """The most at once, keys and values left out."""
    memory_bytes_per_device: int | None
    """Weights, keys and values, activations, and a tenth for work space."""
    fits: bool | None
    usd_per_million_input_tokens: float | None
    """Null without a price, and where the model does not fit."""
    usd_per_million_output_tokens: float | None
    reason: str


class Limit(Wire, frozen=True, kw_only=True):
    """The longest context at a batch, or the largest batch at a context, that fits."""

    batch: int | None
    """0: not even one sequence fits."""
    context: int | None
    """0: not even one token fits."""
    limited_by: str
    """``memory``, ``model`` (its longest context) or ``search`` (no limit up to 16,777,216 tokens or 65,536
    sequences)."""
    reason: str


class Plan(Wire, frozen=True, kw_only=True):
    """One device, or several of it, in one precision."""

    hardware: str
    device_name: str
    precision: str | None
    tensor_parallel: int
    pipeline_parallel: int
    devices: int
    link: str | None
    """What joins the devices; null with one, or where it is not known."""
    available_bytes: int | None
    """Of one device."""
    weight_bytes: int | None
    """Over all devices."""
    weight_bytes_per_device: int | None
    kv_cache_bytes_per_token: int | None
    kv_cache_bytes_per_token_per_device: int | None
    """With more devices than heads of keys and values each head is kept several times."""
    compute_bound_batch: float | None
    """Tokens a step from which arithmetic takes longer than reading weights, at the device's full rates."""
    instance: str | None
    """The cheapest cloud instance with so many of the devices; null without one that has a price."""
    instance_devices: int | None
    """Devices of that instance."""
    price_usd_per_hour: float | None
    """Of the devices that are used: their share of the instance. Approximate, on demand, or as given."""
    price_date: str | None
    region: str | None
    points: list[LlmPoint]
    longest_context: list[Limit]
    largest_batch: list[Limit]
    warnings: list[str]
    reason: str


class Plans(Wire, frozen=True, kw_only=True):
    """A decoder on devices."""

    schema: str
    generator: Generator
    model: str
    """Name of the file."""
    decoder: DecoderFacts
    prefill_chunk: int
    """Tokens of a prompt that go through the model at a time: what the activations are counted for."""
    runtime: str
    """What runs the model: the id of a runtime, as ``analyze`` has it."""
    assumptions: list[str]
    plans: list[Plan]

    def to_json(self, pretty: bool = False) -> str:
        """The document as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode()
