"""The fields of a report: one JSON document with everything that is known of a model.

What can be done with them is ``report.report.Report``, the class that is made and read.
"""

from __future__ import annotations

from py_autodoc.report.schema.architecture import ArchitectureInfo, RiskSignal
from py_autodoc.report.schema.costs import Block, Coverage, Layer, Metrics, RepeatInfo
from py_autodoc.report.schema.dataset import DatasetInfo
from py_autodoc.report.schema.estimates import HardwareEstimates
from py_autodoc.report.schema.identity import Identity
from py_autodoc.report.schema.llm_summary import LlmSummary
from py_autodoc.report.schema.memory import MemoryInfo
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
from py_autodoc.report.schema.wire import Wire


class ReportFields(Wire, frozen=True, kw_only=True):
    """The whole report."""

    schema_version: str
    """Version of this structure."""
    generator: Generator
    """Who made the report."""
    model: ModelInfo
    """What the file says of itself."""
    graph: GraphInfo
    """Counts and interface."""
    architecture: ArchitectureInfo
    """What kind of network it is, with the reasons."""
    metrics: Metrics
    """Totals."""
    memory: MemoryInfo
    """Peak over time, weights and activations by kind, KV cache."""
    coverage: Coverage
    """How much of the model the totals cover."""
    dims: list[DimInfo]
    """Free symbols of the inputs."""
    diagnostics: list[DiagnosticInfo]
    """What the reader must know, worst first."""
    layers: list[Layer]
    """The nodes in execution order, bodies of control flow after their node."""
    layers_omitted: int
    """Layers cut by ``--max-layers``."""
    blocks: list[Block]
    """Modules, then recognised structures, with their sums."""
    repeats: list[RepeatInfo]
    """Parts that are one part several times, those that cover most layers first; at most 1,000."""
    risk_signals: list[RiskSignal]
    """Findings of the rules, worst first; at most 20 of one rule."""
    rule_settings: RuleSettings | None = None
    """How they were made; null: as the rules come."""
    runnable: Runnable = Runnable(verdict="unknown", reason="the report does not say")
    """Whether the model runs with these sizes; totals are null where it does not."""
    hardware_estimates: HardwareEstimates | None = None
    """Latency and memory on the device that was chosen; null without one."""
    rebatch: RebatchInfo | None = None
    """How the batch was changed that the file has fixed; null: it was not."""
    identity: Identity | None = None
    """The model in words; null in reports of versions that had none. ``model.identity`` is another thing."""
    resize: ResizeInfo | None = None
    """How sizes were changed that the file has fixed; null: they were not."""
    llm_summary: LlmSummary | None = None
    """What a language model wrote of the report; null unless it was asked (``--llm-summary``)."""
    dataset: DatasetInfo | None = None
    """Classes and training data that the metadata name; null where they name none."""
