"""Read the values of a constant in the kernel for the widget's viewer.

The message has a ``tensor``; the answer is a ``WeightValues``, or a ``WeightFile`` if ``format`` is ``npy``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.errors import InputError
from py_autodoc.graph.ir.model import Model
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.weight_arrays import report_weight_file, weight_file
from py_autodoc.report.document.weights import same_model, weight_values
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.model_source import normalise_source, open_model
from py_autodoc.report.schema import WeightFile, WeightValues
from py_autodoc.report.schema.details import NPY
from py_autodoc.widget.message_handlers import State, on_message

TYPE = "autodoc:weights"


def answer_weights(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    on_message(widget, TYPE, state, _values, doing="read the values")


def constant_values(source: Any, analysis: Analysis, tensor: int) -> WeightValues:
    """Return the values of the constant with that id. Raises: InputError, also if the model changed."""
    if isinstance(source, Report):
        return source.weights(tensor)
    return weight_values(*_at_hand(source, analysis), tensor)


def constant_file(source: Any, analysis: Analysis, tensor: int) -> WeightFile:
    """Return the constant with that id as a file. Raises: InputError, also if the model changed."""
    if isinstance(source, Report):
        return report_weight_file(source, tensor)
    return weight_file(*_at_hand(source, analysis), tensor)


def _at_hand(source: Any, analysis: Analysis) -> tuple[LoadedModel, Model, str | bytes]:
    """Return the model, opened again, and its source. Raises: InputError."""
    normalised, name = normalise_source(source)
    loaded = open_model(normalised, name)
    same_model(loaded, analysis.model.file.identity)
    return loaded, analysis.model, normalised


def _values(content: Mapping[str, Any], source: Any, analysis: Analysis) -> WeightValues | WeightFile:
    tensor = content.get("tensor")
    if isinstance(tensor, bool) or not isinstance(tensor, int):
        raise InputError("bad-request", "The message names no tensor.")
    form = content.get("format", "")
    if form not in ("", NPY):
        raise InputError("bad-request", f"{str(form)[:40]!r} is not a format of weights.", f"Choose {NPY}.")
    return (constant_file if form else constant_values)(source, analysis, tensor)
