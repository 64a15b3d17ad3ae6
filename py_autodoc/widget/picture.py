"""The picture a saved notebook keeps for readers that run no widgets."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from py_autodoc.errors import AutodocError, RequirementError
from py_autodoc.render.svg import BUDGET, svg_picture
from py_autodoc.report.schema import GraphPayload
from py_autodoc.widget.analysed_subject import AnalysedSubject

MAX_BYTES = 200_000
"""A notebook keeps one of these a widget."""
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PictureStyle:
    """Theme, heatmap and flow of a picture; ``numbers`` are those of a heatmap of the user's own."""

    theme: str
    overlay: str
    numbers: Mapping[str, Any] | None = None
    direction: str = "auto"
    device: Mapping[str, Any] | None = None
    """What was chosen in the viewer; None: what the analysis was asked about."""

    @classmethod
    def of(
        cls,
        theme: str,
        overlay: str | Mapping[str, Any] | None,
        device: object = None,
        direction: str = "auto",
    ) -> PictureStyle:
        """From the traits of a widget; ``auto`` is light where no page says otherwise."""
        shade = "dark" if theme == "dark" else "light"
        chosen = device if isinstance(device, Mapping) else None
        if overlay is None or isinstance(overlay, str):
            return cls(shade, overlay or "none", None, direction, chosen)
        return cls(shade, "user", overlay, direction, chosen)

    def drawn(self, payload: GraphPayload, **how: Any) -> str:
        """The picture as SVG; ``how`` and what is raised: as ``svg_picture``."""
        given = {"direction": self.direction, **how}
        return svg_picture(
            payload, theme=self.theme, overlay=self.overlay, numbers=self.numbers, device=self.device, **given
        )


def picture(subject: AnalysedSubject, look: PictureStyle) -> str | None:
    """The opening view as SVG that fits the width of a page, with fewer boxes where it would be too large.

    None where it cannot be drawn: without Node, or when even a few boxes take more than ``MAX_BYTES``.
    """
    budget = BUDGET
    while budget >= 5:
        try:
            svg = look.drawn(subject.payload, budget=budget)
        except RequirementError:
            return None
        except AutodocError:
            log.warning("No image for readers without widgets", exc_info=True)
            return None
        if len(svg.encode()) <= MAX_BYTES:
            return _fitting(svg)
        budget //= 2
    return None


def _fitting(svg: str) -> str:
    """Without the head of a file, and never wider than the page."""
    return svg.removeprefix(_HEAD).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
