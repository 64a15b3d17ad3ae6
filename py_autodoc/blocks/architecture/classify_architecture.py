"""Network family of a model, with reasons: from its layers, their shares of the MACs and its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from py_autodoc import units
from py_autodoc.blocks.architecture import output_signs, position_mixing
from py_autodoc.blocks.architecture.classify_transformer import classify_transformer as judge_transformer
from py_autodoc.blocks.architecture.layer_inventory import (
    CONV,
    DENSE,
    RECURRENT,
    LayerInventory,
    count_layers,
)
from py_autodoc.blocks.architecture.state_space import depthwise_sequences, selective_scans
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph, DataflowGraphs
from py_autodoc.blocks.layer_blocks import detection_outputs
from py_autodoc.blocks.results import ArchitectureVerdict, AttentionLayer, RecognisedBlock, Repeat
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.graph.operators.compiled_parts import compiled_parts
from py_autodoc.units import plural

_CLASSICAL = ("TreeEnsemble", "SVM", "LinearClassifier", "LinearRegressor")
_STANDARD_DOMAINS = (
    "",
    "ai.onnx.ml",
    "com.microsoft",
    "ai.onnx.preview",
    "ai.onnx.training",
    "ai.onnx.preview.training",
)
_MIXED = 0.3
"""Share of the MACs from which convolutions next to attention make a hybrid."""
_MIXED_LAYERS = 10
_MINOR_SHARE = 0.05
"""Share of the MACs from which recurrent layers count at all."""
_MIN_LAYERS = 3


def classify_architecture(
    model: Model,
    types: TypeTable,
    blocks: Iterable[RecognisedBlock],
    attention: Sequence[AttentionLayer],
    repeats: Sequence[Repeat],
    flows: DataflowGraphs | None = None,
) -> ArchitectureVerdict:
    """Return the network family, ``unknown`` without evidence. ``flows``: dataflow graphs that already exist.

    A share is the part of the MACs of all layers with stored weights.
    """
    graphs = [flow for flow in (flows or DataflowGraphs(model, types)).all() if flow.order]
    if not graphs:
        return ArchitectureVerdict("unknown", 0.0, ("the graph has no operators",))
    return _Classifier(model, graphs, tuple(blocks), attention, repeats).decide()


class _Classifier:
    """A model and the facts that decide its family."""

    def __init__(
        self,
        model: Model,
        flows: list[DataflowGraph],
        blocks: tuple[RecognisedBlock, ...],
        attention: Sequence[AttentionLayer],
        repeats: Sequence[Repeat],
    ) -> None:
        self.model = model
        self.flows = flows
        self.main = flows[0]
        self.blocks = blocks
        self.attention = attention
        self.repeats = repeats
        self.inventory: LayerInventory = count_layers(flows)
        self.scans = sum(map(selective_scans, flows))

    def decide(self) -> ArchitectureVerdict:
        """Return the first family that has evidence."""
        for rule in (
            self._classical,
            self._by_outputs,
            self._hybrid,
            self._transformer,
            self._state_space,
            self._exponential_recurrence,
            self._recurrent,
            self._convolutional,
            self._graph,
            self._fourier,
            self._decomposed_attention,
            self._only_recurrent,
            self._dense,
        ):
            choice = rule()
            if choice is not None:
                family, confidence, lines = choice
                certainty = confidence * (0.6 if self._unknown_operators() else 1.0)
                return ArchitectureVerdict(family, round(certainty, 2), (*lines, *self._details()))
        return ArchitectureVerdict("unknown", 0.0, tuple(self._no_evidence()))

    # ---------------------------------------------------------------- families

    def _classical(self) -> _FamilyChoice:
        trees = [
            (op.partition("::")[2], n)
            for op, n in self.inventory.ops.items()
            if op.startswith("ai.onnx.ml::")
        ]
        classical_ops = [f"{n} {op}" for op, n in trees if op.startswith(_CLASSICAL)]
        if not classical_ops or self.inventory.layers:
            return None
        return "classical-ml", 0.95, [f"{', '.join(classical_ops)} and no neural-network layers"]

    def _by_outputs(self) -> _FamilyChoice:
        """Detectors and segmenters: the outputs decide, whatever computes them."""
        if not self.inventory.layers:
            return None
        for family, signs_of in (
            ("detector", detection_outputs.detection_signs),
            ("segmenter", output_signs.segmentation_signs),
        ):
            signs = signs_of(self.main, self.inventory.ops)
            if signs is not None:
                lines = [signs[1], *self._attention_line(), *self._convolution_line()]
                return family, signs[0], lines
        return None

    def _hybrid(self) -> _FamilyChoice:
        """Two ways of mixing positions, both with a relevant share."""
        conv = self.inventory.kinds[CONV]
        recurrent = self.inventory.share(RECURRENT)
        if self.attention and self.scans:
            return (
                "hybrid",
                0.85,
                [*self._attention_line(), plural(self.scans, "selective state-space layer")],
            )
        if self.attention and conv.layers >= _MIXED_LAYERS and self.inventory.share(CONV) >= _MIXED:
            return "hybrid", 0.8, [*self._attention_line(), *self._convolution_line()]
        if self.attention and recurrent >= _MINOR_SHARE:
            return "hybrid", 0.8, [*self._attention_line(), self._recurrent_line()]
        if (
            conv.layers >= _MIN_LAYERS
            and self.inventory.share(CONV) >= _MINOR_SHARE
            and recurrent >= _MINOR_SHARE
        ):
            return "hybrid", 0.75, [self._recurrent_line(), *self._convolution_line()]
        return None

    def _transformer(self) -> _FamilyChoice:
        if not self.attention or not self.inventory.layers:
            return None
        family, confidence, lines = judge_transformer(self.main, self.attention, self.inventory)
        return family, confidence, lines

    def _state_space(self) -> _FamilyChoice:
        if not self.scans:
            return None
        short = sum(map(depthwise_sequences, self.flows))
        lines = [f"{plural(self.scans, 'layer')} with the decay exp(Δ·A), Δ from a Softplus; no attention"]
        if short:
            lines.append(plural(short, "depthwise convolution") + " along the sequence")
        return "state-space", 0.9 if short else 0.7, lines

    def _exponential_recurrence(self) -> _FamilyChoice:
        """Recurrent layers written out with exponential gates."""
        steps = sum(map(position_mixing.exponential_sums, self.flows))
        if not steps or not self.inventory.layers:
            return None
        gates = plural(steps, "step")
        evidence = f"{gates} of a recurrent sum with exponential weights, less their running maximum"
        return "recurrent", 0.85, [evidence, "no attention"]

    def _graph(self) -> _FamilyChoice:
        if not self.inventory.layers:
            return None
        times, how = position_mixing.messages(self.main)
        return ("graph", 0.9, [f"{plural(times, 'message-passing step')}: {how}"]) if times else None

    def _fourier(self) -> _FamilyChoice:
        count = sum(map(position_mixing.fourier_mixes, self.flows))
        if not count or not self.inventory.on_positions:
            return None
        return "fourier", 0.9, [f"positions are mixed by {plural(count, 'Fourier transform')}, no attention"]

    def _decomposed_attention(self) -> _FamilyChoice:
        """Attention that no recogniser can take apart; whether it is causal is unknown."""
        count = sum(map(position_mixing.decomposed_attention, self.flows))
        if not count or not self.inventory.layers:
            return None
        lines = [
            f"attention in separate operators: {plural(count, 'Softmax', 'Softmax nodes')} between products"
        ]
        vocabulary = output_signs.vocabulary_output(self.main)
        if vocabulary is not None and vocabulary[0] in self.inventory.token_tables:
            return "unknown", 0.0, [*lines, "encoder or decoder: undecided, since the mask is unknown"]
        return "transformer-encoder", 0.6, lines

    def _recurrent(self) -> _FamilyChoice:
        if not self.inventory.kinds[RECURRENT].layers or self.inventory.share(RECURRENT) < _MINOR_SHARE:
            return None
        return "recurrent", 0.9, [self._recurrent_line()]

    def _only_recurrent(self) -> _FamilyChoice:
        """Recurrent layers are the only ones that mix positions, however large the other layers are."""
        if not self.inventory.kinds[RECURRENT].layers or self.inventory.spatial:
            return None
        return "recurrent", 0.75, [self._recurrent_line(), "no other layers mix positions"]

    def _convolutional(self) -> _FamilyChoice:
        conv, share = self.inventory.kinds[CONV], self.inventory.share(CONV)
        if self.inventory.layers < 2 or not conv.layers:
            return None
        lines = self._convolution_line()
        if share >= 0.5 and self.inventory.spatial:
            return "cnn", 0.95 if conv.layers >= _MIN_LAYERS else 0.7, lines
        if self.inventory.spatial >= _MIN_LAYERS:
            return "cnn", 0.85, [*lines, "no other layers mix positions: no attention, no recurrence"]
        return None

    def _dense(self) -> _FamilyChoice:
        dense, conv = self.inventory.kinds[DENSE], self.inventory.kinds[CONV]
        cutting = conv.layers == len(
            self.inventory.patches
        )  # convolutions that only cut an image into patches
        pointwise = (
            not self.inventory.spatial and conv.layers > 1
        )  # acts on each position, like a dense layer
        if pointwise and dense.layers + conv.layers > 2 and self.inventory.share(RECURRENT) < _MINOR_SHARE:
            evidence = f"{conv.layers} pointwise convolutions act as dense layers at each position"
            return "mlp", 0.75, [evidence, "no attention, no recurrence"]
        if dense.layers < 2 or self.inventory.share(DENSE) + cutting * self.inventory.share(CONV) < 0.8:
            return None
        if self._is_unexplained():
            return None
        share = units.share(self.inventory.share(DENSE), 1)
        lines = [f"{dense.layers} dense layers have {share} of {self._measure()}"]
        return "mlp", 0.9 if not self.inventory.spatial else 0.7, [*lines, "no attention, no recurrence"]

    def _is_unexplained(self) -> bool:
        """Tokens pass through dense layers one by one, and no known operator mixes them."""
        inventory = self.inventory
        return (
            bool(inventory.token_tables)
            and inventory.on_positions >= _MIN_LAYERS
            and not inventory.across_positions
        )

    # ---------------------------------------------------------------- lines

    def _attention_line(self) -> list[str]:
        if not self.attention:
            return []
        crossing = sum(layer.kind == "cross" for layer in self.attention)
        cross_part = f", {crossing} of them cross-attention" if crossing else ""
        some = "layer" if len(self.attention) == 1 else "layers"
        return [f"{len(self.attention)} attention {some}{cross_part}"]

    def _convolution_line(self) -> list[str]:
        conv = self.inventory.kinds[CONV]
        if not conv.layers:
            return []
        has = "have" if conv.layers > 1 else "has"
        share = units.share(self.inventory.share(CONV), 1)
        return [f"{plural(conv.layers, 'convolution')} {has} {share} of {self._measure()}"]

    def _recurrent_line(self) -> str:
        kind = self.inventory.kinds[RECURRENT]
        share = units.share(self.inventory.share(RECURRENT), 1)
        return f"{plural(kind.layers, 'recurrent layer')} with {share} of {self._measure()}"

    def _measure(self) -> str:
        return (
            "the MACs of layers with weights"
            if self.inventory.macs_complete
            else "the estimated MACs of layers with weights"
        )

    def _details(self) -> list[str]:
        """Return facts that add detail but do not decide the family."""
        lines = []
        experts = sum(block.kind == "moe" for block in self.blocks)
        if experts:
            lines.append(plural(experts, "mixture of experts", "mixtures of experts"))
        joins = sum(block.kind == "residual" for block in self.blocks)
        if joins:
            lines.append(plural(joins, "residual connection"))
        longest = max(
            self.repeats, key=lambda run: (run.count * len(run.members[0]), run.count), default=None
        )
        if longest is not None and longest.count > 1:
            lines.append(f"{longest.type or 'one block'} is repeated {longest.count} times in a row")
        unknown_ops = self._unknown_operators()
        if unknown_ops:
            lines.append(f"{plural(unknown_ops, 'operator')} of other domains, with unknown cost")
        return lines

    def _unknown_operators(self) -> int:
        """Count the operators of unknown domains."""
        return sum(
            count
            for op, count in self.inventory.ops.items()
            if "::" in op and op.partition("::")[0] not in _STANDARD_DOMAINS
        )

    def _no_evidence(self) -> list[str]:
        kinds = [
            f"{k.layers} {name} layer{'' if k.layers == 1 else 's'}"
            for name, k in self.inventory.kinds.items()
            if k.layers
        ]
        weights = f"only {', '.join(kinds)}" if kinds else "no layers with weights"
        compiled = compiled_parts(self.model)
        if compiled is not None:
            weights = "layers and weights are compiled"
        mixer = (
            ["the operators that mix the positions of the sequence are not recognised"]
            if self._is_unexplained()
            else []
        )
        lines = compiled.lines if compiled is not None else ()
        return [*lines, *self._attention_line(), weights, *mixer, *self._details()]


_FamilyChoice = tuple[str, float, list[str]] | None
