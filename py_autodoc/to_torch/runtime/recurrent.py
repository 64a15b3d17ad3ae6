"""Recurrent operators step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F


def onnx_activation(
    name: str, alpha: float | None, beta: float | None
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the activation function of a recurrent operator with its parameters."""
    first = {"LeakyRelu": 0.01, "HardSigmoid": 0.2}.get(name, 1.0) if alpha is None else alpha
    second = {"HardSigmoid": 0.5, "ScaledTanh": 1.0}.get(name, 0.0) if beta is None else beta
    return {
        "Sigmoid": torch.sigmoid,
        "Tanh": torch.tanh,
        "Relu": torch.relu,
        "Softsign": F.softsign,
        "Softplus": F.softplus,
        "HardSigmoid": lambda x: (first * x + second).clamp(0, 1),
        "Elu": lambda x: F.elu(x, first),
        "LeakyRelu": lambda x: F.leaky_relu(x, first),
        "Affine": lambda x: first * x + second,
        "ThresholdedRelu": lambda x: F.threshold(x, first, 0.0),
        "ScaledTanh": lambda x: first * torch.tanh(second * x),
    }[name]


def onnx_recurrent(
    kind: str,
    x: torch.Tensor,
    weight: torch.Tensor,
    recurrence: torch.Tensor,
    bias: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    hidden: torch.Tensor | None = None,
    cell: torch.Tensor | None = None,
    peephole: torch.Tensor | None = None,
    direction: str = "forward",
    activations: Sequence[str] | None = None,
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    coupled: bool = False,
    linear_before_reset: bool = False,
    batch_first: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Run LSTM, GRU or RNN; return all results, the last hidden state and the last cell state."""
    if batch_first:
        x = x.transpose(0, 1)
        hidden = None if hidden is None else hidden.transpose(0, 1)
        cell = None if cell is None else cell.transpose(0, 1)
    directions, size, batch = weight.shape[0], recurrence.shape[-1], x.shape[1]
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[kind]
    names = list(activations or usual * directions)
    alphas = list(activation_alpha) + [None] * len(names)
    betas = list(activation_beta) + [None] * len(names)
    functions = [onnx_activation(*settings) for settings in zip(names, alphas, betas, strict=False)]
    outputs, lasts, cells = [], [], []
    for number in range(directions):
        h = x.new_zeros(batch, size) if hidden is None else hidden[number]
        c = x.new_zeros(batch, size) if cell is None else cell[number]
        b = None if bias is None else bias[number]
        p = None if peephole is None else peephole[number]
        used = functions[number * len(usual) : (number + 1) * len(usual)]
        settings = (used, clip, coupled, linear_before_reset, p)
        backwards = direction == "reverse" or number == 1
        matrices = (weight[number], recurrence[number], b)
        y, h, c = onnx_recurrent_direction(kind, x, h, c, matrices, settings, lengths, backwards)
        outputs.append(y)
        lasts.append(h)
        cells.append(c)
    y, last, last_cell = torch.stack(outputs, 1), torch.stack(lasts), torch.stack(cells)
    if batch_first:
        return y.permute(2, 0, 1, 3), last.transpose(0, 1), last_cell.transpose(0, 1)
    return y, last, last_cell


def onnx_recurrent_direction(
    kind: str,
    x: torch.Tensor,
    h: torch.Tensor,
    c: torch.Tensor,
    matrices: tuple[torch.Tensor, torch.Tensor, torch.Tensor | None],
    settings: tuple[Any, ...],
    lengths: torch.Tensor | None,
    backwards: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Run all steps in one direction; return every hidden state, the last one and the last cell state."""
    steps = range(x.shape[0])
    results = [torch.zeros_like(h)] * len(steps)
    for step in reversed(steps) if backwards else steps:
        new_h, new_c = onnx_recurrent_step(kind, x[step], h, c, *matrices, settings)
        if lengths is not None:
            inside = (step < lengths)[:, None]
            h, c = torch.where(inside, new_h, h), torch.where(inside, new_c, c)
            results[step] = torch.where(inside, new_h, torch.zeros_like(new_h))
        else:
            h, c = new_h, new_c
            results[step] = h
    return torch.stack(results), h, c


def onnx_recurrent_step(
    kind: str,
    x: torch.Tensor,
    h: torch.Tensor,
    c: torch.Tensor,
    weight: torch.Tensor,
    recurrence: torch.Tensor,
    bias: torch.Tensor | None,
    settings: tuple[Any, ...],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run one step; return the next hidden and cell state."""
    functions, clip, coupled, linear_before_reset, peephole = settings
    size = h.shape[-1]
    gates = weight.shape[0] // size
    bias = x.new_zeros(2 * gates * size) if bias is None else bias
    wb, rb = bias[: gates * size], bias[gates * size :]

    def bounded(value: torch.Tensor) -> torch.Tensor:
        return value if clip is None else value.clamp(-clip, clip)

    if kind == "RNN":
        return functions[0](bounded(x @ weight.T + wb + h @ recurrence.T + rb)), c
    if kind == "GRU":
        f, g = functions
        wz, wr, wh = (x @ weight.T + wb).chunk(3, -1)
        rz, rr, rh = (h @ recurrence.T + rb).chunk(3, -1)
        z, r = f(bounded(wz + rz)), f(bounded(wr + rr))
        if linear_before_reset:
            inner = wh + r * rh
        else:
            inner = wh + (r * h) @ recurrence[2 * size :].T + rb[2 * size :]
        return (1 - z) * g(bounded(inner)) + z * h, c
    f, g, last = functions
    i, o, forget, new = (x @ weight.T + wb + h @ recurrence.T + rb).chunk(4, -1)
    pi, po, pf = (0, 0, 0) if peephole is None else peephole.chunk(3, -1)
    i = f(bounded(i + pi * c))
    forget = 1 - i if coupled else f(bounded(forget + pf * c))
    c = forget * c + i * g(bounded(new))
    return f(bounded(o + po * c)) * last(c), c
