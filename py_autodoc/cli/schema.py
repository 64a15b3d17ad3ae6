"""``onnx-autodoc schema``."""

from __future__ import annotations

from importlib.resources import files

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema (2020-12) of the report."""
    click.echo(
        files("py_autodoc.report").joinpath("report.schema.json").read_text(encoding="utf-8"), nl=False
    )
