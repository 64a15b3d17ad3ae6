"""Other batches for the widget's model, whose batch is fixed: followed in the kernel when a viewer asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.report.analysis import Analysis
from py_autodoc.report.batch_part import batch_answer
from py_autodoc.report.schema import BatchAnswer
from py_autodoc.widget.answers import State, answer

TYPE = "autodoc:batch"


def answer_batch(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""
    answer(widget, TYPE, state, _batch, doing="followed the batch")


def _batch(_content: Mapping[str, Any], _source: Any, analysis: Analysis) -> BatchAnswer:
    return batch_answer(analysis)
