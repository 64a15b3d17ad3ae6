"""A decoder at batches, prompts and contexts: its symbolic dimensions, and its numbers for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from py_autodoc.hardware.latency_estimate import Estimate, launches
from py_autodoc.hardware.latency_model import Device
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.limits import Limits
from py_autodoc.llm.activations import Shapes, live_bytes
from py_autodoc.report.builders.hardware_section import batch_of
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs, kernels_in
from py_autodoc.report.pipeline.dim_bindings import batch_names
from py_autodoc.sweep.costs import Costs, SweepSizes, estimate_time, same_work
from py_autodoc.sweep.evaluate import Evaluator, SweepNumbers

MAX_KEPT = 64
"""Maximum number of points whose numbers are kept for the next device."""


class SizedModel:
    """A model evaluated for many values of batch, new tokens and cached tokens."""

    def __init__(
        self, source: Any, limits: Limits, bindings: dict[str, int], runtime: Runtime = TENSORRT
    ) -> None:
        self._source, self._limits, self._bindings = source, limits, bindings
        self._runtime = runtime
        self.base = self._analysed(SweepSizes(None, bindings, {}), assume=True)
        self._batch = batch_names(self.base.model)
        self._past, self._tokens, self._total = _names(self.base, self._batch)
        base_sizes = SweepSizes(None, dict(bindings), {})
        free = bool(self._tokens)
        # The second point uses distinct values to verify the expressions.
        proof = self._sizes(2, 3, 5) if free else base_sizes
        self._costs = Costs(self._analysed, [base_sizes, proof], base_sizes, self.base)
        self._prompted = self._evaluator()
        self._caches = _caches(self.base)
        self._launches: dict[tuple[str, int], float | None] = {}
        self._inputs = estimate_inputs(self.base)
        self._prompts: dict[tuple[int, int], SweepNumbers | str] = {}
        self._live_bytes: dict[tuple[int, int, int, int], int | None] = {}
        self._shapes = self._proved(proof) if free else None

    @property
    def prompts(self) -> bool:
        """True if prompts of any length are supported."""
        return bool(self._tokens)

    @property
    def fixed(self) -> tuple[int, int] | None:
        """Batch and prompt of the pass that a file with fixed dimensions runs; None if it reads a cache."""
        cache, batch = self.base.kv_cache, batch_of(self.base)
        queries = next((layer.queries for layer in self.base.structure.attention), None)
        if self._tokens or cache is None or any(layer.inputs for layer in cache.layers):
            return None
        return (batch, queries) if batch and type(queries) is int and queries else None

    @property
    def closed(self) -> bool:
        """True if thousands of sizes can be tried."""
        return self._shapes is not None or self._costs.closed or not self._tokens

    @property
    def quick(self) -> bool:
        """True if no prompt needs its own analysis."""
        return not self._tokens or self._prompted is not None

    @property
    def kernels(self) -> int | None:
        """Number of kernels per pass, counting loop iterations; None if one of these is unknown."""
        kernels, repeat = self.base.kernels, estimate_inputs(self.base).repeat
        if kernels is None:
            return None
        runs = [repeat.get(anchor, 1) for anchor in kernels.anchor]
        return (
            None
            if any(run_count is None for run_count in runs)
            else sum(run_count or 0 for run_count in runs)
        )

    def launches(self, device: Device, tokens: int) -> float | None:
        """Return the kernels that a pass of ``tokens`` launches; None if unknown."""
        kernels = self.base.kernels
        if kernels is None:
            return None
        key = device.category, tokens if kernels.routed else 1
        if key not in self._launches:
            self._launches[key] = launches(kernels, self._inputs, device, self._runtime.model, key[1])
        return self._launches[key]

    def prefill(
        self, batch: int, prompt: int, device: Device, precision: str
    ) -> tuple[Estimate | None, SweepNumbers | None, str]:
        """Return the estimate of one prompt per sequence, its numbers, and what is missing."""
        if (batch, prompt) not in self._prompts:
            if len(self._prompts) >= MAX_KEPT:
                self._prompts.clear()
            self._prompts[batch, prompt] = self._prompt(self._sizes(batch, prompt, 0))
        numbers = self._prompts[batch, prompt]
        if isinstance(numbers, str):
            return None, None, numbers
        estimate, _, why = estimate_time(self.base, numbers, device, precision, self._runtime)
        if estimate is not None and estimate.unknown:
            return None, numbers, why or f"{estimate.unknown:,} kernels have no time"
        return estimate, numbers, why

    def _prompt(self, sizes: SweepSizes) -> SweepNumbers | str:
        numbers = None if self._prompted is None else self._prompted.evaluate(self._costs.all_bindings(sizes))
        return self._costs.evaluate(sizes)[0] if numbers is None else numbers

    def _evaluator(self) -> Evaluator | None:
        """Return the evaluator for prompts with an empty cache, if it matches an analysis."""
        evaluator = Evaluator.of(self.base, self.base.symbolic, with_memory=False) if self._tokens else None
        if evaluator is None:
            return None
        sizes = self._sizes(2, 3, 0)
        computed = evaluator.evaluate(self._costs.all_bindings(sizes))
        checked = self._costs.from_analysis(sizes)
        same = computed is not None and isinstance(checked, SweepNumbers) and same_work(computed, checked)
        return evaluator if same else None

    def activations(self, batch: int, tokens: int, past: int, width: int) -> int | None:
        """Return the peak of live bytes in a pass of new ``tokens``, without caches; None if unknown."""
        key = (batch, tokens, past, width)
        if key not in self._live_bytes:
            self._live_bytes[key] = self._activations(*key)
        return self._live_bytes[key]

    def scaled(self, tokens: int, width: int) -> int | None:
        """Return the activations of a model with fixed dimensions, scaled by the number of tokens."""
        live, batch = self.activations(1, 1, 0, width), batch_of(self.base)
        queries = next((layer.queries for layer in self.base.structure.attention), None)
        if live is None or not batch or type(queries) is not int or not queries:
            return None
        return -(-live * tokens // (batch * queries))

    def _activations(self, batch: int, tokens: int, past: int, width: int) -> int | None:
        sizes = (
            self._sizes(batch, tokens, past) if self._tokens else SweepSizes(None, dict(self._bindings), {})
        )
        if self._shapes is not None and self.base.kernels is not None:
            inputs = self._shapes.at_sizes(sizes.bindings)
            return None if inputs is None else live_bytes(self.base.kernels, inputs, width, self._caches)
        return self._analysed_alive(sizes, width)

    def _proved(self, proof: SweepSizes) -> Shapes | None:
        """Return shape expressions, only if they match an analysis at another point."""
        base = self.base
        if base.kernels is None or base.symbolic is None or len(base.model.graphs) > 1:
            return None
        if len(base.symbolic.shapes) != len(base.model.tensors):
            return None
        shapes = Shapes(base.kernels, estimate_inputs(base), base.symbolic, self._caches)
        inputs = shapes.at_sizes(proof.bindings)
        computed = None if inputs is None else live_bytes(base.kernels, inputs, 2, self._caches)
        return shapes if computed is not None and computed == self._analysed_alive(proof, 2) else None

    def _analysed_alive(self, sizes: SweepSizes, width: int) -> int | None:
        numbers, _ = self._costs.evaluate(sizes)
        if isinstance(numbers, str) or numbers.kernels is None:
            return None
        return live_bytes(numbers.kernels, numbers.model, width, self._caches)

    def _sizes(self, batch: int, tokens: int, past: int) -> SweepSizes:
        bindings = dict(self._bindings)
        bindings.update(dict.fromkeys(self._batch, batch))
        bindings.update(dict.fromkeys(self._tokens, tokens))
        bindings.update(dict.fromkeys(self._past, past))
        bindings.update(dict.fromkeys(self._total, past + tokens))
        return SweepSizes(batch if self._batch else None, bindings, {})

    def _analysed(self, sizes: SweepSizes, assume: bool = False) -> Analysis:
        options = Options(bindings=dict(sizes.bindings), assume=assume, limits=self._limits)
        analysis = run_analysis(self._source, options)
        if analysis.kernels is None or self._runtime is TENSORRT:
            return analysis
        return replace(analysis, kernels=kernels_in(analysis, self._runtime))


def _caches(analysis: Analysis) -> frozenset[int]:
    """Return the tensors that hold keys and values: the past inputs, and their updates in the graph."""
    cache = analysis.kv_cache
    past = {tensor for layer in cache.layers for tensor in layer.inputs} if cache else set()
    grown: set[int] = set()
    outputs = set(analysis.model.graphs[0].outputs)
    for node in analysis.model.nodes:
        if past.intersection(node.inputs):
            grown.update(tensor for tensor in node.outputs if tensor in outputs)
    return frozenset(past | grown)


def _of_encoder(name: str) -> bool:
    """Return whether an input comes from an encoder, whose length is independent."""
    return "encoder" in name.lower() and "decoder" not in name.lower()


def _names(analysis: Analysis, batch: frozenset[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return the names of the dimensions for cached tokens, new tokens, and their sum."""
    model, cache = analysis.model, analysis.kv_cache
    symbols = {symbol.name for symbol in analysis.dims.symbols}
    layers = cache.layers if cache else ()
    caches = {tensor for layer in layers for tensor in layer.inputs}
    past: list[str] = []
    for layer in layers:
        for tensor in layer.inputs:
            shape = model.tensors[tensor].shape
            if layer.axis is not None and shape is not None and layer.axis < len(shape):
                size = shape[layer.axis]
                if isinstance(size, str) and size in symbols:
                    past.append(size)
    token_names: list[str] = []
    masks: list[str] = []
    for tensor in model.graphs[0].inputs:
        shape = model.tensors[tensor].shape
        if tensor in caches or shape is None or _of_encoder(model.tensors[tensor].name):
            continue
        free = [size for size in shape[:2] if isinstance(size, str) and size in symbols]
        new_sizes = [
            size for size in free if size not in batch and size not in past and not _of_encoder(size)
        ]
        (masks if "mask" in model.tensors[tensor].name.lower() else token_names).extend(new_sizes)
    tokens = [name for name in dict.fromkeys(token_names) if "total" not in name.lower()][:1] or masks[:1]
    # Masks span cached and new tokens; other dimensions keep their given values.
    total = [name for name in {*masks, *token_names} if "total" in name.lower() or name in masks]
    return list(dict.fromkeys(past)), tokens, sorted(set(total).difference(tokens))
