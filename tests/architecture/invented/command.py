"""``onnx-autodoc invented``."""

import click

from py_autodoc.cli import stdout


@click.command("invented")
def command() -> None:
    """Say one line."""
    stdout.text("invented here\n")
