"""Recurrent layers. T·B steps multiply x by W and h by R: T · B · (|W| + |R|) MACs.

W (directions, gates·H, I) and R (directions, gates·H, H) include all gates and directions.
"""

from __future__ import annotations

from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost

# FLOPs per step and hidden unit, in addition to the two products:
#            + of x·W and h·R   activations   state update
_ARITHMETIC = {
    "RNN": 1 + 1 + 0,
    "GRU": 3 + 3 + 5,  # r⊙h, (1 − z), ⊙n, z⊙h, +
    "LSTM": 4 + 5 + 4,  # f⊙c, i⊙g, +, o⊙tanh(c)
}
_PEEPHOLE = 6
"""P⊙c and + for the input, output and forget gates."""


def steps(v: NodeView) -> int:
    """Return T · B from X (T, B, I); ``layout=1`` only swaps the first two. Raises: UnknownSize."""
    x = v.shape(0)
    if len(x) != 3:
        raise UnknownSize(f"input 0 must have 3 dimensions, not {len(x)}")
    return x[0] * x[1]


def recurrent_cost(v: NodeView, kind: str, hidden: int) -> Cost:
    """Return the cost of an LSTM, GRU or RNN with ``hidden`` units (over all directions).

    Biases B (input 3) add |B| = directions · 2·gates·H per step.
    """
    n = steps(v)
    extra = _ARITHMETIC[kind] * hidden + (v.numel(3) if v.has(3) else 0)
    if kind == "LSTM" and v.has(7):
        extra += _PEEPHOLE * hidden
    return Cost.of(n * (v.numel(1) + v.numel(2)), n * extra)


@cost("", "LSTM", "GRU", "RNN", macs=True)
def recurrent(v: NodeView) -> Cost:
    """ONNX LSTM, GRU, RNN in any direction; R (directions, gates·H, H). All T steps are counted."""
    r = v.shape(2)
    if len(r) != 3:
        raise UnknownSize(f"input 2 must have 3 dimensions, not {len(r)}")
    return recurrent_cost(v, v.op, r[0] * r[2])


@cost("com.microsoft", "DynamicQuantizeLSTM", macs=True)
def quantized_lstm(v: NodeView) -> Cost:
    """LSTM on 8-bit weights W (directions, I, 4H), R (directions, H, 4H)."""
    r = v.shape(2)
    if len(r) != 3:
        raise UnknownSize(f"input 2 must have 3 dimensions, not {len(r)}")
    return recurrent_cost(v, "LSTM", r[0] * r[1])
