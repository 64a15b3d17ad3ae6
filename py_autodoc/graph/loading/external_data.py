"""Facts about external data files: names, sizes and types by ``stat``. No file is opened.

Locations are resolved against the model's folder. They may only leave it if the model file is a link, as in
the Hugging Face cache, where model and data link into one ``blobs`` folder; then the folder of the link's
target also counts. Other paths are not accessed at all, so that a model cannot probe other files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import onnx

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.protobuf.tensor_protos import element_count, external_entries, stored_bytes

RANGE = "external-range"
"""Code of a diagnostic: an offset or a length does not fit."""
_MAX_LOCATION = 4096
_hidden_refused = False
_IN_MEMORY = "_ORT_MEM_ADDR_"
"""In a location, ONNX Runtime takes the offset for an address of its process."""


def refuse_hidden_files() -> None:
    """Never read hidden files as external data from now on: for children of a server that hides them."""
    global _hidden_refused
    _hidden_refused = True


@dataclass(slots=True)
class External:
    """Sorted names of the external files, and the total bytes that tensors use in them."""

    files: tuple[str, ...] = ()
    bytes: int = 0


@dataclass(slots=True)
class _FileDemand:
    """Ranges that tensors require in one file."""

    tensors: int = 0
    end: int = 0
    ranges: set[tuple[int, int]] = field(default_factory=set)


def external_facts(
    tensors: Iterable[onnx.TensorProto], path: str | None, notes: DiagnosticCollector
) -> External:
    """Check the external data of a model at ``path`` (None: no folder, so files are not looked up).

    Diagnostics: external-missing, external-outside, external-hidden, external-self, external-range.
    """
    files: dict[str, _FileDemand] = {}
    for tensor in tensors:
        location, start, length = _range(tensor, notes)
        if location:
            demand = files.setdefault(location, _FileDemand())
            demand.tensors += 1
            if length is not None:
                demand.end = max(demand.end, start + length)
                demand.ranges.add((start, length))
    if path is not None and files:
        folders = Folders(path)
        for location, demand in files.items():
            _check(location, demand, folders, notes)
    size = sum(length for demand in files.values() for _, length in demand.ranges)
    return External(tuple(sorted(shown_location(location) for location in files)), size)


def _range(tensor: onnx.TensorProto, notes: DiagnosticCollector) -> tuple[str, int, int | None]:
    """Return (location, offset, length) of a tensor, with a diagnostic for invalid values."""
    entries = external_entries(tensor)
    if any(entry.key == "location" and not isinstance(entry.value, str) for entry in tensor.external_data):
        # Readers would open another file than the one that we look at.
        message = "The name of the file with its data is not UTF-8; not looked at."
        notes.add("external-outside", message, tensor.name)
        return "", 0, None
    location = entries.get("location", "")
    if not location:
        notes.add("external-missing", "External data without a location.", tensor.name)
        return "", 0, None
    count = element_count(tuple(tensor.dims))
    needed = None if count is None else stored_bytes(tensor.data_type, count)
    start = _number(entries.get("offset"), 0)
    length = _number(entries.get("length"), needed)
    fault = invalid_range(entries)
    if fault:
        notes.add(RANGE, f"{fault[:1].upper()}{fault[1:]}.", tensor.name)
        return location, 0, None
    if length is not None and needed is not None and length < needed:
        message = f"Needs {needed:,} bytes, the length says {length:,}."
        notes.add(RANGE, message, tensor.name)
    return location, start or 0, length


def invalid_range(entries: Mapping[str, str]) -> str:
    """Return what is wrong with the offset or length of external data, as a clause; empty if nothing is."""
    for key in ("offset", "length"):
        number = _number(entries.get(key), 0)
        if number is None or number < 0:
            said = "is not a number" if number is None else f"is negative ({number:,})"
            return f"the {key} of its external data {said}"
    return ""


def _number(value: str | None, default: int | None) -> int | None:
    if value is None:
        return default
    try:
        return int(value) if len(value) <= 20 else None
    except ValueError:
        return None


class Folders:
    """Folders that may hold a model's data."""

    def __init__(self, path: str) -> None:
        self.folder = os.path.dirname(os.path.abspath(path))
        model = os.path.realpath(path)
        self.roots = {os.path.realpath(self.folder), os.path.dirname(model)}
        self.model = model

    def resolve(self, location: str) -> str | None:
        """Return the real path of a location; None if it is outside the folders, or hidden and refused."""
        real = self._inside(location)
        return None if real is None or self._refuses(location, real) else real

    def hides(self, location: str) -> bool:
        """Return whether a location is refused only because it is hidden."""
        real = self._inside(location)
        return real is not None and self._refuses(location, real)

    def _inside(self, location: str) -> str | None:
        if os.path.isabs(location) or "\0" in location or len(location) > _MAX_LOCATION:
            return None
        if _IN_MEMORY in location:
            return None
        real = os.path.realpath(os.path.join(self.folder, location))
        return real if any(_inside(real, root) for root in self.roots) else None

    def _refuses(self, location: str, real: str) -> bool:
        """Return whether a location, or the file that it leads to, is hidden and such files are refused."""
        if not _hidden_refused:
            return False
        root = max((root for root in self.roots if _inside(real, root)), key=len)
        return is_hidden(location, self.folder) or is_hidden(os.path.relpath(real, root), root)


