"""Convert a model in any accepted form to a path or bytes."""

from __future__ import annotations

import os
from typing import Any

from py_autodoc.errors import InputError
from py_autodoc.graph.loading.load import LoadedModel, load, load_bytes
from py_autodoc.graph.loading.other_formats import as_protobuf
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.limits import LIBRARY, Limits


def normalise_source(source: Any) -> tuple[str | bytes, str]:
    """Return (path or serialized model, name) for a path, bytes, ``onnx.ModelProto`` or ``onnx_ir.Model``.

    A file with a model as text or in the ORT format is converted. An empty name stands for the file's own.
    Raises: InputError.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        other = as_protobuf(path) if os.path.isfile(path) else None
        return (path, "") if other is None else (other, base_name(path))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "model.onnx"
    if type(source).__module__.partition(".")[0] == "onnx_ir":
        import onnx_ir

        source = onnx_ir.to_proto(source)
    if hasattr(source, "SerializeToString") and hasattr(source, "graph"):
        return _serialize(source), f"{source.graph.name or 'model'}.onnx"
    raise InputError(
        "not-a-source",
        f"Cannot analyse a {type(source).__name__}.",
        "Pass a path, bytes, an onnx.ModelProto or an onnx_ir.Model.",
    )


def open_model(source: str | bytes, name: str = "", limits: Limits = LIBRARY) -> LoadedModel:
    """Return the structure of a model from ``normalise_source``. Raises: InputError."""
    if isinstance(source, bytes):
        return load_bytes(source, name, limits)
    return load(source, limits)


def _serialize(proto: Any) -> bytes:
    from google.protobuf.message import EncodeError

    try:
        data: bytes = proto.SerializeToString()
    except (EncodeError, ValueError):
        raise InputError(
            "too-large-in-memory",
            "The model in memory is over 2 GB, more than protobuf can hold.",
            "Save it with external data and pass the path.",
        ) from None
    return data
