"""The wire format of a text generation plan. Unknown values are null, and ``reason`` says why."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.llm/1.0"


class DecoderFacts(Wire, frozen=True, kw_only=True):
    """The properties of the model that the numbers are based on."""

    source: str
    """``model`` (an ONNX file) or ``config`` (a Hugging Face config.json)."""
    layers: int
    """Attention layers with cached keys and values."""
    hidden_size: int | None
    kv_heads: int | None
    """Number of key-value heads; null if layers differ."""
    parameters: int
    active_parameters: int | None
    """Parameters used for one token; in mixtures of experts only those of its experts."""
    max_context: int | None
    """The longest context that the model supports."""
    window: int | None
    """Maximum number of cached positions in the layers with sliding-window attention."""
    window_layers: int
    """Number of layers with a sliding window; the others keep all positions."""
    quantization: str | None
    """Method that quantized the weights of a configuration: gptq, awq, fp8, …; null without one."""
    cache: str
    """``inputs`` (measured on the past inputs), ``estimated`` (from causal attention) or ``config``."""


class LlmPoint(Wire, frozen=True, kw_only=True):
    """A prompt of ``context`` tokens for each of ``batch`` sequences, and one decode step after it."""

    batch: int
    context: int
    prefill_flops: int | None
    prefill_ms: float | None
    """Time to the first token, with the whole batch processed at once."""
    prefill_low_ms: float | None
    prefill_high_ms: float | None
    prefill_method: str
    """``kernels`` (the estimate of ``analyze`` for these dimensions) or ``formula``; empty without a time."""
    prefill_label: str
    """Certainty: estimate, rough or order of magnitude."""
    prefill_tokens_per_s: float | None
    decode_ms: float | None
    """Time for one token of each sequence."""
    decode_low_ms: float | None
    decode_high_ms: float | None
    decode_label: str
    decode_bottleneck: str
    """``compute``, ``memory_bandwidth``, ``kernel_overhead`` or ``interconnect``; empty without a time."""
    interconnect_share: float | None
    """Share of the prefill spent on communication between devices; 0 on one device."""
    tokens_per_s: float | None
    """Tokens per second of all sequences together."""
    tokens_per_s_per_request: float | None
    request_ms: float | None
    """Prefill, then an answer of ``output_tokens`` for each sequence."""
    tokens_per_s_with_prompts: float | None
    """Tokens of answers per second of all sequences over whole requests, prompt to end of answer."""
    kv_cache_bytes: int
    """Cache of all sequences, over all devices."""
    activation_bytes: int | None
    """Peak of live activations, without keys and values."""
    memory_bytes_per_device: int | None
    """Weights, keys and values, activations, plus a tenth for workspace."""
    fits: bool | None
    usd_per_million_input_tokens: float | None
    """Null without a price, or if the model does not fit."""
    usd_per_million_output_tokens: float | None
    reason: str


class Limit(Wire, frozen=True, kw_only=True):
    """The longest context for a batch or largest batch for a context that fits; the first that computes."""

    batch: int | None
    """0 if not even one sequence fits."""
    context: int | None
    """0 if not even one token fits."""
    limited_by: str
    """``memory``, ``model`` (its longest context) or ``search`` (no limit up to 16,777,216 tokens or 65,536
    sequences); of ``compute_bound`` a value of ``decode_bottleneck``."""
    reason: str


class Service(Wire, frozen=True, kw_only=True):
    """Users served at once: each sends a prompt, reads its answer and sends the next one.

    A replica is the devices of the plan. Numbers of ``load`` users on one are means over whole requests.
    """

    input_tokens: int
    output_tokens: int
    first_token_goal_ms: float | None
    tokens_per_s_goal: float | None
    """Goal for one user."""
    users: int | None
    """Users to be served; null if none were given."""
    users_per_replica: int | None
    """Most users at once within the goals and the memory; 0 if one user is too many."""
    users_per_replica_low: int | None
    """The same if all times are at the upper end of their likely range."""
    users_per_replica_high: int | None
    """The same at the lower end."""
    users_per_device: float | None
    limited_by: str
    """``memory``, ``first_token``, ``tokens_per_s`` or ``search`` (no limit up to 65,536 users)."""
    load: int | None
    """Users of a replica for the numbers below: all that it can serve, or its part of ``users``."""
    first_token_ms: float | None
    """Mean time to the first token, with the wait for other prompts."""
    first_token_worst_ms: float | None
    """The same if all users of a replica send their prompts at once."""
    request_ms: float | None
    tokens_per_s_per_user: float | None
    """Tokens per second that one user reads, after the first."""
    tokens_per_s: float | None
    """Tokens of answers per second of a replica, over whole requests."""
    requests_per_s: float | None
    """Requests per second of a replica."""
    prompt_share: float | None
    """Share of the time spent on prompts."""
    replicas: int | None
    """Replicas for ``users``."""
    devices: int | None
    """Devices of these replicas."""
    usd_per_hour: float | None
    """Price of these replicas, or of one without ``users``."""
    usd_per_million_output_tokens: float | None
    """Price of a million tokens of answers together with their prompts."""
    reason: str


class Plan(Wire, frozen=True, kw_only=True):
    """One or several devices of one type, in one precision."""

    hardware: str
    device_name: str
    precision: str | None
    tensor_parallel: int
    pipeline_parallel: int
    devices: int
    link: str | None
    """Interconnect of the devices; null for one device, or if unknown."""
    available_bytes: int | None
    """Available memory of one device."""
    weight_bytes: int | None
    """Weights over all devices."""
    weight_bytes_per_device: int | None
    kv_cache_bytes_per_token: int | None
    kv_cache_bytes_per_token_per_device: int | None
    """If there are more devices than key-value heads, each head is stored several times."""
    compute_bound: list[Limit]
    """For each context, the smallest batch whose decode step is bound by arithmetic, as ``decode_bottleneck``
    of a point says; null with what limits the largest batch tried (``limited_by``) and a reason."""
    instance: str | None
    """The cheapest cloud instance with at least this many devices; null without one that has a price."""
    instance_devices: int | None
    """Number of devices in that instance."""
    price_usd_per_hour: float | None
    """Price of the devices used, as their share of the instance. Approximate, on demand, or as given."""
    price_date: str | None
    region: str | None
    points: list[LlmPoint]
    service: Service | None
    """Null without a rate for the precision."""
    longest_context: list[Limit]
    largest_batch: list[Limit]
    warnings: list[str]
    reason: str


class Plans(Wire, frozen=True, kw_only=True):
    """Text generation with one model on devices."""

    schema: str
    generator: Generator
    model: str
    """Name of the file."""
    decoder: DecoderFacts
    input_tokens: int
    """Tokens of the prompt of a request in ``service``."""
    output_tokens: int
    """Tokens of the answer of a request, in ``service`` and in points."""
    prefill_chunk: int
    """Prompt tokens processed at a time; determines the activation memory."""
    runtime: str
    """Id of the runtime, as in ``analyze``."""
    assumptions: list[str]
    plans: list[Plan]

    def to_json(self, pretty: bool = False) -> str:
        """Return the document as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode()
