"""Validate values of widget traits: nodes by id, name, tag or module, and dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from operator import index
from typing import Any

from traitlets import TraitError

from py_autodoc.errors import OptionError
from py_autodoc.report.schema import Layer
from py_autodoc.similar_names import similar_names

MAX_SIZE = 2**31
"""Exclusive upper limit of dimensions."""


class TraitFault(OptionError, TraitError):
    """A trait does not accept a value."""


def expect_names(label: str, known: Iterable[str], requested: Iterable[str]) -> None:
    """Raise a TraitFault for an unknown option, which traitlets would ignore."""
    names = [name for name in known if not name.startswith("_")]
    for name in requested:
        if name not in names:
            close = get_close_matches(name, names, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Choose one of {', '.join(sorted(names))}."
            raise TraitFault("unknown-option", f"{label} has no option {name!r:.80}.", hint)


def nodes_in(value: Any) -> list[Any]:
    """Return the value of a selection as a list: one node, a list, a set, an array of ids, or None.

    Raises: TraitFault for any other value.
    """
    if value is None:
        return []
    items = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(items, (str, int, Layer)):
        return [items]
    if not isinstance(items, (list, tuple, set, frozenset)):
        raise TraitFault(
            "not-nodes", f"{value!r:.80} is not a selection.", "Pass a list of ids, names, tags or rows."
        )
    return list(items)


def whole_sizes(sizes: Any) -> dict[str, int]:
    """Return dimensions as integers. Raises: TraitFault for other types or values."""
    if not isinstance(sizes, Mapping):
        raise TraitFault("not-sizes", f"The sizes are {sizes!r:.80}.", 'Pass a mapping such as {"batch": 8}.')
    return {name: _positive_int(name, size) for name, size in sizes.items()}


def _positive_int(name: object, size: Any) -> int:
    number = None if isinstance(size, bool) or not hasattr(size, "__index__") else index(size)
    if number is None or not 1 <= number < MAX_SIZE:
        raise TraitFault(
            "bad-size",
            f"The size of {name!r:.80} is {size!r:.80}.",
            f"Pass a whole number, 1 or more, less than {MAX_SIZE:,}.",
        )
    return number


def resolve_nodes(layers: Sequence[Layer], requested: Iterable[Any]) -> list[int]:
    """Return ids in the requested order without duplicates; a tag or module stands for all nodes under it.

    Raises: TraitFault for anything that is not an id, name, tag or module of the model.
    """
    numbers: dict[int, None] = {}
    known = {layer.id for layer in layers}
    for request in requested:
        item = request.id if isinstance(request, Layer) else request
        if hasattr(item, "__index__") and not isinstance(item, bool):
            item = index(item)  # integer types of numpy
        if isinstance(item, bool) or not isinstance(item, (int, str)):
            raise TraitFault("not-a-node", f"{item!r} is not a node.", "Pass ids, names or tags.")
        ids = [item] if isinstance(item, int) and item in known else _named(layers, item)
        if not ids:
            raise _missing(layers, item)
        numbers.update(dict.fromkeys(ids))
    return list(numbers)


def _named(layers: Sequence[Layer], name: int | str) -> list[int]:
    if isinstance(name, int):
        return []
    exact = [layer.id for layer in layers if layer.name == name]
    return exact or [
        layer.id for layer in layers if _under(layer.tag, name) or _under(layer.group, name.strip("/"))
    ]


def _under(path: str, prefix: str) -> bool:
    return bool(prefix) and (path == prefix or path.startswith(prefix.rstrip("/") + "/"))


def _missing(layers: Sequence[Layer], item: int | str) -> TraitFault:
    if isinstance(item, int):
        return TraitFault("unknown-node", f"Unknown node {item}.", f"The model has {len(layers)} nodes.")
    similar = similar_names(item, _names(layers))
    hint = f"Did you mean {' or '.join(similar)}?" if similar else "Look in report.layers for names and tags."
    return TraitFault("unknown-node", f"Nothing in the model is called {item!r}.", hint)


def _names(layers: Sequence[Layer]) -> Iterator[str]:
    """Yield the names that identify nodes: modules with their parents, tags, then node names."""
    for paths in ({layer.group for layer in layers}, {layer.tag for layer in layers}):
        names: dict[str, None] = {}
        for path in sorted(paths):
            parts = path.split("/")
            names.update(dict.fromkeys("/".join(parts[:end]) for end in range(1, len(parts) + 1)))
        yield from names
    yield from (layer.name for layer in layers)
