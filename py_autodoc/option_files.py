"""The one reader of files that an option or argument names, apart from models.

Only regular files are opened: a FIFO would be waited for, a device has no end, and a link to either is no
better. Each kind has a maximum size (``py_autodoc.limits``), which also holds for a file that grows while it
is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from py_autodoc.bounded import TooMuch, parse_json
from py_autodoc.errors import OptionError
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.limits import SETTINGS, Bounds, FileKind
from py_autodoc.units import size

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST = 200
NOT_TEXT = "is not UTF-8 text"


def shown_name(path: PathLike) -> str:
    """Return the file's name for messages."""
    return base_name(path)[:_LONGEST]


@contextmanager
def opened(path: PathLike, kind: FileKind) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes.

    Raises:
        PathError: it is missing, a directory, a FIFO, a device or a socket, or must not be read.
        OptionError: it is larger than ``kind`` allows.
    """
    with regular_file(path, "file", kind.name) as (descriptor, status):
        check_size(path, status.st_size, kind)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            yield file


def check_size(path: PathLike, count: int, kind: FileKind) -> None:
    """Reject a file of ``count`` bytes if that is too much for its kind. Raises: OptionError."""
    if count > kind.bytes:
        raise OptionError(
            kind.too_large or kind.code,
            f"{shown_name(path)} is too large for {kind.name} (limit: {size(kind.bytes)}).",
        )


def read_bytes(path: PathLike, kind: FileKind) -> bytes:
    """Return the content of a file. Raises: PathError, OptionError, as ``opened``."""
    with opened(path, kind) as file:
        data = file.read(kind.bytes + 1)
    check_size(path, len(data), kind)
    return data


def read_text(path: PathLike, kind: FileKind) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises: PathError, OptionError: as ``opened``, or it is not UTF-8.
    """
    try:
        return read_bytes(path, kind).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError(kind.code, f"{shown_name(path)} {NOT_TEXT}.") from None


def read_json(path: PathLike, kind: FileKind, bounds: Bounds = SETTINGS, hint: str = "") -> Any:
    """Return the content of a JSON file. Raises: PathError, OptionError."""
    return parsed_json(read_text(path, kind), shown_name(path), kind, bounds, hint)


def parsed_json(text: str, name: str, kind: FileKind, bounds: Bounds = SETTINGS, hint: str = "") -> Any:
    """Return the content of a JSON text from a file called ``name``. Raises: OptionError."""
    try:
        content = parse_json(text, bounds)
        # No file, terminal or report can hold a text with half of a character.
        if _SURROGATE.search(text) and has_surrogates(content):
            raise TooMuch("contains an unpaired surrogate, which is not a character")
    except TooMuch as fault:
        raise OptionError(kind.code, f"{name} is not {kind.name}: it {fault}.", hint) from None
    except ValueError as fault:
        raise OptionError(kind.code, f"{name} is not valid JSON: {str(fault)[:120]}.", hint) from None
    return content


def has_surrogates(content: Any) -> bool:
    """True if a text in decoded JSON, keys included, contains an unpaired surrogate."""
    pending = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            if any("\ud800" <= sign <= "\udfff" for sign in value):
                return True
        elif isinstance(value, dict):
            pending += (*value, *value.values())
        elif isinstance(value, list):
            pending += value
    return False
