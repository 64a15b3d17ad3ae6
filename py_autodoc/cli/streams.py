"""stdout and stderr of a command: nothing steers a terminal or a CI runner, and failures are reported.

All output passes through here: our own text, JSON and tables, and warnings and log lines of libraries.
``styled`` is for output with its own colours, and only ``underlying`` writes unchanged.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from py_autodoc.render.output_target import is_log, stdout_failed
from py_autodoc.render.runner_log import LogFilter, inert_document
from py_autodoc.render.terminal_text import printable_text


class _Stream(io.TextIOBase):
    """A text stream that wraps another."""

    def __init__(self, below: TextIO | None, inert: LogFilter | None = None) -> None:
        self.below = below
        self.inert = inert or LogFilter()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of the underlying stream."""
        return str(getattr(self.below, "encoding", None) or "utf-8")

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Error handling of the underlying stream: click re-wraps streams without it."""
        return str(getattr(self.below, "errors", None) or "replace")

    @property
    def buffer(self) -> Any:
        """The underlying byte stream."""
        if self.below is None:
            raise OSError(9, os.strerror(9))
        return self.below.buffer

    def fileno(self) -> int:
        """Return the underlying descriptor."""
        if self.below is None:
            raise io.UnsupportedOperation("fileno")
        return self.below.fileno()

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self.below is not None and self.below.isatty()

    def writable(self) -> bool:
        """Return True."""
        return True

    def writelines(self, lines: Iterable[Any], /) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)


class Stdout(_Stream):
    """Writes data unchanged; to a terminal or the log of a CI runner without control characters.

    Results of commands do not come this way; what does is the help, and what libraries print.
    """

    def __init__(self, below: TextIO | None) -> None:
        super().__init__(below, LogFilter(inert_document))

    def write(self, text: str, /) -> int:
        """Write text. Raises: OutputError, BrokenPipeError."""
        with _raising_output_error():
            log = is_log(self)
            shown = _without_carriage_returns(text) if log or self.isatty() else text
            self._open().write(self.inert(shown) if log else shown)
        return len(text)

    def flush(self) -> None:
        """Flush the stream. Raises: OutputError, BrokenPipeError."""
        if self.below is not None:
            with _raising_output_error():
                self.below.flush()

    def _open(self) -> TextIO:
        if self.below is None:
            raise OSError(9, os.strerror(9))
        return self.below


class Stderr(_Stream):
    """Always removes control characters and commands to CI runners. Write failures are ignored."""

    def write(self, text: str, /) -> int:
        """Write text; never fails."""
        if self.below is not None:
            with suppress(OSError, ValueError):
                self.below.write(self.inert(printable_text(text)))
        return len(text)

    def flush(self) -> None:
        """Flush the stream; never fails."""
        if self.below is not None:
            with suppress(OSError, ValueError):
                self.below.flush()


class _Styled(_Stream):
    """Writes text whose control characters are our own; names in it are not commands to a CI runner."""

    def __init__(self, stream: _Stream) -> None:
        super().__init__(stream.below)

    def write(self, text: str, /) -> int:
        """Write text. Raises: OSError."""
        if self.below is not None:
            self.below.write(self.inert(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream. Raises: OSError."""
        if self.below is not None:
            self.below.flush()


def _without_carriage_returns(text: str) -> str:
    """Remove carriage returns within a line, with which a name could overwrite the text before it."""
    return printable_text(text.replace("\r\n", "\n").replace("\r", "\ufffd"))


@contextmanager
def _raising_output_error() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as fault:
        raise stdout_failed(fault) from fault


@contextmanager
def guarded() -> Iterator[None]:
    """Replace both streams while a command runs."""
    _fill_descriptors()
    out, err = sys.stdout, sys.stderr
    for stream in (out, err):
        # Terminals that cannot display a character get a question mark instead of a crash.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    sys.stdout, sys.stderr = Stdout(out), Stderr(err)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def styled(stream: TextIO) -> TextIO:
    """Return a stream for text whose control characters are our own, and which may quote a model."""
    return cast(TextIO, _Styled(stream)) if isinstance(stream, _Stream) else stream


def underlying(stream: TextIO) -> TextIO:
    """Return the underlying stream, for lines that are sanitised already."""
    if isinstance(stream, _Stream):
        return stream.below if stream.below is not None else open(os.devnull, "w")
    return stream


def drop_stdout() -> None:
    """Discard the rest of stdout: Python flushes it at exit and would fail again."""
    if sys.stdout is None:
        return
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _fill_descriptors() -> None:
    """Reopen closed standard descriptors, or the next opened file would get their number and stray output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
