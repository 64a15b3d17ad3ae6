"""Files of the widget's model that its viewer offers to save, made in the kernel.

A message ``{"type": "autodoc:file", "id": …, "format": …, "metric": …}`` is answered with the same
``type`` and ``id`` and either ``value`` (``SavedFile``) or ``problem``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from py_autodoc.errors import AutodocError, InputError
from py_autodoc.jobs.problems import problem_of
from py_autodoc.render.files import saved_file
from py_autodoc.report.analysis import Analysis

TYPE = "autodoc:file"
_MAX_TEXT = 200
State = Callable[[], tuple[Any, Analysis | None]]
"""(what the widget was made of, its analysis)."""


def answer_files(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""

    def hear(_widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("type") == TYPE:
            widget.send(_answer(content, state()[1]))

    widget.on_msg(hear)


def _answer(content: dict[str, Any], analysis: Analysis | None) -> dict[str, Any]:
    answer: dict[str, Any] = {"type": TYPE, "id": _text(content, "id")}
    try:
        if analysis is None:
            hint = "Make the widget of the model's file."
            raise InputError("model-not-at-hand", "The model is not at hand.", hint)
        found = saved_file(analysis, _text(content, "format"), _text(content, "metric"))
        answer["value"] = msgspec.to_builtins(found)
    except AutodocError as error:
        answer["problem"] = msgspec.to_builtins(problem_of(error, None))
    return answer


def _text(content: dict[str, Any], key: str) -> str:
    value = content.get(key)
    return value[:_MAX_TEXT] if isinstance(value, str) else ""
