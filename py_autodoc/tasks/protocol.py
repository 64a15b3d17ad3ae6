"""What the server and the process of a task exchange: one order, then frames (``jobs.ipc_frames``).

The child sends ``PROGRESS`` frames, at most ``LOG`` frames, and ends with either a ``PROBLEM`` or the encoded
``TaskResult`` in ``CHUNK`` frames and an ``END``. The result stays encoded: the server neither decodes nor
joins it.
"""

from __future__ import annotations

import msgspec

from py_autodoc.errors import LimitError
from py_autodoc.report.schema import TaskRequest
from py_autodoc.tasks.kinds import TaskFiles

MAX_RESULT_BYTES = 1 << 26
"""Maximum bytes of the result of a task as JSON, which a browser must hold."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Sent by the server: the request, and the files it refers to."""

    request: TaskRequest
    files: TaskFiles
    memory_bytes: int
    allow_hidden: bool = True
    """Whether weights may be in hidden files."""
    root: str = ""
    """Folder that outputs must not leave through links; empty: any."""
    folder: str = ""
    """Folder for temporary files, which the server removes; empty: that of the system."""


def result_too_large(size: int) -> LimitError:
    """Return the error for a result of ``size`` bytes."""
    return LimitError(
        "task_result_bytes",
        size,
        MAX_RESULT_BYTES,
        f"The result of the task has {size:,} bytes; the maximum is {MAX_RESULT_BYTES:,}.",
        "Use the command line, which writes results of any size.",
    )
