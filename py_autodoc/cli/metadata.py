"""``onnx-autodoc metadata``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import stderr, stdout
from py_autodoc.errors import InputError
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.encode.json_values import metadata_text

if TYPE_CHECKING:
    from py_autodoc.hf.read import HfMetadata

_WIDTH, _KEY = 100, 40
_LISTED = 50


@click.command("metadata", short_help="Show the task, processor and configuration embedded in a model.")
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as JSON, except the contents of files."
)
@click.option(
    "--extract-processor",
    metavar="DIR",
    help="Write the tokenizer's and other processors' files, with config.json, into a new folder.",
)
def command(model: str, as_json: bool, extract_processor: str | None) -> None:
    """Show the metadata of MODEL; its graph and weights are not read.

    The folder of --extract-processor can be loaded with from_pretrained of transformers.
    """
    from py_autodoc.graph.protobuf.metadata import model_metadata
    from py_autodoc.hf.keys import PREFIX
    from py_autodoc.hf.read import read_metadata
    from py_autodoc.hf.unpack_processor import write_processor

    entries = model_metadata(model)
    metadata = read_metadata(entries)
    other_entries = {key: value for key, value in sorted(entries.items()) if not key.startswith(PREFIX)}
    for line in metadata.warnings:
        stderr.note(f"warning: {line}")
    if extract_processor is not None:
        for path in write_processor(metadata, extract_processor):
            stderr.note(f"{path.parent.name}/{path.name}  {path.stat().st_size:,} bytes")
        return
    files = _files(metadata)
    if as_json:
        stdout.as_json(_facts(metadata, files, other_entries))
        return
    rows = _rows(metadata, files)
    rows += [
        (f"  {shorten(printable(key[:200]), _KEY)}", _short(value))
        for key, value in list(other_entries.items())[:_LISTED]
    ]
    width = max((len(key) for key, _ in rows), default=0)
    lines = [f"{key:<{width}}  {value}".rstrip() for key, value in rows]
    if len(other_entries) > _LISTED:
        lines.append(f"and {len(other_entries) - _LISTED:,} more entries")
    stdout.lines(lines)
    if not metadata.present:
        stderr.note("note: no metadata of a transformers model; `export` writes it.")


def _short(value: str) -> str:
    text = metadata_text(value)
    if len(text) <= _WIDTH:
        return text
    return f"{text[: _WIDTH - 1]}… ({len(value):,} characters)"


def _files(metadata: HfMetadata) -> list[dict[str, Any]]:
    """Return name and sizes of the files; None for damaged ones, which are reported."""
    rows: list[dict[str, Any]] = []
    for name in metadata.files:
        size: int | None = None
        try:
            size = len(metadata.files[name])
        except InputError as fault:
            stderr.note(f"warning: {fault.message}")
        rows.append({"name": name, "bytes": size, "characters": metadata.files.stored(name)})
    return rows


def _facts(
    metadata: HfMetadata, files: list[dict[str, Any]], other_entries: dict[str, str]
) -> dict[str, Any]:
    return {
        "schema": metadata.schema,
        "task": metadata.task,
        "task_source": metadata.task_source,
        "created": metadata.created,
        "exporter": dict(metadata.exporter),
        "config": metadata.config,
        "generation_config": metadata.generation_config,
        "processor_config": metadata.processor_config,
        "files": files,
        "warnings": list(metadata.warnings),
        "other": other_entries,
    }


def _rows(metadata: HfMetadata, files: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not metadata.present:
        return []
    config = metadata.config or {}
    listed = config.get("architectures")
    names = [str(label) for label in listed] if isinstance(listed, list) else []
    source = f" ({metadata.task_source})" if metadata.task_source else ""
    rows = [
        ("schema", metadata.schema or "unknown"),
        ("task", f"{metadata.task or 'unknown'}{source}"),
        ("model", ", ".join([*names, *([str(config["model_type"])] if "model_type" in config else [])])),
        ("created", metadata.created or "unknown"),
        ("versions", ", ".join(f"{name} {version}" for name, version in metadata.exporter.items())),
        ("processor", ", ".join(metadata.processor_config or {}) or "none"),
    ]
    for file in files:
        size = "damaged" if file["bytes"] is None else f"{file['bytes']:,} bytes"
        rows.append(("", f"{file['name']}  {size}, {file['characters']:,} in the model"))
    return rows
