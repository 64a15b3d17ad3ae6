"""Checks output paths, and moves results there atomically."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from py_autodoc import temporary
from py_autodoc.errors import OutputError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.outputs import marks
from py_autodoc.outputs.inputs import ReadFiles

ROOM = "Make room, or write to another disk."
_confined_to = ""
"""Folder that outputs of this process must not leave; empty: no such folder."""
_MODELS = (".onnx", ".h5", ".hdf5", ".keras", ".pt2")
_WHOLE = frozenset({"", "onnx", "data", "python", "safetensors", "npz"})
"""Kinds of files that are made aside and moved to their place: a pipe or a device cannot take them."""
_FORCE = "Choose another name, or replace it with --force (in Python: force=True)."


def confine(root: str) -> None:
    """Refuse outputs outside a folder from now on, links resolved: for children of a server."""
    global _confined_to
    _confined_to = os.path.realpath(root)


@dataclass(frozen=True, slots=True)
class OutputRequest:
    """A file that a run will write."""

    path: PathLike
    kind: str
    """Kind of file, as in ``marks.is_unchanged_output``."""
    option: str = ""
    """The option that specifies it."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A checked output path."""

    path: Path
    """With links resolved, so that the target is replaced and not the link."""
    display_name: str
    special: bool
    """True for a device or pipe, which is written to rather than replaced."""
    _state_before: tuple[int, int, int, int] | None
    """State of the existing file when it was checked."""

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Yield a temporary file that is moved here if the block succeeds, and removed otherwise.

        Raises: OutputError.
        """
        with output_failed(self.display_name):
            if self.special:
                with open(self.path, "wb", opener=self._open_special) as device:
                    yield device
                return
            with temporary.file(self.path.parent) as (file, path):
                yield file
                file.close()
                self.replace_with(path)

    def write(self, data: bytes) -> None:
        """Write all of the data or nothing. Raises: OutputError."""
        with self.opened() as file:
            file.write(data)

    def _open_special(self, path: str, flags: int) -> int:
        """Open a device or pipe without waiting for ever for a reader. Raises: OutputError: it has none."""
        try:
            descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
        except OSError as fault:
            if fault.errno != errno.ENXIO:
                raise
            message = f"{self.display_name} is a pipe that no program reads."
            raise OutputError(
                "output-special", message, "Start its reader first, or pass a file name."
            ) from None
        os.set_blocking(descriptor, True)
        return descriptor

    def replace_with(self, new_file: Path) -> None:
        """Move a finished file here, with the permissions of the file it replaces.

        Raises: OutputError: it cannot be moved, or the existing file changed since the check.
        """
        with output_failed(self.display_name):
            if self.special:
                raise _error(_special(self.display_name, self.path.stat().st_mode))
            state = _state(self.path)
            if state != self._state_before and state is not None:
                raise OutputError(
                    "output-changed",
                    f"{self.display_name} was written by another program in the meantime.",
                    _FORCE,
                )
            if os.path.realpath(self.path.parent) != str(self.path.parent):
                raise OutputError(
                    "output-changed", f"{self.display_name}: its folder was replaced by a link.", "Try again."
                )
            with suppress(FileNotFoundError):
                new_file.chmod(stat.S_IMODE(self.path.stat().st_mode))
            os.replace(new_file, self.path)


def check_output(
    path: PathLike, kind: str, inputs: Iterable[PathLike] = (), force: bool = False
) -> OutputFile:
    """Check one file, as ``check_outputs`` does."""
    return check_outputs([OutputRequest(path, kind)], inputs, force)[0]


def check_outputs(
    requests: Sequence[OutputRequest],
    inputs: ReadFiles | Iterable[PathLike] = (),
    force: bool = False,
    root: str = "",
) -> list[OutputFile]:
    """Return the output paths of a run. Called before any work is done; changes nothing.

    Args:
        requests: all files that the run may write.
        inputs: files and folders that the run reads, models with their external data.
        force: replace files that this program did not write; inputs are never replaced.
        root: folder that no output may leave, links resolved; empty: that of ``confine``, if any.

    Raises:
        OutputError: the problems of all files, in one line.
    """
    read_files = inputs if isinstance(inputs, ReadFiles) else ReadFiles(inputs)
    refused: list[_Refusal] = []
    files: list[OutputFile] = []
    for request in requests:
        file, refusal = _check(request, read_files, force)
        files.append(file)
        refused += [refusal] if refusal is not None else []
    refused += _duplicates(requests, files)
    refused += _outside(files, os.path.realpath(root) if root else _confined_to)
    if refused:
        hints = dict.fromkeys(refusal.hint for refusal in refused if refusal.hint)
        raise OutputError(refused[0].code, " ".join(refusal.message for refusal in refused), " ".join(hints))
    return files


def _check(request: OutputRequest, inputs: ReadFiles, force: bool) -> tuple[OutputFile, _Refusal | None]:
    name = base_name(request.path)
    # What an option names is shown as it was given, else by its name alone.
    display_name = f"{request.option}: {printable(request.path)}" if request.option else name
    file = OutputFile(Path(request.path), display_name, False, None)
    if not os.fspath(request.path):
        return file, _Refusal("output-nameless", f"{display_name}the path is empty.", "Pass a file name.")
    try:
        path = Path(os.path.realpath(request.path))
        file = OutputFile(path, display_name, False, None)
        # By the given name: a pipe of the shell, /dev/fd/63, has no path.
        status = os.stat(request.path)
    except FileNotFoundError:
        return file, _unwritable(path.parent, display_name)
    except (OSError, ValueError) as fault:
        return file, _Refusal(
            "output-failed", f"{display_name}: {getattr(fault, 'strerror', None) or fault}."
        )
    regular = stat.S_ISREG(status.st_mode)
    ours = regular and _ours(path, request.kind)
    if (same_input := inputs.same(status)) is not None and not (ours and inputs.inside(status)):
        return file, _input(display_name, name, same_input)
    if stat.S_ISDIR(status.st_mode):
        return file, _Refusal(
            "output-is-a-folder", f"{display_name or '.'} is a folder.", "Pass a file name."
        )
    if not regular:
        file = OutputFile(Path(request.path), display_name, True, None)
        taken = stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode)
        whole = request.kind in _WHOLE or not taken
        return file, _special(display_name, status.st_mode) if whole else None
    file = OutputFile(path, display_name, False, _state(path))
    if not ours and not force:
        problem = f"{display_name} exists and is not a file that this command wrote, or was changed since."
        return file, _Refusal("output-exists", problem, _FORCE)
    return file, _unwritable(path.parent, display_name)


def _special(display_name: str, mode: int) -> _Refusal:
    """Return the refusal of what is neither a file nor a folder, which nothing can replace."""
    kind = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(mode), "a device")
    return _Refusal("output-special", f"{display_name} is {kind}, not a file.", "Pass the name of a file.")


def _error(refusal: _Refusal) -> OutputError:
    return OutputError(refusal.code, refusal.message, refusal.hint)


def printable(path: PathLike) -> str:
    """Return a path as text, whatever its bytes."""
    return os.fsdecode(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _ours(path: Path, kind: str) -> bool:
    try:
        return marks.is_unchanged_output(path, kind)
    except OSError:  # what cannot be read is not known
        return False


def _input(display_name: str, name: str, same_input: str) -> _Refusal:
    itself = "the model itself" if name.lower().endswith(_MODELS) else "an input itself"
    problem = itself if same_input == name else f"the same file as {same_input}"
    if same_input.startswith(f"{name}, "):  # "w.bin, the data of m.onnx"
        problem = same_input.removeprefix(f"{name}, ")
    return _Refusal(
        "output-is-input", f"{display_name} is {problem}: inputs stay as they are.", "Choose another name."
    )


def _unwritable(folder: Path, display_name: str) -> _Refusal | None:
    if not folder.is_dir():
        return _Refusal(
            "output-folder-missing", f"{display_name}: its folder does not exist.", "Create it first."
        )
    if not os.access(folder, os.W_OK):
        return _Refusal(
            "output-not-writable", f"{display_name}: its folder is not writable.", "Choose another one."
        )
    return None


def _duplicates(requests: Sequence[OutputRequest], files: Sequence[OutputFile]) -> Iterator[_Refusal]:
    """Yield results that would be the same file, for example on case-insensitive file systems."""
    first: dict[str, str] = {}
    for file in files:
        key = unicodedata.normalize("NFC", str(file.path)).casefold()
        if not file.special and key in first:
            message = f"{first[key]} and {file.display_name} would be one file."
            yield _Refusal("two-in-one-file", message, "Use names that differ by more than case.")
        first.setdefault(key, file.display_name)


def _outside(files: Sequence[OutputFile], root: str) -> Iterator[_Refusal]:
    """Yield results that a link leads out of a folder."""
    for file in files if root else ():
        real = os.path.realpath(file.path)
        if not real.startswith(root.rstrip(os.sep) + os.sep):
            message = f"{file.display_name} is, or is in, a link out of the folder that may be written to."
            yield _Refusal("output-outside", message, "Choose another name, or remove the link.")


@contextmanager
def filling(path: PathLike, inputs: Iterable[PathLike] = (), force: bool = False) -> Iterator[Path]:
    """Yield a folder that replaces ``path``, a new or empty folder, when the block succeeds.

    With ``force``, ``path`` may contain files: those with the same names are replaced, except for inputs.

    Raises:
        OutputError: it contains files, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    for refusal in _outside([OutputFile(target, base_name(path), False, None)], _confined_to):
        raise OutputError(refusal.code, refusal.message, refusal.hint)
    empty(target, force)
    with output_failed(base_name(path) or target.name), temporary.folder(target.parent) as staged:
        yield staged
        if target.is_dir() and any(target.iterdir()):
            sources = sorted(source for source in staged.rglob("*") if source.is_file())
            destinations = [target / source.relative_to(staged) for source in sources]
            for destination in destinations:
                destination.parent.mkdir(parents=True, exist_ok=True)
            checked = check_outputs(
                [OutputRequest(destination, "") for destination in destinations], inputs, force=True
            )
            for source, target_file in zip(sources, checked, strict=True):
                target_file.replace_with(source)
            return
        staged.chmod(_usual_mode(staged))
        if target.is_dir():
            target.rmdir()
        os.replace(staged, target)


