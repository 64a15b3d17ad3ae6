"""Specifications of a model's inputs: name, element type, shape and role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from onnx import helper

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.ir.name_sanitizer import bounded_name
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
    def label(self) -> str:
        """Return name, type and shape, for messages: ``images float32 1×3×224×224``."""
        return f"{self.name} {self.dtype} {'×'.join(map(str, self.shape)) or 'scalar'}"


def input_specs(analysis: Analysis) -> list[InputSpec]:
    """Return the inputs in the file's order.

    Raises:
        OptionError: a dimension of an input is unknown (``bind`` it).
        InputError: an input is not a tensor, has a type that NumPy does not support, or all are too large.
    """
    file, ports = analysis.model.file.name, {port.tensor: port for port in analysis.identified.inputs}
    specs = []
    for number in analysis.model.graphs[0].inputs:
        tensor = analysis.model.tensors[number]
        if tensor.kind != TensorKind.INPUT:
            continue
        if tensor.container != "tensor":
            article = "an" if tensor.container.startswith("o") else "a"
            raise InputError(
                "input-container",
                f"{file}: the input {tensor.name} is {article} {tensor.container}; only tensors can be fed.",
                "Export the model with tensors as inputs.",
            )
        port = ports.get(number)
        shape = _sizes(analysis.types.shapes[number], tensor.name, file)
        specs.append(
            InputSpec(
                tensor.name,
                _dtype(analysis.types.dtypes[number] or tensor.dtype, tensor.name, file),
                shape,
                port.role if port is not None else "",
                port.rows if port is not None else None,
                preprocessing_of(analysis.model.metadata) if len(shape) == 4 else None,
            )
        )
    if sample_bytes(specs) > MAX_BYTES:
        listed = ", ".join(spec.label for spec in specs)
        raise InputError(
            "inputs-too-large",
            f"{file}: the inputs take more than 2 GB: {listed}.",
            "Set smaller dimensions with --bind or --input-shape, or those of the file with `resize` or "
            "`rebatch`.",
        )
    return specs


def sample_bytes(specs: Sequence[InputSpec]) -> int:
    """Return the bytes of one sample."""
    return sum(prod(spec.shape) * spec.dtype.itemsize for spec in specs)


def _dtype(number: int, name: str, file: str) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, ValueError, TypeError) as fault:
        raise InputError("input-type", f"{file}: the type of the input {name} is unknown.") from fault
    return dtype


def _sizes(shape: tuple[int | str | None, ...] | None, name: str, file: str) -> tuple[int, ...]:
    if shape is None:
        raise OptionError(
            "unknown-size", f"{file}: the rank of the input {name} is unknown.", f"Use --input-shape {name}=…"
        )
    free = [size for size in shape if not isinstance(size, int)]
    if free:
        symbol = next((str(size) for size in free if size), "")
        shape_text = "×".join(str(size or "?") for size in shape)
        option = f"--bind {symbol}=N" if symbol.isidentifier() else f"--input-shape {name}=…"
        raise OptionError(
            "unknown-size",
            f"{file}: a dimension of the input {name} is unknown ({shape_text}).",
            f"Use {option}, or --assume.",
        )
    return tuple(size for size in shape if isinstance(size, int))


def sizes_in(arrays: Mapping[str, Any], analysis: Analysis) -> dict[str, int]:
    """Return the dimensions that arrays give symbolic dimensions of the inputs, except for the batch axis.

    An array with one axis more than the input holds one sample per row.
    """
    inputs = [analysis.model.tensors[number] for number in analysis.model.graphs[0].inputs]
    inputs = [tensor for tensor in inputs if tensor.kind == TensorKind.INPUT]
    named = {bounded_name(name): array for name, array in arrays.items()}
    if len(inputs) == 1 and len(named) == 1:
        named = {inputs[0].name: next(iter(named.values()))}
    sizes_by_symbol: dict[str, int] = {}
    for tensor in inputs:
        declared = analysis.types.shapes[tensor.id]
        if declared is None or tensor.name not in named:
            continue
        sizes = np.shape(named[tensor.name])
        sizes = sizes[1:] if len(sizes) == len(declared) + 1 else sizes
        if len(sizes) == len(declared):
            for axis, (symbol, size) in enumerate(zip(declared, sizes, strict=True)):
                if axis and isinstance(symbol, str) and symbol.isidentifier():
                    sizes_by_symbol.setdefault(symbol, size)
    return sizes_by_symbol


def cast_to_inputs(arrays: Mapping[str, Any], specs: list[InputSpec], source: str) -> Sample:
    """Convert arrays to the types of the inputs and check their shapes; extra arrays are ignored.

    A model with one input accepts a single array of any name. Integers fit any type that holds their values;
    a float input accepts any float or 8-bit integer. NaN and infinity are rejected.

    Raises: InputError, naming ``source`` and the input.
    """
    named = check_inputs(arrays, specs, source)
    return {spec.name: _cast(np.asarray(named[spec.name]), spec, source) for spec in specs}


def check_inputs(arrays: Mapping[str, Any], specs: Sequence[InputSpec], source: str) -> dict[str, Any]:
    """Return the arrays by input after a check of their types and shapes, not of their values.

    Raises: InputError, naming ``source`` and the input.
    """
    named = {bounded_name(name): array for name, array in arrays.items()}
    if len(specs) == 1 and len(named) == 1:
        named = {specs[0].name: next(iter(named.values()))}
    missing = [spec.label for spec in specs if spec.name not in named]
    if missing:
        raise InputError(
            "sample-missing",
            f"{source} has no values for {', '.join(missing)}.",
            f"It contains {', '.join(list(named)[:20]) or 'nothing'}.",
        )
    for spec in specs:
        _check_form(np.asarray(named[spec.name]), spec, source)
    return named


def _check_form(array: np.ndarray[Any, Any], spec: InputSpec, source: str) -> None:
    if spec.dtype == object:
        if array.dtype.kind not in "US" and not all(isinstance(value, str) for value in array.flat):
            raise InputError("sample-type", f"{source}: {spec.name} contains {array.dtype} instead of text.")
    elif array.dtype == object or array.dtype.kind not in "biufV":
        raise InputError("sample-type", f"{source}: {spec.name} contains {array.dtype} instead of numbers.")
    if array.shape != spec.shape:
        actual_shape = "×".join(map(str, array.shape)) or "scalar"
        raise InputError(
            "sample-shape",
            f"{source}: {spec.name} has the shape {actual_shape}; the model takes {spec.label}.",
            "Set symbolic dimensions with --bind, --input-shape or --batch-size.",
        )


def _cast(array: np.ndarray[Any, Any], spec: InputSpec, source: str) -> np.ndarray[Any, Any]:
    if spec.dtype == object:
        return np.asarray(np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array, object)
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
