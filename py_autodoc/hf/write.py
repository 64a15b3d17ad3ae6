"""Create the embedded metadata of a transformers model."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.hf import keys
from py_autodoc.hf.processor import ProcessorFiles, files_in, files_of, json_object, without_paths
from py_autodoc.hf.tasks import checked_task, detect_task
from py_autodoc.packed import checksum, pack_file, pack_json
from py_autodoc.version import NAME, installed, version

_PACKAGES = ("transformers", "tokenizers", "torch", "onnx", "onnx-ir", "onnxscript")


@dataclass(slots=True)
class EmbeddedMetadata:
    """Metadata entries, and warnings about them."""

    entries: dict[str, str]
    task: str | None = None
    task_source: str | None = None
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Embedded files: name → (bytes, characters in the model)."""
    left_out: tuple[str, ...] = ()
    """Files of the processor that were not embedded on request."""
    warnings: list[str] = field(default_factory=list)

    @property
    def characters(self) -> int:
        """Number of characters of all entries except files."""
        return sum(len(value) for key, value in self.entries.items() if not key.startswith(keys.FILE))


def metadata_of(
    model_or_config: Any,
    processor: Any = None,
    *,
    task: str | None = None,
    embed_processor: bool = True,
    source_folder: str | os.PathLike[str] | None = None,
) -> dict[str, str]:
    """Return the ``hf_*`` entries for a model's ``metadata_props``.

    Args:
        model_or_config: a transformers model, its configuration, or the content of ``config.json``.
        processor: tokenizer, image processor, …, or a list of them; None uses the files of ``source_folder``.
        task: a task of transformers' pipelines; None detects it with ``detect_task``.
        embed_processor: also embed the processor's files.
        source_folder: the folder or hub id the model and its processor were loaded from.

    Raises:
        OptionError: the task is unknown, or ``SOURCE_DATE_EPOCH`` is not a number.
        RequirementError: transformers is not installed.
    """
    return gather_metadata(
        model_or_config, processor, task=task, embed_processor=embed_processor, source_folder=source_folder
    ).entries


def gather_metadata(
    model_or_config: Any,
    processor: Any = None,
    *,
    task: str | None = None,
    embed_processor: bool = True,
    source_folder: str | os.PathLike[str] | None = None,
    cached_only: bool = False,
) -> EmbeddedMetadata:
    """Like ``metadata_of``, with sizes and warnings.

    ``cached_only``: a ``source_folder`` that is a hub id is looked up only in the local hub cache.
    """
    config = config_of(model_or_config)
    guess = detect_task(config)
    name, source = (checked_task(task), "given") if task else (guess.task, guess.source)
    folder = os.fspath(source_folder) if source_folder is not None else None
    files, warnings = _processor(processor, folder, cached_only)
    if guess.task is None and not task:
        warnings.append(f"The task of {guess.model_class or 'the model'} is unknown; set it with --task.")
    values: dict[str, Any] = {
        keys.CONFIG: config,
        keys.PROCESSOR_CONFIG: files.settings() or None,
        keys.GENERATION_CONFIG: _generation_config(model_or_config, folder),
        keys.EXPORTER: {NAME: version(), **installed(_PACKAGES)},
    }
    entries = {keys.VERSION: keys.SCHEMA, keys.TIMESTAMP: timestamp()}
    entries.update({key: pack_json(value) for key, value in values.items() if value is not None})
    if name:
        entries[keys.TASK] = name
        entries[keys.TASK_SOURCE] = source or "fallback"
    packed = {file: pack_file(data) for file, data in files.files.items()} if embed_processor else {}
    entries.update({keys.FILE + file: text for file, text in packed.items()})
    entries[keys.CHECKSUMS] = pack_json({key: checksum(value) for key, value in sorted(entries.items())})
    embedded = EmbeddedMetadata(
        dict(sorted(entries.items())),
        name,
        source,
        {file: (len(files.files[file]), len(text)) for file, text in packed.items()},
        () if embed_processor else tuple(files.files),
        warnings,
    )
    if embedded.characters > keys.TYPICAL:
        warnings.append(f"The model's metadata is large: {embedded.characters:,} characters without files.")
    return embedded


def config_of(model_or_config: Any) -> dict[str, Any]:
    """Return ``config.json`` as ``save_pretrained`` would write it, with the exported class."""
    inner = getattr(model_or_config, "config", None)
    model = model_or_config if hasattr(inner, "to_json_string") else None
    config: Any = model_or_config if model is None else inner
    content = dict(config) if isinstance(config, Mapping) else json.loads(config.to_json_string())
    if model is not None:
        content["architectures"] = [type(model).__name__]
    return without_paths(content)


def _processor(processor: Any, folder: str | None, cached_only: bool) -> tuple[ProcessorFiles, list[str]]:
    if processor is not None:
        files = files_of(processor)
    else:
        files = files_in(folder, cached_only) if folder is not None else ProcessorFiles()
    return files, list(files.warnings)


def _generation_config(model: Any, folder: str | None) -> dict[str, Any] | None:
    generation = getattr(model, "generation_config", None)
    if generation is not None and hasattr(generation, "to_json_string"):
        content: dict[str, Any] = json.loads(generation.to_json_string())
        return content
    path = Path(folder, "generation_config.json") if folder is not None else None
    return json_object(path.read_bytes()) if path is not None and path.is_file() else None


def timestamp() -> str:
    """Return the current time, or that of ``SOURCE_DATE_EPOCH``, for reproducible builds.

    Raises:
        OptionError: the variable is not a number of seconds.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        seconds = int(text) if text else int(time.time())
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            "source-date-epoch",
            f"SOURCE_DATE_EPOCH is {text[:40]!r}, which is not a time.",
            "Pass seconds since 1970.",
        ) from None