def empty(path: Path, force: bool = False) -> None:
    """Raises: OutputError: ``path`` is not an empty folder and cannot become one."""
    name = path.name or "."
    with output_failed(printable(name)):  # such as a name that is too long
        exists = path.exists()
    if exists and not path.is_dir():
        raise OutputError("output-not-a-folder", f"{name} is a file.", "Choose a new folder.")
    if not force and path.is_dir() and any(path.iterdir()):
        hint = "Choose a new folder, or replace files in it with --force (in Python: force=True)."
        raise OutputError("output-not-empty", f"{name}: the folder is not empty.", hint)
    refusal = _unwritable(path.parent, name)
    if refusal is not None:
        raise _error(refusal)


@contextmanager
def output_failed(display_name: str) -> Iterator[None]:
    """Convert file system errors to an ``OutputError``."""
    try:
        yield
    except OSError as fault:
        raise OutputError(
            "output-failed", f"Could not write {display_name}: {why_full(fault)}.", _hint_for(fault)
        ) from fault


def is_full(fault: OSError) -> bool:
    """True if a disk, a quota or the largest size of a file is exhausted, also that of temporary files."""
    full = fault.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
    return full or _no_temporary_folder(fault)


def why_full(fault: OSError) -> str:
    """Return the cause in a few words."""
    if _no_temporary_folder(fault):
        return "No folder for temporary files can be written"
    return str(fault.strerror or fault)


def _no_temporary_folder(fault: OSError) -> bool:
    """True if ``tempfile`` found no folder, which it tries by writing a file into each."""
    return fault.errno == errno.ENOENT and fault.filename is None and "temporary directory" in str(fault)


def _hint_for(fault: OSError) -> str:
    return ROOM if is_full(fault) else ""


def _state(path: Path) -> tuple[int, int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _usual_mode(folder: Path) -> int:
    """Return the permissions of new files here, without changing the process's umask to read it."""
    probe = folder / temporary.name()
    probe.mkdir()
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    return mode
