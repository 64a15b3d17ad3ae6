"""A heatmap of the user's own, as the viewer reads it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from py_autodoc.report.schema import Layer
from py_autodoc.widget.trait_values import TraitFault, resolve_nodes


def user_overlay_values(given: object, layers: Sequence[Layer], label: str) -> dict[str, Any] | None:
    """Label, unit and the values by node id; None where ``given`` is neither a mapping nor an array.

    A mapping has nodes (ids, names or tags) as keys, each tag's number goes to its first node. An array, or
    a list, has one number a layer, in the order of ``report.layers``; NaN, None and pandas' NA are unknown.

    Raises: TraitFault for numbers that are none, names that are not in the model, and a wrong length.
    """
    if isinstance(given, Mapping):
        if set(given) - {"largest"} == {"label", "unit", "values"}:
            return dict(given)
        values = {
            str(resolve_nodes(layers, [node])[0]): _number(node, number) for node, number in given.items()
        }
    else:
        row = _row(given)
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


def _row(given: object) -> list[Any] | None:
    """The items of a list, a tuple, or what has ``tolist`` and is flat."""
    listed = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(listed, (list, tuple)) or any(isinstance(item, (list, tuple)) for item in listed):
        return None
    return list(listed)


def _missing(number: Any) -> bool:
    """True for None, NaN and what, like pandas' NA, cannot even tell whether it is itself."""
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
