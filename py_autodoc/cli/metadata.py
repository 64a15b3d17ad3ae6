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
    found = read_metadata(entries)
    others = {key: value for key, value in sorted(entries.items()) if not key.startswith(PREFIX)}
    for line in found.warnings:
        stderr.note(f"warning: {line}")
    if extract_processor is not None:
        for path in write_processor(found, extract_processor):
            stderr.note(f"{path.parent.name}/{path.name}  {path.stat().st_size:,} bytes")
        return
    files = _files(found)
    if as_json:
        stdout.as_json(_facts(found, files, others))
        return
    rows = _rows(found, files)
    rows += [
        (shorten(printable(key[:200]), _KEY), _short(one)) for key, one in list(others.items())[:_LISTED]
    ]
    width = max((len(key) for key, _ in rows), default=0)
    lines = [f"{key:<{width}}  {value}".rstrip() for key, value in rows]
    if len(others) > _LISTED:
        lines.append(f"and {len(others) - _LISTED:,} more entries")
    stdout.lines(lines)
    if not found.present:
        stderr.note("note: no metadata of a transformers model; `export` writes it.")


def _short(value: str) -> str:
    shown = metadata_text(value)
    if len(shown) <= _WIDTH:
        return shown
    return f"{shown[: _WIDTH - 1]}… ({len(value):,} characters)"


def _files(found: HfMetadata) -> list[dict[str, Any]]:
    """Return name and sizes of the files; None for damaged ones, which are reported."""
    rows: list[dict[str, Any]] = []
    for name in found.files:
        size: int | None = None
        try:
            size = len(found.files[name])
        except InputError as fault:
            stderr.note(f"warning: {fault.message}")
        rows.append({"name": name, "bytes": size, "characters": found.files.stored(name)})
    return rows


def _facts(found: HfMetadata, files: list[dict[str, Any]], others: dict[str, str]) -> dict[str, Any]:
    return {
        "schema": found.schema,
        "task": found.task,
        "task_source": found.task_source,
        "created": found.created,
        "exporter": dict(found.exporter),
        "config": found.config,
        "generation_config": found.generation_config,
        "processor_config": found.processor_config,
        "files": files,
        "warnings": list(found.warnings),
        "other": others,
    }


def _rows(found: HfMetadata, files: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not found.present:
        return []
    config = found.config or {}
    listed = config.get("architectures")
    names = [str(one) for one in listed] if isinstance(listed, list) else []
    source = f" ({found.task_source})" if found.task_source else ""
    rows = [
        ("schema", found.schema or "unknown"),
        ("task", f"{found.task or 'unknown'}{source}"),
        ("model", ", ".join([*names, *([str(config["model_type"])] if "model_type" in config else [])])),
        ("created", found.created or "unknown"),
        ("versions", ", ".join(f"{name} {one}" for name, one in found.exporter.items())),
        ("processor", ", ".join(found.processor_config or {}) or "none"),
    ]
    for one in files:
        size = "damaged" if one["bytes"] is None else f"{one['bytes']:,} bytes"
        rows.append(("", f"{one['name']}  {size}, {one['characters']:,} in the model"))
    return rows
