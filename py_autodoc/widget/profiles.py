"""Attribute the times of a dropped profile to nodes in the kernel.

The message has ``files``, one or two objects with ``name`` and ``text``; the answer is a ``TaskResult``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.errors import InputError
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import TaskResult
from py_autodoc.tasks.kinds import profile_result
from py_autodoc.tasks.uploads import Uploads
from py_autodoc.widget.message_handlers import State, on_message

TYPE = "autodoc:profile"
MAX_FILES = 2


def answer_profiles(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    on_message(widget, TYPE, state, _times, doing="read the profile")


def _times(content: Mapping[str, Any], _source: Any, analysis: Analysis | None) -> TaskResult:
    if analysis is None:
        hint = "Create the widget from the model's file."
        raise InputError("model-not-at-hand", "The model is not available.", hint)
    listed = content.get("files")
    files = [one for one in listed if _is_file(one)] if isinstance(listed, list) else []
    if not 0 < len(files) <= MAX_FILES:
        raise InputError("bad-request", "The message has no profile.")
    kept = Uploads()
    try:
        numbers = [kept.add(one["name"], one["text"].encode("utf-8", "replace"))[0] for one in files]
        return profile_result(kept.take(numbers), analysis)
    finally:
        kept.close()


def _is_file(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("text"), str)
