"""Logging of the command line: to stderr, at the requested level.

Libraries also log and warn, and may quote names from a model, so their output uses the same handler.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from py_autodoc.cli import stderr

LEVEL = "log_level"
"""Parameter name of the option."""
LEVELS = ("debug", "info", "warning", "error")
DEFAULT = "warning"


class _Handler(logging.Handler):
    """Writes each record as one sanitised line to the current stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        try:
            # A name in the message may have line ends, so only a traceback has further lines.
            stderr.note(f"{record.levelname} {record.name}: {record.getMessage()}")
            if record.exc_info and self.formatter is not None:
                trace(self.formatter.formatException(record.exc_info))
        except Exception:  # noqa: BLE001 - a record that cannot be formatted must not end the command
            self.handleError(record)


@contextmanager
def one_handler() -> Iterator[None]:
    """Route all loggers and warnings to one handler while a command runs; libraries log from warnings on."""
    root, package = logging.getLogger(), logging.getLogger("py_autodoc")
    before = root.level, package.level, warnings.showwarning
    handler = _Handler()
    handler.setFormatter(logging.Formatter())
    root.addHandler(handler)
    warnings.showwarning = _warned
    set_level(DEFAULT)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        package.setLevel(before[1])
        warnings.showwarning = before[2]


def trace(text: str) -> None:
    """Print a traceback, indented: the message of an exception may have line ends too."""
    for line in text.splitlines():
        stderr.note(f"  {line}")


def set_level(level: str) -> None:
    """Set the log level."""
    number = logging.getLevelName(level.upper())
    logging.getLogger("py_autodoc").setLevel(number)
    logging.getLogger().setLevel(max(number, logging.WARNING))


def level_option() -> click.Option:
    """Return the option ``--log-level`` for a command that does not define it."""

    def chosen(_context: click.Context, _parameter: click.Parameter, value: str) -> None:
        set_level(value)

    return click.Option(
        ["--log-level"],
        type=click.Choice(LEVELS, case_sensitive=False),
        default=DEFAULT,
        show_default=True,
        expose_value=False,
        callback=chosen,
        is_eager=True,
        help="How much to log on stderr: info shows phases; debug also nodes and tracebacks.",
    )


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a warning without its source location."""
    logging.getLogger("warnings").warning("%s: %s", category.__name__, message)
