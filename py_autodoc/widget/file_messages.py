"""Files of the widget's model that its viewer offers to save, made in the kernel.

The message names a ``format`` and a ``metric``; the value is a ``SavedFile``.
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
    """Answer the viewers of ``widget`` from now on."""
    on_message(widget, TYPE, state, _file, doing="made the file")


def _file(content: Mapping[str, Any], _source: Any, analysis: Analysis) -> SavedFile:
    return saved_file(analysis, text(content, "format"), text(content, "metric"))
