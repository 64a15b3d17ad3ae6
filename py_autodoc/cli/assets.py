"""The folder for images of a document: ``--assets-dir``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TypeAlias

from py_autodoc.errors import OutputError
from py_autodoc.outputs import OutputRequest, check_outputs
from py_autodoc.outputs.output_files import printable

Files: TypeAlias = Mapping[str, tuple[str, bytes]]
"""Figure (``depth``, ``depth-dark``, ``depth.png`` …) → file name and data."""


@dataclass(frozen=True, slots=True)
class Assets:
    """A folder that exists or can be created. Created by ``assets``."""

    folder: Path
    force: bool

    def links(self, files: Files, document: Path) -> dict[str, str]:
        """Return figure → path relative to the document's folder; figures on another drive are omitted."""
        try:
            relative = os.path.relpath(self.folder.resolve(), document.resolve())
        except ValueError:
            return {}
        svgs = {figure: name for figure, (name, _) in files.items() if name.endswith(".svg")}
        return {figure: Path(relative, name).as_posix() for figure, name in svgs.items()}

    def write(self, files: Files) -> list[tuple[str, int]]:
        """Write the files; return (name, bytes) of each. Raises: OutputError."""
        if not files:
            return []
        named = dict(files.values())
        with self._created():
            outputs = check_outputs([_request(self.folder, name) for name in named], (), self.force)
            for output, data in zip(outputs, named.values(), strict=True):
                output.write(data)
        return [(f"{self.folder}/{name}", len(data)) for name, data in named.items()]

    @contextmanager
    def _created(self) -> Iterator[None]:
        """Create the folder if it is missing, and remove it again if the block fails. Raises: OutputError."""
        try:
            self.folder.mkdir()
        except FileExistsError:
            yield
            return
        except OSError as fault:
            raise OutputError("output-failed", f"{self.folder}: {fault.strerror or fault}.") from None
        try:
            yield
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise


def assets(path: str, names: Sequence[str], inputs: Iterable[str], force: bool) -> Assets:
    """Return the folder for files with these names, after checking it. Raises: OutputError."""
    folder = Path(path)
    try:
        status = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        status = None
    except (OSError, ValueError) as fault:  # too long a name, or one that no file can have
        said = getattr(fault, "strerror", None) or fault
        raise OutputError("output-failed", f"--assets-dir: {printable(path)}: {said}.") from None
    if status is None:
        parent = folder.resolve().parent
        if not parent.is_dir():
            message = f"--assets-dir: {path}: its folder does not exist."
            raise OutputError("output-folder-missing", message, "Create it first.")
        return Assets(folder, force)
    if not S_ISDIR(status.st_mode):
        raise OutputError("output-failed", f"--assets-dir: {path} is not a folder.", "Choose another name.")
    check_outputs([_request(folder, name) for name in names], tuple(inputs), force)
    return Assets(folder, force)


def _request(folder: Path, name: str) -> OutputRequest:
    kind = "svg" if name.startswith("graph") else "plot"
    return OutputRequest(folder / name, kind, "--assets-dir")
