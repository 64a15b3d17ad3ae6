"""The pipeline: from a model in any form to the data behind the report and the viewer.

Phases, as passed to ``progress``: load, build, shapes, costs, memory, structure, findings.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from py_autodoc.blocks.analyse import quantized_only, recognise_structure
from py_autodoc.blocks.architecture.context_length import ContextLimit, model_contexts
from py_autodoc.blocks.architecture.kv_attention_sizes import (
    attention_sizes,
    decoder_confidence,
    longest_context,
)
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraphs
from py_autodoc.blocks.results import Structure
from py_autodoc.costs.breakdown import MemoryBreakdown, breakdown
from py_autodoc.costs.coverage import uncovered
from py_autodoc.costs.engine import CostTable, NodeCost, Totals, cost_table, totals
from py_autodoc.costs.expressions import Expressions
from py_autodoc.costs.kv_cache import KVCache, kv_cache
from py_autodoc.costs.liveness import PeakMemory
from py_autodoc.costs.params import ParamTable, count_params
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.costs.timeline import Timeline, timeline
from py_autodoc.errors import AutodocError
from py_autodoc.findings.registry import Finding, RuleContext
from py_autodoc.findings.run import findings
from py_autodoc.findings.thresholds import RuleOptions, settings
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.diagnostic_causes import contradicts_sizes
from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.graph.ir.model import Contradiction, Diagnostic, Model, TypeTable
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.symbolic_dims.dim_names import symbolic_inputs
from py_autodoc.graph.tensor_data.mask_folding import folded
from py_autodoc.graph.tensor_data.mask_tables import mask_tables
from py_autodoc.graph.tensor_data.small_constants import with_small_constants
from py_autodoc.graph.tensor_data.weight_stats import TensorFacts
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.identity.identify import identify
from py_autodoc.identity.model import ModelIdentity
from py_autodoc.identity.task_heads import with_task_heads
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.outputs.inputs import original
from py_autodoc.report.pipeline.device_choice import DeviceChoice, choose_device, kernels_of
from py_autodoc.report.pipeline.dim_bindings import Dims, resolve_dims, unresolved_dims
from py_autodoc.report.pipeline.model_source import normalise_source, open_model
from py_autodoc.report.pipeline.phase_log import PhaseLog, log_nodes, log_totals
from py_autodoc.report.pipeline.rebatch_request import Rebatch, rebatch_if_requested, sets_fixed_batch
from py_autodoc.report.pipeline.resize_request import Resize, at_sizes
from py_autodoc.report.pipeline.rule_settings import rule_settings
from py_autodoc.report.pipeline.stored_figures import StoredFigures
from py_autodoc.report.schema import (
    CardFacts,
    QuantizationAdvice,
    RuleSettings,
    ServingSummary,
    SystemRequirements,
)

if TYPE_CHECKING:
    from py_autodoc.graph.shapes.infer import SymbolicTypes
    from py_autodoc.graph.size_fitting.fit import Fitter

PHASES = ("load", "build", "shapes", "costs", "memory", "structure", "findings")
FAILED = "analysis-failed"
"""Diagnostic code: a stage failed and the report is partial."""
GAVE_UP = "structure-gave-up"
"""Diagnostic code: a structure recogniser failed; all numbers are still valid."""

Progress = Callable[[str, int, int], None]
"""Called with (phase, done, total). An exception it raises aborts the analysis."""
T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an analysis.

    ``bindings`` sets values of symbolic dimensions (``"*"``: all without a value), ``input_shapes`` full
    shapes of inputs, ``batch_size`` the first symbol of the inputs or, if the file has a fixed batch, that
    batch (``graph.rebatch``). ``resize`` sets full shapes of inputs whose dimensions are fixed in the file;
    the model is rewritten for them (``graph.resize``). ``assume`` gives the remaining dimensions their
    suggested value.
    """

    bindings: Mapping[str, int] = field(default_factory=dict)
    input_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    batch_size: int | None = None
    resize: Mapping[str, Sequence[int]] = field(default_factory=dict)
    assume: bool = False
    limits: Limits = LIBRARY
    thresholds: RuleOptions | None = None
    """Rule settings: enabled rules, thresholds, severities. None uses the defaults."""
    read_weights: bool = False
    """Read all weights, for the rules about their values."""
    hash: bool = False
    """Compute the SHA-256 of the file and its external data files."""
    hardware: str = ""
    """Device for latency estimates: id of a profile, or path of a profile file."""
    precision: str = ""
    """Precision of the estimates; empty: the stored precision."""
    runtime: str = ""
    """Runtime of the estimates; empty: the usual one of the device."""
    brief: bool = False
    """Only compute what aligning two models needs (types, costs, quantized layers); leave the rest empty."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysed model. ``timeline``, ``breakdown`` and ``kv_cache`` are None if their stage failed."""

    loaded: LoadedModel
    model: Model
    types: TypeTable
    sizes: TensorSizes
    costs: list[NodeCost]
    totals: Totals
    params: ParamTable
    timeline: Timeline | None
    breakdown: MemoryBreakdown | None
    kv_cache: KVCache | None
    dims: Dims
    symbolic: Expressions | None
    """Costs as expressions; None without symbolic input dimensions, or if the stage failed."""
    structure: Structure
    findings: tuple[Finding, ...]
    """Findings, most severe first."""
    diagnostics: tuple[Diagnostic, ...]
    rules: RuleSettings | None = None
    """Rule settings that differ from the defaults."""
    kernels: Kernels | None = None
    """Fused kernels of the runtime; None if the stage failed."""
    hardware: DeviceChoice | None = None
    """Device of the latency estimate."""
    rebatch: Rebatch | None = None
    """How the fixed batch of the file was changed; None if it was not."""
    contexts: Mapping[int, ContextLimit] = field(default_factory=dict)
    """Attention layers by their anchors → longest context."""
    identified: ModelIdentity = field(default_factory=ModelIdentity)
    """Plain-language description of the model; empty if the stage failed."""
    resize: Resize | None = None
    """How fixed dimensions of the file were changed; None if they were not."""
    quantization: QuantizationAdvice | None = None
    """Recommendations from sensitivity measurements; None without them."""
    card: CardFacts | None = None
    """Statements of the owner; None without any."""
    requirements: SystemRequirements | None = None
    """Devices of a recommendation; None without one."""
    serving: ServingSummary | None = None
    """Text generation on the device; None without one."""
    open_types: SymbolicTypes | None = None
    """Types with symbolic dimensions kept; None without symbolic input dimensions."""
    stored: StoredFigures | None = None
    """Figures of the report from which the graph was restored; None for a model that was read."""

    @property
    def peak(self) -> PeakMemory | None:
        """Peak of live activations; None if the memory stage failed."""
        return self.timeline.peak if self.timeline else None

    @property
    def contradiction(self) -> Contradiction | None:
        """Why the model cannot run with the given dimensions, if so."""
        return self.types.contradiction

    @property
    def partial(self) -> bool:
        """True if a stage failed and its results are missing."""
        return any(d.code == FAILED for d in self.diagnostics)


