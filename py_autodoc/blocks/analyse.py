"""All recognisers over a model: the main graph and every body, each on its own under a guard."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from py_autodoc.blocks.flow import Flow
from py_autodoc.blocks.model import Attention, Found, Repeat, Structure, Verdict
from py_autodoc.graph.model import Model, TypeTable

BEFORE_MLP = ("norm.find_normalizations", "conv.find_conv_blocks", "residual.find_residuals")
AFTER_MLP = ("embedding.find_embeddings", "head.find_heads", "recurrent.find_recurrent")
"""``module.function`` in this package: ``(flow) -> list[Found]``."""
log = logging.getLogger(__name__)


def structure(model: Model, types: TypeTable) -> Structure:
    """What the graph is made of.

    Never raises on an odd model: a recogniser that fails is left out and named in ``gave_up``.

    Raises: MemoryError.
    """
    return _Run(model, types).run()


class _Run:
    def __init__(self, model: Model, types: TypeTable) -> None:
        self.model = model
        self.types = types
        self.found: list[Found] = []
        self.attention: list[Attention] = []
        self.failed: dict[tuple[str, str], int] = {}

    def run(self) -> Structure:
        model, types = self.model, self.types
        for graph in model.graphs:
            self._graph(graph.id)
        repeats: Sequence[Repeat] = self._guard("repeats.find_repeats", model, types)
        found, attention = tuple(self.found), tuple(self.attention)
        verdict: Verdict | list[Any] = self._guard("verdict.verdict", model, types, found, attention, repeats)
        unknown = Verdict("unknown", 0.0, ())
        return Structure(
            found=found,
            attention=attention,
            repeats=tuple(repeats),
            verdict=verdict if isinstance(verdict, Verdict) else unknown,
            gave_up=tuple(self._gave_up()),
        )

    def _graph(self, graph: int) -> None:
        flow = Flow(self.model, self.types, graph)
        if not flow.order:
            return
        attention: list[Attention] = self._guard("attention.find_attention", flow)
        blocks: list[Found] = []
        for name in BEFORE_MLP:
            blocks += self._guard(name, flow)
        normalizations = [block for block in blocks if block.kind == "normalization"]
        blocks += self._guard("mlp.find_mlps", flow, attention, normalizations)
        for name in AFTER_MLP:
            blocks += self._guard(name, flow)
        self.found += blocks
        self.attention += attention

    def _guard(self, name: str, *arguments: object) -> Any:
        """What the recogniser finds, an empty list when it fails."""
        try:
            recogniser = _load(name)
            return [] if recogniser is None else recogniser(*arguments)
        except MemoryError:
            raise
        except Exception as fault:
            log.debug("%s failed", name, exc_info=True)
            key = (name.partition(".")[0], type(fault).__name__)
            self.failed[key] = self.failed.get(key, 0) + 1
            return []

    def _gave_up(self) -> list[str]:
        """One line a recogniser and kind of failure, however many bodies the model has."""
        return [
            f"{name} ({fault}" + (f", in {count} graphs)" if count > 1 else ")")
            for (name, fault), count in self.failed.items()
        ]


def _load(name: str) -> Callable[..., Any] | None:
    """A function of this package by ``module.function``; None while there is no such module."""
    module, _, function = name.partition(".")
    path = f"{__package__}.{module}"
    try:
        loaded: Callable[..., Any] = getattr(import_module(path), function)
    except ModuleNotFoundError as missing:
        if missing.name != path:
            raise
        return None
    return loaded
