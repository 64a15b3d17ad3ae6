"""What the command line says beside its data: always on stderr, always one line, always printable."""

from __future__ import annotations

import sys
from contextlib import suppress

import click

from py_autodoc.cli.streams import styled
from py_autodoc.render.terminal_text import printable


def error(message: str, hint: str = "") -> None:
    """``error: message`` and the way out."""
    note(f"error: {message} {hint}".rstrip())


def warning(message: str) -> None:
    """``warning: message``: the result stands, but not for all of the model."""
    note(f"warning: {message}")


def note(text: str) -> None:
    """One line."""
    write_raw(printable(text) + "\n")


def usage(fault: click.UsageError) -> None:
    """What is wrong with the command line, and where its help is."""
    help_at = f" Try '{fault.ctx.command_path} --help'." if fault.ctx is not None else ""
    error(fault.format_message(), help_at.strip())


def write_raw(text: str) -> None:
    """Text as it is. A stderr that nobody reads is no reason to fail."""
    stream = styled(sys.stderr)
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