def run_analysis(source: Any, options: Options | None = None, progress: Progress | None = None) -> Analysis:
    """Analyse a path, serialized bytes, an ``onnx.ModelProto`` or an ``onnx_ir.Model``.

    Weights and external files are not read, except for ``read_weights`` (phase ``weights`` within
    ``findings``, progress in bytes) and ``hash`` (phase ``hash`` within ``load``, likewise). If a stage
    fails, its numbers are unknown and a diagnostic ``analysis-failed`` is added.

    Raises:
        InputError: the model cannot be read, or an option does not fit it.
    """
    with gc_paused():  # many objects, none of them garbage before the end
        return _Pipeline(options or Options(), progress or _silent).run(source)


def _silent(phase: str, done: int, total: int) -> None:
    """Ignore progress."""


def _of_file(model: Model, source: Any) -> Model:
    """Return the model with the size of the file that was given, if a converted copy is read in its place.

    The facts of what was loaded keep the size of the copy, in which weights are read.
    """
    given = original(source) if isinstance(source, (str, os.PathLike)) else None
    if given is None:
        return model
    file = msgspec.structs.replace(model.file, bytes=os.path.getsize(given))
    return msgspec.structs.replace(model, file=file)


class _Pipeline:
    def __init__(self, options: Options, progress: Progress) -> None:
        self.options = options
        self.progress = progress
        self.failures: list[Diagnostic] = []
        self.log = PhaseLog()

    def run(self, source: Any) -> Analysis:
        self._enter("load")
        hardware = choose_device(self.options.hardware, self.options.precision, self.options.runtime)
        model_source, name = normalise_source(source)
        loaded = open_model(model_source, name, self.options.limits)
        text_file = os.fsdecode(source) if isinstance(source, (str, os.PathLike)) and name else ""
        if text_file:  # parsed in memory; the facts are those of the file
            loaded = replace(
                loaded, facts=msgspec.structs.replace(loaded.facts, bytes=os.path.getsize(text_file))
            )
        if self.options.hash:
            loaded = self._with_hashes(loaded, source, text_file or model_source)
        loaded = with_small_constants(loaded, model_source)
        self._enter("build")
        sized = at_sizes(loaded, self.options.resize, self.options.bindings)
        if sized is not None:
            loaded = sized.resized.loaded
        model = _of_file(build(loaded), source)
        if sized is not None:
            bindings = sized.bindings(model, self.options.bindings)
            self.options = replace(self.options, bindings=bindings)
        changed = rebatch_if_requested(loaded, model, self.options)
        if sets_fixed_batch(model, self.options):
            self.options = replace(self.options, batch_size=None)
        if changed is not None:
            loaded = changed.loaded
            model = _of_file(build(loaded), source)
        self._enter("shapes")
        open_types = self._guard("expressions", lambda: self._open_types(loaded, model), lambda: None)
        dims = self._dims(loaded, model, open_types)
        types = self._guard("shapes", lambda: self._infer(loaded, model, dims), lambda: declared_types(model))
        if changed is not None:
            changed.check(model, types)
        self._enter("costs")
        sizes = TensorSizes(model, types)
        table = self._guard("costs", lambda: cost_table(model, types, sizes), lambda: unknown_costs(model))
        sums = totals(model, table.nodes, types.contradiction is None)
        params = count_params(model, types, sizes)
        log_nodes(model, types, table.nodes, params)
        if self.options.brief:
            flows = self._guard(
                "masks",
                lambda: _flows(loaded, model, types, model_source, table.nodes),
                lambda: DataflowGraphs(model, types),
            )
            layers = self._guard("structure", lambda: quantized_only(model, flows.types, flows), Structure)
            return Analysis(
                loaded=loaded,
                model=model,
                types=types,
                sizes=sizes,
                costs=table.nodes,
                totals=sums,
                params=params,
                timeline=None,
                breakdown=None,
                kv_cache=None,
                dims=dims,
                symbolic=None,
                open_types=open_types,
                structure=layers,
                findings=(),
                diagnostics=tuple(self.failures),
                rebatch=changed,
                resize=sized,
            )
        self._enter("memory")
        time = self._guard("memory", lambda: timeline(model, types, sizes), lambda: None)
        peak = time.peak if time else None
        split = self._guard(
            "memory breakdown", lambda: breakdown(model, sizes, params, table.nodes), lambda: None
        )
        symbolic = self._guard(
            "expressions", lambda: self._symbolic(loaded, model, dims, open_types), lambda: None
        )
        self._enter("structure")
        flows = self._guard(
            "masks",
            lambda: _flows(loaded, model, types, model_source, table.nodes),
            lambda: DataflowGraphs(model, types),
        )
        recognised = self._guard(
            "structure", lambda: recognise_structure(model, flows.types, flows), Structure
        )
        identified = self._guard(
            "identity", lambda: identify(flows.of(0), recognised, flows.all()), ModelIdentity
        )
        recognised = with_task_heads(model, recognised, identified)
        contexts: dict[int, ContextLimit] = self._guard(
            "longest context", lambda: model_contexts(flows, recognised.attention), dict
        )
        cache = self._guard("KV cache", lambda: _kv_cache(flows, types, recognised), lambda: None)
        runs = () if hardware is None else (hardware.runtime,)
        kernels = self._guard(
            "kernels",
            lambda: kernels_of(model, types, sizes, table.nodes, recognised, *runs),
            lambda: None,
        )
        self._enter("findings")
        weights, unread = self._weights(loaded, model, model_source)
        chosen = settings() if self.options.thresholds is None else self.options.thresholds
        context = RuleContext(
            model,
            types,
            sizes,
            table.nodes,
            sums,
            params,
            peak,
            recognised,
            chosen.thresholds,
            diagnostics=(*model.diagnostics, *types.diagnostics, *table.diagnostics),
            weights=weights,
            flows=flows,
        )
        risks, notes = findings(context, chosen)
        self.progress(PHASES[-1], len(PHASES), len(PHASES))
        self.log.enter("")
        log_totals(model, sums, params, peak)
        return Analysis(
            loaded=loaded,
            model=model,
            types=types,
            sizes=sizes,
            costs=table.nodes,
            totals=sums,
            params=params,
            timeline=time,
            breakdown=split,
            kv_cache=cache,
            contexts=contexts,
            dims=dims,
            symbolic=symbolic,
            open_types=open_types,
            structure=recognised,
            findings=tuple(risks),
            diagnostics=(
                *model.diagnostics,
                *types.diagnostics,
                *table.diagnostics,
                *dims.diagnostics,
                *self._guard(
                    "coverage", lambda: uncovered(model, types, table.nodes, sizes), _no_diagnostics
                ),
                *recogniser_notes(recognised),
                *unread,
                *notes,
                *(changed.diagnostics() if changed else ()),
                *(sized.diagnostics() if sized else ()),
                *self.failures,
            ),
            rules=rule_settings(chosen, self.options.read_weights),
            kernels=kernels,
            hardware=hardware,
            rebatch=changed,
            identified=identified,
            resize=sized,
        )

    def _with_hashes(self, loaded: LoadedModel, source: Any, model_source: str | bytes) -> LoadedModel:
        """Return the model with the hashes of its files; a model built in memory has none."""
        from py_autodoc.graph.loading.file_hashes import hashes, of_bytes

        def report_progress(count: int, total: int) -> None:
            self.progress("hash", count, total)

        facts = loaded.facts
        if isinstance(source, (bytes, bytearray, memoryview)):
            facts = msgspec.structs.replace(facts, sha256=of_bytes(bytes(source)))
        elif isinstance(model_source, str):
            digests = hashes(model_source, facts.external_files, report_progress)
            facts = msgspec.structs.replace(facts, sha256=digests.model, external_sha256=digests.external)
        return replace(loaded, facts=facts)

    def _weights(
        self, loaded: LoadedModel, model: Model, model_source: str | bytes
    ) -> tuple[tuple[TensorFacts, ...] | None, tuple[Diagnostic, ...]]:
        """Return the facts on weights and what could not be read; (None, ()) if not requested."""
        if not self.options.read_weights:
            return None, ()
        from py_autodoc.graph.tensor_data.weight_reader import read_weights

        def report_progress(count: int, total: int) -> None:
            self.progress("weights", count, total)

        return self._guard(
            "weights", lambda: read_weights(loaded, model, model_source, report_progress), lambda: (None, ())
        )

    def _open_types(self, loaded: LoadedModel, model: Model) -> SymbolicTypes | None:
        """Return types with symbolic dimensions kept; None if there are none."""
        if not any(isinstance(d, str) for shape in symbolic_inputs(model)[0].values() for d in shape or ()):
            return None
        from py_autodoc.graph.shapes import infer_symbolic

        return infer_symbolic(loaded, model, self.options.input_shapes)

    def _dims(self, loaded: LoadedModel, model: Model, open_types: SymbolicTypes | None) -> Dims:
        """Resolve the dimensions, which takes one or two inferences; without suggestions if this fails."""

        def fitting() -> Fitter:
            from py_autodoc.graph.size_fitting.fit import fitter

            return fitter(loaded, model, self.options.input_shapes, open_types)

        return self._guard(
            "sizes",
            lambda: resolve_dims(model, self.options, fitting),
            lambda: unresolved_dims(model, self.options),
        )

    def _symbolic(
        self, loaded: LoadedModel, model: Model, dims: Dims, symbolic: SymbolicTypes | None
    ) -> Expressions | None:
        """Return costs as expressions in all symbolic input dimensions, even if they are bound."""
        if symbolic is None:
            return None
        from py_autodoc.costs.expressions import expressions
        from py_autodoc.graph.shapes import infer

        symbols = set(symbolic.original.values())

        def reference() -> tuple[Mapping[str, int], Sequence[NodeCost]] | None:
            # A dimension of 1 may be broadcast, which can hide costs that other values reveal.
            suggested = dims.suggested(minimum=2)
            if suggested is None:
                return None
            sizes = {name: size for name, size in suggested.items() if name in symbols}
            bound = infer(loaded, model, sizes, self.options.input_shapes)
            return None if has_misfit_sizes(bound) else (sizes, cost_table(model, bound).nodes)

        return expressions(model, symbolic, reference)

    def _infer(self, loaded: LoadedModel, model: Model, dims: Dims) -> TypeTable:
        if dims.types is not None:
            return dims.types
        # Importing shape inference takes half of the import time: wait until the file is known to be a model.
        from py_autodoc.graph.shapes import infer

        return infer(loaded, model, dims.bindings, self.options.input_shapes)

    def _enter(self, phase: str) -> None:
        self.log.enter(phase)
        self.progress(phase, PHASES.index(phase), len(PHASES))

    def _guard(self, phase: str, compute: Callable[[], T], fallback: Callable[[], T]) -> T:
        try:
            return compute()
        except (AutodocError, MemoryError):
            raise
        except Exception as fault:
            log.debug("%s failed", phase, exc_info=True)
            message = f"The stage {phase} failed ({type(fault).__name__}); its numbers are unknown."
            self.failures.append(Diagnostic(FAILED, "error", message))
            return fallback()


