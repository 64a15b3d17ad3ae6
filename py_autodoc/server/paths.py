"""Resolve the path in a request to a file that may be analysed."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jupyter_core.paths import is_hidden
from jupyter_core.utils import ensure_async
from tornado import web

from py_autodoc.errors import InputError, OutputError, PathError, RequirementError
from py_autodoc.jobs.file_stamps import Stamp

SUFFIX = ".onnx"
SUFFIXES = (SUFFIX, ".ort", ".onnxtxt")
"""Endings of files that are opened as models: ONNX, the format of ONNX Runtime, and ONNX as text."""
MAX_PATH = 4096


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A regular file under the root folder of the server."""

    path: str
    """Path of the contents API, as in the request."""
    os_path: str
    """Absolute path; never sent to a client."""
    stamp: Stamp

    @property
    def is_model(self) -> bool:
        """True if the name has the extension of an ONNX model."""
        return self.path.lower().endswith(SUFFIXES)


async def resolve(contents_manager: Any, path: str, allow_outside_links: bool) -> ServedFile:
    """Return the file at a path of the contents API.

    Args:
        contents_manager: the contents manager of Jupyter Server.
        path: path relative to the root folder of the server.
        allow_outside_links: follow symbolic links out of the root folder.

    Raises:
        RequirementError: the server does not store its contents as files.
        PathError: the file is hidden, outside the root folder, missing, or not a readable regular file.
    """
    if not hasattr(contents_manager, "_get_os_path"):
        raise RequirementError(
            "contents-not-files",
            "This server does not store its contents as files.",
            "Download the model and open it on a server with a file system.",
        )
    path = path.strip("/")
    if not path or len(path) > MAX_PATH or "\0" in path:
        raise _not_found(path)
    try:
        hidden = not contents_manager.allow_hidden and await ensure_async(contents_manager.is_hidden(path))
        os_path = os.path.abspath(contents_manager._get_os_path(path))
    except (web.HTTPError, OSError, ValueError) as error:
        # Outside the root folder, or an impossible name: reported like a missing file.
        raise _not_found(path) from error
    if hidden:
        raise _not_found(path)
    root = os.path.abspath(contents_manager.root_dir)
    # A network mount that does not respond must not block the event loop.
    loop = asyncio.get_running_loop()
    stamp = await loop.run_in_executor(None, _inspect, path, os_path, None if allow_outside_links else root)
    return ServedFile(path, os_path, stamp)


async def output_beside(contents_manager: Any, file: ServedFile, name: str, allow_outside_links: bool) -> str:
    """Return the path of an output next to a file, under the rules of ``resolve``.

    Raises: OutputError: the name is a link out of the root folder of the server, or to a hidden file.
    """
    path = os.path.join(os.path.dirname(file.os_path), name)
    root = os.path.abspath(contents_manager.root_dir)
    loop = asyncio.get_running_loop()
    refused = await loop.run_in_executor(
        None, _refused_output, path, root, allow_outside_links, contents_manager.allow_hidden
    )
    if refused:
        raise OutputError("output-outside", f"{name} is a link {refused}.", "Choose another name.")
    return path


def refuse_inputs(path: str, inputs: Iterable[str]) -> None:
    """Raise an OutputError if an output is one of the inputs, under whatever name.

    Their weight files are checked by the process that reads them.
    """
    for one in inputs:
        with suppress(OSError):
            if os.path.samefile(path, one):
                name = os.path.basename(path)
                raise OutputError(
                    "output-is-input",
                    f"{name} is an input itself: inputs stay as they are.",
                    "Choose another name.",
                )


def _refused_output(path: str, root: str, allow_outside_links: bool, allow_hidden: bool) -> str:
    """Return where a link leads that must not be written through; empty for other paths. Blocks."""
    real, real_root = os.path.realpath(path), os.path.realpath(root)
    if not allow_outside_links and not _is_inside(real, real_root):
        return "out of the root folder of the server"
    if allow_hidden or not os.path.islink(path):
        return ""
    folder = real_root if _is_inside(real, real_root) else os.path.dirname(real)
    return "to a hidden file" if is_file_hidden(real, folder) else ""


def is_file_hidden(path: str, root: str) -> bool:
    """Return whether Jupyter hides a file in a folder."""
    return bool(is_hidden(path, root))


def require_model(file: ServedFile) -> None:
    """Check that the file has the ending of a model. Raises: InputError."""
    name = os.path.basename(file.path)
    if not file.is_model:
        raise InputError(
            "not-an-onnx-name",
            f"{name} does not end in {SUFFIX}.",
            f"Rename it if it is an ONNX model, or export the model to {SUFFIX}.",
        )


def _inspect(path: str, os_path: str, root: str | None) -> Stamp:
    """Return the stamp of a readable, regular file. Blocks. Links must not leave ``root``, if given."""
    try:
        if root is not None and not _is_inside(os.path.realpath(os_path), os.path.realpath(root)):
            raise _not_found(path)
        # Check before opening: opening a pipe or a device can have side effects.
        _require_regular(path, os.stat(os_path))
        descriptor = os.open(
            os_path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        )
    except PermissionError as error:
        raise PathError("no-permission", f"The server has no permission to read {_name(path)}.") from error
    except (OSError, ValueError) as error:
        raise _not_found(path) from error
    try:
        info = os.fstat(descriptor)
        _require_regular(path, info)
        return Stamp.of(info)
    finally:
        os.close(descriptor)


def _require_regular(path: str, info: os.stat_result) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise PathError("not-a-file", f"{_name(path)} is a folder.", "Open a file in this folder.")
    if not stat.S_ISREG(info.st_mode):
        raise PathError("not-regular", f"{_name(path)} is not a regular file.", "Copy its content to a file.")


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _not_found(path: str) -> PathError:
    return PathError(
        "file-not-found", f"The file {_name(path)[:200]} does not exist.", "Refresh the file list."
    )
