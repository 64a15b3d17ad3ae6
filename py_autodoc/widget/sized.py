"""Analyse the widget's model with other dimensions in the kernel when a viewer asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import GraphPayload
from py_autodoc.widget.analysed_subject import AnalysedSubject
from py_autodoc.widget.message_handlers import State, on_message
from py_autodoc.widget.trait_values import whole_sizes

TYPE = "autodoc:sized"


def answer_sized(widget: Any, state: State, subject: Callable[[Mapping[str, int]], AnalysedSubject]) -> None:
    """Register the message handler; ``subject`` analyses the model with dimensions by name."""

    def make(content: Mapping[str, Any], _source: Any, _analysis: Analysis) -> GraphPayload:
        return subject(whole_sizes(content.get("dims"))).payload

    on_message(widget, TYPE, state, make, doing="analysed the model")
