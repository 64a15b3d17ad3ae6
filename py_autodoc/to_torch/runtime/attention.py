"""Attention."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F


def onnx_attention_bias(
    q: torch.Tensor,
    keys: int,
    past: int,
    mask: torch.Tensor | None,
    lengths: torch.Tensor | None,
    causal: bool,
    left: int,
    right: int,
) -> torch.Tensor:
    """Return the term added to the scores: 0 where a query may attend, minus infinity elsewhere."""
    bias = torch.zeros(q.shape[2], keys, dtype=q.dtype, device=q.device)
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = torch.where(mask, 0.0, -float("inf")).to(q.dtype)
        bias = bias + F.pad(mask, (0, keys - mask.shape[-1]), value=-float("inf"))
    shift = torch.full((1, 1, 1, 1), past, device=q.device)
    if lengths is not None and not past:
        shift = (lengths - q.shape[2]).reshape(-1, 1, 1, 1)
    row, column = torch.arange(q.shape[2], device=q.device), torch.arange(keys, device=q.device)
    ahead = column - row[:, None] - shift
    allowed = torch.ones_like(ahead, dtype=torch.bool)
    if causal:
        allowed = allowed & (ahead <= 0)
    if left >= 0:
        allowed = allowed & (ahead >= -left)
    if right >= 0:
        allowed = allowed & (ahead <= right)
    if lengths is not None:
        allowed = allowed & (column < lengths.reshape(-1, 1, 1, 1))
    return torch.where(allowed, bias, torch.full_like(bias, -float("inf")))


def onnx_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
    past_key: torch.Tensor | None = None,
    past_value: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    precision: torch.dtype | None = None,
    causal: bool = False,
    mode: int = 0,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the result, keys and values including the cache, and the scores selected by ``mode``."""
    flat = q.dim() == 3
    if flat:
        q = q.reshape(*q.shape[:2], q_num_heads, -1).transpose(1, 2)
        k, v = (x.reshape(*x.shape[:2], kv_num_heads, -1).transpose(1, 2) for x in (k, v))
    past = 0
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = torch.cat([past_key, k], dim=2), torch.cat([past_value, v], dim=2)
    present_key, present_value = k, v
    windows = left_window_size, right_window_size
    bias = onnx_attention_bias(q, k.shape[2], past, mask, lengths, causal, *windows)
    if q.shape[1] != k.shape[1]:
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    root = math.sqrt(1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    scores = (q * root) @ (k * root).transpose(-2, -1)
    chosen = scores
    if softcap:
        scores = torch.tanh(scores / softcap) * softcap
    chosen = scores if mode == 1 else chosen
    scores = scores + bias
    chosen = scores if mode == 2 else chosen
    weights = torch.softmax(scores if precision is None else scores.to(precision), dim=-1)
    # If a query may attend to nothing, softmax divides by zero; its result is defined as zero.
    nothing = torch.isneginf(bias.amax(-1, keepdim=True))
    weights = torch.where(nothing, torch.zeros_like(weights), weights).to(q.dtype)
    result = weights @ v
    if flat:
        result = result.transpose(1, 2).flatten(2)
    return result, present_key, present_value, weights if mode == 3 else chosen


def onnx_rotary(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor | None = None,
    heads: int | None = None,
    size: int | None = None,
    interleaved: bool = False,
) -> torch.Tensor:
    """Rotate pairs of the first ``size`` features of each head by the angles of their position."""
    shape = x.shape
    x = x.transpose(1, 2) if x.dim() == 4 else x.reshape(*shape[:2], heads or 1, -1)
    size = size or x.shape[-1]
    if positions is not None:
        cos, sin = cos[positions], sin[positions]
    cos, sin = cos.unsqueeze(2), sin.unsqueeze(2)
    rotary, tail = x[..., :size], x[..., size:]
    a, b = (rotary[..., 0::2], rotary[..., 1::2]) if interleaved else rotary.chunk(2, -1)
    first, second = cos * a - sin * b, sin * a + cos * b
    pairs = torch.stack([first, second], -1).flatten(-2) if interleaved else torch.cat([first, second], -1)
    result = torch.cat([pairs, tail], -1)
    return result.transpose(1, 2) if len(shape) == 4 else result.reshape(shape)
