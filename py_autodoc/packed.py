"""Packing of bytes into the text of a metadata value, and back.

Up to 10 KB of plain text are stored as is. Longer values are compressed and encoded as base 64 (an alphabet
without a slash, so that no value looks like a path) with the prefix ``gz:`` or ``xz:``; bytes that are not
text have the prefix ``b64:``. Packing is deterministic.

Values come from untrusted files: unpacking is limited in size and memory.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import lzma
import re
import zlib
from typing import Any

from py_autodoc.bounded import TooMuch, parse_json
from py_autodoc.limits import SETTINGS

MAX_FILE = 1 << 28
"""Maximum bytes of one unpacked file."""
MAX_JSON = 1 << 24
"""Maximum bytes of one unpacked JSON value."""
PLAIN = 10_000
"""Maximum bytes of a value that is kept readable."""

_GZIP, _XZ, _RAW = "gz:", "xz:", "b64:"
_XZ_MEMORY = 1 << 27
_XZ_FILTERS = [
    # On vocabularies smaller than the strongest preset, in a third of its time.
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 6,
        "mode": lzma.MODE_NORMAL,
        "mf": lzma.MF_BT4,
        "depth": 4,
        "nice_len": 16,
        "pb": 0,
    }
]
_ALPHABET = re.compile(r"[A-Za-z0-9_-]*={0,2}")


class DamagedValue(ValueError):
    """A value cannot be unpacked; the message gives the reason as the end of a sentence."""


def pack_json(value: Any) -> str:
    """Return JSON without spaces, gzipped above 10 KB. Raises: ValueError, TypeError for other data."""
    plain = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return plain if len(plain) <= PLAIN else _GZIP + _text(gzip.compress(plain.encode("ascii"), 9, mtime=0))


def unpack_json(value: str) -> Any:
    """Return the value from ``pack_json``. Raises: DamagedValue."""
    data = unpack(value, MAX_JSON)
    try:
        return parse_json(data, SETTINGS)
    except TooMuch as fault:
        raise DamagedValue(str(fault)) from None
    except ValueError:
        raise DamagedValue("is not JSON") from None


def special_floats(value: Any) -> Any:
    """Restore numbers that JSON lacks, which transformers writes as ``{"__float__": "Infinity"}``.

    Raises:
        RecursionError: nested deeper than Python's JSON parser allows.
    """
    if isinstance(value, list):
        return [special_floats(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"__float__"} and value["__float__"] in ("Infinity", "-Infinity", "NaN"):
        return float(value["__float__"])
    return {key: special_floats(one) for key, one in value.items()}


def pack_file(data: bytes) -> str:
    """Pack a file: unchanged if it is short text, else by gzip or xz, whichever is smaller."""
    if len(data) <= PLAIN:
        plain = _plain(data)
        return plain if plain is not None else _RAW + _text(data)
    zipped = gzip.compress(data, 6, mtime=0)
    smaller = lzma.compress(data, format=lzma.FORMAT_XZ, filters=_XZ_FILTERS)
    return _XZ + _text(smaller) if len(smaller) < len(zipped) else _GZIP + _text(zipped)


def _plain(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or text.startswith((_GZIP, _XZ, _RAW)) else text


def unpack(value: str, limit: int = MAX_FILE) -> bytes:
    """Return the bytes of a value.

    Args:
        value: the text.
        limit: maximum number of bytes; never exceeded in memory.

    Raises:
        DamagedValue: it is not a packed value, or is larger than ``limit``.
    """
    prefix = next((one for one in (_GZIP, _XZ, _RAW) if value.startswith(one)), "")
    if not prefix:
        data = value.encode("utf-8", "surrogatepass")
        if len(data) > limit:
            raise DamagedValue(f"has more than {limit:,} bytes")
        return data
    # Compression ratios stay below 1000, so the text is bounded before it is decoded.
    if len(value) > 2 * limit:
        raise DamagedValue(f"has more than {limit:,} bytes")
    packed = _bytes(value[len(prefix) :])
    if prefix == _RAW:
        return packed
    return _inflated(packed, limit) if prefix == _GZIP else _unpacked(packed, limit)


def _inflated(packed: bytes, limit: int) -> bytes:
    inflate = zlib.decompressobj(wbits=31)
    try:
        data = inflate.decompress(packed, limit)
    except zlib.error:
        raise DamagedValue("is damaged gzip") from None
    if not inflate.eof:
        raise DamagedValue(_over(limit, len(data)) or "is cut off")
    return data


def _unpacked(packed: bytes, limit: int) -> bytes:
    expand = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    try:
        data = expand.decompress(packed, limit)
        # The end of the stream may come after the last byte of data.
        if not expand.eof and len(data) == limit and expand.decompress(b"", 1):
            raise DamagedValue(_over(limit, limit))
    except (lzma.LZMAError, EOFError):
        raise DamagedValue("is damaged xz") from None
    if not expand.eof:
        raise DamagedValue("is cut off")
    return data


def _over(limit: int, size: int) -> str:
    return f"has more than {limit:,} bytes" if size >= limit else ""


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii")


def _bytes(text: str) -> bytes:
    if not _ALPHABET.fullmatch(text):
        raise DamagedValue("is damaged base 64")
    try:
        return base64.urlsafe_b64decode(text)
    except (binascii.Error, ValueError):
        raise DamagedValue("is damaged base 64") from None


def checksum(value: str) -> str:
    """Return the SHA-256 of a value's text in hexadecimal."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
