"""Dynamic axes of the stages of a generative model, and their names.

transformers captures the inputs of each stage (prefill, decode, …), including the key-value cache. Names
given for the prompt's axes are applied to them. ``batch`` is axis 0, and ``seq`` the length of the prompt,
from which the length of the cache is named. Dimensions that torch finds to be fixed (one token to decode)
stay fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import onnx_ir as ir
import torch

from py_autodoc.torch.input_options import BATCH, SEQUENCE

PAST = "past"
"""Name of the cache length."""
_TOKEN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_CACHE = "past_key_values"
Axes = dict[int, str]


def stage_axes(inputs: Mapping[str, Any], prompt: Mapping[str, Mapping[int, Any]]) -> dict[str, Any]:
    """Return input of a stage → axis → symbol; a list of these for an input that holds several tensors.

    Args:
        inputs: the inputs that transformers captured for the stage.
        prompt: names requested for the inputs of ``generate``: input → axis → symbol.
    """
    symbols = {_symbol(dim) for axes in prompt.values() for dim in axes.values()}
    batch, sequence = BATCH in symbols, SEQUENCE in symbols
    return {
        name: {axis: _symbol(dim) for axis, dim in prompt[name].items()}
        if name in prompt and isinstance(value, torch.Tensor)
        else _axes(name, value, batch, sequence)
        for name, value in inputs.items()
    }


def _symbol(dim: Any) -> str:
    """Return the name of a ``torch.export.Dim``, or the name itself."""
    return str(getattr(dim, "__name__", dim))


def _axes(name: str, value: Any, batch: bool, sequence: bool) -> Any:
    if not isinstance(value, torch.Tensor):
        # For a cache or the outputs of an encoder, torch.export expects a list with their contents.
        if value is None or isinstance(value, (bool, int, float, str)):
            return None
        leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        return [_axes(_CACHE if name == _CACHE else "", leaf, batch, sequence) for leaf in leaves]
    axes: Axes = {0: BATCH} if batch and value.dim() else {}
    if not sequence:
        return axes
    if name == _CACHE:
        return axes | ({2: PAST} if value.dim() == 4 else {})
    if value.dim() == 4 and not value.is_complex() and value.shape[1] == 1:  # a mask: queries × keys
        return axes | {2: "queries", 3: "keys"}
    if value.dim() in (2, 3):  # ids, positions, masks; states of an encoder
        return axes | {1: SEQUENCE}
    return axes


def some(axes: Mapping[str, Any]) -> bool:
    """True if any axis was requested."""
    return any(any(entry) if isinstance(entry, list) else bool(entry) for entry in axes.values())


def shapes_of(axes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``dynamic_shapes`` for torch.export, with axes dynamic where possible."""

    def auto(entry: Any) -> Any:
        if isinstance(entry, list):
            return [auto(item) for item in entry]
        return entry and dict.fromkeys(entry, torch.export.Dim.AUTO)

    return {name: auto(entry) for name, entry in axes.items()}


def name_axes(model: ir.Model, axes: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Rename the dynamic axes of a stage from torch's numbered symbols to the requested names.

    Graph inputs are in the order of the tensors in ``inputs``. An axis whose size follows from another one
    (``past + 1``) keeps its expression. If several axes request the same name, the first one gets it.
    """
    names: dict[str, str] = {}
    for value, requested in zip(model.graph.inputs, _flat(axes, inputs), strict=False):
        for axis, symbol in (requested or {}).items():
            dim = value.shape[axis] if value.shape is not None and axis < len(value.shape) else None
            text = getattr(dim, "value", None)
            if isinstance(text, str) and _TOKEN.fullmatch(text) and symbol not in names.values():
                names.setdefault(text, symbol)
    if names:
        for value in _values(model):
            _rename(value, names)


def _flat(axes: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[Axes | None]:
    for name, value in inputs.items():
        entry = axes.get(name)
        if isinstance(entry, list):
            yield from entry
        elif isinstance(value, torch.Tensor):
            yield entry


def _values(model: ir.Model) -> Iterator[ir.Value]:
    for graph in model.graphs():
        yield from graph.inputs
        yield from graph.outputs
        for node in graph:
            yield from node.outputs


def _rename(value: ir.Value, names: Mapping[str, str]) -> None:
    shape = value.shape
    if shape is None or shape.frozen:
        return
    for axis, dim in enumerate(shape):
        text = getattr(dim, "value", None)
        if isinstance(text, str):
            named = _TOKEN.sub(lambda match: names.get(match[0], match[0]), text)
            if named != text:
                shape[axis] = named


def fixed_axes(model: ir.Model, axes: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, int]:
    """Return the requested symbols that are fixed in the exported stage → their value.

    An axis of size 1 (one token to decode, positions shared by the batch) is not included.
    """
    fixed: dict[str, int] = {}
    free: set[str] = set()
    for value, requested in zip(model.graph.inputs, _flat(axes, inputs), strict=False):
        for axis, symbol in (requested or {}).items():
            dim = value.shape[axis] if value.shape is not None and axis < len(value.shape) else None
            if not isinstance(dim, int):
                free.add(symbol)
            elif dim != 1:
                fixed.setdefault(symbol, dim)
    return {symbol: size for symbol, size in fixed.items() if symbol not in free}


def cache_length(inputs: MutableMapping[str, Any]) -> int | None:
    """Return the number of tokens in the cache of a stage; None without a cache."""
    cache = inputs.get(_CACHE)
    leaves = torch.utils._pytree.tree_leaves(cache) if cache is not None else []
    sizes = [leaf.shape[2] for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim() == 4]
    return sizes[0] if sizes else None
