"""Checks output paths, and moves results there atomically."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from py_autodoc.errors import OutputError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.outputs import marks, temporary
from py_autodoc.outputs.inputs import ReadFiles

_MODELS = (".onnx", ".h5", ".hdf5", ".keras", ".pt2")
_FORCE = "Choose another name, or replace it with --force (in Python: force=True)."


@dataclass(frozen=True, slots=True)
class OutputRequest:
    """A file that a run will write."""

    path: PathLike
    kind: str
    """Kind of file, as in ``marks.known``."""
    option: str = ""
    """The option that specifies it."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class OutputPlace:
    """A checked output path."""

    path: Path
    """With links resolved, so that the target is replaced and not the link."""
    shown: str
    special: bool
    """True for a device or pipe, which is written to rather than replaced."""
    _found: tuple[int, int, int, int] | None
    """State of the existing file when it was checked."""

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Yield a temporary file that is moved here if the block succeeds, and removed otherwise.

        Raises: OutputError.
        """
        with output_failed(self.shown):
            if self.special:
                with open(self.path, "wb") as device:
                    yield device
                return
            with temporary.file(self.path.parent) as (file, path):
                yield file
                file.close()
                self.take(path)

    def write(self, data: bytes) -> None:
        """Write all of the data or nothing. Raises: OutputError."""
        with self.opened() as file:
            file.write(data)

    def take(self, finished: Path) -> None:
        """Move a finished file here, with the permissions of the file it replaces.

        Raises: OutputError: it cannot be moved, or the existing file changed since the check.
        """
        with output_failed(self.shown):
            now = _state(self.path)
            if now != self._found and now is not None:
                raise OutputError(
                    "output-changed", f"{self.shown} was written by another program in the meantime.", _FORCE
                )
            with suppress(FileNotFoundError):
                finished.chmod(stat.S_IMODE(self.path.stat().st_mode))
            os.replace(finished, self.path)


def place(path: PathLike, kind: str, inputs: Iterable[PathLike] = (), force: bool = False) -> OutputPlace:
    """Check one file, as ``places`` does."""
    return places([OutputRequest(path, kind)], inputs, force)[0]


def places(
    wanted: Sequence[OutputRequest], inputs: ReadFiles | Iterable[PathLike] = (), force: bool = False
) -> list[OutputPlace]:
    """Return the output paths of a run. Called before any work is done; changes nothing.

    Args:
        wanted: all files that the run may write.
        inputs: what the run reads: files, models with their data, folders with what is in them.
        force: replace files that this program did not write; inputs are never replaced.

    Raises:
        OutputError: the problems of all files, in one line.
    """
    held = inputs if isinstance(inputs, ReadFiles) else ReadFiles(inputs)
    refused: list[_Refusal] = []
    found: list[OutputPlace] = []
    for one in wanted:
        there, why = _checked(one, held, force)
        found.append(there)
        refused += [why] if why is not None else []
    refused += _twice(wanted, found)
    if refused:
        hints = dict.fromkeys(one.hint for one in refused if one.hint)
        raise OutputError(refused[0].code, " ".join(one.message for one in refused), " ".join(hints))
    return found


def _checked(wanted: OutputRequest, inputs: ReadFiles, force: bool) -> tuple[OutputPlace, _Refusal | None]:
    shown = base_name(wanted.path)
    # What an option names is shown as it was given, else by its name alone.
    said = f"{wanted.option}: {printable(wanted.path)}" if wanted.option else shown
    there = OutputPlace(Path(wanted.path), said, False, None)
    if not os.fspath(wanted.path):
        return there, _Refusal("output-nameless", f"{said}the path is empty.", "Pass a file name.")
    try:
        path = Path(os.path.realpath(wanted.path))
        there = OutputPlace(path, said, False, None)
        status = path.stat()
    except FileNotFoundError:
        return there, _unwritable(path.parent, said)
    except (OSError, ValueError) as fault:
        return there, _Refusal("output-failed", f"{said}: {getattr(fault, 'strerror', None) or fault}.")
    regular = stat.S_ISREG(status.st_mode)
    ours = regular and _ours(path, wanted.kind)
    if (taken := inputs.same(status)) is not None and not (ours and inputs.inside(status)):
        return there, _input(said, shown, taken)
    if stat.S_ISDIR(status.st_mode):
        return there, _Refusal("output-is-a-folder", f"{said or '.'} is a folder.", "Pass a file name.")
    if not regular:
        return OutputPlace(path, said, True, None), None
    there = OutputPlace(path, said, False, _state(path))
    if not ours and not force:
        what = f"{said} exists and is not a file that this command wrote, or was changed since."
        return there, _Refusal("output-exists", what, _FORCE)
    return there, _unwritable(path.parent, said)


def printable(path: PathLike) -> str:
    """Return a path as text, whatever its bytes."""
    return os.fsdecode(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _ours(path: Path, kind: str) -> bool:
    try:
        return marks.known(path, kind)
    except OSError:  # what cannot be read is not known
        return False


def _input(said: str, shown: str, taken: str) -> _Refusal:
    itself = "the model itself" if shown.lower().endswith(_MODELS) else "an input itself"
    what = itself if taken == shown else f"the same file as {taken}"
    if taken.startswith(f"{shown}, "):  # "w.bin, the data of m.onnx"
        what = taken.removeprefix(f"{shown}, ")
    return _Refusal("output-is-input", f"{said} is {what}: inputs stay as they are.", "Choose another name.")


def _unwritable(folder: Path, said: str) -> _Refusal | None:
    if not folder.is_dir():
        return _Refusal("output-folder-missing", f"{said}: its folder does not exist.", "Create it first.")
    if not os.access(folder, os.W_OK):
        return _Refusal("output-not-writable", f"{said}: its folder is not writable.", "Choose another one.")
    return None


def _twice(wanted: Sequence[OutputRequest], found: Sequence[OutputPlace]) -> Iterator[_Refusal]:
    """Yield results that would be the same file, for example on case-insensitive file systems."""
    first: dict[str, str] = {}
    for one in found:
        key = unicodedata.normalize("NFC", str(one.path)).casefold()
        if not one.special and key in first:
            message = f"{first[key]} and {one.shown} would be one file."
            yield _Refusal("two-in-one-file", message, "Use names that differ by more than case.")
        first.setdefault(key, one.shown)


@contextmanager
def filling(path: PathLike, inputs: Iterable[PathLike] = (), force: bool = False) -> Iterator[Path]:
    """Yield a folder that replaces ``path``, a new or empty folder, when the block succeeds.

    With ``force``, ``path`` may contain files: those with the same names are replaced, except for inputs.

    Raises:
        OutputError: it contains files, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    empty(target, force)
    with output_failed(base_name(path) or target.name), temporary.folder(target.parent) as staged:
        yield staged
        if target.is_dir() and any(target.iterdir()):
            made = sorted(one for one in staged.rglob("*") if one.is_file())
            goals = [target / one.relative_to(staged) for one in made]
            for goal in goals:
                goal.parent.mkdir(parents=True, exist_ok=True)
            checked = places([OutputRequest(goal, "") for goal in goals], inputs, force=True)
            for one, there in zip(made, checked, strict=True):
                there.take(one)
            return
        staged.chmod(_usual_mode(staged))
        if target.is_dir():
            target.rmdir()
        os.replace(staged, target)


