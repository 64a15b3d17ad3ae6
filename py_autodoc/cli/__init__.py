"""The command line: ``onnx-autodoc <command>``, one module a command."""

from __future__ import annotations

import gc
import os
import sys

_READERS = frozenset({"analyze", "compare", "graph", "rule", "schema", "tags", "validate"})
"""Commands that read one model, answer and end; others may run code of the user."""
_OBJECTS = 50_000


def main() -> None:
    """Entry point of the console script."""
    if _READERS.intersection(sys.argv[1:2]):
        _end_soon()
    from py_autodoc.cli.app import app

    try:
        app()
    finally:
        # The process ends: what is left goes with it, and nobody needs to look for cycles in it.
        gc.freeze()


def _end_soon() -> None:
    """Prepares for a second of work in which nearly everything made is kept.

    The garbage collector looks for cycles seldom, and numpy starts no threads for linear algebra, of
    which there is none here. Together a sixth of the time that a small model takes.
    """
    gc.set_threshold(_OBJECTS, 20, 20)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
