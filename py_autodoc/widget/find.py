"""Layers by id, name, tag or words: what ``selection`` and ``find`` understand."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.report.schema import Layer

_FIELDS = {
    "params": "params",
    "macs": "macs",
    "flops": "flops",
    "weights": "weight_bytes",
    "weight_bytes": "weight_bytes",
    "activation": "activation_bytes",
    "activation_bytes": "activation_bytes",
    "read": "read_bytes",
    "write": "write_bytes",
}
_PREFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BOUND = re.compile(r"^([a-z_]+)(>=|<=|>|<|=)(\d+(?:\.\d+)?(?:e\+?\d{1,2})?)([kmgt]?)b?$")
_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


def resolve(layers: Sequence[Layer], wanted: Iterable[Any]) -> list[int]:
    """Ids, in the order asked for, each once; a tag or module stands for every node under it.

    Raises: OptionError for what is no id, name, tag or module of the model.
    """
    found: dict[int, None] = {}
    known = {layer.id for layer in layers}
    for item in wanted:
        if isinstance(item, bool) or not isinstance(item, (int, str)):
            raise OptionError("not-a-node", f"{item!r} is no node.", "Give ids, names or tags.")
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


def _missing(layers: Sequence[Layer], item: int | str) -> OptionError:
    if isinstance(item, int):
        return OptionError("unknown-node", f"There is no node {item}.", f"The model has {len(layers)} nodes.")
    names = [layer.name for layer in layers] + [layer.tag for layer in layers if layer.tag]
    near = get_close_matches(item, dict.fromkeys(names), 3)
    hint = f"Near it: {', '.join(near)}." if near else "Look in report.layers for names and tags."
    return OptionError("unknown-node", f"Nothing in the model is called {item!r}.", hint)


def matching(layers: Sequence[Layer], query: str) -> list[Layer]:
    """Layers that satisfy every word and bound of the query; an unknown number satisfies no bound."""
    words: list[str] = []
    bounds: list[tuple[str, Callable[[float, float], bool], float]] = []
    for word in query.lower().split():
        match = _BOUND.match(word)
        if match and match[1] in _FIELDS:
            limit = float(match[3]) * _PREFIX[match[4]]
            bounds.append((_FIELDS[match[1]], _RELATIONS[match[2]], limit))
        else:
            words.append(word)
    return [layer for layer in layers if _fits(layer, words, bounds)]


def _fits(
    layer: Layer, words: list[str], bounds: list[tuple[str, Callable[[float, float], bool], float]]
) -> bool:
    for field, holds, limit in bounds:
        value = getattr(layer, field)
        if value is None or not holds(value, limit):
            return False
    text = "\n".join((layer.name, layer.type, layer.domain, layer.group, layer.tag)).lower()
    return all(word in text for word in words)
