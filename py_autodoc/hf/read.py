"""Read the metadata that describes how to run a model.

The metadata is untrusted and may have been changed by other tools. A damaged value is omitted and named in
``warnings``; an error is raised only for a file that is not a model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import InputError
from py_autodoc.hf import keys
from py_autodoc.packed import MAX_FILE, DamagedValue, checksum, unpack, unpack_json

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir

_TASK = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST_LINE = 200
_MAX_WARNINGS = 20


class StoredFiles(Mapping[str, bytes]):
    """Files of the processor, unpacked on access.

    ``files[name]`` raises InputError if a file cannot be unpacked although its checksum is correct.
    """

    __slots__ = ("_packed",)

    def __init__(self, packed: Mapping[str, str] | None = None) -> None:
        self._packed = dict(packed or {})

    def __getitem__(self, name: str) -> bytes:
        packed = self._packed[name]
        try:
            return unpack(packed, MAX_FILE)
        except DamagedValue as fault:
            raise InputError(
                "hf-file-damaged",
                f"The model's metadata: {name} {fault}.",
                "Pass the processor yourself, or export the model again.",
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def stored(self, name: str) -> int:
        """Return the number of characters a file takes in the model."""
        return len(self._packed[name])


@dataclass(frozen=True, slots=True)
class HfMetadata:
    """Metadata of a model; None where an entry is missing or unreadable."""

    schema: str | None = None
    config: dict[str, Any] | None = None
    """Content of ``config.json``."""
    task: str | None = None
    """A task of transformers' pipelines."""
    task_source: str | None = None
    """``given``, ``registry``, ``architecture`` or ``fallback``."""
    processor_config: dict[str, Any] | None = None
    """Role (``tokenizer``, ``image_processor``, …) → its settings."""
    files: StoredFiles = field(default_factory=StoredFiles)
    """The processor's files by base name."""
    generation_config: dict[str, Any] | None = None
    created: str | None = None
    exporter: Mapping[str, str] = field(default_factory=dict)
    """Package → version."""
    warnings: tuple[str, ...] = ()

    @property
    def present(self) -> bool:
        """True if the model has metadata of this kind, readable or not."""
        return self.schema is not None or self.config is not None or bool(self.files or self.warnings)


def read_metadata(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model | Mapping[str, str],
) -> HfMetadata:
    """Read the metadata that ``py_autodoc.torch.export`` writes for transformers models.

    Args:
        source: a model file, of which only the metadata is read; a model in memory; or its metadata.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: not a model. Damaged metadata does not raise.
    """
    reading = _MetadataReading(_entries(source))
    return reading.all()


def _entries(source: Any) -> dict[str, str]:
    if isinstance(source, (str, os.PathLike)):
        from py_autodoc.graph.protobuf.metadata import model_metadata

        return model_metadata(source, keys.PREFIX)
    if isinstance(source, Mapping):
        entries = source
    else:
        properties = source.metadata_props
        entries = (
            properties
            if isinstance(properties, Mapping)
            else {entry.key: entry.value for entry in properties}
        )
    return {
        key: value
        for key, value in entries.items()
        if isinstance(key, str) and isinstance(value, str) and key.startswith(keys.PREFIX)
    }


class _MetadataReading:
    """One pass over the entries, collecting warnings."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self.warnings: list[str] = []
        self.entries = self._checked(entries)

    def all(self) -> HfMetadata:
        if not self.entries and not self.warnings:
            return HfMetadata()
        schema = self._schema()
        task = self._matching(keys.TASK, _TASK)
        source = self.entries.get(keys.TASK_SOURCE)
        return HfMetadata(
            schema,
            self._object(keys.CONFIG),
            task,
            source if task and source in keys.TASK_SOURCES else None,
            self._object(keys.PROCESSOR_CONFIG),
            self._files(),
            self._object(keys.GENERATION_CONFIG),
            self._matching(keys.TIMESTAMP, re.compile(r"[0-9T:.+Z-]{8,40}")),
            self._versions(),
            tuple(self.warnings),
        )

    def warn(self, line: str) -> None:
        if len(self.warnings) == _MAX_WARNINGS:
            self.warnings.append("Further problems in the metadata are not listed.")
        elif len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(line[:_LONGEST_LINE])

    def _checked(self, entries: Mapping[str, str]) -> dict[str, str]:
        """Return the entries with a correct checksum, and entries without a checksum."""
        sums: Any = {}
        if keys.CHECKSUMS in entries:
            try:
                sums = unpack_json(entries[keys.CHECKSUMS])
            except DamagedValue as fault:
                self.warn(f"{keys.CHECKSUMS} {fault}: the metadata cannot be checked.")
            if not isinstance(sums, dict):
                self.warn(f"{keys.CHECKSUMS} is not a JSON object: the metadata cannot be checked.")
                sums = {}
        good: dict[str, str] = {}
        for key, value in entries.items():
            if key == keys.CHECKSUMS:
                continue
            if key in sums and sums[key] != checksum(value):
                self.warn(f"{_display_name(key)} was changed (its checksum differs) and is not included.")
                continue
            good[key] = value
        for key in sorted(str(name) for name in sums if name not in entries):
            self.warn(f"{_display_name(key)} is missing.")
        return good

    def _schema(self) -> str | None:
        schema = self._matching(keys.VERSION, re.compile(r"\d{1,4}\.\d{1,4}"))
        if schema is not None and schema.partition(".")[0] != keys.SCHEMA.partition(".")[0]:
            self.warn(f"The metadata has schema {schema}; this version supports {keys.SCHEMA}.")
        return schema

    def _matching(self, key: str, pattern: re.Pattern[str]) -> str | None:
        value = self.entries.get(key)
        if value is None or pattern.fullmatch(value):
            return value
        self.warn(f"{key} has unexpected contents and is not included.")
        return None

    def _object(self, key: str) -> dict[str, Any] | None:
        value = self.entries.get(key)
        if value is None:
            return None
        try:
            content = unpack_json(value)
        except DamagedValue as fault:
            self.warn(f"{key} {fault}; left out.")
            return None
        if not isinstance(content, dict):
            self.warn(f"{key} is not a JSON object and is not included.")
            return None
        return content

    def _versions(self) -> dict[str, str]:
        versions = self._object(keys.EXPORTER) or {}
        return {str(name)[:80]: str(release)[:80] for name, release in list(versions.items())[:40]}

    def _files(self) -> StoredFiles:
        texts: dict[str, str] = {}
        lowered_names: set[str] = set()
        for key in sorted(self.entries):
            name = key.removeprefix(keys.FILE)
            if name == key:
                continue
            if not is_file_name(name):
                self.warn(f"{_display_name(key)} is not a plain file name and is not included.")
            elif name.lower() in lowered_names:
                self.warn(
                    f"{_display_name(key)} occurs twice on systems that ignore case and is not included."
                )
            elif len(texts) == keys.MAX_FILES:
                self.warn(f"More than {keys.MAX_FILES} files; {name} is left out.")
            else:
                texts[name] = self.entries[key]
                lowered_names.add(name.lower())
        return StoredFiles(texts)


def is_file_name(name: str) -> bool:
    """True for a name that stays in its folder on every system: letters, digits, ``. _ + -``; not hidden."""
    if not _FILE_NAME.fullmatch(name) or name.endswith("."):
        return False
    return not _RESERVED.fullmatch(name)


def _display_name(key: str) -> str:
    """Return an untrusted key for a message."""
    return key[:80].encode("unicode_escape").decode("ascii")
