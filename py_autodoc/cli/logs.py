"""Logging of the command line: to stderr, at the level asked for, whoever logs.

Libraries log and warn too, and quote names from a model: their lines pass the same handler.
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
"""Name of the option in a command."""
LEVELS = ("debug", "info", "warning", "error")
DEFAULT = "warning"


class _Handler(logging.Handler):
    """Each line on its own, printable, on the stderr of now."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        try:
            for line in self.format(record).splitlines():
                stderr.note(line)
        except Exception:  # noqa: BLE001 - a record that cannot be formatted must not end the command
            self.handleError(record)


@contextmanager
def one_handler() -> Iterator[None]:
    """While a command runs, all loggers and warnings have one handler; libraries log from warnings on."""
    root, own = logging.getLogger(), logging.getLogger("py_autodoc")
    before = root.level, own.level, warnings.showwarning
    handler = _Handler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    warnings.showwarning = _warned
    set_level(DEFAULT)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        own.setLevel(before[1])
        warnings.showwarning = before[2]


def set_level(level: str) -> None:
    """Log from ``level`` on."""
    number = logging.getLevelName(level.upper())
    logging.getLogger("py_autodoc").setLevel(number)
    logging.getLogger().setLevel(max(number, logging.WARNING))


def level_option() -> click.Option:
    """``--log-level`` for a command that does not look at it."""

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
        help="How much to log on stderr; debug shows tracebacks.",
    )


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What is warned of, without the place in a library's source."""
    logging.getLogger("warnings").warning("%s: %s", category.__name__, message)
