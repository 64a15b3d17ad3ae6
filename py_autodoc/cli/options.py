"""Options that several commands take, with one wording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def sizes(says: str) -> Callable[[F], F]:
    """What free dimensions are: ``--bind``, ``--input-shape``, ``--batch-size``, ``--assume``.

    ``says`` is what tells of assumed sizes, as ``report``.
    """
    return _all(
        click.option(
            "--bind",
            metavar="NAME=N",
            multiple=True,
            help="Give a symbolic dimension its size; '*=N' for every one that is still free. Repeatable.",
        ),
        click.option(
            "--input-shape",
            metavar="NAME=1x3x224x224",
            multiple=True,
            help="Give an input its whole shape. Repeatable.",
        ),
        click.option(
            "--batch-size", metavar="N", type=click.IntRange(min=1), help="Size of the batch dimension."
        ),
        click.option(
            "--assume",
            is_flag=True,
            help=f"Give dimensions that are still free a usual size (the {says} says which).",
        ),
    )


def talk(command: F) -> F:
    """What is said on stderr: ``--progress``, ``--log-level``."""
    both: Callable[[F], F] = _all(
        click.option(
            "--progress/--no-progress",
            default=None,
            help="Show progress on stderr (default: on a terminal).",
        ),
        click.option(
            "--log-level",
            type=click.Choice(["debug", "info", "warning", "error"], case_sensitive=False),
            default="warning",
            show_default=True,
            help="How much to log on stderr; debug shows tracebacks.",
        ),
    )
    return both(command)