def empty(path: Path, force: bool = False) -> None:
    """Raises: OutputError: ``path`` is not an empty folder and cannot become one."""
    shown = path.name or "."
    if path.exists() and not path.is_dir():
        raise OutputError("output-not-a-folder", f"{shown} is a file.", "Choose a new folder.")
    if not force and path.is_dir() and any(path.iterdir()):
        hint = "Choose a new folder, or replace files in it with --force (in Python: force=True)."
        raise OutputError("output-not-empty", f"{shown}: the folder is not empty.", hint)
    why = _unwritable(path.parent, shown)
    if why is not None:
        raise OutputError(why.code, why.message, why.hint)


@contextmanager
def output_failed(shown: str) -> Iterator[None]:
    """Convert file system errors to an ``OutputError``."""
    try:
        yield
    except OSError as fault:
        raise OutputError(
            "output-failed", f"Could not write {shown}: {fault.strerror or fault}.", _way_out(fault)
        ) from fault


def _way_out(fault: OSError) -> str:
    import errno

    if fault.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return "Make room, or write to another disk."
    return ""


def _state(path: Path) -> tuple[int, int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _usual_mode(folder: Path) -> int:
    """Return the permissions of new files here, without changing the process's umask to read it."""
    made = folder / temporary.name()
    made.mkdir()
    mode = stat.S_IMODE(made.stat().st_mode)
    made.rmdir()
    return mode
