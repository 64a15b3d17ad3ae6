"""Optimizers of ai.onnx.preview.training. FLOPs per parameter, from the operators' pseudo code."""

from __future__ import annotations

from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost

_PER_PARAMETER = {
    "Adagrad": 9,  # λ·x + g; h + g²; √, + ε; lr·g ÷ h; x −
    "Momentum": 8,  # λ·x + g; α·v + β·g; lr·v; x −
    "Adam": 15,  # λ·x + g; two moments (3 + 4); √, + ε, ÷, ×; x −; decay
}
_STATES = {"Adagrad": 3, "Momentum": 3, "Adam": 4}
"""Number of tensors per optimized tensor, after R and T: x, gradient and the states."""

_DOMAIN = "ai.onnx.preview.training"


@cost(_DOMAIN, "Adagrad", "Momentum", "Adam")
def optimizer(v: NodeView) -> Cost:
    """Inputs R, T, then x1…xn, g1…gn and the states; all of one group have the shapes of x1…xn."""
    count = (v.n_inputs - 2) // _STATES[v.op]
    parameters = sum(v.numel(2 + i) for i in range(count))
    return Cost(0, _PER_PARAMETER[v.op] * parameters)


@cost(_DOMAIN, "Gradient")
def gradient(v: NodeView) -> Cost:
    """The derivative of a part of the graph that the model does not contain. Raises: UnknownSize."""
    raise UnknownSize("the differentiated graph is not part of the model")
