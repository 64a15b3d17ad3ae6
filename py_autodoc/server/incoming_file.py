"""Write a file next to a model piece by piece, and make it visible when it is complete."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from py_autodoc import temporary
from py_autodoc.errors import OptionError, OutputError
from py_autodoc.extract.output_name import SUFFIX, part_name, reserve_file
from py_autodoc.outputs import OutputFile, OutputRequest, check_outputs
from py_autodoc.outputs.inputs import ReadFiles
from py_autodoc.report.schema import ExtractRequest

T = TypeVar("T")
MAX_NAME = 200
"""Maximum length of a file name."""


class IncomingFile:
    """A temporary file in the folder of a model. All file operations run in a thread.

    Args:
        model: path of the model.
        request: the selection, and the name of the file; without a name, one is chosen.
        root: folder that must not be left through links; empty: any.

    Raises: OptionError: the name is invalid.
    """

    def __init__(self, model: str, request: ExtractRequest, root: str = "") -> None:
        # Resolved once: a folder that becomes a link later is not followed.
        self._folder = Path(os.path.realpath(Path(model).parent))
        self._root = root
        self._target: OutputFile | None = None
        self._model = Path(model).name
        self._request = request
        if request.name:
            check_name(request.name)
        self._path = model
        self._stack = ExitStack()
        self._temporary = self._folder
        self._file: BinaryIO | None = None

    @property
    def replaced(self) -> str:
        """Path of the file that the result may replace; empty if it replaces none."""
        return str(self._target.path) if self._target is not None and self._request.overwrite else ""

    async def open(self) -> None:
        """Create the temporary file. Raises: OutputError: no write permission, or the name exists."""
        await self._run_in_thread(self._open)

    async def write(self, data: bytes | memoryview) -> None:
        """Append data. Raises: OutputError."""
        assert self._file is not None
        await self._run_in_thread(self._file.write, data)

    async def finish(self) -> str:
        """Rename the temporary file and return its final name. Raises: OutputError."""
        return await self._run_in_thread(self._finish)

    async def discard(self) -> None:
        """Remove the temporary file. Does nothing after ``finish``."""
        await asyncio.get_running_loop().run_in_executor(None, self._discard)

    async def _run_in_thread(self, work: Callable[..., T], *args: Any) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(None, work, *args)
        except OSError as fault:
            name = self._request.name or part_name(self._model, self._request.part)
            reason = fault.strerror or "unknown error"
            message = f"{name} could not be written to the folder of the model: {reason}."
            raise OutputError(
                "output-failed", message, "Check the free space and the permissions of the folder."
            ) from fault

    def _open(self) -> None:
        if self._request.name:
            self._target = self._check_target()
        self._file, self._temporary = self._stack.enter_context(temporary.file(self._folder))

    def _check_target(self) -> OutputFile:
        """Return the target for the requested name. Raises: OutputError: it must not be written."""
        name = self._request.name
        # Whether it holds data of the model is known to the child, which reads the model.
        inputs = ReadFiles([self._path], examined=False)
        request = OutputRequest(self._folder / name, "onnx")
        target = check_outputs([request], inputs, force=True, root=self._root)[0]
        if not self._request.overwrite and os.path.lexists(self._folder / name):
            raise _name_exists(name)
        return target

    def _finish(self) -> str:
        assert self._file is not None
        self._file.close()
        name = self._request.name
        if name and self._request.overwrite:
            assert self._target is not None
            # It must still be the file that the child has checked.
            self._target.replace_with(self._temporary)
            return name
        if not name:
            target = reserve_file(self._folder, part_name(self._model, self._request.part))
        else:
            target = self._folder / name
            try:
                target.open("xb").close()
            except FileExistsError:
                raise _name_exists(name) from None
        try:
            os.replace(self._temporary, target)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        return target.name

    def _discard(self) -> None:
        with suppress(OSError):
            self._stack.close()


def _name_exists(name: str) -> OutputError:
    return OutputError(
        "output-exists", f"{name} already exists.", "Choose another name, or overwrite the file."
    )


def check_name(name: str) -> None:
    """Check that a name is a portable file name with the extension ``.onnx``. Raises: OptionError."""
    valid = name.isprintable() and not set(name) & set('/\\:*?"<>|') and not name.startswith(".")
    if not valid or len(name) > MAX_NAME or not name.lower().endswith(SUFFIX) or name == SUFFIX:
        raise OptionError(
            "bad-name", f"{name[:60]!r} is not a valid file name.", f"Use a name that ends in {SUFFIX}."
        )
