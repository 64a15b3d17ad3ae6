"""Write the processor to a folder, as ``from_pretrained`` reads it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from py_autodoc.errors import InputError
from py_autodoc.hf import keys
from py_autodoc.hf.read import HfMetadata
from py_autodoc.outputs import filling

CONFIG, GENERATION = "config.json", "generation_config.json"


def write_processor(metadata: HfMetadata, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the processor's files and the model's configuration to a new folder.

    Args:
        metadata: the metadata that was read. File names were checked then, so none leaves the folder.
        folder: a new or empty folder; it is either complete or not created.

    Returns:
        The files, sorted by name.

    Raises:
        InputError: there are no files, one is damaged, or their total size exceeds 512 MiB.
        OutputError: the folder is not empty or cannot be written.
    """
    if not metadata.files:
        raise InputError(
            "hf-no-processor",
            "The model contains no processor files.",
            "Export it again with its processor, or pass the processor yourself.",
        )
    target = Path(os.path.realpath(folder))
    with filling(target) as staged:
        names = fill(metadata, staged)
    return [target / name for name in sorted(names)]


def fill(metadata: HfMetadata, folder: Path) -> list[str]:
    """Write the same files to an existing folder of the caller and return their names.

    Raises:
        InputError: a file is damaged, or their total size exceeds 512 MiB.
        OSError: a file cannot be written.
    """
    remaining = keys.MAX_TOTAL
    written: list[str] = []
    for name in metadata.files:
        data = metadata.files[name]
        remaining -= len(data)
        if remaining < 0:
            raise InputError(
                "hf-files-too-large", f"The processor's files are larger than {keys.MAX_TOTAL >> 20} MiB.", ""
            )
        written.append(_write(folder / name, data))
    for name, content in ((CONFIG, metadata.config), (GENERATION, metadata.generation_config)):
        if content is not None and name not in metadata.files:
            written.append(_write(folder / name, json.dumps(content, indent=2).encode("ascii")))
    return written


def _write(path: Path, data: bytes) -> str:
    with open(path, "xb") as file:  # never through a symbolic link, never over another file
        file.write(data)
    return path.name
