"""Files sent by a client for a task, kept in a folder until the task ends."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from py_autodoc import temporary
from py_autodoc.errors import LimitError, PathError

MAX_UPLOAD_BYTES = 1 << 27
MAX_UPLOADS = 8
"""Maximum number of uploads not yet used by a task."""
SECONDS = 600.0
"""How long unused uploads are kept."""
_NAME_CHARACTERS = 50


@dataclass(frozen=True, slots=True)
class _Upload:
    path: str
    since: float


class Uploads:
    """Keeps uploads until a task takes them: at most eight, for ten minutes."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._uploads: OrderedDict[str, _Upload] = OrderedDict()

    def add(self, name: str, content: bytes) -> tuple[str, str]:
        """Store a file; return its id and display name. Blocking.

        Raises: LimitError: it is too large.
        """
        name = _safe_name(name)
        if len(content) > MAX_UPLOAD_BYTES:
            size = f"{name} has {len(content):,} bytes."
            raise LimitError("upload_bytes", len(content), MAX_UPLOAD_BYTES, size)
        self._expire(MAX_UPLOADS - 1)
        if self._folder is None:
            self._folder = self._stack.enter_context(temporary.scratch())
        number = secrets.token_urlsafe(12)
        # One folder each, so that the file can have the name shown in messages.
        folder = self._folder / number
        folder.mkdir(mode=0o700)
        try:
            (folder / name).write_bytes(content)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._uploads[number] = _Upload(str(folder / name), time.monotonic())
        return number, name

    def take(self, numbers: Iterable[str]) -> list[str]:
        """Return the files with these ids; the caller must release them. Raises: PathError: one is gone."""
        self._expire(MAX_UPLOADS)
        ids = list(dict.fromkeys(numbers))
        if any(upload_id not in self._uploads for upload_id in ids):
            raise PathError("unknown-upload", "An uploaded file is no longer available.", "Send it again.")
        return [self._uploads.pop(upload_id).path for upload_id in ids]

    def release(self, paths: Iterable[str]) -> None:
        """Delete files that were taken."""
        for path in paths:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)

    def close(self) -> None:
        """Delete all files."""
        self._uploads.clear()
        self._folder = None
        self._stack.close()

    def _expire(self, max_count: int) -> None:
        oldest = time.monotonic() - SECONDS
        while self._uploads and (
            len(self._uploads) > max_count or next(iter(self._uploads.values())).since < oldest
        ):
            self.release([self._uploads.popitem(last=False)[1].path])


def _safe_name(name: str) -> str:
    """Return a name without folders and characters unsuitable for terminals or file systems."""
    safe = "".join(
        character if character.isprintable() and character not in '\\/:*?"<>|' else "_" for character in name
    )
    with contextlib.suppress(UnicodeEncodeError):
        safe.encode()
        # The end is more informative than the beginning; names are limited to 255 bytes.
        return safe.strip(". ")[-_NAME_CHARACTERS:] or "profile"
    return "profile"
