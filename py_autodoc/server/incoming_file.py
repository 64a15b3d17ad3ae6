"""A file that arrives in pieces and takes its place beside a model when it is complete."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from py_autodoc.errors import OptionError, OutputError
from py_autodoc.extract.output_name import SUFFIX, part_name, reserve_file
from py_autodoc.outputs import OutputPlace, OutputRequest, places, temporary
from py_autodoc.outputs.inputs import ReadFiles
from py_autodoc.report.schema import ExtractRequest

T = TypeVar("T")
MAX_NAME = 200


class IncomingFile:
    """A temporary file in the folder of ``model``. All work on it is done in a thread."""

    def __init__(self, model: str, request: ExtractRequest, data: Iterable[str] = ()) -> None:
        """Check what is asked for. ``data`` are the files that the model's weights are in.

        Raises: OptionError, OutputError.
        """
        self._folder = Path(model).parent
        self._model = Path(model).name
        self._request = request
        if request.name:
            check_name(request.name)
        self._inputs = ReadFiles([model], data)
        self._stack = ExitStack()
        self._temporary = self._folder
        self._file: BinaryIO | None = None

    async def open(self) -> None:
        """Begin. Raises: OutputError: the folder cannot be written, or the name is taken."""
        await self._threaded(self._open)

    async def write(self, data: bytes | memoryview) -> None:
        """The next piece. Raises: OutputError."""
        assert self._file is not None
        await self._threaded(self._file.write, data)

    async def finish(self) -> str:
        """Put the file in its place; its name. Raises: OutputError."""
        return await self._threaded(self._finish)

    async def discard(self) -> None:
        """Leave nothing behind; after ``finish`` there is nothing to do."""
        await asyncio.get_running_loop().run_in_executor(None, self._discard)

    async def _threaded(self, work: Callable[..., T], *args: Any) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(None, work, *args)
        except OSError as fault:
            name = self._request.name or part_name(self._model, self._request.part)
            message = f"{name} could not be written beside the model: {fault.strerror or 'no reason given'}."
            raise OutputError("output-failed", message, "Is there space, and may you write there?") from fault

    def _open(self) -> None:
        if self._request.name:
            self._place()
        self._file, self._temporary = self._stack.enter_context(temporary.file(self._folder))

    def _place(self) -> OutputPlace:
        """The place of the name that was asked for. Raises: OutputError."""
        name = self._request.name
        try:
            there = places([OutputRequest(self._folder / name, "onnx")], self._inputs, force=True)[0]
        except OutputError as fault:
            raise RefusedName(fault.code, fault.message, fault.hint) from None
        if not self._request.overwrite and os.path.lexists(self._folder / name):
            raise _taken(name)
        return there

    def _finish(self) -> str:
        assert self._file is not None
        self._file.close()
        name = self._request.name
        if name and self._request.overwrite:
            self._place().take(self._temporary)
            return name
        if not name:
            target = reserve_file(self._folder, part_name(self._model, self._request.part))
        else:
            target = self._folder / name
            try:
                target.open("xb").close()
            except FileExistsError:
                raise _taken(name) from None
        try:
            os.replace(self._temporary, target)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        return target.name

    def _discard(self) -> None:
        with suppress(OSError):
            self._stack.close()


class RefusedName(OutputError):
    """The name cannot be used: it is a fault of the request, not of the server."""

    http_status = 409


def _taken(name: str) -> OutputError:
    return RefusedName(
        "output-exists", f"{name} exists.", "Choose another name, or ask for it to be replaced."
    )


def check_name(name: str) -> None:
    """A plain name in the model's folder. Raises: OptionError."""
    plain = name.isprintable() and not set(name) & set('/\\:*?"<>|') and not name.startswith(".")
    if not plain or len(name) > MAX_NAME or not name.lower().endswith(SUFFIX) or name == SUFFIX:
        raise OptionError("bad-name", f"{name[:60]!r} is not a file name.", f"A name that ends in {SUFFIX}.")
