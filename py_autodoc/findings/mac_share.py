"""How much of a model's multiply-accumulate work some nodes carry."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.costs.registry import carries_macs
from py_autodoc.findings.registry import RuleContext
from py_autodoc.findings.weighted_layers import macs


class MacShare:
    """Weighs the nodes that carry MACs: by MACs where all are known, else by parameters.

    MACs are unknown while dimensions are free; parameters are not. ``basis`` says which it is.
    """

    def __init__(self, ctx: RuleContext) -> None:
        self.ctx = ctx
        self.nodes = ctx.nodes_of(lambda kind: carries_macs(*kind))
        totals = ctx.totals
        known = totals.mac_nodes_known == totals.mac_nodes_total and bool(totals.macs)
        self.basis = "macs" if known else "params"
        self.total = self.of(self.nodes)

    def of(self, nodes: Iterable[int]) -> int:
        """MACs (or parameters) of these nodes together."""
        if self.basis == "macs":
            return sum(macs(self.ctx, number) for number in nodes)
        return sum(self.ctx.params.params[number] or 0 for number in nodes)

    def share(self, nodes: Iterable[int]) -> float:
        """Their part of all work, 0 when there is none."""
        return self.of(nodes) / self.total if self.total else 0.0

    @property
    def words(self) -> str:
        """``MACs`` or ``parameters of the layers``, for a sentence."""
        return "MACs" if self.basis == "macs" else "parameters of the MAC-carrying layers"
