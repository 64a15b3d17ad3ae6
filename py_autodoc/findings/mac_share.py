"""Share of a model's MACs in some of its nodes."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.costs.registry import carries_macs
from py_autodoc.findings.registry import RuleContext
from py_autodoc.findings.weighted_layers import macs


class MacShare:
    """Weighs MAC-carrying nodes: by MACs if all are known, else by parameters.

    MACs are unknown with unbound symbolic dimensions; parameters are not. ``basis`` names the measure.
    """

    def __init__(self, ctx: RuleContext) -> None:
        self.ctx = ctx
        self.nodes = ctx.nodes_of(lambda kind: carries_macs(*kind))
        totals = ctx.totals
        all_known = totals.mac_nodes_known == totals.mac_nodes_total and bool(totals.macs)
        self.basis = "macs" if all_known else "params"
        self.total = self.of(self.nodes)

    def of(self, nodes: Iterable[int]) -> int:
        """Return the total MACs (or parameters) of these nodes."""
        if self.basis == "macs":
            return sum(macs(self.ctx, number) for number in nodes)
        return sum(self.ctx.params.params[number] or 0 for number in nodes)

    def share(self, nodes: Iterable[int]) -> float:
        """Return their share of the total, 0 if it is empty."""
        return self.of(nodes) / self.total if self.total else 0.0

    @property
    def words(self) -> str:
        """Return ``MACs`` or ``parameters of the layers``, for messages."""
        return "MACs" if self.basis == "macs" else "parameters of the MAC-carrying layers"
