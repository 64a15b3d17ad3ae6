"""The decoder properties used by the formulas, from an analysed model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from py_autodoc.costs.engine import in_inference
from py_autodoc.errors import OptionError
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.hardware.estimate_inputs import FLOATS, tensor_bytes
from py_autodoc.hardware.kernel_products import EXPERTS
from py_autodoc.hardware.latency_model import MODEL
from py_autodoc.hardware.sequential import routing
from py_autodoc.llm import formulas
from py_autodoc.report.builders.hardware_section import batch_of
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs
from py_autodoc.report.pipeline.device_choice import stored_precisions

WIDTHS = dict(MODEL.widths)
_NARROW = 8
"""Maximum bits of integer weights that are unpacked while being read."""


@dataclass(frozen=True, slots=True)
class Expert:
    """Weights of one or several experts: ``chosen`` of ``experts`` are read per token."""

    tensors: tuple[int, ...]
    chosen: int
    experts: int


@dataclass(frozen=True, slots=True)
class Decoder:
    """A decoder. ``weights``, ``read`` and ``cache`` are bytes as functions of the width of a float element.

    ``read`` also depends on the tokens of a step: the weights it reads, each once, in mixtures those of
    experts with at least one token. ``cache`` is the keys and values of one token.
    """

    name: str
    source: str
    layers: int
    hidden: int | None
    attention: int | None
    """Query heads times their size; None if layers differ."""
    kv_heads: int | None
    parameters: int
    active: int | None
    """Parameters used for one token."""
    weights: Callable[[int], int]
    read: Callable[[int, int], float]
    cache: Callable[[int], int]
    cache_source: str
    max_context: int | None
    window: int | None
    """The largest number of cached positions in layers with sliding windows; None without such layers."""
    weight_only: bool
    """True if weights are integers that are unpacked to floats while being read."""
    stored: Sequence[str] = ("fp16",)
    experts: bool = False
    pass_bytes: Callable[[int, int, int], int] | None = None
    """Activations of a pass by batch, new tokens and width, without an ONNX model."""
    window_layers: int = 0
    kept: Callable[[int], int] | None = None
    """Elements cached for one sequence by its tokens; None: the same number for every token."""
    score_flops: Callable[[int], int] | None = None
    """FLOPs of attention over one prompt by its tokens, without an ONNX model."""
    quantization: str | None = None
    """Method of a configuration that stores its weights quantized."""
    assumptions: tuple[str, ...] = field(default=())

    def cached(self, context: int, width: int) -> int:
        """Return the bytes of keys and values of one sequence of ``context`` tokens."""
        return context * self.cache(width) if self.kept is None else self.kept(context) * width

    def prefill_flops(self, batch: int, prompt: int) -> int | None:
        """Return the FLOPs of a prompt for each of ``batch`` sequences; None if unknown.

        Experts of a file have unknown tokens; a configuration counts those that each token chooses.
        """
        if self.active is None:
            return None
        if self.score_flops is not None:
            return 2 * self.active * batch * prompt + batch * self.score_flops(prompt)
        if self.attention is None or self.experts:
            return None
        return formulas.prefill_flops(self.active, batch, prompt, self.layers, self.attention)


def decoder_of(analysis: Analysis) -> Decoder:
    """Return the decoder in a model. Raises: OptionError for a model that does not generate tokens."""
    name, cache = analysis.model.file.name, analysis.kv_cache
    if cache is None or cache.source == "none" or not cache.layers:
        kinds = {block.kind for block in analysis.structure.blocks}
        if analysis.structure.verdict.family == "state-space" or (
            "state-space" in kinds and "attention" not in kinds
        ):
            raise OptionError(
                "no-decoder",
                f"{name} is a state-space model: its state does not grow with the tokens. Without a cache, "
                "memory and times of serving are not planned.",
                "Use `onnx-autodoc analyze MODEL --hardware DEVICE` for the time of one pass.",
            )
        why = cache.reason if cache is not None else "its memory could not be analysed"
        raise OptionError(
            "no-decoder",
            f"{name} is not a decoder with a KV cache: {why}.",
            "Pass a language model that generates text, or its config.json.",
        )
    if any(layer.kv_heads is None or layer.head_dim is None for layer in cache.layers):
        raise OptionError(
            "no-decoder",
            f"{name}: the size of its KV cache is unknown: {cache.reason}.",
            "Set its dimensions with --bind.",
        )
    weights = _Weights(analysis)
    attention = [layer for layer in analysis.structure.attention if analysis.costs[layer.anchor].counted]
    widths = {layer.heads * layer.head_dim for layer in attention if layer.heads and layer.head_dim}
    hidden = {layer.hidden_size for layer in attention if layer.hidden_size}
    heads = {layer.kv_heads for layer in cache.layers}
    assumptions = []
    if cache.source == "estimated":
        assumptions.append("the file has no cache inputs; its causal attention layers are assumed to use one")
    if any(layer.kind == "cross" for layer in attention):
        assumptions.append("keys and values of the encoder, and reading them, are not included")
    return Decoder(
        name=name,
        source="model",
        layers=len(cache.layers),
        hidden=hidden.pop() if len(hidden) == 1 else None,
        attention=widths.pop() if len(widths) == 1 else None,
        kv_heads=heads.pop() if len(heads) == 1 else None,
        parameters=analysis.params.total,
        active=weights.active(),
        weights=weights.total,
        read=weights.read,
        cache=_cache_bytes(analysis),
        cache_source=cache.source,
        max_context=cache.context,
        window=None,
        weight_only=weights.weight_only(),
        stored=stored_precisions(analysis.model, analysis.types, analysis.sizes, analysis.costs),
        experts=bool(weights.experts),
        assumptions=tuple(assumptions),
    )


def _cache_bytes(analysis: Analysis) -> Callable[[int], int]:
    cache = analysis.kv_cache
    assert cache is not None
    layers = cache.layers

    def of_width(width: int) -> int:
        total = 0
        for layer in layers:
            value = layer.head_dim if layer.value_dim is None else layer.value_dim
            count = (layer.kv_heads or 0) * ((layer.head_dim or 0) + (value or 0))
            bits = 8 * width if layer.dtype in FLOATS else BITS.get(layer.dtype, 8 * width)
            total += (count * bits + 7) // 8
        return total

    return of_width


class _Weights:
    """The weights of a model, and those that a step reads."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._sized = estimate_inputs(analysis)
        kernels = analysis.kernels
        reads = [] if kernels is None else kernels.reads
        self.experts = list(self._mixtures())
        self._routed_nodes = {
            node
            for group in ([] if kernels is None else kernels.routed)
            for kernel in group.kernels
            for node in ([] if kernels is None else kernels.members[kernel])
        }
        routed = {tensor for mixture in self.experts for tensor in mixture.tensors}
        self._sizes: dict[tuple[int, int], int] = {}
        self._read = sorted({t for kernel in reads for t in kernel if self._sized.weight[t]} - routed)

    def _mixtures(self) -> list[Expert]:
        kernels, mixtures = self._analysis.kernels, []
        if kernels is None:
            return []
        for group in kernels.routed:
            for kernel in group.kernels:
                mixtures.append(self._expert(kernels.reads[kernel], group.router, group.chosen))
        for kernel, kind in enumerate(kernels.kind):
            if kind == EXPERTS:
                product = kernels.product[kernel]
                mixtures.append(self._expert(kernels.reads[kernel], product, kernels.groups[kernel]))
        return [mixture for mixture in mixtures if mixture is not None and mixture.tensors]

    def _expert(self, reads: Sequence[int], router: int, chosen: int) -> Expert | None:
        shape = self._sized.shapes[router]
        last = shape[-1] if shape else None
        if not isinstance(last, int) or last < 1 or routing((1, last), chosen) is None:
            return None
        return Expert(tuple(t for t in reads if self._sized.weight[t]), min(chosen, last), last)

    def _bytes(self, tensors: Sequence[int], width: int) -> int:
        return sum(tensor_bytes(self._sized, tensor, width) or 0 for tensor in tensors)

    def total(self, width: int) -> int:
        """Return the bytes of all weights."""
        return self._bytes([t for t, weight in enumerate(self._sized.weight) if weight], width)

    def read(self, width: int, tokens: int) -> float:
        """Return the weight bytes that a step of ``tokens`` reads, spreading tokens evenly over experts."""
        total = float(self._once(-1, self._read, width))
        for number, mixture in enumerate(self.experts):
            share = 1.0 - (1.0 - mixture.chosen / mixture.experts) ** tokens
            total += share * self._once(number, mixture.tensors, width)
        return total

    def _once(self, group: int, tensors: Sequence[int], width: int) -> int:
        """Return the bytes of a group of tensors, summed once for each width."""
        if (group, width) not in self._sizes:
            self._sizes[group, width] = self._bytes(tensors, width)
        return self._sizes[group, width]

    def active(self) -> int | None:
        """Return the multiplications with weights for one token: the MACs of the model without attention.

        None if a size or a number of MACs is unknown.
        """
        analysis = self._analysis
        attention = [layer for layer in analysis.structure.attention if analysis.costs[layer.anchor].counted]
        batch, positions = batch_of(analysis), attention[0].queries if attention else None
        if type(positions) is not int or not positions or not batch or analysis.contradiction is not None:
            return None
        inner = {node for layer in attention for node in layer.nodes}
        linear = 0
        for node, entry in enumerate(analysis.costs):
            if node in inner or not entry.counted or node in self._routed_nodes:
                continue
            macs = None if entry.cost is None else in_inference(entry.cost.macs, entry.runs)
            if macs is None:
                return None
            linear += macs
        active = linear / (batch * positions)
        for routes in analysis.kernels.routed if analysis.kernels else ():
            shape = self._sized.shapes[routes.router]
            experts = shape[-1] if shape else None
            if not isinstance(experts, int) or not experts:
                return None
            active += sum(routes.macs) * min(routes.chosen, experts) / experts
        return round(active)

    def weight_only(self) -> bool:
        """Return True if most weight bytes that a step reads are integers of at most one byte."""
        narrow = wide = 0
        for tensor in self._read:
            size = tensor_bytes(self._sized, tensor, 2) or 0
            dtype = self._sized.dtypes[tensor]
            if dtype not in FLOATS and BITS.get(dtype, 64) <= _NARROW:
                narrow += size
            else:
                wide += size
        analysis = self._analysis
        stored = stored_precisions(analysis.model, analysis.types, analysis.sizes, analysis.costs)
        return narrow > wide and stored[0] != "int8"
