"""ONNX models written as text: ONNX's own syntax (.onnxtxt), protobuf text (.textproto) and protobuf JSON.

A text is checked for its size and depth before one of the parsers, which recurse, reads it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import onnx

from py_autodoc.errors import CorruptModel, LimitError
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file

MAX_BYTES = 1 << 26
"""Maximum bytes of a text; the parsers read about a megabyte per second."""
MAX_DEPTH = 100
"""Maximum nesting of brackets."""
_HEAD = 1 << 12
_FIELDS = (
    "ir_version|producer_name|producer_version|domain|model_version|doc_string|graph|opset_import|"
    "metadata_props|functions"
)
_PROTOBUF_TEXT = re.compile(rf"(?:\s|#[^\n]*\n)*(?:{_FIELDS})\s*[:{{]")
_ONNX_TEXT = re.compile(rf"\s*(?:<\s*(?:{_FIELDS})\s*:|[\w.]+\s*\([^()]*\)\s*=>\s*\()")
_JSON = re.compile(
    r'\s*\{\s*"(?:irVersion|ir_version|producerName|producer_name|graph|opsetImport|opset_import)"'
)
_MARKS = re.compile(r'#[^\n]*|=>|"(?:[^"\\]|\\.)*"?|\'(?:[^\'\\]|\\.)*\'?|[\[{(<]|[\]})>]', re.DOTALL)
_HINT = "The file is damaged, or has another format than its beginning says."


def text_model(path: PathLike) -> bytes | None:
    """Return a model written as text as a serialized protobuf; None if the file is none.

    Raises:
        PathError: it is not a regular file.
        LimitError: it is larger than ``MAX_BYTES`` or nested deeper than ``MAX_DEPTH``.
        CorruptModel: it begins like one, but cannot be parsed; the message gives the place.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        read = _reader(os.read(fd, _HEAD).decode("utf-8", "replace").removeprefix("\ufeff"))
        if read is None:
            return None
        if status.st_size > MAX_BYTES:
            text = f"{name}: {status.st_size:,} bytes of text, the limit is {MAX_BYTES:,}."
            raise LimitError("file_bytes", status.st_size, MAX_BYTES, text, "Save it as .onnx.")
        with os.fdopen(os.dup(fd), "rb") as file:
            file.seek(0)
            data = file.read(MAX_BYTES + 1)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        raise CorruptModel(f"{name}: not UTF-8 at byte {fault.start:,}.", _HINT, fault.start) from None
    depth = _depth(text)
    if depth > MAX_DEPTH:
        raise LimitError(
            "depth", depth, MAX_DEPTH, f"{name}: more than {MAX_DEPTH} nested brackets are too many to parse."
        )
    try:
        data = read(text).SerializeToString()
        return bytes(data)
    except MemoryError:
        raise
    except Exception as fault:  # noqa: BLE001 - the parsers have no common base
        lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
        said = " ".join(lines[:2])[:200].rstrip(".") or type(fault).__name__
        raise CorruptModel(f"{name}: cannot be parsed as a model in text: {said}.", _HINT) from None


def _reader(head: str) -> Callable[[str], onnx.ModelProto] | None:
    if _JSON.match(head):
        return _from_json
    if _ONNX_TEXT.match(head):
        return _from_onnx_text
    return _from_protobuf_text if _PROTOBUF_TEXT.match(head) else None


def _from_json(text: str) -> onnx.ModelProto:
    from google.protobuf import json_format  # slow import

    return json_format.Parse(text, onnx.ModelProto(), max_recursion_depth=MAX_DEPTH)


def _from_protobuf_text(text: str) -> onnx.ModelProto:
    from google.protobuf import text_format  # slow import

    return text_format.Parse(text, onnx.ModelProto())


def _from_onnx_text(text: str) -> onnx.ModelProto:
    if text.lstrip().startswith("<"):
        return onnx.parser.parse_model(text)
    return onnx.helper.make_model(onnx.parser.parse_graph(text))


def _depth(text: str) -> int:
    """Return the deepest nesting of brackets outside of strings; ``MAX_DEPTH`` + 1 if it is deeper."""
    depth = deepest = 0
    for match in _MARKS.finditer(text):
        mark = match[0]
        if mark in "[{(<":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > MAX_DEPTH:
                break
        elif mark in "]})>":
            depth -= 1
    return deepest
