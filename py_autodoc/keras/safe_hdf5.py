"""Read untrusted HDF5: links are not followed, and implausible sizes are rejected.

If the library crashes nevertheless, only a separate process ends (``hdf_reader``). A group is left only
through hard links, so a name never leads to another file. A dataset must be stored in the file itself, use
only built-in filters of HDF5, and have a plausible size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from py_autodoc.errors import RequirementError
from py_autodoc.keras.conversion_errors import broken, reading, too_large

FILTERS = {1, 2, 3, 4, 5, 6}
"""deflate, shuffle, fletcher32, szip, nbit, scaleoffset; any other filter would load a plug-in."""
RATIO = 1100
"""Maximum compression ratio; deflate reaches about 1,030."""
MAX_ATTRIBUTE = 1 << 28
MAX_MEMBERS = 1_000_000
MAX_WEIGHTS = 8 << 30
"""Maximum bytes of weights in a model."""
_PACKED, _ANYHOW = 32, 1 << 28


def most_weights(size: int) -> int:
    """Return the maximum unpacked bytes of a file's weights; compression has little effect on weights."""
    return min(MAX_WEIGHTS, max(_PACKED * size, _ANYHOW))


def need_h5py() -> Any:
    """Return h5py. Raises: RequirementError if it is not installed."""
    try:
        h5py: Any = import_module("h5py")
    except ImportError:
        raise h5py_missing() from None
    return h5py


def h5py_missing() -> RequirementError:
    """Return the error for a missing h5py."""
    return RequirementError(
        "h5py-missing", "Reading files of Keras needs h5py.", 'pip install "onnx-autodoc[keras]"'
    )


@dataclass(frozen=True, slots=True)
class StoredWeight:
    """A weight in the file, not read yet."""

    dataset: Any
    file: str
    shape: tuple[int, ...]
    nbytes: int
    type: str
    """numpy's type string, including byte order."""

    def parts(self, nbytes: int) -> Iterator[npt.NDArray[Any]]:
        """Yield its values in order, in parts of about ``nbytes`` bytes. Raises: InputError."""
        with reading(self.file):
            if not self.shape or self.nbytes <= nbytes:
                yield np.asarray(self.dataset[()])
                return
            rows = self.shape[0]
            # Chunks are unpacked as a whole, so each is read once.
            together = min(self.dataset.chunks[0] if self.dataset.chunks else 1, rows)
            step = max(nbytes * rows // self.nbytes // together, 1) * together
            for first in range(0, rows, step):
                yield np.asarray(self.dataset[first : first + step])


class WeightGroup:
    """A group of a file, reached only through hard links."""

    def __init__(self, group: Any, file: str, size: int) -> None:
        self._group = group
        self._file = file
        self._size = size

    def names(self) -> list[str]:
        """Return the names of its members."""
        with reading(self._file):
            if len(self._group) > MAX_MEMBERS:
                raise too_large(self._file, "nodes", len(self._group), MAX_MEMBERS, "entries of one group")
            return [str(name) for name in self._group]

    def group(self, name: str) -> WeightGroup | None:
        """Return the group of this name; None if there is none."""
        item = self._get(name)
        return (
            None if item is None or not hasattr(item, "keys") else WeightGroup(item, self._file, self._size)
        )

    def dataset(self, name: str) -> StoredWeight | None:
        """Return the dataset of this name, which may be a path of hard links; None if there is none.

        Raises:
            InputError: it is not stored in this file, or needs a plug-in.
            LimitError: it declares more data than the file can hold.
        """
        group: Any = self
        *above, last = name.split("/")
        for component in above:
            group = group.group(component) if group is not None else None
        item = group._get(last) if group is not None else None
        # A named type has a dtype, too.
        if not isinstance(item, need_h5py().Dataset):
            return None
        return self._checked(item, name)

    def attribute(self, name: str) -> str | None:
        """Return an attribute as text; None if there is none. Raises: InputError, LimitError."""
        value = self._attribute(name)
        return None if value is None else text(value)

    def _attribute(self, name: str) -> Any:
        with reading(self._file):
            attributes = self._group.attrs
            if name not in attributes:
                return None
            size = int(attributes.get_id(name).get_storage_size())
            if size > min(MAX_ATTRIBUTE, max(self._size, 1 << 16)):
                raise too_large(self._file, "structure_bytes", size, MAX_ATTRIBUTE, f"bytes of {name}")
            return attributes[name]

    def texts(self, name: str) -> list[str] | None:
        """Return an attribute with a list of names, joined if Keras split a long one."""
        value = self._attribute(name)
        parts = [value] if value is not None else list(self._attribute_chunks(name))
        if not parts:
            return None
        with reading(self._file):
            return [text(value) for chunk in parts for value in np.asarray(chunk).reshape(-1).tolist()]

    def _attribute_chunks(self, name: str) -> Iterator[Any]:
        for number in range(MAX_MEMBERS):
            chunk = self._attribute(f"{name}{number}")
            if chunk is None:
                return
            yield chunk

    def _get(self, name: str) -> Any:
        h5py = need_h5py()
        with reading(self._file):
            link = self._group.get(name, getlink=True) if name else None
            if link is None:
                return None
            if not isinstance(link, h5py.HardLink):
                raise broken(
                    self._file,
                    f"{name!r} is a link to somewhere else, which is not followed.",
                    "Save the model again with Keras.",
                )
            return self._group[name]

    def _checked(self, dataset: Any, name: str) -> StoredWeight:
        with reading(self._file):
            creation = dataset.id.get_create_plist()
            if creation.get_external_count() or dataset.is_virtual:
                raise broken(self._file, f"the values of {name} are in another file, which is not read.")
            filters = {int(creation.get_filter(index)[0]) for index in range(creation.get_nfilters())}
            if filters - FILTERS:
                raise broken(self._file, f"{name} is packed in a way that needs a plug-in of HDF5.")
            kind, shape = dataset.dtype, tuple(int(size) for size in dataset.shape or ())
            if dataset.shape is None or not is_numeric(kind):
                raise broken(self._file, f"{name} is not numeric.")
            nbytes = int(np.prod([float(size) for size in shape]) * kind.itemsize)
            stored_bytes = int(dataset.id.get_storage_size())
            if nbytes > max(stored_bytes, 1) * (RATIO if filters else 1):
                raise too_large(
                    self._file, "structure_bytes", nbytes, stored_bytes, f"bytes that {name} claims to have"
                )
            return StoredWeight(dataset, self._file, shape, nbytes, kind.str)


def is_numeric(kind: Any) -> bool:
    """True for numeric types of numpy."""
    return kind.kind in "fiub" and kind.itemsize <= 8


def text(value: object) -> str:
    """Return text from the file, given as bytes or str."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
