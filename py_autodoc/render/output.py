"""Where results go: a file replaced in one step, or stdout for ``-``."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

from py_autodoc.errors import OutputError

STDOUT = "-"


class Target:
    """One output. Made before the analysis, so that a wrong path is told at once."""

    def __init__(self, path: str, option: str, source: str) -> None:
        """Check the path; ``source`` is the input, which no output may replace.

        Raises:
            OutputError: the folder is missing or not writable, or the path is a folder or the input.
        """
        self.shown = path
        self.to_stdout = path == STDOUT
        # A link is followed, so that its target is replaced and not the link.
        self.path = Path() if self.to_stdout else Path(os.path.realpath(path))
        if not self.to_stdout:
            self._check(option, source)

    def _check(self, option: str, source: str) -> None:
        folder = self.path.parent
        if self.path.is_dir():
            raise OutputError(
                "output-is-a-folder", f"{option}: {self.shown} is a folder.", "Give a file name."
            )
        if not folder.is_dir():
            raise OutputError(
                "output-folder-missing",
                f"{option}: the folder of {self.shown} does not exist.",
                "Create it first.",
            )
        if not os.access(folder, os.W_OK) and not self._special():
            raise OutputError(
                "output-not-writable", f"{option}: the folder of {self.shown} is not writable.", ""
            )
        if self.path == Path(os.path.realpath(source)):
            raise OutputError("output-is-input", f"{option}: {self.shown} is the model itself.", "")

    def write(self, result: str | bytes) -> int:
        """Write the result and return its size in bytes. Raises: OutputError."""
        data = result.encode("utf-8") if isinstance(result, str) else result
        if self.to_stdout:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return len(data)
        try:
            if self._special():
                self.path.write_bytes(data)
            else:
                self._replace(data)
        except OSError as fault:
            raise OutputError(
                "output-failed", f"Could not write {self.shown}: {fault.strerror or fault}.", ""
            ) from None
        return len(data)

    def _special(self) -> bool:
        """True for a device or a pipe, which must not be replaced by a file."""
        try:
            return not stat.S_ISREG(self.path.stat().st_mode)
        except OSError:
            return False

    def _replace(self, data: bytes) -> None:
        """All or nothing: a temporary file beside the target takes its place."""
        temporary = self.path.with_name(f".{self.path.name[:80]}.{secrets.token_hex(6)}.tmp")
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            with suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(self.path.stat().st_mode))
            os.replace(temporary, self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
