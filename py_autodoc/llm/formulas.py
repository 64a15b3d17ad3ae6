"""Formulas of text generation. Bytes, FLOPs and seconds; a multiply-accumulate is two FLOPs.

Sources: Megatron-LM (Shoeybi et al., 2019) for the two all-reduces per layer and the ring's 2(n − 1)/n;
gpt-fast's published rates of Llama-2 on A100s for the constants of a decode step; TensorRT-LLM's published
prefill rates for ``PREFILL_SHARE``.
"""

from __future__ import annotations

import math

DECODE_BANDWIDTH = 0.85
"""Share of the bandwidth that a decode step reaches on a GPU."""
LAYER_KERNELS = 11
"""Kernels per layer of a decoder whose operators are unknown."""
PREFILL_SHARE = 0.5
"""Share of the peak that products of many tokens reach; published values are 0.36 to 0.54."""
WEIGHT_ONLY = 0.87
"""Remaining share of the rate if weights are unpacked while being read."""
ALL_REDUCES = 2
"""All-reduces per transformer layer: after attention and after the feed-forward part."""


def llama_params(
    vocabulary: int,
    hidden: int,
    layers: int,
    kv_width: int,
    feed_forward: int,
    tied: bool = False,
    attention: int | None = None,
) -> int:
    """Return the parameters of a Llama-type decoder: V·d·(2, tied 1) + L·(2·d·a + 2·d·kv + 3·d·ff + 2·d) + d.

    ``kv_width`` is key heads times their size, ``attention`` (a) query heads times theirs; None: d.
    """
    width = hidden if attention is None else attention
    layer = 2 * hidden * width + 2 * hidden * kv_width + 3 * hidden * feed_forward + 2 * hidden
    return vocabulary * hidden * (1 if tied else 2) + layers * layer + hidden


def cache_bytes_per_token(layers: int, kv_heads: int, head_dim: int, width: int) -> int:
    """Return the bytes of keys and values per token: 2 · layers · heads · head size · bytes per element."""
    return 2 * layers * kv_heads * head_dim * width


def latent_cache_bytes_per_token(layers: int, rank: int, rotary: int, width: int) -> int:
    """Return the same for multi-head latent attention: one compressed vector and the rotary part."""
    return layers * (rank + rotary) * width


def prefill_flops(active: int, batch: int, prompt: int, layers: int, attention: int) -> int:
    """Return the FLOPs per prompt: 2 · parameters · tokens + 4 · layers · prompt² · width · ½ (causal).

    ``active`` are the parameters used per token, ``attention`` is heads times their size.
    """
    return 2 * active * batch * prompt + 2 * layers * batch * prompt * prompt * attention


def all_reduce_seconds(devices: int, size: float, bandwidth: float, start: float) -> float:
    """Return the seconds of a ring all-reduce: start + 2(n − 1)/n · bytes / bandwidth; 0 on one device."""
    if devices == 1:
        return 0.0
    return start + 2 * (devices - 1) / devices * size / bandwidth


def tensor_parallel_seconds(
    seconds: float, devices: int, layers: int, size: float, bandwidth: float, start: float
) -> float:
    """Return the time over several devices of work that takes ``seconds`` on one, including all-reduces."""
    waits = ALL_REDUCES * layers * all_reduce_seconds(devices, size, bandwidth, start)
    return seconds / devices + waits


def pipeline_seconds(stage: float, stages: int, parts: int, hop: float) -> float:
    """Return the seconds of ``parts`` through stages: (m + p − 1)/m · one stage + (p − 1) · one transfer."""
    return (parts + stages - 1) / parts * stage + (stages - 1) * hop


def stage_share(layers: int, stages: int) -> float:
    """Return the share of the layers in the largest stage."""
    return math.ceil(layers / stages) / layers


def usd_per_million(price_per_hour: float, per_second: float) -> float:
    """Return the dollars per million items at ``per_second`` items."""
    return price_per_hour / 3600 / per_second * 1e6
