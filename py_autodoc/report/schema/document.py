"""The fields of a report: one JSON document with everything known about a model.

Their methods are in ``report.document.report.Report``, the class that is created and read.
"""

from __future__ import annotations

from py_autodoc.report.schema.architecture import ArchitectureInfo, RiskSignal
from py_autodoc.report.schema.card import CardFacts, ServingSummary, SystemRequirements
from py_autodoc.report.schema.costs import Block, Coverage, Layer, Metrics, RepeatInfo
from py_autodoc.report.schema.dataset import DatasetInfo
from py_autodoc.report.schema.estimates import HardwareEstimates
from py_autodoc.report.schema.identity import Identity
from py_autodoc.report.schema.llm_summary import LlmSummary
from py_autodoc.report.schema.memory import MemoryInfo, SharedWeight
from py_autodoc.report.schema.model import (
    DiagnosticInfo,
    DimInfo,
    Generator,
    GraphInfo,
    ModelInfo,
    RebatchInfo,
    ResizeInfo,
    Runnable,
)
from py_autodoc.report.schema.payload import RuleSettings
from py_autodoc.report.schema.quantization import QuantizationAdvice
from py_autodoc.report.schema.wire import Wire


class ReportFields(Wire, frozen=True, kw_only=True):
    """The whole report."""

    schema_version: str
    """Version of this structure."""
    generator: Generator
    """The program that made the report."""
    model: ModelInfo
    """Facts stored in the file."""
    graph: GraphInfo
    """Counts and interface."""
    architecture: ArchitectureInfo
    """Family of the network, with the evidence."""
    metrics: Metrics
    """Totals."""
    memory: MemoryInfo
    """Peak over time, weights and activations by kind, KV cache."""
    coverage: Coverage
    """How much of the model the totals cover."""
    dims: list[DimInfo]
    """Symbolic dimensions of the inputs."""
    diagnostics: list[DiagnosticInfo]
    """Diagnostics about the file or the analysis, most severe first."""
    layers: list[Layer]
    """The nodes in execution order; subgraphs follow their node."""
    layers_omitted: int
    """Number of layers omitted because of ``--max-layers``."""
    blocks: list[Block]
    """Modules, then recognised structures, with their totals."""
    repeats: list[RepeatInfo]
    """Repeats, those that cover the most layers first; at most 1,000."""
    risk_signals: list[RiskSignal]
    """Findings of the rules, most severe first; at most 20 per rule."""
    rule_settings: RuleSettings | None = None
    """Settings of the rules; null for the defaults."""
    runnable: Runnable = Runnable(verdict="unknown", reason="the report does not say")
    """Whether the model runs with these dimensions; if not, totals are null."""
    hardware_estimates: HardwareEstimates | None = None
    """Latency and memory on the chosen device; null without one."""
    rebatch: RebatchInfo | None = None
    """How the fixed batch of the file was changed; null if it was not."""
    identity: Identity | None = None
    """The model in words; null in reports of older versions. ``model.identity`` is something else."""
    resize: ResizeInfo | None = None
    """How fixed dimensions of the file were changed; null if they were not."""
    llm_summary: LlmSummary | None = None
    """Summary by a language model; null without ``--llm-summary``."""
    dataset: DatasetInfo | None = None
    """Classes and training data named in the metadata; null if there are none."""
    num_shared_weights: int = 0
    """Number of weights that several layers use, such as tied embeddings."""
    shared_weights: list[SharedWeight] = []
    """These weights, those with the most parameters first; at most 1,000."""
    quantization: QuantizationAdvice | None = None
    """Which layers to quantize, from measurements; null without ``--sensitivity``."""
    card: CardFacts | None = None
    """Statements of the owner; null if none are given."""
    system_requirements: SystemRequirements | None = None
    """Devices for the model; null without ``--requirements``."""
    serving: ServingSummary | None = None
    """Text generation on the device; null without one, and for models that generate no text."""
