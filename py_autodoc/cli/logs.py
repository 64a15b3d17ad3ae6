"""Logging of the command line: to stderr, at the level asked for."""

from __future__ import annotations

import logging

from py_autodoc.render.text import printable


class _Printable(logging.Formatter):
    """Log lines may quote names from a model."""

    def format(self, record: logging.LogRecord) -> str:
        """The record, line by line printable."""
        return "\n".join(printable(line) for line in super().format(record).splitlines())


def set_level(level: str) -> None:
    """Log ``py_autodoc`` on stderr from ``level`` on."""
    logger = logging.getLogger("py_autodoc")
    logger.setLevel(level.upper())
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Printable("%(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
