"""The role of a box, derived from its operators and edges; for modules without a class.

Names may carry no information: ``model.4`` of a detector becomes ``C2f · model.4``, a scope ``l`` of a
recurrent network ``LSTM · l``. A role is set only if the structure implies it. Terms follow the papers:

- C2f, C3: a cross-stage block of YOLO, whose parts all feed one Concat (C2f), or whose two branches do (C3);
- SPPF, SPP: max pools in sequence or in parallel, joined by a Concat.
"""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.blocks.results import RecognisedBlock
from py_autodoc.graph.ir.model import Model
from py_autodoc.report.box_tree.preparation_nodes import PreparationNodes
from py_autodoc.report.encode.block_titles import KINDS, Titles

_RECURRENT = {"LSTM": "LSTM", "GRU": "GRU", "RNN": "RNN", "DynamicQuantizeLSTM": "LSTM"}
_POOLS = frozenset({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool"})
_NORMS = frozenset({
    "LayerNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization", "RMSNormalization",
    "SkipSimplifiedLayerNormalization", "BatchNormalization", "GroupNormalization", "InstanceNormalization",
})  # fmt: skip
_CONVOLVE = frozenset({"Conv", "ConvTranspose", "DeformConv", "ConvInteger", "QLinearConv", "FusedConv"})
_MULTIPLY = frozenset({
    "MatMul", "Gemm", "MatMulInteger", "MatMulNBits", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat",
    "DynamicQuantizeMatMul", "FusedMatMul", "FusedGemm",
})  # fmt: skip
_QUANTIZE = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
_ACTIVATIONS = {
    frozenset({"Sigmoid", "Mul"}): "SiLU",
    frozenset({"Relu"}): "ReLU",
    frozenset({"Sigmoid"}): "Sigmoid",
    frozenset({"Tanh"}): "Tanh",
    frozenset({"Gelu"}): "GELU",
    frozenset({"FastGelu"}): "GELU",
    frozenset({"Div", "Erf", "Add", "Mul"}): "GELU",
    frozenset({"HardSigmoid", "Mul"}): "HardSwish",
    frozenset({"HardSwish"}): "HardSwish",
    frozenset({"LeakyRelu"}): "Leaky ReLU",
    frozenset({"Softmax"}): "Softmax",
    frozenset({"QuickGelu"}): "GELU",
}
_FEW_OPERATORS = 3
_FEW_LAYERS = 4
"""Minimum number of layers of one kind for the role to state their count."""
_MIN_BLOCK_SHARE = 0.6
"""Minimum share of a box's drawn nodes that a recognised block must cover to name the whole box."""
_MIN_RESIDUAL_SHARE = 0.8
"""Minimum share of a box's drawn nodes that are in its residual blocks if these name it."""


class Roles:
    """Roles of sets of nodes of one model."""

    def __init__(self, model: Model, titles: Titles, preparation: PreparationNodes) -> None:
        self.model = model
        self.titles = titles
        self.preparation = preparation

    def of(self, nodes: Sequence[int]) -> str:
        """Return the role of the given nodes (ascending); empty if their structure implies none."""
        drawn = [n for n in nodes if n not in self.preparation.kind and not self.model.nodes[n].is_constant]
        if not drawn:
            return ""
        ops = [self.model.nodes[node].op_type for node in drawn if not self._quantizes(node)]
        return (
            self._recurrent(ops)
            or self._yolo(drawn)
            or self._role_from_blocks(nodes, drawn)
            or self._single(drawn, ops)
        )

    def of_part(self, nodes: Sequence[int]) -> str:
        """Return the role of one part of a repeat."""
        return self.titles.instance_title(nodes) or self.of(nodes)

    def of_container(self, nodes: Sequence[int]) -> str:
        """Return the role of a module whose class only contains others: first convolutions are the stem."""
        role = self.of(nodes)
        entry = self.model.graphs[0].inputs
        first = any(self._is(node, _CONVOLVE) and self._data(node) in entry for node in nodes)
        return "Conv stem" if first and role.startswith("Conv") else role

    def prepares(self, nodes: Sequence[int]) -> str:
        """Return what the preparation nodes among the nodes prepare, such as ``Sizes``."""
        return self.preparation.title(node for node in nodes if node in self.preparation.kind).capitalize()

    def layers(self, nodes: Sequence[int]) -> list[int]:
        """Return the convolutions and matrix products with weights."""
        return [node for node in nodes if self._is(node, _CONVOLVE) or self._is_weighted(node)]

    def convolves(self, nodes: Sequence[int]) -> bool:
        """Return True if the nodes include a convolution or a spatial pool."""
        return any(self.model.nodes[node].op_type in _CONVOLVE | _POOLS for node in nodes)

    def operators(self, nodes: Sequence[int]) -> str:
        """Return the most characteristic operators, layers first (``MatMul-Softmax``), absent a role."""
        drawn = [node for node in nodes if not self.model.nodes[node].is_constant]
        # A box within a mask can contain only preparation nodes.
        computing = [node for node in drawn if node not in self.preparation.kind] or drawn
        ops = [self.model.nodes[node].op_type for node in computing]
        kinds = dict.fromkeys(ops)
        heavy = [op for op in kinds if op in _CONVOLVE | _MULTIPLY | _NORMS | _POOLS or op == "Softmax"]
        characteristic = heavy or list(kinds)
        return "-".join(characteristic[:_FEW_OPERATORS]) + (
            "…" if len(characteristic) > _FEW_OPERATORS else ""
        )

    def _quantizes(self, node: int) -> bool:
        return self.model.nodes[node].op_type in _QUANTIZE

    def _recurrent(self, ops: Sequence[str]) -> str:
        names = [_RECURRENT[op] for op in ops if op in _RECURRENT]
        if not names or any(op in _CONVOLVE for op in ops) or len(set(names)) > 1:
            return ""
        return names[0] if len(names) == 1 else f"{names[0]}, {len(names)} layers"

    def _role_from_blocks(self, nodes: Sequence[int], drawn: Sequence[int]) -> str:
        """Return the role from recognised blocks: several layers, one, or a block that covers most nodes."""
        blocks = self.titles.inside(nodes)
        # Cross-attention belongs to the same layer as the self-attention next to it.
        attention = [block for block in blocks if block.kind == "attention"]
        layer_of = self.titles.attention_layers
        self_attention = {layer_of[b.anchor] for b in attention if b.facts.get("kind") != "cross"}
        layers = len(self_attention) or min(len(attention), 1)
        scans = [block for block in blocks if block.kind == "state-space"]
        if layers and layers + len(scans) > 2 and scans:
            return "Transformer + state space"
        if layers > 1:
            return f"Transformer, {layers} layers" if layers * 3 <= len(drawn) else ""
        if layers:
            has_more = any(block.kind in ("mlp", "gated-mlp", "moe", "residual") for block in blocks)
            return self.titles.instance_title(nodes) if has_more else KINDS["attention"]
        if scans:
            return self._state_space(scans, drawn)
        drawn_nodes = frozenset(drawn)
        role = self._head_title(blocks, drawn) or self._residuals(blocks, drawn_nodes)
        if role:
            return role
        largest = max(blocks, key=lambda block: len(drawn_nodes & set(block.nodes)), default=None)
        if largest is None or len(drawn_nodes & set(largest.nodes)) < _MIN_BLOCK_SHARE * len(drawn):
            return ""
        # One quantized convolution does not describe a box with more of them.
        if largest.kind == "conv" and self._convs(drawn) > self._convs(largest.nodes):
            return ""
        return self.titles.of(largest)

    def _state_space(self, scans: Sequence[RecognisedBlock], drawn: Sequence[int]) -> str:
        """Return the role of a box with selective scans: these alone, with a projection, or whole layers."""
        if len(scans) > 1:
            return f"State space, {len(scans)} layers"
        inside = frozenset(scans[0].nodes)
        layers = [n for n in drawn if n not in inside and (self._is_weighted(n) or self._is(n, _CONVOLVE))]
        title = self.titles.of(scans[0])
        if layers and layers[0] < scans[0].anchor < layers[-1]:
            return "State-space layer"
        return f"{title} + projection" if layers else title

    def _head_title(self, blocks: Sequence[RecognisedBlock], drawn: Sequence[int]) -> str:
        """Return the title of a head whose output is known, if dense layers are all that is before it."""
        heads = [block for block in blocks if block.kind == "head" and block.variant not in ("", "dense")]
        if len(heads) != 1 or self._convs(drawn):
            return ""
        return self.titles.of(heads[0])

    def _residuals(self, blocks: Sequence[RecognisedBlock], drawn_nodes: frozenset[int]) -> str:
        """Return ``Residual ×2`` for residual blocks that are most of the box, none in another."""
        residuals = [block for block in blocks if block.kind == "residual"]
        nodes = [node for block in residuals for node in block.nodes if node in drawn_nodes]
        titles = {self.titles.of(block) for block in residuals}
        if (
            len(residuals) < 2
            or len(nodes) != len(set(nodes))
            or len(nodes) < _MIN_RESIDUAL_SHARE * len(drawn_nodes)
        ):
            return ""
        return f"{titles.pop()} ×{len(residuals)}" if len(titles) == 1 else ""

    def _convs(self, nodes: Sequence[int]) -> int:
        return sum(self._is(node, _CONVOLVE) for node in nodes)

    def _single(self, nodes: Sequence[int], ops: Sequence[str]) -> str:
        """Return the role from the layers in the box: one layer, or several of one kind."""
        convs = sum(op in _CONVOLVE for op in ops)
        products = sum(self._is_weighted(node) for node in nodes)
        norms = [op for op in ops if op in _NORMS]
        if (convs or products) and not (convs and products) and max(convs, products) <= _FEW_LAYERS:
            if len(ops) > _FEW_LAYERS * _FEW_OPERATORS:
                return ""
            name, count = ("Conv", convs) if convs else ("Linear", products)
            return name if count == 1 else f"{name} ×{count}"
        if convs or products or any(op in _MULTIPLY for op in ops):
            return ""
        if len(norms) == 1 and len(ops) <= _FEW_OPERATORS:
            return KINDS["normalization"]
        if any(self._looks_up(node) for node in nodes):
            return KINDS["embedding"]
        active = _ACTIVATIONS.get(frozenset(ops))
        if active:
            return active
        kinds = set(ops)
        return "Pooling" if kinds and kinds <= _POOLS else "Upsample" if kinds == {"Resize"} else ""

    def _is_weighted(self, number: int) -> bool:
        node = self.model.nodes[number]
        return node.op_type in _MULTIPLY and any(self._is_stored(t) for t in node.inputs)

    def _looks_up(self, number: int) -> bool:
        node = self.model.nodes[number]
        return node.op_type == "Gather" and bool(node.inputs) and self._is_stored(node.inputs[0])

    def _is_stored(self, tensor: int) -> bool:
        if tensor < 0:
            return False
        tensor_info = self.model.tensors[tensor]
        return tensor_info.is_constant or tensor_info.producer in self.preparation.learned

    # Blocks of detectors

    def _yolo(self, nodes: Sequence[int]) -> str:
        inside = frozenset(nodes)
        joins = [n for n in nodes if self.model.nodes[n].op_type == "Concat"]
        convs = [n for n in nodes if self._is(n, _CONVOLVE)]
        if len(joins) != 1 or not convs:
            return ""
        join = self.model.nodes[joins[0]]
        pools = [n for n in nodes if self._is(n, frozenset({"MaxPool"}))]
        if len(pools) > 1 and len(convs) <= _FEW_OPERATORS:
            chained = any(self._maker(n) in pools for n in pools)
            return "SPPF" if chained else "SPP"
        ends = [n for n in convs if self._behind(n, joins[0], inside)]
        if not ends or len(convs) < 4:
            return ""
        split = [n for n in nodes if self._is(n, frozenset({"Split", "Slice"}))]
        parts = {t for n in split for t in self.model.nodes[n].outputs}
        if len(join.inputs) > 2 and sum(t in parts for t in join.inputs) >= 2:
            first = self._layer_before(split[0], inside)
            return "C2f" if first >= 0 and self._enters(self._data(first), inside) else ""
        sources = {t for n in convs if (t := self._data(n)) >= 0 and self._enters(t, inside)}
        firsts = [n for n in convs if self._data(n) in sources]
        return "C3" if len(join.inputs) == 2 and len(sources) == 1 and len(firsts) == 2 else ""

    def _layer_before(self, number: int, inside: frozenset[int]) -> int:
        """Return the convolution in the box that produces the data of a node, or -1."""
        maker = self._maker(number)
        while maker in inside and not self._is(maker, _CONVOLVE):
            maker = self._maker(maker)
        return maker if maker in inside else -1

    def _is(self, number: int, ops: frozenset[str]) -> bool:
        return self.model.nodes[number].op_type in ops

    def _data(self, number: int) -> int:
        inputs = self.model.nodes[number].inputs
        return inputs[0] if inputs else -1

    def _maker(self, number: int) -> int:
        tensor = self._data(number)
        return self.model.tensors[tensor].producer if tensor >= 0 else -1

    def _enters(self, tensor: int, inside: frozenset[int]) -> bool:
        return self.model.tensors[tensor].producer not in inside

    def _behind(self, number: int, join: int, inside: frozenset[int]) -> bool:
        """Return True if the layer's data input is the join itself, possibly quantized."""
        maker = self._maker(number)
        while maker in inside and self._quantizes(maker):
            maker = self._maker(maker)
        return maker == join
