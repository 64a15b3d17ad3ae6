"""Models in other formats of ONNX than its protobuf: as text, or for ONNX Runtime."""

from __future__ import annotations

from py_autodoc.graph.loading.ort_format import ort_model
from py_autodoc.graph.loading.text_models import text_model
from py_autodoc.graph.protobuf.probe import PathLike


def as_protobuf(path: PathLike) -> bytes | None:
    """Return a model in another format as a serialized protobuf; None if the file is none.

    Raises: InputError, LimitError: see ``text_model`` and ``ort_model``.
    """
    text = text_model(path)
    return ort_model(path) if text is None else text
