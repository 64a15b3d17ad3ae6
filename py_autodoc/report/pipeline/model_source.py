"""What may be given as a model, as a path or as bytes."""

from __future__ import annotations

import os
from typing import Any

from py_autodoc.errors import InputError
from py_autodoc.graph.loading.load import LoadedModel, load, load_bytes
from py_autodoc.limits import LIBRARY, Limits


def normalise_source(source: Any) -> tuple[str | bytes, str]:
    """(path or serialized model, name) of a path, bytes, ``onnx.ModelProto`` or ``onnx_ir.Model``.

    The name is empty where the file's own is meant. Raises: InputError.
    """
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source), ""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "model.onnx"
    if type(source).__module__.partition(".")[0] == "onnx_ir":
        import onnx_ir

        source = onnx_ir.to_proto(source)
    if hasattr(source, "SerializeToString") and hasattr(source, "graph"):
        return _serialized(source), f"{source.graph.name or 'model'}.onnx"
    raise InputError(
        "not-a-source",
        f"Cannot analyse a {type(source).__name__}.",
        "Pass a path, bytes, an onnx.ModelProto or an onnx_ir.Model.",
    )


def open_model(source: str | bytes, name: str = "", limits: Limits = LIBRARY) -> LoadedModel:
    """The structure of a model that ``normalise_source`` gave. Raises: InputError."""
    if isinstance(source, bytes):
        return load_bytes(source, name, limits)
    return load(source, limits)


def _serialized(proto: Any) -> bytes:
    from google.protobuf.message import EncodeError

    try:
        data: bytes = proto.SerializeToString()
    except (EncodeError, ValueError):
        raise InputError(
            "too-large-in-memory",
            "The model in memory is over 2 GB, more than protobuf can hold.",
            "Save it with external data and give the path.",
        ) from None
    return data
