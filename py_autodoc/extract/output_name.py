"""Default path of a sub-model: next to its model, under an unused name."""

from __future__ import annotations

import re
from pathlib import Path

from py_autodoc.errors import OutputError

SUFFIX = ".onnx"
MAX_PART = 60
MAX_STEM = 120
MAX_TRIES = 1000
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def part_name(model: str, part: str) -> str:
    """Return the file name of a part: ``bert.encoder-layer-0.onnx``.

    ``model`` is the model's file name; ``part`` may be any text, of which safe characters are kept.
    """
    stem = model[: -len(SUFFIX)] if model.lower().endswith(SUFFIX) else model
    safe_part = _UNSAFE.sub("-", part)[-MAX_PART:].strip("-") or "part"
    return f"{stem[:MAX_STEM] or 'model'}.{safe_part}{SUFFIX}"


def reserve_file(folder: Path, name: str) -> Path:
    """Create an empty file called ``name``, with a number if that exists; the caller replaces it.

    Raises: OutputError: the folder is not writable, or all numbers are in use.
    """
    stem = name[: -len(SUFFIX)] if name.endswith(SUFFIX) else name
    for number in range(1, MAX_TRIES):
        path = folder / (f"{stem}{SUFFIX}" if number == 1 else f"{stem}-{number}{SUFFIX}")
        if path.with_name(f"{path.name}.data").exists():
            continue
        try:
            path.open("xb").close()
        except FileExistsError:
            continue
        except OSError as fault:
            reason = fault.strerror or fault
            raise OutputError("output-failed", f"Could not write {path.name}: {reason}.") from fault
        return path
    raise OutputError(
        "output-exists",
        f"{name} and {MAX_TRIES:,} similar names exist already.",
        "Remove some of these files.",
    )
