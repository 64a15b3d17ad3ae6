"""Users, items and categories, each looked up in a table of its own."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.units import plural

_MIN_ITEMS = 1000
"""Minimum rows of a table of users or items; tables of categories have fewer."""


def looked_up(case: IdentityCase) -> list[int]:
    """Return the rows of the tables if the inputs are only unordered ids and rows of numbers."""
    data = [port for port in case.ports if port.role in ("tokens", "token types", "features")]
    ids = [port for port in data if port.role == "tokens"]
    if not ids or len(data) != len(case.ports) or any(port.rank > 2 for port in data):
        return []
    if len(ids) == len(data) and (
        len(ids) < 2 or any(port.rank == 2 and port.shape and port.shape[1] != 1 for port in ids)
    ):
        return []  # a text
    return [port.rows or 0 for port in ids]


@task("recommendation", "recommendation", ("recommendation", "click-through-rate-prediction"), ())
def recommendation(case: IdentityCase) -> RuleReading | None:
    """Match the rating of an item by a user (He et al., 2017; Naumov et al., DLRM, 2019)."""
    rows, end = looked_up(case), case.end
    if not rows or end is None or not 1 <= end.rank <= 2 or (end.rank == 2 and end.width != 1):
        return None
    if max(rows) < _MIN_ITEMS or case.family not in ("mlp", "unknown", "transformer-encoder"):
        return None
    evidence = (
        f"ids for {plural(len(rows), 'table')} of up to {max(rows):,} rows as input, one score as output"
    )
    return RuleReading(PROBABLE + (0.1 if end.activation == "Sigmoid" else 0), (evidence,), "score")
