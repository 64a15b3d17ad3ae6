"""Other batches for the widget's model, whose batch is fixed: followed in the kernel when a viewer asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.report.builders.batch_section import batch_answer
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import BatchAnswer
from py_autodoc.widget.message_handlers import State, on_message

TYPE = "autodoc:batch"


def answer_batch(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""
    on_message(widget, TYPE, state, _batch, doing="followed the batch")


def _batch(_content: Mapping[str, Any], _source: Any, analysis: Analysis) -> BatchAnswer:
    return batch_answer(analysis)
