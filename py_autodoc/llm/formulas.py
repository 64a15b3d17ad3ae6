"""Formulas of text generation. Bytes, FLOPs and seconds; a multiply-accumulate is two FLOPs.

Sources: Megatron-LM (Shoeybi et al., 2019) for the two all-reduces a layer and the ring's 2(n − 1)/n;
gpt-fast's published rates of Llama-2 on A100s for the constants of a decode step; TensorRT-LLM's published
prefill rates for ``PREFILL_SHARE``.
"""

from __future__ import annotations

import math

DECODE_BANDWIDTH = 0.85
"""Share of the bandwidth that a decode step reaches on a GPU."""
DECODE_KERNELS = 12
"""Kernels of a layer in a decode step."""
DECODE_START = 5e-6
"""Seconds that each of them takes to start."""
PREFILL_SHARE = 0.5
"""Share of the peak that products of many tokens reach; 0.36 to 0.54 were published."""
WEIGHT_ONLY = 0.87
"""Share of the rate that is left where weights are unpacked while they are read."""
ALL_REDUCES = 2
"""All-reduces of a transformer layer: after attention and after the feed-forward part."""


def llama_params(
    vocabulary: int, hidden: int, layers: int, kv_width: int, feed_forward: int, tied: bool = False,
    attention: int | None = None,
) -> int:  # fmt: skip
    """Parameters of a Llama-shaped decoder: V·d·(2, tied 1) + L·(2·d·a + 2·d·kv + 3·d·ff + 2·d) + d.

    ``kv_width`` is heads of keys times their size, ``attention`` (a) heads of queries times theirs; None: d.
    """
    width = hidden if attention is None else attention
    layer = 2 * hidden * width + 2 * hidden * kv_width + 3 * hidden * feed_forward + 2 * hidden
    return vocabulary * hidden * (1 if tied else 2) + layers * layer + hidden


def cache_bytes_per_token(layers: int, kv_heads: int, head_dim: int, width: int) -> int:
    """Bytes of the keys and values of one token: 2 · layers · heads · head size · bytes an element."""
    return 2 * layers * kv_heads * head_dim * width


def latent_cache_bytes_per_token(layers: int, rank: int, rotary: int, width: int) -> int:
    """The same of multi-head latent attention, which keeps one compressed vector and the rotary part."""
    return layers * (rank + rotary) * width


def prefill_flops(active: int, batch: int, prompt: int, layers: int, attention: int) -> int:
    """FLOPs of a prompt: 2 · parameters · tokens + 4 · layers · prompt² · width · ½, causal, a sequence.

    ``active`` are the parameters that each token is multiplied with, ``attention`` heads times their size.
    """
    return 2 * active * batch * prompt + 2 * layers * batch * prompt * prompt * attention


def compute_bound_batch(peak: float, bandwidth: float, width: float) -> float:
    """Tokens a step from which arithmetic takes longer than reading weights of ``width`` bytes each."""
    return peak / bandwidth * width / 2


def decode_start_seconds(layers: int, start: float = DECODE_START) -> float:
    """Seconds of a step that go to the starts of its kernels."""
    return layers * DECODE_KERNELS * start


def all_reduce_seconds(devices: int, size: float, bandwidth: float, start: float) -> float:
    """Seconds of a ring all-reduce: start + 2(n − 1)/n · bytes / bandwidth one way; 0 of one device."""
    if devices == 1:
        return 0.0
    return start + 2 * (devices - 1) / devices * size / bandwidth


def tensor_parallel_seconds(
    seconds: float, devices: int, layers: int, size: float, bandwidth: float, start: float
) -> float:
    """What takes ``seconds`` on one device, over several: the work divided, and the all-reduces."""
    waits = ALL_REDUCES * layers * all_reduce_seconds(devices, size, bandwidth, start)
    return seconds / devices + waits


def pipeline_seconds(stage: float, stages: int, parts: int, hop: float) -> float:
    """Seconds of ``parts`` through stages: (m + p − 1)/m · one stage's total + (p − 1) · one transfer."""
    return (parts + stages - 1) / parts * stage + (stages - 1) * hop


def stage_share(layers: int, stages: int) -> float:
    """Share of the layers that the fullest stage has."""
    return math.ceil(layers / stages) / layers


def usd_per_million(price_per_hour: float, per_second: float) -> float:
    """Dollars of a million of what is done ``per_second``."""
    return price_per_hour / 3600 / per_second * 1e6
