"""Plan text generation with the widget's model in the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.llm.serving import ServingGrid, packaged
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import Plans
from py_autodoc.widget.message_handlers import State, on_message, text

TYPE = "autodoc:serving"


def answer_serving(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    kept: list[tuple[Analysis, ServingGrid]] = []

    def make(content: Mapping[str, Any], _source: Any, analysis: Analysis) -> Plans:
        if not kept or kept[0][0] is not analysis:
            kept[:] = [(analysis, ServingGrid(analysis))]
        own = analysis.hardware
        device, precision, runtime = (text(content, key) for key in ("device", "precision", "runtime"))
        if own is not None and own.device.id == device and (precision, runtime) == (own.precision, ""):
            return kept[0][1].on(own)  # May be the user's own profile.
        return kept[0][1].on(packaged(device, precision, runtime))

    on_message(widget, TYPE, state, make, doing="planned text generation")
