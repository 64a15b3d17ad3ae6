"""One step of a recurrent layer, and a whole layer as an ONNX operator where one exists.

Keras orders the gates of an LSTM as i, f, c, o and of a GRU as z, r, h; ONNX uses i, o, f, c and z, r, h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.conversion_errors import Unsupported
from py_autodoc.keras.layer_call import LayerCall
from py_autodoc.keras.layers.activation import FORMULAS, formula_name, number
from py_autodoc.keras.layers.shape import int_constant
from py_autodoc.keras.spec import LayerSpec

GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}
_OPERATORS = {"LSTM": "LSTM", "GRU": "GRU", "SimpleRNN": "RNN"}
_ACTIVATIONS: dict[str, tuple[str, float | None, float | None]] = {
    "tanh": ("Tanh", None, None),
    "sigmoid": ("Sigmoid", None, None),
    "relu": ("Relu", None, None),
    "softsign": ("Softsign", None, None),
    "softplus": ("Softplus", None, None),
    "elu": ("Elu", 1.0, None),
    "linear": ("Affine", 1.0, 0.0),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell with its weights."""

    call: LayerCall
    """A call with the cell's settings and the path of its weights."""
    kind: str
    """LSTM, GRU or SimpleRNN."""
    units: int
    features: int
    kernel: Any
    """Shape (features, gates·units)."""
    recurrent: Any
    """Shape (units, gates·units)."""
    bias: Any
    """Shape (gates·units,), or (2, gates·units) for a GRU that resets after the product; None without."""

    @property
    def after(self) -> bool:
        """True if a GRU resets after the product."""
        return self.kind == "GRU" and self.call.settings.flag("reset_after", self.call.major >= 3)

    @property
    def states(self) -> int:
        """Number of states."""
        return 2 if self.kind == "LSTM" else 1

    def functions(self) -> list[str]:
        """Return its activations: of the gates, then of the state."""
        config = self.call.spec.config
        defaults = [("recurrent_activation", "sigmoid"), ("activation", "tanh")]
        defaults = defaults[1:] if self.kind == "SimpleRNN" else defaults
        functions = []
        for key, default in defaults:
            name = formula_name(config.get(key, default))
            if name is None or name in ("glu", "sparsemax"):
                raise self.call.refuse(f"with the {key} {str(config.get(key))[:40]!r}")
            functions.append(name)
        return functions

    def operator(self) -> dict[str, Any] | None:
        """Return the attributes of the equivalent operator; None if there is none."""
        names = self.functions()
        steep = 0.2 if self.call.major < 3 else 1 / 6
        table = {**_ACTIVATIONS, "hard_sigmoid": ("HardSigmoid", steep, 0.5)}
        if any(name not in table for name in names):
            return None
        order = [names[0], names[1], names[1]] if self.kind == "LSTM" else names
        functions = [table[name] for name in order]
        attributes: dict[str, Any] = {
            "hidden_size": self.units,
            "activations": [name for name, _, _ in functions],
        }
        # Parameters belong to the functions that have one, in order.
        alphas = [alpha for _, alpha, _ in functions if alpha is not None]
        betas = [beta for _, _, beta in functions if beta is not None]
        attributes.update({"activation_alpha": alphas} if alphas else {})
        attributes.update({"activation_beta": betas} if betas else {})
        if self.kind == "GRU":
            attributes["linear_before_reset"] = int(self.after)
        return attributes

    def weights(self) -> tuple[ir.Value, ir.Value, ir.Value | None]:
        """Return W, R and B of the operator for one direction."""
        builder = self.call.builder
        bias = None
        if self.bias is not None:
            biases = self.bias if self.bias.ndim == 2 else np.stack([self.bias, np.zeros_like(self.bias)])
            bias = builder.weight(np.concatenate([self._sorted(row) for row in biases])[None], "bias")
        return (
            builder.weight(self._sorted(self.kernel.T)[None], "kernel"),
            builder.weight(self._sorted(self.recurrent.T)[None], "recurrent_kernel"),
            bias,
        )

    def _sorted(self, array: Any) -> Any:
        if self.kind != "LSTM":
            return array
        i, f, c, o = np.split(array, 4)
        return np.concatenate([i, o, f, c])

    # -- one step --------------------------------------------------------------------------------------

    def constants(self) -> dict[str, ir.Value]:
        """Return the weights for ``step``, created once outside the loop."""
        builder = self.call.builder
        constants = {
            "kernel": builder.weight(self.kernel, "kernel"),
            "recurrent": builder.weight(self.recurrent, "recurrent_kernel"),
        }
        if self.bias is not None:
            biases = self.bias if self.bias.ndim == 2 else self.bias[None]
            constants["bias"] = builder.weight(biases[0], "bias")
            if len(biases) == 2:
                constants["recurrent_bias"] = builder.weight(biases[1], "recurrent_bias")
        return constants

    def step(
        self, x: ir.Value, states: Sequence[ir.Value], constants: dict[str, ir.Value]
    ) -> tuple[ir.Value, list[ir.Value]]:
        """Return the result of one step and the new states."""
        op = self.call.builder.op
        projected = op("MatMul", x, constants["kernel"])
        projected = op("Add", projected, constants["bias"]) if "bias" in constants else projected
        if self.kind == "SimpleRNN":
            out = self._function(-1, op("Add", projected, op("MatMul", states[0], constants["recurrent"])))
            return out, [out]
        if self.kind == "GRU":
            out = self._gru(projected, states[0], constants)
            return out, [out]
        total = op("Add", projected, op("MatMul", states[0], constants["recurrent"]))
        i, f, c, o = self._split(total, 4)
        kept_state = op("Mul", self._function(0, f), states[1])
        carry = op("Add", kept_state, op("Mul", self._function(0, i), self._function(1, c)))
        out = op("Mul", self._function(0, o), self._function(1, carry))
        return out, [out, carry]

    def _gru(self, projected: ir.Value, state: ir.Value, constants: dict[str, ir.Value]) -> ir.Value:
        op = self.call.builder.op
        xz, xr, xh = self._split(projected, 3)
        if self.after:
            inner = op("MatMul", state, constants["recurrent"])
            inner = op("Add", inner, constants["recurrent_bias"]) if "recurrent_bias" in constants else inner
            hz, hr, hh = self._split(inner, 3)
            z, r = self._function(0, op("Add", xz, hz)), self._function(0, op("Add", xr, hr))
            new = self._function(1, op("Add", xh, op("Mul", r, hh)))
        else:
            rz, rr, rh = self._split(constants["recurrent"], 3)
            z = self._function(0, op("Add", xz, op("MatMul", state, rz)))
            r = self._function(0, op("Add", xr, op("MatMul", state, rr)))
            new = self._function(1, op("Add", xh, op("MatMul", op("Mul", r, state), rh)))
        retained = op("Mul", z, state)
        return op("Add", retained, op("Mul", op("Sub", number(self.call, 1.0), z), new))

    def _split(self, value: ir.Value, parts: int) -> tuple[ir.Value, ...]:
        sizes = int_constant(self.call, [self.units] * parts)
        return self.call.builder.ops("Split", (value, sizes), parts, axis=-1)

    def _function(self, index: int, value: ir.Value) -> ir.Value:
        name = self.functions()[index]
        return FORMULAS[name](self.call, self.call.new_tensor(value, (None, self.units)))


def cell_of(call: LayerCall, spec: LayerSpec, path: tuple[str, ...], features: int) -> Cell:
    """Return the cell of a recurrent layer with its weights.

    Raises:
        InputError: a weight is missing or has another shape.
        Unsupported: the class is not one of the three.
    """
    kind = spec.kind.removesuffix("Cell")
    if kind not in GATES or spec.custom:
        raise Unsupported(call.spec.label, f"with the cell {spec.label}")
    cell_call = replace(call, spec=spec, path=path)
    settings = cell_call.settings
    units, gates = settings.integer("units"), GATES[kind]
    cell = Cell(cell_call, kind, units, features, None, None, None)
    width = gates * units
    bias = None
    if settings.flag("use_bias", True):
        bias = cell_call.take("bias", 2, width) if cell.after else cell_call.take("bias", width)
    kernel = cell_call.take("kernel", features, width)
    return replace(cell, kernel=kernel, recurrent=cell_call.take("recurrent_kernel", units, width), bias=bias)


def operator_of(cell: Cell) -> str:
    """Return the name of the operator."""
    return _OPERATORS[cell.kind]
