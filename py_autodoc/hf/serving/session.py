"""An ONNX Runtime session, and the fixed and dynamic dimensions of its inputs and outputs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from py_autodoc.errors import AnalysisError, InputError, OptionError
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import check_weights, one_line, refused

if TYPE_CHECKING:
    import onnx

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
    """Fixed dimensions; None for a dynamic axis. None as a whole if the rank is unknown."""

    @property
    def rank(self) -> int | None:
        """Number of axes; None if unknown."""
        return None if self.dims is None else len(self.dims)

    def fixed(self, axis: int) -> int | None:
        """Return the dimension of a fixed axis; None if it is dynamic or does not exist."""
        return self.dims[axis] if self.dims is not None and axis < len(self.dims) else None

    def shown(self) -> str:
        """Return its shape for a message, such as ``1×?×384``."""
        return "any shape" if self.dims is None else shown_shape(self.dims)


def shown_shape(dims: Sequence[int | None]) -> str:
    """Return a shape for a message, such as ``1×?×384``."""
    return "×".join("?" if dim is None else str(dim) for dim in dims) or "scalar"


class ServingSession:
    """An ONNX Runtime session of a file.

    Args:
        model: a file, whose external weights are read only from its own folder; or a model with its weights.
        providers: names of ONNX Runtime's execution providers; None uses the CPU.
        options: an ``onnxruntime.SessionOptions``; None uses the defaults.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: as ``py_autodoc.analyze``.
        InputError: external weights are missing, a model in memory is over 2 GB, or an input or output has
            an unsupported type.
        OptionError: this ONNX Runtime does not have the provider.
        ModelRefused: ONNX Runtime refuses the model.
    """

    def __init__(
        self,
        model: PathLike | onnx.ModelProto,
        providers: Sequence[Any] | None = None,
        options: Any = None,
    ) -> None:
        path = model if isinstance(model, (str, os.PathLike)) else None
        self.name = "The model" if path is None else base_name(path)
        source: Any
        if path is None:
            source = _serialized(model)
        else:
            check_weights(path)
            source = str(path)
        checked = _checked_providers(providers)
        try:
            self.runtime = onnxruntime.InferenceSession(source, options, providers=checked)
        except Exception as fault:
            raise refused(fault, self.name, path) from fault
        self.inputs = {value.name: self._port(value) for value in self.runtime.get_inputs()}
        self.outputs = tuple(self._port(value) for value in self.runtime.get_outputs())

    def _port(self, value: Any) -> SessionPort:
        dtype = _TYPES.get(value.type)
        if dtype is None:
            raise InputError(
                "port-type", f"{self.name}: {value.name} is a {value.type}, which a pipeline cannot pass on."
            )
        dims = None if value.shape is None else tuple(d if isinstance(d, int) else None for d in value.shape)
        return SessionPort(value.name, np.dtype(dtype), dims)

    def run(self, feeds: Mapping[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """Run the file and return all outputs. Raises: AnalysisError with ONNX Runtime's message."""
        try:
            return self.runtime.run(None, feeds)  # type: ignore[no-any-return]
        except Exception as fault:
            shapes = ", ".join(f"{name} {shown_shape(array.shape)}" for name, array in feeds.items())
            raise AnalysisError(
                "session-run",
                f"{self.name}: ONNX Runtime failed on {shapes}: {one_line(fault)}",
                "Texts longer than the model's maximum fail like this: let the tokenizer truncate them "
                "(truncation=True).",
            ) from fault


def _serialized(model: Any) -> bytes:
    """Return a model in memory as bytes. Raises: InputError, NotAModel, CorruptModel, LimitError."""
    try:
        data: bytes = model.SerializeToString()
    except AttributeError:
        raise InputError(
            "no-model",
            f"A {type(model).__name__} is neither a file nor an onnx.ModelProto.",
            'Pass its file: pipeline("model.onnx").',
        ) from None
    except Exception as fault:  # protobuf has no common base for what it raises
        raise InputError(
            "model-too-large",
            f"The model cannot be serialised: {one_line(fault)}",
            "Save it with external data, and pass the file.",
        ) from fault
    facts = load_bytes(data, "The model").facts
    if facts.external_files:
        # The session would look for them in the working folder.
        raise InputError(
            "external-weights",
            "The model in memory has weights in files.",
            "Pass its file, or load the weights with onnx.load.",
        )
    return data


def _checked_providers(providers: Sequence[Any] | None) -> list[Any]:
    if providers is None:
        return ["CPUExecutionProvider"]
    available = onnxruntime.get_available_providers()
    for provider in providers:
        name = provider[0] if isinstance(provider, tuple) else provider
        if name not in available:
            raise OptionError(
                "provider-unknown",
                f"This ONNX Runtime has no provider {str(name)[:80]}.",
                f"Choose one of {', '.join(available)}.",
            )
    return list(providers)
