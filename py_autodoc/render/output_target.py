"""Outputs: files replaced atomically, or stdout for ``-``."""

from __future__ import annotations

import codecs
import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from py_autodoc.errors import OptionError, OutputError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.outputs import OutputFile, OutputRequest, check_outputs
from py_autodoc.render.runner_log import LogFilter, in_ci, inert_document, inert_json
from py_autodoc.render.terminal_text import printable_json, printable_text

STDOUT = "-"
JSON = frozenset({
    "report", "export-report", "netron", "model-explorer", "check", "node-times", "run", "sarif",
    "quantization", "sensitivity", "verification",
})  # fmt: skip
"""Kinds of files that are JSON."""


class Target:
    """One output, checked before the analysis so that wrong paths are reported early; see ``targets``."""

    def __init__(self, path: str, file: OutputFile | None, json: bool = False) -> None:
        self.display_name = path
        self._json = json
        self._file = file
        """None for stdout."""

    @property
    def to_stdout(self) -> bool:
        """Return True if the result is printed."""
        return self._file is None

    @property
    def path(self) -> Path:
        """Return the file, with links resolved."""
        return Path() if self._file is None else self._file.path

    def write(self, result: str | bytes) -> int:
        """Write the result; return its size in bytes. Raises: OutputError."""
        data = _bytes(result)
        if self._file is None:
            to_stdout(result, json=self._json)
        else:
            self._file.write(data)
        return len(data)

    def write_pieces(self, pieces: Iterable[bytes]) -> int:
        """Write UTF-8 text in pieces; return its size in bytes. Raises: OutputError."""
        if self._file is None:
            return pieces_to_stdout(pieces, self._json)
        size = 0
        with self._file.opened() as file:
            for piece in pieces:
                size += file.write(piece)
        return size


def targets(
    outputs: Mapping[str, tuple[str | None, str]],
    inputs: Iterable[PathLike] = (),
    force: bool = False,
    extra_requests: Sequence[OutputRequest] = (),
) -> dict[str, Target]:
    """Return the outputs of a run. ``outputs`` maps options to (path or None, kind of file).

    ``extra_requests`` are outputs that the run writes by other means; they are checked together.

    Raises:
        OutputError: problems with any of them, all in one line.
        OptionError: two outputs go to stdout.
    """
    requested = {option: (path, kind) for option, (path, kind) in outputs.items() if path is not None}
    printed = [option for option, (path, _) in requested.items() if path == STDOUT]
    if len(printed) > 1:
        raise OptionError(
            "two-to-stdout", "Only one output can go to stdout.", "Pass file names for the others."
        )
    files = {option: target for option, target in requested.items() if option not in printed}
    requests = [OutputRequest(path, kind, option) for option, (path, kind) in files.items()]
    checked = check_outputs([*extra_requests, *requests], inputs, force)
    checked_files = dict(zip(files, checked[len(extra_requests) :], strict=True))
    return {
        option: Target(path, checked_files.get(option), kind in JSON)
        for option, (path, kind) in requested.items()
    }


def to_stdout(result: str | bytes, json: bool = False) -> None:
    """Print a result; for a terminal, neutralise control characters (JSON keeps its value).

    In the log of a CI runner, commands to it are neutralised too. Files, and pipes elsewhere, get the exact
    text.

    Raises:
        OutputError: stdout is closed or full, or is a terminal and the result is not text.
        BrokenPipeError: the reader of the pipe has closed it.
    """
    stream = sys.stdout
    if stream is None:
        raise OutputError("stdout-closed", "Nothing can be written: stdout is closed.", "Pass a file name.")
    terminal = stream.isatty()
    if terminal and isinstance(result, bytes):
        raise OutputError("not-for-a-terminal", "A terminal cannot show this file.", "Pass a file name.")
    if isinstance(result, str) and is_log(stream):
        result = _for_a_log(result, json)
    _print(stream, result, json)


def log_to_stdout(text: str) -> None:
    """Print lines for people, which are sanitised already. Raises: as ``to_stdout``."""
    if sys.stdout is None:
        raise OutputError("stdout-closed", "Nothing can be written: stdout is closed.", "Pass a file name.")
    _print(sys.stdout, text, json=False)


def is_log(stream: TextIO | io.TextIOBase) -> bool:
    """Return whether a CI runner reads the stream: it does unless the stream is a file."""
    if not in_ci():
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def _for_a_log(result: str, json: bool) -> str:
    return _json_in_a_log(result) if json else inert_document(_printable_document(result))


def _json_in_a_log(text: str) -> str:
    return inert_json(printable_json(text))


def _printable_document(text: str) -> str:
    """Return text of which no carriage return is left but those of line ends, as CSV has them."""
    return printable_text(text.replace("\r\n", "\n").replace("\r", "\ufffd"))


def _print(stream: TextIO, result: str | bytes, json: bool) -> None:
    try:
        stream.flush()
        if stream.isatty() and isinstance(result, str) and not in_ci():
            stream.write(printable_json(result) if json else printable_text(result))
        else:  # data are UTF-8, whatever the terminal encoding
            stream.buffer.write(_bytes(result))
            stream.buffer.flush()
        stream.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as fault:
        raise stdout_failed(fault) from fault


def _bytes(result: str | bytes) -> bytes:
    return result.encode("utf-8", "backslashreplace") if isinstance(result, str) else result


def pieces_to_stdout(pieces: Iterable[bytes], json: bool = False) -> int:
    """Print UTF-8 text in pieces; return its size in bytes. Raises: as ``to_stdout``."""
    stream = sys.stdout
    if json and stream is not None and is_log(stream):
        pieces = _json_for_a_log(pieces)
    elif stream is None or stream.isatty() or is_log(stream):
        # Sanitised as a whole.
        text = b"".join(pieces)
        to_stdout(text.decode("utf-8"), json)
        return len(text)
    size = 0
    for piece in pieces:
        to_stdout(piece, json)
        size += len(piece)
    return size


def _json_for_a_log(pieces: Iterable[bytes]) -> Iterator[bytes]:
    decoder, inert = codecs.getincrementaldecoder("utf-8")(), LogFilter(_json_in_a_log)
    for piece in pieces:
        yield inert(decoder.decode(piece)).encode("utf-8")


def stdout_failed(fault: OSError | ValueError) -> OutputError:
    """Return the error for a failed write to stdout."""
    if isinstance(fault, OSError) and fault.errno != errno.EBADF:
        return OutputError("output-failed", f"Could not write to stdout: {fault.strerror or fault}.")
    return OutputError("stdout-closed", "Nothing can be written: stdout is closed.", "Pass a file name.")
