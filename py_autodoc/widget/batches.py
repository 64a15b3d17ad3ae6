"""Trace the fixed batch of the widget's model in the kernel, to offer other batch sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.report.builders.batch_section import batch_answer
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import BatchAnswer
from py_autodoc.widget.message_handlers import State, on_message

TYPE = "autodoc:batch"


def answer_batch(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    on_message(widget, TYPE, state, _batch, doing="followed the batch")


def _batch(_content: Mapping[str, Any], _source: Any, analysis: Analysis) -> BatchAnswer:
    return batch_answer(analysis)
