"""Convert the items of an iterable of samples to arrays by input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError


def as_arrays(item: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return arrays by input from a mapping, a tuple or list in input order, or one array for a single input.

    PyTorch tensors are converted to arrays. Items after the inputs in a tuple, such as labels, are ignored;
    its first item may be a mapping.

    Raises: InputError: a tuple has fewer items than the model has inputs, or an item is not numeric.
    """
    if isinstance(item, (tuple, list)) and item and isinstance(item[0], Mapping):
        item = item[0]
    if isinstance(item, Mapping):
        return {str(name): _array(value) for name, value in item.items()}
    if isinstance(item, (tuple, list)) and any(np.ndim(_array(member)) for member in item):
        if len(item) < len(names):
            raise InputError(
                "sample-missing", f"The data yields {len(item)} arrays; the model takes {', '.join(names)}."
            )
        return {name: _array(value) for name, value in zip(names, item, strict=False)}
    return {"": _array(item)}


def _array(value: Any) -> Any:
    """Return an array from any numeric object."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as fault:
        kind = type(value).__name__
        raise InputError(
            "sample-type", f"The data yields a {kind}, which is not an array of numbers."
        ) from fault