def _no_diagnostics() -> list[Diagnostic]:
    return []


def _flows(
    loaded: LoadedModel,
    model: Model,
    types: TypeTable,
    model_source: str | bytes,
    costs: Sequence[NodeCost],
) -> DataflowGraphs:
    """Return the graphs for the recognisers, with stored masks, which distinguish encoders and decoders."""
    masks = mask_tables(loaded, model, model_source)
    runs = {graph.id: costs[graph.nodes[0]].runs for graph in model.graphs if graph.nodes}
    if masks:
        masks |= folded(model, types.values, masks)
        types = replace(types, values={**types.values, **masks})
    return DataflowGraphs(model, types, runs)


def _kv_cache(flows: DataflowGraphs, types: TypeTable, recognised: Structure) -> KVCache:
    model = flows.model
    sizes = attention_sizes(model, types, recognised.attention)
    context = longest_context(flows.of(0), recognised.attention)
    return kv_cache(model, types, sizes, context, decoder_confidence(recognised))


def has_misfit_sizes(types: TypeTable) -> bool:
    """Return True if the model cannot run with the sizes used, so they say nothing about others."""
    return types.contradiction is not None or any(map(contradicts_sizes, types.diagnostics))


def recogniser_notes(recognised: Structure) -> list[Diagnostic]:
    """Return a diagnostic per failed recogniser: only its own results are missing."""
    return [
        Diagnostic(GAVE_UP, "info", f"A recogniser of structure gave up: {line}.")
        for line in recognised.gave_up
    ]


def declared_types(model: Model) -> TypeTable:
    """Return the types declared in the file, as fallback if inference failed."""
    return TypeTable(
        dtypes=[t.dtype for t in model.tensors],
        shapes=[t.shape for t in model.tensors],
        values=model.constants,
    )


def unknown_costs(model: Model) -> CostTable:
    """Return unknown costs for all nodes, as fallback if the cost stage failed."""
    return CostTable([NodeCost(None, "the cost stage failed")] * len(model.nodes), ())
