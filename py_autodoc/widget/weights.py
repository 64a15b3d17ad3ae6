"""Values of one constant for the widget's viewer, asked for by message and read in the kernel.

A message ``{"type": "autodoc:weights", "id": …, "tensor": …}`` is answered with the same ``type`` and ``id``
and either ``value`` (``WeightValues``) or ``problem``. Interrupting the kernel ends a long reading.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from py_autodoc.errors import AutodocError, InputError
from py_autodoc.jobs.problems import problem_of
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.schema import Problem, Report, WeightValues
from py_autodoc.report.source import open_model, plain_source
from py_autodoc.report.weights import same_model, weight_values

TYPE = "autodoc:weights"
_MAX_ID = 200
State = Callable[[], tuple[Any, Analysis | None]]
"""(what the widget was made of, its analysis)."""


def answer_weights(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""

    def hear(_widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("type") == TYPE:
            widget.send(_answer(content, state))

    widget.on_msg(hear)


def constant_values(source: Any, analysis: Analysis | None, tensor: int) -> WeightValues:
    """The values of the constant with that id. Raises: InputError, also when the model changed."""
    if isinstance(source, Report):
        return source.weights(tensor)
    if analysis is None:
        raise InputError("model-not-at-hand", "The model is not at hand.", "Make the widget of the model.")
    given, name = plain_source(source)
    loaded = open_model(given, name)
    same_model(loaded, analysis.model.file.identity)
    return weight_values(loaded, analysis.model, given, tensor)


def _answer(content: dict[str, Any], state: State) -> dict[str, Any]:
    number, tensor = content.get("id"), content.get("tensor")
    answer: dict[str, Any] = {"type": TYPE, "id": number[:_MAX_ID] if isinstance(number, str) else ""}
    source, analysis = state()
    try:
        if isinstance(tensor, bool) or not isinstance(tensor, int):
            raise InputError("bad-request", "The message names no tensor.")
        answer["value"] = constant_values(source, analysis, tensor).to_dict()
    except AutodocError as error:
        path = os.path.abspath(source) if isinstance(source, (str, os.PathLike)) else None
        answer["problem"] = msgspec.to_builtins(problem_of(error, os.fsdecode(path) if path else None))
    except KeyboardInterrupt:
        answer["problem"] = msgspec.to_builtins(_INTERRUPTED)
    return answer


_INTERRUPTED = Problem(
    type="urn:onnx-autodoc:problem:interrupted",
    title="Interrupted",
    status=499,
    detail="The kernel was interrupted while it read the values.",
    code="interrupted",
    hint="Ask again.",
)
