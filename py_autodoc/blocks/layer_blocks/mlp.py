"""Feed-forward blocks: dense layers around an activation, gated or not, and mixtures of experts.

Sources: Shazeer, GLU Variants Improve Transformer, 2020; Shazeer et al., Sparsely-Gated
Mixture-of-Experts, 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    CONV,
    COPY_OPS,
    LINEAR,
    dim,
    is_linear,
    make_block,
    next_node,
    per_channel,
    reader_of,
    readers,
    weight,
)
from py_autodoc.blocks.layer_blocks.activations import Activation, activation_of
from py_autodoc.blocks.layer_blocks.conv import is_depthwise
from py_autodoc.blocks.layer_blocks.mixture_of_experts import find_mixtures
from py_autodoc.blocks.layer_blocks.squeeze_excite import find_squeeze_excites
from py_autodoc.blocks.results import AttentionLayer, Fact, RecognisedBlock

_PASS_THROUGH_OPS = COPY_OPS | RESHAPES
_MAX_LAYERS = 32


def find_mlps(
    flow: DataflowGraph, attention: Sequence[AttentionLayer], normalizations: Sequence[RecognisedBlock]
) -> list[RecognisedBlock]:
    """Return blocks of kind ``mlp``, ``gated-mlp`` and ``moe``.

    An MLP is dense → activation → dense; several in a row form one block. A gated MLP multiplies the
    activation by a second dense layer of the same input before the last layer. Facts: input, hidden,
    output (features), expansion, layers, activation, bias; for mixtures see ``find_mixtures``. Variants:
    ``depthwise`` with a depthwise convolution inside, ``packed`` if gate and values come from one layer.
    """
    used = {n for layer in attention for n in layer.nodes}
    used |= {n for gate in find_squeeze_excites(flow) for n in gate.nodes}
    norms = {
        inputs: norm for norm in normalizations if (inputs := norm.inputs[0] if norm.inputs else -1) >= 0
    }
    halves = _MlpFinder(flow, used, norms)
    single = _merged(flow, halves)
    blocks = [chain.to_block(flow) for chain in single]
    return blocks + find_mixtures(flow, blocks)


@dataclass(slots=True)
class _Chain:
    """Dense layers in execution order, with the nodes between them."""

    layers: list[int]
    nodes: set[int]
    activation: str
    variant: str = ""
    gated: bool = False
    bias: bool = False
    hidden: int | None = None
    extra: list[int] = field(default_factory=list)

    def to_block(self, flow: DataflowGraph) -> RecognisedBlock:
        """Convert to a block."""
        first, last = self.layers[0], self.layers[-1]
        width = _features(flow, first, True)
        facts: dict[str, Fact] = {
            "input": width,
            "hidden": self.hidden,
            "output": _features(flow, last, False),
            "expansion": round(self.hidden / width, 3) if self.hidden and width else None,
            "layers": len(self.layers),
            "activation": self.activation,
            "bias": self.bias,
        }
        kind = "gated-mlp" if self.gated else "mlp"
        return make_block(flow, kind, self.nodes, first, variant=self.variant, facts=facts)


def _features(flow: DataflowGraph, number: int, into: bool) -> int | None:
    """Return the input or output features of a dense layer."""
    if not into:
        return dim(flow, flow.first_outputs[number], -1)
    data = flow.data_inputs[number]
    return dim(flow, data[0], -1) if data else None


@dataclass(frozen=True, slots=True)
class _DenseLayer:
    """A dense layer with its bias and reshapes."""

    node: int
    nodes: tuple[int, ...]
    output: int
    bias: bool


def dense_layer_at(flow: DataflowGraph, number: int) -> _DenseLayer | None:
    """Return the dense layer at this node; None for other nodes and for products of two computed factors."""
    if not is_linear(flow, number) or len(flow.data_inputs[number]) != 1 or flow.first_outputs[number] < 0:
        return None
    nodes, tensor = [number], flow.first_outputs[number]
    bias = flow.op_types[number] in ("Gemm", "QGemm", "FusedGemm") and len(flow.nodes[number].inputs) > 2
    for _ in range(8):
        after, passed = next_node(flow, tensor, _PASS_THROUGH_OPS)
        before = flow.first_outputs[passed[-1]] if passed else tensor
        if flow.op_types[after] == "Add" and flow.data_inputs[after] == (before,) and not bias:
            if not per_channel(flow, weight(flow, after), before):
                break
            bias = True
            nodes += [*passed, after]
            tensor = flow.first_outputs[after]
            continue
        nodes += passed
        tensor = before
        break
    return _DenseLayer(number, tuple(nodes), tensor, bias)


class _MlpFinder:
    """Finds dense → activation (→ gate) → dense, starting from the first layer."""

    def __init__(self, flow: DataflowGraph, used: set[int], norms: dict[int, RecognisedBlock]) -> None:
        self.flow = flow
        self.norms = norms
        self.layers = {
            n: layer
            for n in flow.of(LINEAR)
            if n not in used and (layer := dense_layer_at(flow, n)) is not None
        }
        self.chains: dict[int, _Chain] = {}
        for layer in self.layers.values():
            chain = self._plain_chain(layer) or self._packed(layer)
            if chain is not None:
                self.chains[chain.layers[0]] = chain

    def _plain_chain(self, layer: _DenseLayer) -> _Chain | None:
        """Match a layer followed by a single activation."""
        tensor, inner, variant = self._depthwise(layer.output)
        activation = activation_of(self.flow, tensor)
        if activation is None:
            return None
        nodes = {*layer.nodes, *inner, *activation.nodes}
        chain = _Chain([layer.node], nodes, activation.name, variant, bias=layer.bias)
        chain.hidden = _features(self.flow, layer.node, False)
        return self._close(chain, activation, layer)

    def _depthwise(self, tensor: int) -> tuple[int, list[int], str]:
        """Move past a depthwise convolution over spatially arranged tokens, if there is one."""
        flow = self.flow
        number, passed = next_node(flow, tensor, _PASS_THROUGH_OPS)
        if flow.op_types[number] in CONV and is_depthwise(flow, number):
            inner = [*passed, number]
            tensor = flow.first_outputs[number]
            _, more = next_node(flow, tensor, _PASS_THROUGH_OPS)
            inner += more
            if more:
                tensor = flow.first_outputs[more[-1]]
            return tensor, inner, "depthwise"
        return tensor, [], ""

    def _close(self, chain: _Chain, activation: Activation, first: _DenseLayer) -> _Chain | None:
        """Match the rest after the activation: an optional gate and the last layer."""
        flow = self.flow
        number, passed = next_node(flow, activation.output, _PASS_THROUGH_OPS)
        if flow.op_types[number] == "Mul" and len(flow.data_inputs[number]) == 2:
            gate = self._second_factor(
                number, flow.first_outputs[passed[-1]] if passed else activation.output
            )
            if gate is None or not self._same_input(first.node, gate.node):
                return None
            chain.nodes |= {*passed, number, *gate.nodes}
            chain.extra.append(gate.node)
            chain.gated = True
            chain.bias = chain.bias or gate.bias
            return self._last(chain, flow.first_outputs[number])
        return self._last(chain, activation.output)

    def _second_factor(self, product: int, active: int) -> _DenseLayer | None:
        """Return the dense layer that computes the second factor."""
        flow = self.flow
        factors = [t for t in flow.data_inputs[product] if t != active]
        if len(factors) != 1:
            return None
        number = flow.producers[flow.back(factors[0], _PASS_THROUGH_OPS)]
        if flow.op_types[number] == "Add" and len(flow.data_inputs[number]) == 1:
            number = flow.producers[flow.back(flow.data_inputs[number][0], _PASS_THROUGH_OPS)]
        layer = self.layers.get(number)
        return layer if layer is not None and reader_of(flow, layer.output) == product else None

    def _same_input(self, a: int, b: int) -> bool:
        flow = self.flow
        inputs_a, inputs_b = flow.data_inputs[a], flow.data_inputs[b]
        return flow.back(inputs_a[0], _PASS_THROUGH_OPS) == flow.back(inputs_b[0], _PASS_THROUGH_OPS)

    def _last(self, chain: _Chain, tensor: int) -> _Chain | None:
        """Find the dense layer that consumes the hidden features, after an optional normalization."""
        flow = self.flow
        number, passed = next_node(flow, tensor, _PASS_THROUGH_OPS)
        before = flow.first_outputs[passed[-1]] if passed else tensor
        norm = self.norms.get(before)
        if norm is not None and norm.outputs and number in norm.nodes:
            passed = [*passed, *norm.nodes]
            number, more = next_node(flow, norm.outputs[0], _PASS_THROUGH_OPS)
            passed += more
        layer = self.layers.get(number)
        if layer is None:
            return None
        chain.layers.append(layer.node)
        chain.nodes |= {*passed, *self._with_bias(layer)}
        return chain

    def _with_bias(self, layer: _DenseLayer) -> tuple[int, ...]:
        """Return the last layer with its bias, without the reshapes after it."""
        nodes = list(layer.nodes)
        while nodes and self.flow.op_types[nodes[-1]] in _PASS_THROUGH_OPS:
            nodes.pop()
        return tuple(nodes)

    def _packed(self, layer: _DenseLayer) -> _Chain | None:
        """Match a layer whose result is split into gate and values, one of them activated."""
        flow = self.flow
        halves = self._split_in_two(layer.output)
        if halves is None:
            return None
        cuts, (a, b) = halves
        for active, passive in ((a, b), (b, a)):
            activation = activation_of(flow, active)
            if activation is None:
                continue
            number = reader_of(flow, activation.output)
            if flow.op_types[number] != "Mul" or reader_of(flow, passive) != number:
                continue
            nodes = {*layer.nodes, *cuts, *activation.nodes, number}
            chain = _Chain([layer.node], nodes, activation.name, "packed", gated=True, bias=layer.bias)
            chain.hidden = dim(flow, active, -1)
            return self._last(chain, flow.first_outputs[number])
        return None

    def _split_in_two(self, tensor: int) -> tuple[list[int], tuple[int, int]] | None:
        """Match a Split in two, or two slices."""
        flow = self.flow
        after = readers(flow, tensor)
        if len(after) == 1 and flow.op_types[after[0]] == "Split":
            halves = [t for t in flow.nodes[after[0]].outputs if t >= 0]
            return ([after[0]], (halves[0], halves[1])) if len(halves) == 2 else None
        if len(after) == 2 and all(flow.op_types[n] in ("Slice", "Gather") for n in after):
            a, b = (flow.first_outputs[n] for n in after)
            return (list(after), (a, b)) if a >= 0 and b >= 0 else None
        return None


def _merged(flow: DataflowGraph, halves: _MlpFinder) -> list[_Chain]:
    """Merge chains in which the last layer of one is the first of the next."""
    chains = halves.chains
    continued = {chain.layers[-1] for chain in chains.values() if not chain.gated}
    merged = []
    for first, chain in chains.items():
        if first in continued and not chain.gated:
            continue
        following = chains.get(chain.layers[-1])
        while following is not None and not following.gated and len(chain.layers) < _MAX_LAYERS:
            chain.nodes |= following.nodes
            chain.layers.append(following.layers[-1])
            widths = [w for w in (chain.hidden, following.hidden) if w is not None]
            chain.hidden = max(widths) if widths else None
            chain.bias = chain.bias or following.bias
            following = chains.get(following.layers[-1])
        merged.append(chain)
    return merged
