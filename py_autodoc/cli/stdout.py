"""Results of a command on stdout: lines, tables, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from py_autodoc.render.output_target import log_to_stdout, to_stdout
from py_autodoc.render.runner_log import inert
from py_autodoc.render.terminal_text import printable


def text(result: str) -> None:
    """Write text unchanged. Raises: OutputError."""
    to_stdout(result)


def json_text(result: str) -> None:
    """Write JSON text. Raises: OutputError."""
    to_stdout(result, json=True)


def lines(result: Iterable[str]) -> None:
    """Write lines that may quote a model: nothing in them steers a terminal or a CI runner.

    Raises: OutputError.
    """
    log_to_stdout("".join(f"{inert(printable(line))}\n" for line in result))


def commands(result: Iterable[str]) -> None:
    """Write lines that are commands to a CI runner; what they quote is escaped. Raises: OutputError."""
    log_to_stdout("".join(f"{printable(line)}\n" for line in result))


def as_json(value: object, indent: int | None = 2) -> None:
    """Write one JSON document. Raises: OutputError."""
    to_stdout(json.dumps(value, indent=indent, ensure_ascii=False) + "\n", json=True)
