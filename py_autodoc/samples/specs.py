"""Specifications of a model's inputs: name, element type, shape and role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from onnx import helper

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples.preprocessing import Preprocessing, preprocessing_of

Sample = dict[str, np.ndarray[Any, Any]]
"""One value for every input, by name."""
MAX_BYTES = 1 << 31
"""Maximum bytes of all inputs of one sample."""


@dataclass(frozen=True, slots=True)
class InputSpec:
    """An input of the main graph with known shape."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    role: str = ""
    """As in ``identity.model.Port``: ``image``, ``tokens``, ``attention mask``, …; empty if unknown."""
    rows: int | None = None
    """Number of rows of the token table."""
    preprocessing: Preprocessing | None = None
    """Preprocessing of images for this input in the model's metadata."""

    @property
    def shown(self) -> str:
        """Return its form for messages: ``images float32 1×3×224×224``."""
        return f"{self.name} {self.dtype} {'×'.join(map(str, self.shape)) or 'scalar'}"


def input_specs(analysis: Analysis) -> list[InputSpec]:
    """Return the inputs in the file's order.

    Raises:
        OptionError: a dimension of an input is unknown (``bind`` it).
        InputError: an input is not a tensor, has a type that NumPy does not support, or all are too large.
    """
    file, ports = analysis.model.file.name, {one.tensor: one for one in analysis.identified.inputs}
    found = []
    for number in analysis.model.graphs[0].inputs:
        tensor = analysis.model.tensors[number]
        if tensor.kind != TensorKind.INPUT:
            continue
        if tensor.container != "tensor":
            raise InputError("input-container", f"{file}: the input {tensor.name} is a {tensor.container}.")
        port = ports.get(number)
        shape = _sizes(analysis.types.shapes[number], tensor.name, file)
        found.append(
            InputSpec(
                tensor.name,
                _dtype(analysis.types.dtypes[number] or tensor.dtype, tensor.name, file),
                shape,
                port.role if port is not None else "",
                port.rows if port is not None else None,
                preprocessing_of(analysis.model.metadata) if len(shape) == 4 else None,
            )
        )
    if sum(prod(one.shape) * one.dtype.itemsize for one in found) > MAX_BYTES:
        shown = ", ".join(one.shown for one in found)
        raise InputError("inputs-too-large", f"{file}: the inputs take more than 2 GB: {shown}.")
    return found


def _dtype(number: int, name: str, file: str) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.dtype(helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, ValueError, TypeError) as fault:
        raise InputError("input-type", f"{file}: the type of the input {name} is unknown.") from fault
    return found


def _sizes(shape: tuple[int | str | None, ...] | None, name: str, file: str) -> tuple[int, ...]:
    if shape is None:
        raise OptionError(
            "unknown-size", f"{file}: the rank of the input {name} is unknown.", f"Use --input-shape {name}=…"
        )
    free = [size for size in shape if not isinstance(size, int)]
    if free:
        symbol = next((str(size) for size in free if size), "")
        shown = "×".join(str(size or "?") for size in shape)
        option = f"--bind {symbol}=N" if symbol.isidentifier() else f"--input-shape {name}=…"
        raise OptionError(
            "unknown-size",
            f"{file}: a dimension of the input {name} is unknown ({shown}).",
            f"Use {option}, or --assume.",
        )
    return tuple(size for size in shape if isinstance(size, int))


def sizes_in(arrays: Mapping[str, Any], analysis: Analysis) -> dict[str, int]:
    """Return the dimensions that arrays give symbolic dimensions of the inputs, except for the batch axis.

    An array with one axis more than the input holds one sample per row.
    """
    inputs = [analysis.model.tensors[number] for number in analysis.model.graphs[0].inputs]
    inputs = [one for one in inputs if one.kind == TensorKind.INPUT]
    named = dict(arrays)
    if len(inputs) == 1 and len(named) == 1:
        named = {inputs[0].name: next(iter(named.values()))}
    found: dict[str, int] = {}
    for tensor in inputs:
        declared = analysis.types.shapes[tensor.id]
        if declared is None or tensor.name not in named:
            continue
        sizes = np.shape(named[tensor.name])
        sizes = sizes[1:] if len(sizes) == len(declared) + 1 else sizes
        if len(sizes) == len(declared):
            for at, (symbol, size) in enumerate(zip(declared, sizes, strict=True)):
                if at and isinstance(symbol, str) and symbol.isidentifier():
                    found.setdefault(symbol, size)
    return found


def matched(given: Mapping[str, Any], specs: list[InputSpec], source: str) -> Sample:
    """Return arrays in the form of the inputs: each input with its type and shape, extra arrays ignored.

    A model with one input accepts a single array of any name. Integers fit any type that holds their values;
    a float input accepts any float or 8-bit integer. NaN and infinity are rejected.

    Raises: InputError, naming ``source`` and the input.
    """
    named = dict(given)
    if len(specs) == 1 and len(named) == 1:
        named = {specs[0].name: next(iter(named.values()))}
    missing = [one.shown for one in specs if one.name not in named]
    if missing:
        raise InputError(
            "sample-missing",
            f"{source} has no values for {', '.join(missing)}.",
            f"It contains {', '.join(list(named)[:20]) or 'nothing'}.",
        )
    return {one.name: _cast(named[one.name], one, source) for one in specs}


def _cast(value: Any, spec: InputSpec, source: str) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind not in "biufV":
        raise InputError("sample-type", f"{source}: {spec.name} contains {array.dtype} instead of numbers.")
    if array.shape != spec.shape:
        got = "×".join(map(str, array.shape)) or "scalar"
        raise InputError(
            "sample-shape", f"{source}: {spec.name} has the shape {got}; the model takes {spec.shown}.",
            "Set symbolic dimensions with --bind, --input-shape or --batch-size.",
        )  # fmt: skip
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError("sample-not-finite", f"{source}: {spec.name} contains NaN or infinity.")
    if array.dtype == spec.dtype:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(spec.dtype)
    if spec.dtype.kind == "f" and not np.isfinite(cast).all():
        raise InputError(
            "sample-type", f"{source}: {spec.name} contains values that do not fit {spec.dtype}."
        )
    if spec.dtype.kind in "iub" and not np.array_equal(cast.astype(array.dtype), array):
        raise InputError(
            "sample-type",
            f"{source}: {spec.name} contains {array.dtype} values that do not fit {spec.dtype}.",
        )
    return np.ascontiguousarray(cast)
