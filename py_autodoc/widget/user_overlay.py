"""A user's heatmap in the viewer's format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from py_autodoc.report.schema import Layer
from py_autodoc.widget.trait_values import TraitFault, resolve_nodes


def user_overlay_values(overlay: object, layers: Sequence[Layer], label: str) -> dict[str, Any] | None:
    """Return label, unit and values by node id; None if ``overlay`` is neither a mapping nor an array.

    The keys of a mapping are nodes (ids, names or tags); the number of a tag is assigned to its first node.
    An array or list has one number per layer, in the order of ``report.layers``; NaN, None and pandas' NA are
    unknown.

    Raises: TraitFault for values that are not numbers, unknown nodes, and a wrong length.
    """
    if isinstance(overlay, Mapping):
        if set(overlay) - {"largest"} == {"label", "unit", "values"}:
            return dict(overlay)
        values = {
            str(resolve_nodes(layers, [node])[0]): _number(node, number) for node, number in overlay.items()
        }
    else:
        row = _row(overlay)
        if row is None:
            return None
        if len(row) != len(layers):
            raise TraitFault(
                "wrong-length",
                f"The overlay has {len(row):,} numbers.",
                f"Pass one for each of the {len(layers):,} layers, or a mapping of node to number.",
            )
        values = {
            str(layer.id): _number(layer.id, number)
            for layer, number in zip(layers, row, strict=True)
            if not _missing(number)
        }
    return {"label": label or "values", "unit": "", "values": values}


def _row(value: object) -> list[Any] | None:
    """Return the items of a list, a tuple, or a one-dimensional object with ``tolist``."""
    items = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(items, (list, tuple)) or any(isinstance(item, (list, tuple)) for item in items):
        return None
    return list(items)


def _missing(number: Any) -> bool:
    """True for None, NaN, and values without a boolean equality, such as pandas' NA."""
    try:
        return number is None or not bool(number == number)
    except TypeError:
        return True


def _number(node: object, number: Any) -> float:
    try:
        value = float(number)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise TraitFault(
            "not-a-number",
            f"The overlay's value of {node!r:.80} is {number!r:.80}.",
            "Pass finite numbers.",
        )
    return value
