"""The command line: ``onnx-autodoc <command>``, one module a command."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script."""
    from py_autodoc.cli.app import app

    app()
