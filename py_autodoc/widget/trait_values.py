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


def expect_names(what: str, known: Iterable[str], given: Iterable[str]) -> None:
    """Raise a TraitFault for an unknown option, which traitlets would ignore."""
    names = [name for name in known if not name.startswith("_")]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(sorted(names))}."
            raise TraitFault("unknown-option", f"{what} has no option {name!r:.80}.", hint)


def nodes_in(value: Any) -> list[Any]:
    """Return the value of a selection as a list: one node, a list, a set, an array of ids, or None.

    Raises: TraitFault for any other value.
    """
    if value is None:
        return []
    listed = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(listed, (str, int, Layer)):
        return [listed]
    if not isinstance(listed, (list, tuple, set, frozenset)):
        raise TraitFault(
            "not-nodes", f"{value!r:.80} is not a selection.", "Pass a list of ids, names, tags or rows."
        )
    return list(listed)


def whole_sizes(sizes: Any) -> dict[str, int]:
    """Return dimensions as integers. Raises: TraitFault for other types or values."""
    if not isinstance(sizes, Mapping):
        raise TraitFault("not-sizes", f"The sizes are {sizes!r:.80}.", 'Pass a mapping such as {"batch": 8}.')
    return {name: _whole(name, size) for name, size in sizes.items()}


def _whole(name: object, size: Any) -> int:
    whole = None if isinstance(size, bool) or not hasattr(size, "__index__") else index(size)
    if whole is None or not 1 <= whole < MAX_SIZE:
        raise TraitFault(
            "bad-size",
            f"The size of {name!r:.80} is {size!r:.80}.",
            f"Pass a whole number, 1 or more, less than {MAX_SIZE:,}.",
        )
    return whole


def resolve_nodes(layers: Sequence[Layer], wanted: Iterable[Any]) -> list[int]:
    """Return ids in the requested order without duplicates; a tag or module stands for all nodes under it.

    Raises: TraitFault for anything that is not an id, name, tag or module of the model.
    """
    found: dict[int, None] = {}
    known = {layer.id for layer in layers}
    for given in wanted:
        item = given.id if isinstance(given, Layer) else given
        if hasattr(item, "__index__") and not isinstance(item, bool):
            item = index(item)  # integer types of numpy
        if isinstance(item, bool) or not isinstance(item, (int, str)):
            raise TraitFault("not-a-node", f"{item!r} is not a node.", "Pass ids, names or tags.")
        ids = [item] if isinstance(item, int) and item in known else _named(layers, item)
        if not ids:
            raise _missing(layers, item)
        found.update(dict.fromkeys(ids))
    return list(found)


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
    found = similar_names(item, _names(layers))
    hint = f"Near it: {', '.join(found)}." if found else "Look in report.layers for names and tags."
    return TraitFault("unknown-node", f"Nothing in the model is called {item!r}.", hint)


def _names(layers: Sequence[Layer]) -> Iterator[str]:
    """Yield the names that identify nodes: modules with their parents, tags, then node names."""
    for paths in ({layer.group for layer in layers}, {layer.tag for layer in layers}):
        found: dict[str, None] = {}
        for path in sorted(paths):
            parts = path.split("/")
            found.update(dict.fromkeys("/".join(parts[:end]) for end in range(1, len(parts) + 1)))
        yield from found
    yield from (layer.name for layer in layers)
