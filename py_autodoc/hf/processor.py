"""The processor's files: tokenizer, image processor, feature extractor.

Files from a folder are copied unchanged; a processor in memory saves them itself. Settings that contain a
local path are removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from py_autodoc.bounded import parse_json
from py_autodoc.errors import OptionError
from py_autodoc.hf.keys import MAX_FILES
from py_autodoc.hf.read import is_file_name
from py_autodoc.limits import TABLE
from py_autodoc.outputs import scratch
from py_autodoc.packed import MAX_FILE

_TOKENIZER = "tokenizer.json"
"""Contains everything for a fast tokenizer, so the original vocabulary files are not read."""
_CONFIGS = {
    "tokenizer_config.json": "tokenizer",
    "preprocessor_config.json": "preprocessor",
    "video_preprocessor_config.json": "video_processor",
    "processor_config.json": "processor",
}
_TYPES = {"image_processor_type": "image_processor", "feature_extractor_type": "feature_extractor"}
_LARGE = 4_000
"""Characters from which a setting is content, such as a list of added tokens or a chat template."""
_PATH_KEY = re.compile(r".*(_file|_path|_dir|_folder|name_or_path)")
_PATH = re.compile(r"(/|~|[A-Za-z]:[\\/]|\\\\|\.\.?[\\/]|file:).*", re.DOTALL)


@dataclass(slots=True)
class ProcessorFiles:
    """Files by base name."""

    files: dict[str, bytes] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def settings(self) -> dict[str, Any]:
        """Return role → settings, without vocabularies, templates and other long content."""
        settings: dict[str, Any] = {}
        for name, role in _CONFIGS.items():
            content = json_object(self.files.get(name, b""))
            if content is not None:
                kind = next((type_name for key, type_name in _TYPES.items() if key in content), role)
                short = {key: value for key, value in content.items() if len(json.dumps(value)) < _LARGE}
                settings[kind if role == "preprocessor" else role] = short
        if "tokenizer" not in settings and _TOKENIZER in self.files:
            settings["tokenizer"] = {}
        return settings

    def add(self, name: str, path: Path) -> None:
        """Add one file if it may be embedded."""
        if not is_file_name(name):
            self.warnings.append(f"The processor's file {name[:80]!r} has no plain name and is not included.")
        elif len(self.files) >= MAX_FILES:
            self.warnings.append(f"The processor has more than {MAX_FILES} files; {name} is left out.")
        elif path.stat().st_size > MAX_FILE:
            self.warnings.append(
                f"The processor's {name} is larger than {MAX_FILE >> 20} MiB and not included."
            )
        else:
            self.files[name] = _without_paths(path.read_bytes()) if name in _CONFIGS else path.read_bytes()


def files_of(processor: Any) -> ProcessorFiles:
    """Return the files that one or several processors write with ``save_pretrained``.

    Raises:
        OptionError: an object is not a processor, or cannot be saved.
    """
    files = ProcessorFiles()
    with scratch() as folder:
        for member in processor if isinstance(processor, (list, tuple)) else (processor,):
            _save(member, str(folder))
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files.add(path.relative_to(folder).as_posix(), path)
    return files


def _save(processor: Any, folder: str) -> None:
    name = type(processor).__name__
    if not hasattr(processor, "save_pretrained"):
        raise OptionError(
            "hf-processor", f"A {name} is not a processor of transformers.", "It has no save_pretrained."
        )
    try:
        processor.save_pretrained(folder)
    except Exception as fault:
        line = str(fault).strip().partition("\n")[0]
        raise OptionError("hf-processor", f"The {name} cannot be saved: {line[:160]}", "") from fault


def files_in(source: str, local_only: bool) -> ProcessorFiles:
    """Return the processor's files of a folder or of a hub model.

    Args:
        source: a folder, or an id of the hub.
        local_only: look up an id only in the local hub cache.
    """
    files = ProcessorFiles()
    names = [*_known_names()]
    if _located(source, _TOKENIZER, local_only) is None:
        names += _vocabularies(source, local_only, files)
    for name in dict.fromkeys(names):
        path = _located(source, name, local_only)
        if path is not None:
            files.add(name, path)
    return files


def _known_names() -> Iterator[str]:
    """Yield the names of processor files, as transformers defines them."""
    hub, base = import_module("transformers.utils"), import_module("transformers.tokenization_utils_base")
    for module, names in (
        (
            base,
            ("FULL_TOKENIZER_FILE", "TOKENIZER_CONFIG_FILE", "SPECIAL_TOKENS_MAP_FILE", "ADDED_TOKENS_FILE"),
        ),
        (hub, ("IMAGE_PROCESSOR_NAME", "FEATURE_EXTRACTOR_NAME", "VIDEO_PROCESSOR_NAME", "PROCESSOR_NAME")),
        (hub, ("CHAT_TEMPLATE_FILE", "LEGACY_PROCESSOR_CHAT_TEMPLATE_FILE")),
    ):
        for name in names:
            value = getattr(module, name, None)
            if isinstance(value, str):
                yield value


def _vocabularies(source: str, local_only: bool, files: ProcessorFiles) -> list[str]:
    """Return the names of the files that build the model's tokenizer, if there is no ``tokenizer.json``."""
    transformers = import_module("transformers")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source, local_files_only=local_only, trust_remote_code=False
        )
    except Exception as fault:  # noqa: BLE001 - most models without one have no text; transformers raises anything
        if _located(source, "tokenizer_config.json", local_only) is not None:
            line = str(fault).strip().partition("\n")[0]
            files.warnings.append(f"The tokenizer is not included because it cannot be loaded: {line[:160]}")
        return []
    return [name for name in tokenizer.vocab_files_names.values() if isinstance(name, str)]


def _located(source: str, name: str, local_only: bool) -> Path | None:
    folder = Path(source)
    if folder.is_dir():
        path = folder / name
        return path if path.is_file() else None
    try:
        located = import_module("transformers.utils").cached_file(
            source,
            name,
            local_files_only=local_only,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
            _raise_exceptions_for_gated_repo=False,
        )
    except (OSError, ValueError):  # Not an id of the hub, so there is no processor to embed.
        return None
    return Path(located) if located else None


def json_object(data: bytes) -> dict[str, Any] | None:
    """Return a JSON object; None for anything else."""
    try:
        content = parse_json(data, TABLE)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _without_paths(data: bytes) -> bytes:
    """Return a settings file without local paths; other files unchanged."""
    content = json_object(data)
    if content is None:
        return data
    cleaned = without_paths(content)
    return data if cleaned == content else json.dumps(cleaned, indent=2, ensure_ascii=False).encode("utf-8")


def without_paths(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without local paths, such as ``tokenizer_file``."""
    return {
        key: value
        for key, value in content.items()
        if not (isinstance(value, str) and _PATH_KEY.fullmatch(key) and _PATH.fullmatch(value))
    }
