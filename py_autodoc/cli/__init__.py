"""The command line: ``onnx-autodoc <command>``, one module per command."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

_READERS = frozenset({"analyze", "compare", "graph", "rule", "schema", "tags", "validate"})
"""Commands that read one model, print results and exit; others may run user code."""
_OBJECTS = 50_000


def main() -> None:
    """Entry point of the console script."""
    from py_autodoc.cli.supervisor import supervise, wanted

    if wanted(sys.argv[1:]) and (status := supervise(sys.argv[1:])) is not None:
        sys.exit(status)
    _run()


def child() -> None:
    """Run the command in an interpreter that a supervisor started."""
    from py_autodoc.cli.supervisor import connect

    connect()
    _run()


def _run() -> None:
    if _READERS.intersection(sys.argv[1:2]):
        _end_soon()
    from py_autodoc.cli.app import app

    try:
        with _temporary_folder(sys.argv[1:]):
            app()
    finally:
        # The process is about to exit, so the final collection of garbage cycles is skipped.
        gc.freeze()


def _temporary_folder(arguments: list[str]) -> contextlib.AbstractContextManager[None]:
    """Return the context of a command whose libraries write temporary files: none stays after a kill."""
    from py_autodoc.cli.supervisor import wanted

    if not wanted(arguments) and arguments[:1] != ["export"]:
        return contextlib.nullcontext()
    from py_autodoc.temporary import libraries_in_scratch

    return libraries_in_scratch()


def _end_soon() -> None:
    """Tune the process for about a second of work in which nearly all objects are kept.

    Garbage collection runs rarely, and numpy starts no threads for linear algebra, which is not used.
    Together this saves a sixth of the time for a small model.
    """
    gc.set_threshold(_OBJECTS, 20, 20)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
