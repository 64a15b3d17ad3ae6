"""Recognises files written by ONNX Autodoc, by their content rather than their names.

Tables, pages and images can be regenerated, and are recognised by their form. Models, source code and prose
may have been edited without removing our marks, so they end with a digest of everything before it, and only
count as ours while it matches.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from py_autodoc.graph.protobuf.protobuf_wire import encode_bytes
from py_autodoc.version import NAME

WRITTEN = "autodoc.written"
"""Key of the last metadata entry of a model written by this program."""
DATA = ".data"
"""Suffix of the external data file of a model."""
WRITER = {"writer": NAME}
"""Metadata of a safetensors file."""
COMMENT = NAME.encode()
"""Comment of an .npz file (a ZIP archive)."""

_METADATA, _KEY, _VALUE = 14, 1, 2
_HEAD, _TAIL = 1 << 13, 1 << 9
_MAX_TEXT = 1 << 26
"""Maximum bytes of a text that is read to see whether we wrote it."""
_CHUNK_BYTES = 1 << 22
_SEALS = {"python": ("# ", ""), "markdown": ("<!-- ", " -->"), "text": ("# ", "")}
"""Comment syntax for the last line of a text."""

_FORMS = {
    "report": rb'\s*\{(?s:.{0,400}?)"generator"\s*:\s*\{\s*"name"\s*:\s*"%(name)s"',
    "csv": rb"(id,name,type,domain,group,|node,operator,tag,scope,via,|batch,hardware,precision,)",
    "html": rb'(?s:.*)<meta name="generator" content="%(name)s ',
    "svg": rb'<\?xml version="1\.0" encoding="UTF-8"\?>\n<svg xmlns="http://www\.w3\.org/2000/svg" '
    rb'width="\d+" height="\d+" viewBox="0 0 \d+ \d+" role="img" xml:space="preserve" '
    rb'font-family="Helvetica, ',
    "png": rb"\x89PNG\r\n\x1a\n(?s:.{25})(?s:.{4})tEXtSoftware\x00%(name)s",
    "dot": rb'digraph "[^\n]*" \{\nlabel=[^\n]*\nrankdir=(LR|TB); fontname="Helvetica"; fontsize=12;\n',
    "netron": rb'\{\s*"signature"\s*:\s*"netron:attachment",\s*"metadata"\s*:\s*\[\],\s*"metrics"',
    "model-explorer": rb'(?s:\{\s*"name"\s*:.*"bgColor"\s*:\s*"#440154".*\})\s*$',
    "sidecar": rb'\{\s*"schema"\s*:\s*"autodoc\.hierarchy/',
    "sweep": rb'\{\s*"schema"\s*:\s*"autodoc\.sweep/',
    "llm": rb'\{\s*"schema"\s*:\s*"autodoc\.llm/',
    "profile": rb'\s*\{\s*"schema"\s*:\s*"autodoc\.profile/',
    "recommendation": rb'\{\s*"schema"\s*:\s*"autodoc\.recommendation/',
    "sensitivity": rb'\{\s*"schema"\s*:\s*"autodoc\.sensitivity/',
    "run": rb'\{\s*"schema"\s*:\s*"autodoc\.run/',
    "node-times": rb'\{\s*"schema"\s*:\s*"autodoc\.node-times/',
    "quantization": rb'\{\s*"schema"\s*:\s*"autodoc\.quantization/',
    "verification": rb'\{\s*"schema"\s*:\s*"autodoc\.verification/',
    "check": rb'\{\s*"schema"\s*:\s*"autodoc\.check/',
    "junit": rb'<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="%(name)s check"',
    "sarif": rb'\{\s*"\$schema": "https://json\.schemastore\.org/sarif-2\.1\.0\.json",\s*'
    rb'"version": "2\.1\.0",\s*"runs": \[\s*\{\s*"tool": \{\s*"driver": \{\s*"name": "%(name)s"',
    "export-report": rb'\{\s*"schema"\s*:\s*"autodoc\.export/',
    "pdf": rb"(?s:%PDF-.*)% Written by %(name)s\n$",
    "plot": rb"(?s:\x89PNG\r\n\x1a\n.{25}.{4}tEXtSoftware\x00%(name)s|<\?xml .*<dc:title>%(name)s)",
    "safetensors": rb'(?s:.{8})\{"__metadata__":\{"format":"pt","writer":"%(name)s"\}',
    "npz": rb"(?s:PK.*)%(name)s$",
}


def is_unchanged_output(path: Path, kind: str) -> bool:
    """Return whether a regular file of this kind was written by this program and is unchanged.

    Empty files count too, as nothing can be lost. Raises: OSError: it cannot be read.
    """
    status = path.stat()
    if not status.st_size:
        return True
    state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _is_unchanged_output(str(path), kind, state, _data_bytes(path))


@lru_cache(64)
def _is_unchanged_output(path: str, kind: str, _state: object, data: int | None) -> bool:
    if kind == "data":
        model = Path(path.removesuffix(DATA))
        return path.endswith(DATA) and model.is_file() and _has_mark(model, _data_bytes(model))
    if kind == "onnx":
        return _has_mark(Path(path), None) or (data is not None and _has_mark(Path(path), data))
    if kind in _SEALS:
        return _is_sealed(Path(path), *_SEALS[kind])
    if kind not in _FORMS:
        return False
    with open(path, "rb") as file:
        start = file.read(_HEAD)
        file.seek(max(len(start), os.fstat(file.fileno()).st_size - _TAIL))
        return (
            re.match(_FORMS[kind].replace(b"%(name)s", re.escape(COMMENT)), start + file.read()) is not None
        )


def sealed_text(text: str, kind: str) -> str:
    """Append the digest line to a text that users may edit."""
    text = text if text.endswith("\n") else f"{text}\n"
    before, after = _SEALS[kind]
    return f"{text}{before}{NAME} {hashlib.sha256(text.encode()).hexdigest()}{after}\n"


def _is_sealed(path: Path, before: str, after: str) -> bool:
    if path.stat().st_size > _MAX_TEXT:
        return False  # none of our texts is as large
    data = path.read_bytes()
    last_line = data.rfind(b"\n", 0, len(data) - 1) + 1
    digest = hashlib.sha256(data[:last_line]).hexdigest()
    return data[last_line:] == f"{before}{NAME} {digest}{after}\n".encode()


def unmark(model: Any) -> None:
    """Remove the mark from a ``ModelProto`` that becomes another file, which gets its own."""
    for entry in [prop for prop in model.metadata_props if prop.key == WRITTEN]:
        model.metadata_props.remove(entry)


def seal_model(path: Path) -> None:
    """Append the mark to a serialized model whose external data, if any, are next to it. Raises: OSError."""
    entry = _entry(_digest(path, path.stat().st_size, _data_bytes(path)))
    with open(path, "ab") as file:
        file.write(entry)


def _has_mark(path: Path, data: int | None) -> bool:
    """Return whether a model ends with the mark for its content and the size of its external data."""
    mark_offset = path.stat().st_size - len(_entry("0" * 64))
    if mark_offset < 0:
        return False
    with open(path, "rb") as file:
        file.seek(mark_offset)
        entry = file.read()
    # What others wrote is seldom read further than this.
    return WRITTEN.encode() in entry and entry == _entry(_digest(path, mark_offset, data))


def _entry(digest: str) -> bytes:
    """Encode the mark; protobuf accepts a field at the end of any serialized model."""
    entry = encode_bytes(_KEY, WRITTEN.encode()) + encode_bytes(_VALUE, digest.encode())
    return encode_bytes(_METADATA, entry)


def _digest(path: Path, count: int, data: int | None) -> str:
    """Return the digest of the first bytes of a file and the size of its external data."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while count > 0 and (piece := file.read(min(_CHUNK_BYTES, count))):
            digest.update(piece)
            count -= len(piece)
    digest.update(b"inline" if data is None else b"%d" % data)
    return digest.hexdigest()


def _data_bytes(model: Path) -> int | None:
    """Return the size of a model's external data file, if there is one."""
    try:
        return model.with_name(f"{model.name}{DATA}").stat().st_size
    except OSError:
        return None
