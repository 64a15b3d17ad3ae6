"""stdout and stderr of a command: what steers a terminal never reaches one, and a fault is told as one.

Everything printed passes here, whoever prints it: our own text, JSON and tables, warnings and log lines of
libraries. Only ``styled`` gives the stream below, to what brings its own colours.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from py_autodoc.render.output_target import stdout_failed
from py_autodoc.render.terminal_text import printable_text


class _Stream(io.TextIOBase):
    """A text stream in front of another."""

    def __init__(self, below: TextIO | None) -> None:
        self.below = below

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """As of the stream below."""
        return str(getattr(self.below, "encoding", None) or "utf-8")

    @property
    def errors(self) -> str:  # type: ignore[override]
        """As of the stream below: click writes around streams that do not say."""
        return str(getattr(self.below, "errors", None) or "replace")

    @property
    def buffer(self) -> Any:
        """The stream of bytes below."""
        if self.below is None:
            raise OSError(9, os.strerror(9))
        return self.below.buffer

    def fileno(self) -> int:
        """The descriptor below."""
        if self.below is None:
            raise io.UnsupportedOperation("fileno")
        return self.below.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.below is not None and self.below.isatty()

    def writable(self) -> bool:
        """True."""
        return True

    def writelines(self, lines: Iterable[Any], /) -> None:
        """Each is written."""
        for line in lines:
            self.write(line)


class Stdout(_Stream):
    """Data as they are; on a terminal without control characters."""

    def write(self, text: str, /) -> int:
        """Raises: OutputError, BrokenPipeError."""
        with _told():
            self._open().write(_shown(text) if self.isatty() else text)
        return len(text)

    def flush(self) -> None:
        """Raises: OutputError, BrokenPipeError."""
        if self.below is not None:
            with _told():
                self.below.flush()

    def _open(self) -> TextIO:
        if self.below is None:
            raise OSError(9, os.strerror(9))
        return self.below


class Stderr(_Stream):
    """Always without control characters. What cannot be written is lost: that is no reason to fail."""

    def write(self, text: str, /) -> int:
        """Never fails."""
        if self.below is not None:
            with suppress(OSError, ValueError):
                self.below.write(printable_text(text))
        return len(text)

    def flush(self) -> None:
        """Never fails."""
        if self.below is not None:
            with suppress(OSError, ValueError):
                self.below.flush()


def _shown(text: str) -> str:
    """A carriage return that ends no line would let a name write over what stands before it."""
    return printable_text(text.replace("\r\n", "\n").replace("\r", "\ufffd"))


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as fault:
        raise stdout_failed(fault) from fault


@contextmanager
def guarded() -> Iterator[None]:
    """Puts both streams in place for a command."""
    _fill_descriptors()
    out, err = sys.stdout, sys.stderr
    for stream in (out, err):
        # A terminal that cannot show a character gets a question mark, not a crash.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    sys.stdout, sys.stderr = Stdout(out), Stderr(err)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def styled(stream: TextIO) -> TextIO:
    """The stream below, for text whose control characters are our own."""
    if isinstance(stream, _Stream):
        return stream.below if stream.below is not None else open(os.devnull, "w")
    return stream


def drop_stdout() -> None:
    """What is left of stdout goes nowhere: Python flushes it at exit, and would fail again."""
    if sys.stdout is None:
        return
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _fill_descriptors() -> None:
    """Where a standard descriptor was closed the next file opened would get its number, and stray output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
