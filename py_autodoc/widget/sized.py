"""The widget's model under other sizes than it shows: analysed in the kernel when a viewer asks."""

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
    """Answer the viewers of ``widget`` from now on; ``subject`` analyses under sizes by dimension."""

    def make(content: Mapping[str, Any], _source: Any, _analysis: Analysis) -> GraphPayload:
        return subject(whole_sizes(content.get("dims"))).payload

    on_message(widget, TYPE, state, make, doing="analysed the model")
