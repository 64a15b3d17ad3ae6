"""Values of one constant for the widget's viewer, asked for by message and read in the kernel.

The message names a ``tensor``; the value is a ``WeightValues``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.errors import InputError
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.schema import Report, WeightValues
from py_autodoc.report.source import open_model, plain_source
from py_autodoc.report.weights import same_model, weight_values
from py_autodoc.widget.answers import State, answer

TYPE = "autodoc:weights"


def answer_weights(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""
    answer(widget, TYPE, state, _values, doing="read the values")


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


def _values(content: Mapping[str, Any], source: Any, analysis: Analysis | None) -> WeightValues:
    tensor = content.get("tensor")
    if isinstance(tensor, bool) or not isinstance(tensor, int):
        raise InputError("bad-request", "The message names no tensor.")
    return constant_values(source, analysis, tensor)
