"""Runs all recognisers over the main graph and every subgraph, each with its own error guard."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from py_autodoc.blocks.architecture.classify_architecture import classify_architecture
from py_autodoc.blocks.attention_layers.attention import find_attention
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph, DataflowGraphs
from py_autodoc.blocks.layer_blocks.conv import find_conv_blocks
from py_autodoc.blocks.layer_blocks.embedding import find_embeddings
from py_autodoc.blocks.layer_blocks.head import find_heads
from py_autodoc.blocks.layer_blocks.mlp import find_mlps
from py_autodoc.blocks.layer_blocks.normalization import find_normalizations
from py_autodoc.blocks.layer_blocks.quantized_layers import find_quantized
from py_autodoc.blocks.layer_blocks.recurrent import find_recurrent
from py_autodoc.blocks.layer_blocks.selective_scan import find_selective_scans
from py_autodoc.blocks.repetition.repeats import find_repeats
from py_autodoc.blocks.residual_blocks.residual import find_residuals
from py_autodoc.blocks.results import (
    ArchitectureVerdict,
    AttentionLayer,
    QuantizedLayer,
    RecognisedBlock,
    Repeat,
    Structure,
)
from py_autodoc.graph.ir.model import Model, TypeTable

T = TypeVar("T")
log = logging.getLogger(__name__)


def recognise_structure(model: Model, types: TypeTable, flows: DataflowGraphs | None = None) -> Structure:
    """Recognise the structure of a model. Pass ``flows`` to share dataflow graphs that already exist.

    Never raises on an unusual model: a recogniser that fails is skipped and named in ``gave_up``.

    Raises: MemoryError.
    """
    return _Recognition(model, types, flows or DataflowGraphs(model, types)).run()


def quantized_only(model: Model, types: TypeTable, flows: DataflowGraphs) -> Structure:
    """Recognise only the quantized layers, in about a fifth of the time.

    Raises like ``recognise_structure``.
    """
    recognition = _Recognition(model, types, flows)
    for flow in flows.all():
        if flow.order:
            recognition.quantized_layers(flow)
    return Structure(quantized=tuple(recognition.quantized), gave_up=tuple(recognition._gave_up()))


class _Recognition:
    def __init__(self, model: Model, types: TypeTable, flows: DataflowGraphs) -> None:
        self.model = model
        self.types = types
        self.flows = flows
        self.blocks: list[RecognisedBlock] = []
        self.attention: list[AttentionLayer] = []
        self.quantized: list[QuantizedLayer] = []
        self.failed: dict[tuple[str, str], int] = {}

    def run(self) -> Structure:
        model, types = self.model, self.types
        for flow in self.flows.all():
            self._graph(flow)
        blocks, attention = tuple(self.blocks), tuple(self.attention)
        repeats: list[Repeat] = self._guard("repeats", lambda: find_repeats(model, types), [])
        kind = self._guard(
            "verdict",
            lambda: classify_architecture(model, types, blocks, attention, repeats, self.flows),
            ArchitectureVerdict("unknown", 0.0, ()),
        )
        return Structure(
            blocks, attention, tuple(repeats), kind, tuple(self.quantized), tuple(self._gave_up())
        )

    def quantized_layers(self, flow: DataflowGraph) -> None:
        """Add the quantized layers of one graph."""
        self.quantized += self._guard("quantized layers", lambda: find_quantized(flow), [])

    def _graph(self, flow: DataflowGraph) -> None:
        """Run all recognisers on one graph and add their results."""
        if not flow.order:
            return
        attention: list[AttentionLayer] = self._guard("attention", lambda: find_attention(flow), [])
        norms: list[RecognisedBlock] = self._guard("normalizations", lambda: find_normalizations(flow), [])
        self.attention += attention
        self.blocks += norms
        self.blocks += self._guard("convolutions", lambda: find_conv_blocks(flow), [])
        self.blocks += self._guard("residuals", lambda: find_residuals(flow), [])
        self.blocks += self._guard("MLPs", lambda: find_mlps(flow, attention, norms), [])
        self.blocks += self._guard("embeddings", lambda: find_embeddings(flow), [])
        self.blocks += self._guard("heads", lambda: find_heads(flow), [])
        self.blocks += self._guard("recurrent layers", lambda: find_recurrent(flow), [])
        self.blocks += self._guard("selective scans", lambda: find_selective_scans(flow), [])
        self.quantized_layers(flow)
        for name in sorted(flow.incomplete):
            key = (f"{name}s", "search limit")
            self.failed[key] = self.failed.get(key, 0) + 1

    def _guard(self, name: str, recogniser: Callable[[], T], nothing: T) -> T:
        """Return the result of a recogniser, or ``nothing`` if it fails."""
        try:
            return recogniser()
        except MemoryError:
            raise
        except Exception as error:
            log.debug("the recogniser of %s failed", name, exc_info=True)
            key = (name, type(error).__name__)
            self.failed[key] = self.failed.get(key, 0) + 1
            return nothing

    def _gave_up(self) -> list[str]:
        """Return one line per recogniser and kind of failure, however many subgraphs the model has."""
        return [
            f"{name} ({error}" + (f", in {count} graphs)" if count > 1 else ")")
            for (name, error), count in self.failed.items()
        ]
