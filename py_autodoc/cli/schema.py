"""``onnx-autodoc schema``."""

from __future__ import annotations

from importlib.resources import files

import click

from py_autodoc.cli import stdout


@click.command("schema")
@click.option("--comparison", is_flag=True, help="Print the schema of `compare --out-json` instead.")
def command(comparison: bool) -> None:
    """Print the JSON Schema (2020-12) of the report."""
    package, name = ("compare", "comparison") if comparison else ("report", "report")
    file = files(f"py_autodoc.{package}").joinpath(f"{name}.schema.json")
    stdout.text(file.read_text(encoding="utf-8"))
