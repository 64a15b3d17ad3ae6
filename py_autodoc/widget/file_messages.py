"""Create files of the widget's model in the kernel for saving from the viewer.

The message has a ``format`` and a ``metric``; the answer is a ``SavedFile``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.render.files import saved_file
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import SavedFile
from py_autodoc.widget.message_handlers import State, on_message, text

TYPE = "autodoc:file"


def answer_files(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    on_message(widget, TYPE, state, _file, doing="created the file")


def _file(content: Mapping[str, Any], _source: Any, analysis: Analysis) -> SavedFile:
    return saved_file(analysis, text(content, "format"), text(content, "metric"))
