"""``onnx-autodoc schema``."""

from __future__ import annotations

from importlib.resources import files

import click

from py_autodoc.cli import stdout


@click.command("schema")
def command() -> None:
    """Print the JSON Schema (2020-12) of the report."""
    stdout.text(files("py_autodoc.report").joinpath("report.schema.json").read_text(encoding="utf-8"))
