"""The processor in a folder of its own, as ``from_pretrained`` reads it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from py_autodoc.errors import InputError, OutputError
from py_autodoc.hf import keys
from py_autodoc.hf.read import HfMetadata

CONFIG, GENERATION = "config.json", "generation_config.json"


def write_processor(metadata: HfMetadata, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the processor's files and the model's configuration into a new folder.

    Args:
        metadata: what was read. Names of files are checked there, so that none leaves the folder.
        folder: a new or an empty one; it is complete or not there.

    Returns:
        The files, sorted by name.

    Raises:
        InputError: there are no files, one is damaged, or all together are larger than 512 MiB.
        OutputError: the folder is not empty or cannot be written.
    """
    if not metadata.files:
        raise InputError(
            "hf-no-processor",
            "The model has no files of a processor.",
            "Export it again with its processor, or give the processor yourself.",
        )
    target = Path(os.path.realpath(folder))
    _check(target)
    try:
        staged = Path(tempfile.mkdtemp(prefix=f".{target.name[:60]}.", suffix=".tmp", dir=target.parent))
        try:
            names = fill(metadata, staged)
            staged.chmod(0o777 & ~_umask())
            if target.is_dir():
                target.rmdir()
            os.replace(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as fault:
        raise OutputError(
            "output-failed", f"Could not write {target.name}: {fault.strerror or fault}."
        ) from fault
    return [target / name for name in sorted(names)]


def _check(target: Path) -> None:
    shown = target.name or "."
    if target.exists() and not target.is_dir():
        raise OutputError("output-not-a-folder", f"{shown}: is a file.", "Name a new folder.")
    if target.is_dir() and any(target.iterdir()):
        raise OutputError("output-not-empty", f"{shown}: the folder is not empty.", "Name a new one.")
    if not target.parent.is_dir():
        raise OutputError("output-folder-missing", f"{shown}: its folder does not exist.", "Create it first.")


def fill(metadata: HfMetadata, folder: Path) -> list[str]:
    """Write the same files into a folder that is the caller's own, as a temporary one; their names.

    Raises:
        InputError: a file is damaged, or all together are larger than 512 MiB.
        OSError: it cannot be written.
    """
    room = keys.MAX_TOTAL
    written: list[str] = []
    for name in metadata.files:
        data = metadata.files[name]
        room -= len(data)
        if room < 0:
            raise InputError(
                "hf-files-too-large", f"The processor's files are larger than {keys.MAX_TOTAL >> 20} MiB.", ""
            )
        written.append(_write(folder / name, data))
    for name, content in ((CONFIG, metadata.config), (GENERATION, metadata.generation_config)):
        if content is not None and name not in metadata.files:
            written.append(_write(folder / name, json.dumps(content, indent=2).encode("ascii")))
    return written


def _write(path: Path, data: bytes) -> str:
    with open(path, "xb") as file:  # never through a link, never over another file
        file.write(data)
    return path.name


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
