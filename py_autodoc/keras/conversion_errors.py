"""Errors for Keras files that cannot be converted."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from lzma import LZMAError
from zipfile import BadZipFile

from py_autodoc.errors import InputError, LimitError

FALLBACK = (
    "Keras itself can run it: pip install keras torch, then `onnx-autodoc export FILE OUT.onnx "
    "--exporter dynamo`."
)
_MAX_LISTED = 12


def broken(name: str, problem: str, hint: str = "") -> InputError:
    """Return the error for a file that is damaged, or not a Keras model."""
    return InputError("keras-file", f"{name}: {problem}", hint)


def too_large(name: str, which: str, value: int, limit: int, quantity: str) -> LimitError:
    """Return the error for content, or a declared size, above a limit."""
    return LimitError(which, value, limit, f"{name}: {quantity}: {value:,}, and at most {limit:,} is read.")


class Unsupported(Exception):
    """A layer without a conversion to ONNX; reported as part of an ``InputError``."""

    def __init__(self, label: str, why: str) -> None:
        super().__init__(f"{label} {why}".strip())


def unsupported(name: str, problems: Sequence[str]) -> InputError:
    """Return the error that lists all unsupported layers of a file in one line."""
    listed = ", ".join(problems[:_MAX_LISTED])
    more = f" and {len(problems) - _MAX_LISTED} more" if len(problems) > _MAX_LISTED else ""
    return InputError(
        "keras-unsupported", f"{name}: cannot be read directly because of {listed}{more}.", FALLBACK
    )


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Convert exceptions of h5py and zipfile in the ``with`` block to one-line errors.

    Raises:
        InputError: the file is damaged. h5py raises almost any exception class for that.
    """
    try:
        yield
    except (
        OSError,
        RuntimeError,
        KeyError,
        ValueError,
        TypeError,
        IndexError,
        BadZipFile,
        EOFError,
        LZMAError,
        zlib.error,
    ) as fault:
        line = str(fault).strip().partition("\n")[0] or type(fault).__name__
        raise broken(name, f"is damaged or not a Keras file: {line[:200].rstrip('.')}.") from fault
