"""Two aligned models as one image, drawn by the viewer's code."""

from __future__ import annotations

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.columns import comparison_columns
from py_autodoc.render.svg import ASPECT, svg_picture
from py_autodoc.report.viewer_payload.build_payload import build_payload

CAPTION = (
    "Both models as one graph. Dashes and −: removed. +: added. ≠: changed. ◐: other precision. ⊕: fused."
)


def picture(alignment: Alignment, *, direction: str = "auto", aspect: float = ASPECT) -> str:
    """Return an SVG of the left model plus everything only in the right one.

    ``direction`` and ``aspect`` are as in ``svg_picture``, which also documents the errors raised.
    """
    left, right = (build_payload(side.analysis) for side in alignment.sides)
    return svg_picture(
        left, direction=direction, aspect=aspect, merged=(right, comparison_columns(alignment))
    )
