"""Input options: shapes, a file of arrays, dynamic axes. They are parsed before a model is loaded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, OptionError, PathError
from py_autodoc.samples import read_arrays as stored_values
from py_autodoc.samples import stored_arrays

MAX_ARRAYS = 4 << 30
"""Maximum unpacked size of a file of arrays, in bytes."""
_SIZE = re.compile(r"\d{1,9}", re.ASCII)
_AXIS = re.compile(r"(?P<name>.+):(?P<axis>\d{1,2})=(?P<symbol>[A-Za-z_]\w*)", re.ASCII)
BATCH, SEQUENCE = "batch", "seq"


@dataclass(frozen=True, slots=True)
class InputOptions:
    """The options about inputs and weights."""

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Input → shape; the empty name is that of the only input."""
    text: str | None = None
    arrays: Path | None = None
    batch: int | None = None
    sequence: int | None = None
    dynamic: tuple[str, ...] = ()
    seed: int = 0
    random_weights: bool = False
    cache: bool = False
    """Let the model return its key-value cache."""

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Batch and sequence length. torch treats a batch of 1 as a constant, so a dynamic one is 2."""
        return self.batch or (2 if BATCH in self.dynamic else 1), self.sequence


def parse_shapes(items: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Parse ``["x=1x3x224x224"]`` or ``["1x3x224x224"]`` to a mapping; a bare shape has the empty name.

    Raises:
        OptionError: an item cannot be parsed, or an input is named twice.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for item in items:
        name, _, text = item.rpartition("=")
        parts = [size.strip() for size in re.split(r"[x×,]", text.strip().strip("[]()"))]
        if not all(_SIZE.fullmatch(size) for size in parts):
            raise OptionError(
                "bad-input-shape",
                f"Cannot read the input shape {item[:80]!r}.",
                "Pass NAME=1x3x224x224, or 1x3x224x224 for a single input.",
            )
        if name.strip() in shapes:
            raise OptionError(
                "bad-input-shape", f"The shape of {name.strip() or 'the input'} is given twice."
            )
        shapes[name.strip()] = tuple(map(int, parts))
    if "" in shapes and len(shapes) > 1:
        raise OptionError(
            "bad-input-shape", "A shape without a name requires a single input.", "Add input names."
        )
    return shapes


def parse_dynamic(items: Sequence[str]) -> tuple[str, ...]:
    """Split ``["batch,seq", "x:2=width"]`` into single items. Raises: OptionError."""
    axes = [axis.strip() for item in items for axis in item.split(",") if axis.strip()]
    for axis in axes:
        if axis not in (BATCH, SEQUENCE) and not _AXIS.fullmatch(axis):
            raise OptionError(
                "bad-dynamic",
                f"Cannot read the dynamic axis {axis[:80]!r}.",
                "Pass batch, seq, or NAME:AXIS=symbol, such as pixel_values:2=height.",
            )
    return tuple(axes)


def dynamic_axes_of(items: Sequence[str], named: Mapping[str, Any]) -> dict[str, dict[int, str]] | None:
    """Return input → axis → symbol.

    ``batch`` is axis 0 of every tensor, ``seq`` axis 1 of every integer matrix. The inputs of a decoder
    differ in length from those of its encoder, so they get a symbol of their own.

    Raises:
        OptionError: no input has such an axis, or there is no such input or axis.
    """
    if not items:
        return None
    axes_by_input: dict[str, dict[int, str]] = {}
    tensors = {name: value for name, value in named.items() if hasattr(value, "dim")}
    for item in items:
        explicit = _AXIS.fullmatch(item)
        if explicit:
            axes_by_input.setdefault(explicit["name"], {})[int(explicit["axis"])] = explicit["symbol"]
            continue
        axis_index = 1 if item == SEQUENCE else 0
        names = [n for n, t in tensors.items() if (_is_sequence(t) if axis_index else t.dim() > 0)]
        if not names:
            raise OptionError("bad-dynamic", f"No input has a {item} axis.", _listed(tensors))
        for name in names:
            separate = axis_index and name.startswith("decoder_") and len(names) > 1
            axes_by_input.setdefault(name, {})[axis_index] = f"decoder_{item}" if separate else item
    for name in axes_by_input:
        if name not in tensors:
            raise OptionError("dynamic-input", f"dynamic: no input is named {name}.", near(name, tensors))
    return axes_by_input


def _is_sequence(tensor: Any) -> bool:
    return bool(tensor.dim() == 2 and not tensor.is_floating_point() and not tensor.is_complex())


def near(name: str, names: Mapping[str, Any] | Sequence[str], what: str = "Inputs") -> str:
    """Return a hint with similar names, or with all names."""
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else _listed(names, what)


def _listed(names: Mapping[str, Any] | Sequence[str], what: str = "Inputs") -> str:
    return f"{what}: {', '.join(list(names)[:20]) or 'none'}."


def read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of an ``.npz`` file. Nothing in it is executed.

    Raises:
        PathError: the file is missing.
        InputError: the file has another format, holds Python objects, or unpacks to more than the limit.
    """
    try:
        total = sum(array.nbytes for array in stored_arrays(path).values())
        if total > MAX_ARRAYS:
            raise InputError("bad-arrays", f"{path.name}: {total:,} bytes of arrays are too many.")
        content = stored_values(path)
    except PathError:
        raise
    except InputError as fault:
        raise InputError(
            "bad-arrays", fault.message, "Write it with numpy.savez(path, input_name=array)."
        ) from fault
    odd = next((name for name, array in content.items() if array.dtype.kind not in "biufc"), None)
    if odd is not None or not content:
        what = f"{odd} is not numeric" if odd is not None else "it is empty"
        raise InputError("bad-arrays", f"{path.name}: {what}.", "Write it with numpy.savez.")
    return content
