"""An ONNX Runtime session with what is fixed and what is free in its inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from py_autodoc.errors import AnalysisError, InputError, OptionError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import check_weights, one_line

onnxruntime: Any = import_module("onnxruntime")

_TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(int16)": np.int16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(uint8)": np.uint8,
    "tensor(uint16)": np.uint16,
    "tensor(uint32)": np.uint32,
    "tensor(uint64)": np.uint64,
    "tensor(bool)": np.bool_,
}


@dataclass(frozen=True, slots=True)
class SessionPort:
    """An input or output of the file."""

    name: str
    dtype: np.dtype[Any]
    dims: tuple[int | None, ...] | None
    """Fixed sizes; None where an axis is free. None for all: the rank is not known."""

    @property
    def rank(self) -> int | None:
        """Number of axes; None: not known."""
        return None if self.dims is None else len(self.dims)

    def fixed(self, axis: int) -> int | None:
        """The size of an axis that has one; None where it is free or is not there."""
        return self.dims[axis] if self.dims is not None and axis < len(self.dims) else None

    def shown(self) -> str:
        """Its shape for a message, as ``1×?×384``."""
        return "any shape" if self.dims is None else shown_shape(self.dims)


def shown_shape(dims: Sequence[int | None]) -> str:
    """A shape for a message, as ``1×?×384``."""
    return "×".join("?" if dim is None else str(dim) for dim in dims) or "scalar"


class ServingSession:
    """What runs the file.

    Args:
        path: the model. Weights beside it are read only from its own folder.
        providers: names of ONNX Runtime's execution providers; None: the CPU.
        options: an ``onnxruntime.SessionOptions``; None: the defaults.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: as ``py_autodoc.analyze``.
        InputError: weights beside the model cannot be had, or a type that cannot be handed over.
        OptionError: a provider that this ONNX Runtime does not have.
        AnalysisError: ONNX Runtime refuses the model.
    """

    def __init__(self, path: PathLike, providers: Sequence[Any] | None = None, options: Any = None) -> None:
        self.name = base_name(path)
        check_weights(path)
        wanted = _checked_providers(providers)
        try:
            self.runtime = onnxruntime.InferenceSession(str(path), options, providers=wanted)
        except Exception as fault:
            raise AnalysisError(
                "session-failed",
                f"{self.name}: ONNX Runtime refuses the model: {one_line(fault, path)}",
            ) from fault
        self.inputs = {one.name: self._port(one) for one in self.runtime.get_inputs()}
        self.outputs = tuple(self._port(one) for one in self.runtime.get_outputs())

    def _port(self, one: Any) -> SessionPort:
        dtype = _TYPES.get(one.type)
        if dtype is None:
            raise InputError(
                "port-type", f"{self.name}: {one.name} is a {one.type}, which a pipeline cannot hand over."
            )
        dims = None if one.shape is None else tuple(d if isinstance(d, int) else None for d in one.shape)
        return SessionPort(one.name, np.dtype(dtype), dims)

    def run(self, feeds: Mapping[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """All outputs. Raises: AnalysisError, with what ONNX Runtime says in one line."""
        try:
            return self.runtime.run(None, feeds)  # type: ignore[no-any-return]
        except Exception as fault:
            shapes = ", ".join(f"{name} {shown_shape(array.shape)}" for name, array in feeds.items())
            raise AnalysisError(
                "session-run",
                f"{self.name}: ONNX Runtime failed on {shapes}: {one_line(fault)}",
                "A text longer than the model was made for fails so: let the tokenizer cut it "
                "(truncation=True).",
            ) from fault


def _checked_providers(providers: Sequence[Any] | None) -> list[Any]:
    if providers is None:
        return ["CPUExecutionProvider"]
    available = onnxruntime.get_available_providers()
    for one in providers:
        name = one[0] if isinstance(one, tuple) else one
        if name not in available:
            raise OptionError(
                "provider-unknown",
                f"This ONNX Runtime has no provider {str(name)[:80]}.",
                f"It has {', '.join(available)}.",
            )
    return list(providers)
