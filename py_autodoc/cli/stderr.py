"""Messages of the command line: always on stderr, on one line, and sanitised."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress

import click

from py_autodoc.cli.streams import underlying
from py_autodoc.render.runner_log import inert
from py_autodoc.render.terminal_text import printable


def error(message: str, hint: str = "") -> None:
    """Print ``error: message`` and a hint."""
    note(f"error: {message} {hint}".rstrip())


def warning(message: str) -> None:
    """Print ``warning: message``: the result is valid, but not for all of the model.

    Not with ``--log-level error``.
    """
    if logging.getLogger("py_autodoc").isEnabledFor(logging.WARNING):
        note(f"warning: {message}")


def note(text: str) -> None:
    """Print one line that may quote a model."""
    write_raw(inert(printable(text)) + "\n")


def command(text: str) -> None:
    """Print one line that is a command to a CI runner; what it quotes is escaped."""
    write_raw(printable(text) + "\n")


def usage(fault: click.UsageError) -> None:
    """Print the usage error and how to get help."""
    help_at = f" Try '{fault.ctx.command_path} --help'." if fault.ctx is not None else ""
    error(fault.format_message(), help_at.strip())


def write_raw(text: str) -> None:
    """Write text unchanged. A closed stderr is not an error."""
    stream = underlying(sys.stderr)
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
