"""What an iterable of samples yields, as arrays by input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError


def as_arrays(item: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """A mapping of arrays by input; a tuple or list by the order of the inputs; one array for one input.

    Tensors of PyTorch become arrays. What follows the inputs in a tuple, such as labels, is not used; its
    first part may be a mapping.

    Raises: InputError: a tuple has fewer parts than the model has inputs, or a part is not numbers.
    """
    if isinstance(item, (tuple, list)) and item and isinstance(item[0], Mapping):
        item = item[0]
    if isinstance(item, Mapping):
        return {str(name): _array(value) for name, value in item.items()}
    if isinstance(item, (tuple, list)) and any(np.ndim(_array(one)) for one in item):
        if len(item) < len(names):
            raise InputError(
                "sample-missing", f"The data yields {len(item)} arrays; the model takes {', '.join(names)}."
            )
        return {name: _array(value) for name, value in zip(names, item, strict=False)}
    return {"": _array(item)}


def _array(value: Any) -> Any:
    """An array of whatever holds numbers."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as fault:
        kind = type(value).__name__
        raise InputError(
            "sample-type", f"The data yields a {kind}, which is not an array of numbers."
        ) from fault
