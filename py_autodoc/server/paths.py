"""From the path a client names to a file that may be analysed."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import dataclass
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from py_autodoc.errors import InputError, PathError, RequirementError
from py_autodoc.jobs.file_stamps import Stamp

SUFFIX = ".onnx"
MAX_PATH = 4096


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A regular file under the server's root. ``path`` is what the client said, ``os_path`` stays here."""

    path: str
    os_path: str
    stamp: Stamp

    @property
    def is_model(self) -> bool:
        """True when the name says that it is an ONNX model."""
        return self.path.lower().endswith(SUFFIX)


async def resolve(contents_manager: Any, path: str, allow_outside_links: bool) -> ServedFile:
    """The file at the contents API path ``path``.

    Raises:
        RequirementError: the server's contents are not files.
        PathError: hidden, outside the root, missing, or not a readable regular file.
    """
    if not hasattr(contents_manager, "_get_os_path"):
        raise RequirementError(
            "contents-not-files",
            "This server does not store its contents as files.",
            "Download the model and open it on a server with a file system.",
        )
    path = path.strip("/")
    if not path or len(path) > MAX_PATH or "\0" in path:
        raise _missing(path)
    try:
        hidden = not contents_manager.allow_hidden and await ensure_async(contents_manager.is_hidden(path))
        os_path = os.path.abspath(contents_manager._get_os_path(path))
    except (web.HTTPError, OSError, ValueError) as error:
        # Outside the root, or no possible name. Not told apart from missing.
        raise _missing(path) from error
    if hidden:
        raise _missing(path)
    root = os.path.abspath(contents_manager.root_dir)
    # A dead network mount must not stop the event loop.
    loop = asyncio.get_running_loop()
    stamp = await loop.run_in_executor(None, _inspect, path, os_path, None if allow_outside_links else root)
    return ServedFile(path, os_path, stamp)


def require_model(file: ServedFile) -> None:
    """Refuses what is not called ``.onnx``. Raises ``InputError``."""
    name = os.path.basename(file.path)
    if name.lower().endswith(".ort"):
        raise InputError(
            "ort-format",
            f"{name} is in ONNX Runtime's own format, which lacks information that the analysis needs.",
            "Open the .onnx file it was made from.",
        )
    if not file.is_model:
        raise InputError(
            "not-an-onnx-name",
            f"{name} does not end in {SUFFIX}.",
            f"Rename it if it is an ONNX model, or export the model to {SUFFIX}.",
        )


def _inspect(path: str, os_path: str, root: str | None) -> Stamp:
    """Blocking part: the stamp of a regular, readable file (below ``root`` when links are followed)."""
    try:
        if root is not None and not _within(os.path.realpath(os_path), os.path.realpath(root)):
            raise _missing(path)
        # Looked at before it is opened: opening a pipe or a device can do things.
        _require_regular(path, os.stat(os_path))
        descriptor = os.open(
            os_path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        )
    except PermissionError as error:
        raise PathError("no-permission", f"{_name(path)} may not be read by this server.") from error
    except (OSError, ValueError) as error:
        raise _missing(path) from error
    try:
        info = os.fstat(descriptor)
        _require_regular(path, info)
        return Stamp.of(info)
    finally:
        os.close(descriptor)


def _require_regular(path: str, info: os.stat_result) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise PathError("not-a-file", f"{_name(path)} is a folder.", "Open a file in it.")
    if not stat.S_ISREG(info.st_mode):
        raise PathError("not-regular", f"{_name(path)} is not a regular file.", "Copy its content to a file.")


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _missing(path: str) -> PathError:
    return PathError(
        "file-not-found", f"There is no file {_name(path)[:200]} here.", "Refresh the file list."
    )
