"""The options ``--time-limit`` and ``--memory-limit`` of commands that run models."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

import click

from py_autodoc import free_memory
from py_autodoc.cli import supervisor
from py_autodoc.cli.axes import byte_size
from py_autodoc.errors import OptionError

F = TypeVar("F", bound=Callable[..., Any])
NONE = "none"
LEAST = 500 * 10**6
"""Smallest memory limit: NumPy, ONNX and ONNX Runtime with their threads must be loaded."""
_TIME = click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=supervisor.TIME_LIMIT_S,
    show_default=True,
    help="Stop after this time; 0 for no limit.",
)
_MEMORY = click.option(
    "--memory-limit",
    metavar="SIZE|none",
    help="Memory that the run may take, such as 8GB; none also runs models that seem to need more than there "
    "is (default: what is free).",
)


def run_limits(command: F) -> F:
    """Add both options to a command, which then runs within these limits.

    The deadline is held by the process that started this one (``supervisor``), and the memory by the kernel;
    a command that is called in another way, as in a test, checks only what it estimates.
    """

    @functools.wraps(command)
    def limited(*args: Any, time_limit: float, memory_limit: str | None, **options: Any) -> Any:
        most = _memory(memory_limit)
        supervisor.set_deadline(time_limit)
        with ExitStack() as stack:
            if memory_limit is not None:
                stack.enter_context(free_memory.allowing(most))
            elif supervisor.supervised():
                most = free_memory.available_bytes()
            if most is not None and supervisor.supervised():
                from py_autodoc.process_limits import limit_run

                limit_run(most)
            try:
                return command(*args, **options)
            except MemoryError as fault:
                raise free_memory.exhausted("This run") from fault

    decorated: Any = limited
    for option in (_MEMORY, _TIME):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _memory(text: str | None) -> int | None:
    """Return the bytes; None for no limit."""
    if text is None or text.strip().lower() == NONE:
        return None
    size = byte_size(text, "--memory-limit")
    if size is None or size < LEAST:
        raise OptionError(
            "bad-amount",
            f"--memory-limit: {text[:40]} is less than the libraries alone take.",
            f"Pass at least {LEAST // 10**6}MB, or none.",
        )
    return size