def is_hidden(path: str, folder: str) -> bool:
    """Return whether a path below a folder is hidden, by a name or, on Windows and macOS, by an attribute."""
    parts = [part for part in os.path.normpath(path).split(os.sep) if part not in ("", os.curdir, os.pardir)]
    if any(part.startswith(".") for part in parts):
        return True
    for end in range(1, len(parts) + 1):
        try:
            status = os.stat(os.path.join(folder, *parts[:end]), follow_symlinks=False)
        except (OSError, ValueError):
            return False
        if getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_HIDDEN:
            return True
        if getattr(status, "st_flags", 0) & stat.UF_HIDDEN:
            return True
    return False


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _check(location: str, demand: _FileDemand, folders: Folders, notes: DiagnosticCollector) -> None:
    location_text = shown_location(location)
    tensors_text = f"{demand.tensors:,} tensor" + "s" * (demand.tensors != 1)
    real = folders.resolve(location)
    if real is None and folders.hides(location):
        notes.add(
            "external-hidden",
            f"Data of {tensors_text} are in a hidden file, which this server does not read; not looked at.",
            location_text,
        )
        return
    if real is None:
        notes.add(
            "external-outside",
            f"Data of {tensors_text} lie outside the model's folder; not looked at.",
            location_text,
        )
        return
    try:
        status = os.stat(real, follow_symlinks=False)
    except OSError:
        notes.add(
            "external-missing", f"The file with the data of {tensors_text} is not there.", location_text
        )
        return
    if not stat.S_ISREG(status.st_mode):
        notes.add(
            "external-missing",
            f"The data of {tensors_text} should be in a file that is not a regular file.",
            location_text,
        )
        return
    if real == folders.model:
        notes.add(
            "external-self", f"External data of {tensors_text} point at the model file itself.", location_text
        )
    if demand.end > status.st_size:
        message = (
            f"Data of {tensors_text} reach to byte {demand.end:,} of a file of {status.st_size:,} bytes."
        )
        notes.add(RANGE, message, location_text)


def shown_location(location: str) -> str:
    """Return a location for display: of an absolute path only the last component."""
    return os.path.basename(location)[:255] if os.path.isabs(location) else location[:255]


def location_hint(code: str, location: str) -> str:
    """Return what to do about external data with a diagnostic of this code.

    ``location`` is that in the model, or as it is shown; empty if there is none.
    """
    shown = shown_location(location) or "the file with its data"
    if code == "external-hidden":
        return (
            f"Rename {shown} and save the model with that location, or set"
            " ContentsManager.allow_hidden in the server's configuration."
        )
    if code == "external-outside":
        return f"Put {shown} into the model's folder and save the model with that location."
    if code == "external-missing":
        return f"Put {shown} where the model was saved with it: in the model's folder."
    return "Save the model with its data again."
