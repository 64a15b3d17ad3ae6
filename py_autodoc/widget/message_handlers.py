"""Answer messages of a widget's viewers in the kernel.

A message ``{"type": …, "id": …, …}`` is answered with the same ``type`` and ``id`` and either ``value`` or
``problem``. Interrupting the kernel aborts long operations, which is also a ``problem``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from py_autodoc.errors import AutodocError
from py_autodoc.jobs.problems import TYPE_PREFIX, problem_of
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.report_origin import origin_of
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import Problem

MAX_TEXT = 200
"""Maximum characters of a text in a message."""
State = Callable[[], tuple[Any, Analysis]]
"""(source of the widget, its analysis)."""
MessageHandler = Callable[[Mapping[str, Any], Any, Analysis], Any]
"""(message, source of the widget, its analysis) → the value. Raises: AutodocError."""


def on_message(widget: Any, kind: str, state: State, make: MessageHandler, *, doing: str) -> None:
    """Register the handler of one message type; ``doing`` ends "The kernel was interrupted while it"."""

    def handle(_widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("type") == kind:
            widget.send(
                {"type": kind, "id": text(content, "id"), **_reply_fields(content, *state(), make, doing)}
            )

    widget.on_msg(handle)


def text(content: Mapping[str, Any], key: str) -> str:
    """Return a text of a message, truncated; empty for any other type."""
    value = content.get(key)
    return value[:MAX_TEXT] if isinstance(value, str) else ""


def file_of(source: Any) -> str:
    """Return the path of the widget's source; empty if it is not a file."""
    if isinstance(source, Report):
        origin = origin_of(source)
        source = origin.path if origin is not None and origin.path else ""
    return os.path.abspath(os.fsdecode(source)) if isinstance(source, (str, os.PathLike)) and source else ""


def _reply_fields(
    content: Mapping[str, Any], source: Any, analysis: Analysis, make: MessageHandler, doing: str
) -> dict[str, Any]:
    try:
        return {"value": msgspec.to_builtins(make(content, source, analysis))}
    except AutodocError as error:
        problem = problem_of(error, file_of(source) or None)
    except KeyboardInterrupt:
        problem = Problem(
            type=f"{TYPE_PREFIX}interrupted",
            title="Interrupted",
            status=499,
            detail=f"The kernel was interrupted while it {doing}.",
            code="interrupted",
            hint="Ask again.",
        )
    return {"problem": msgspec.to_builtins(problem)}
