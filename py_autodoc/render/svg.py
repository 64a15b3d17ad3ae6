"""The graph as a standalone SVG file, laid out and drawn by the viewer's own code.

No browser is needed; see ``render.engine`` for what runs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from py_autodoc import metrics
from py_autodoc.errors import AnalysisError, LimitError
from py_autodoc.render import engine
from py_autodoc.report.schema import ComparisonColumns, GraphPayload

OVERLAYS = ("auto", "none", *metrics.ids("heatmap"))
"""Heatmaps of a picture; ``auto`` is MACs where known, else parameters; ``latency`` needs a device."""
THEMES = ("light", "dark")
DIRECTIONS = ("auto", "right", "down", "wrapped")
"""How a picture is set; ``wrapped`` is rows like text, ``auto`` one row or several, whichever shows more."""
ASPECT = 1.6
"""Width by height that a picture in rows aims at."""
BUDGET = 40
"""Boxes of a picture whose depth nobody gave, as in a new view."""
MAX_BOXES = 4000
_TOO_MANY = re.compile(r"TooManyBoxes: .*?(\d+)")


def svg_picture(
    payload: GraphPayload,
    *,
    theme: str = "light",
    overlay: str = "auto",
    depth: int | None = None,
    budget: int = BUDGET,
    direction: str = "auto",
    aspect: float = ASPECT,
    numbers: Mapping[str, Any] | None = None,
    device: Mapping[str, Any] | None = None,
    merged: tuple[GraphPayload, ComparisonColumns] | None = None,
) -> str:
    """The graph of a payload as the text of an SVG file.

    ``depth`` is how many levels of modules are open; None opens what a new view opens, about ``budget``
    boxes. ``direction`` is one of ``DIRECTIONS``; rows make the picture about ``aspect`` times as wide as it
    is high. ``numbers`` belong to the overlay ``user``: a label, a unit and the values by node id. ``device``
    (its id as ``device``, ``precision``) is what latencies are of; None is what the analysis was asked about.
    ``merged`` is another model and how it corresponds: both are drawn as one graph, painted by what differs.

    Raises:
        RequirementError: there is neither QuickJS nor a new Node, or the viewer was not built.
        LimitError: ``depth`` opens more than ``MAX_BOXES`` boxes, or the picture needs too much.
        AnalysisError: the picture could not be drawn.
    """
    options: dict[str, Any] = {"dark": theme == "dark", "overlay": overlay, "depth": depth}
    options |= {
        "budget": budget,
        "most": MAX_BOXES,
        "direction": direction,
        "aspect": aspect,
        "user": numbers,
        "device": device,
    }
    request: dict[str, Any] = {"payload": _drawn(payload), "options": options}
    if merged is not None:
        request |= {"other": _drawn(merged[0]), "comparison": merged[1]}
    try:
        return engine.draw(msgspec.json.encode(request))
    except engine.PictureFault as fault:
        raise _failure(str(fault)) from None


def _drawn(payload: GraphPayload) -> GraphPayload:
    return msgspec.structs.replace(payload, expressions=None, timeline=None)


def _failure(message: str) -> LimitError | AnalysisError:
    found = _TOO_MANY.search(message)
    if found:
        boxes = int(found[1])
        return LimitError(
            "svg-boxes", boxes, MAX_BOXES,
            f"The image would have {boxes:,} boxes; {MAX_BOXES:,} is the most.", "Use a smaller --depth.",
        )  # fmt: skip
    return AnalysisError("svg-failed", f"The image could not be drawn: {message[:200]}.", "")
