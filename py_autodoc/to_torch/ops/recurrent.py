"""LSTM, GRU and RNN."""

from __future__ import annotations

from typing import Any

import numpy as np

from py_autodoc.to_torch.code import CodeValue, NotCovered, Statement, token
from py_autodoc.to_torch.module import ModuleWeight
from py_autodoc.to_torch.op import OpContext, fl, sequence_text
from py_autodoc.to_torch.registry import rule

_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Position of torch's gates among those of ONNX: LSTM i o f c → i f g o, GRU z r h → r z n."""
_DEFAULT_ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_ACTIVATIONS = frozenset(
    {
        "Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign", "Softplus", "Elu", "LeakyRelu", "Affine",
        "ThresholdedRelu", "ScaledTanh",
    }
)  # fmt: skip


@rule("LSTM", "GRU", "RNN")
def recurrent(op: OpContext) -> None:
    """nn.LSTM, nn.GRU or nn.RNN if it computes the same, else the recurrence step by step."""
    name = op.node.op_type
    direction = op.choice("direction", "forward", ("forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1
    if direction not in ("forward", "reverse", "bidirectional"):
        raise NotCovered(f"direction {direction}")
    if _fits(op, name, directions):
        _module(op, name, direction, directions)
        return
    _steps(op, name, direction, directions)


def _fits(op: OpContext, name: str, directions: int) -> bool:
    defaults = _DEFAULT_ACTIVATIONS[name] * directions
    activations = [str(name_value) for name_value in op.attr("activations", defaults)]
    supported = activations == defaults or (name == "RNN" and set(activations) == {"Relu"})
    supported = supported and not op.attr("layout", 0) and "clip" not in op.node.attributes and not op.has(4)
    supported = supported and not op.attr("input_forget", 0) and not (name == "LSTM" and op.has(7))
    supported = supported and not (name == "GRU" and not op.attr("linear_before_reset", 0))
    fixed = op.constant(1) is not None and op.constant(2) is not None
    return (
        supported
        and fixed
        and (not op.has(3) or op.constant(3) is not None)
        and op.attr("direction", "") != "reverse"
    )


def _picked(gates: tuple[int, ...], direction: int, first: int) -> Any:
    """Return a function that selects one direction, with gates in torch's order from block ``first`` on."""

    def transform(array: Any) -> Any:
        matrix = array[direction]
        size = matrix.shape[0] // (len(gates) * (2 if matrix.ndim == 1 else 1))
        rows = [matrix[(first + gate) * size : (first + gate + 1) * size] for gate in gates]
        return np.ascontiguousarray(np.concatenate(rows))

    return transform


def _module(op: OpContext, name: str, direction: str, directions: int) -> None:
    gates = _GATES[name]
    _, rows, into = op.dims(1)
    hidden = rows // len(gates)
    weights: dict[str, ModuleWeight] = {}
    for number in range(directions):
        tail = "_l0_reverse" if number else "_l0"
        first, second = _picked(gates, number, 0), _picked(gates, number, len(gates))
        weights[f"weight_ih{tail}"] = op.weight(1, first, f"w{number}", (rows, into))
        weights[f"weight_hh{tail}"] = op.weight(2, first, f"r{number}", (rows, hidden))
        if op.has(3):
            weights[f"bias_ih{tail}"] = op.weight(3, first, f"b{number}", (rows,))
            weights[f"bias_hh{tail}"] = op.weight(3, second, f"c{number}", (rows,))
    settings: dict[str, object] = {"_input_size": into, "_hidden_size": hidden}
    if name == "RNN" and op.attr("activations", ["Tanh"])[0] == "Relu":
        settings["nonlinearity"] = '"relu"'
    if not op.has(3):
        settings["bias"] = False
    if directions == 2:
        settings["bidirectional"] = True
    layer = op.layer(name, settings, weights)
    y, h, c = (op.scope.tokens.new(hint) for hint in (name.lower(), "hidden", "cell"))
    state = ""
    if name == "LSTM" and (op.has(5) or op.has(6)):
        zeros = f"torch.zeros({directions}, {op.v(0)}.shape[1], {hidden}, dtype={op.v(0)}.dtype)"
        state = f", ({op.t(5) if op.has(5) else zeros}, {op.t(6) if op.has(6) else zeros})"
    elif op.has(5):
        state = f", {op.t(5)}"
    targets = f"({token(h)}, {token(c)})" if name == "LSTM" else token(h)
    outputs = (y, h, c) if name == "LSTM" else (y, h)
    code = f"{token(y)}, {targets} = {layer}({op.t(0)}{state})"
    op.scope.stmts.append(Statement([(0, code)], outputs))
    if op.has_out(0):
        if directions == 1:
            op.out(f"{token(y)}.unsqueeze(1)")
        else:
            op.out(f"{token(y)}.unflatten(-1, (2, {hidden})).transpose(1, 2)")
    op.set(CodeValue("tensor", token(h)), 1)
    op.set(CodeValue("tensor", token(c)), 2)


def _steps(op: OpContext, name: str, direction: str, directions: int) -> None:
    activations = [
        str(activation) for activation in op.attr("activations", _DEFAULT_ACTIVATIONS[name] * directions)
    ]
    if (
        not set(activations) <= _ACTIVATIONS
        or len(activations) != len(_DEFAULT_ACTIVATIONS[name]) * directions
    ):
        raise NotCovered("an unknown activation")
    named: dict[str, object] = {"direction": f'"{direction}"'}
    if activations != _DEFAULT_ACTIVATIONS[name] * directions:
        named["activations"] = sequence_text(activations)
    for key in ("activation_alpha", "activation_beta"):
        if key in op.node.attributes:
            named[key] = f"[{', '.join(map(fl, op.attr(key)))}]"
    if "clip" in op.node.attributes:
        named["clip"] = fl(op.attr("clip"))
    if name == "LSTM":
        named["coupled"] = bool(op.attr("input_forget", 0))
    if name == "GRU":
        named["linear_before_reset"] = bool(op.attr("linear_before_reset", 0))
    named["batch_first"] = bool(op.attr("layout", 0))
    inputs = {"bias": 3, "lengths": 4, "hidden": 5} | ({"cell": 6, "peephole": 7} if name == "LSTM" else {})
    for key, index in inputs.items():
        if op.has(index):
            named[key] = op.t(index)
    results = len(op.node.outputs)
    full = 3
    code = op.call("onnx_recurrent", f'"{name}"', op.t(0), op.t(1), op.t(2), **named)
    op.outs(code if results == full else f"{code}[:{results}]")
