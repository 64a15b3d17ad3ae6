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
"""Heatmaps of an image; ``auto`` is MACs if known, else parameters; ``latency`` needs a device."""
THEMES = ("light", "dark")
DIRECTIONS = ("auto", "right", "down", "wrapped")
"""Layout directions; ``wrapped`` breaks into rows, ``auto`` uses one row or several, whichever shows more."""
ASPECT = 1.6
"""Target aspect ratio of an image in rows."""
BUDGET = 40
"""Approximate number of boxes of an image without a given depth, as in the initial view."""
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
    """Return the graph of a payload as SVG.

    ``depth`` is the number of expanded levels of modules; None expands like the initial view, to about
    ``budget`` boxes. ``direction`` is one of ``DIRECTIONS``; rows give an aspect ratio of about ``aspect``.
    ``numbers`` are the data of the overlay ``user``: a label, a unit and values by node id. ``device``
    (``device``: its id, ``precision``) is used for latencies; None: the device of the analysis. ``merged`` is
    another model and its alignment: both are drawn as one graph, coloured by difference.

    Raises:
        RequirementError: neither QuickJS nor a recent Node.js is available, or the viewer was not built.
        LimitError: ``depth`` gives more than ``MAX_BOXES`` boxes, or drawing exceeds a resource limit.
        AnalysisError: drawing failed.
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
    request: dict[str, Any] = {"payload": _drawn_columns(payload), "options": options}
    if merged is not None:
        request |= {"other": _drawn_columns(merged[0]), "comparison": merged[1]}
    try:
        return engine.draw(msgspec.json.encode(request))
    except engine.PictureFault as fault:
        raise _failure(str(fault)) from None


def _drawn_columns(payload: GraphPayload) -> GraphPayload:
    return msgspec.structs.replace(payload, expressions=None, timeline=None)


def _failure(message: str) -> LimitError | AnalysisError:
    match = _TOO_MANY.search(message)
    if match:
        boxes = int(match[1])
        return LimitError(
            "svg-boxes",
            boxes,
            MAX_BOXES,
            f"The image would have {boxes:,} boxes; the limit is {MAX_BOXES:,}.",
            "Use a smaller --depth.",
        )
    return AnalysisError("svg-failed", f"The image could not be drawn: {message[:200]}.", "")
