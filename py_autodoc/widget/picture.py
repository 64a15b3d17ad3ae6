"""The image in a saved notebook for readers without widgets."""

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
"""Maximum size; a notebook stores one image per widget."""
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PictureStyle:
    """Theme, heatmap and layout direction of an image; ``numbers`` are the values of a user's heatmap."""

    theme: str
    overlay: str
    numbers: Mapping[str, Any] | None = None
    direction: str = "auto"
    device: Mapping[str, Any] | None = None
    """Device chosen in the viewer; None uses that of the analysis."""

    @classmethod
    def of(
        cls,
        theme: str,
        overlay: str | Mapping[str, Any] | None,
        device: object = None,
        direction: str = "auto",
    ) -> PictureStyle:
        """Return the style for the traits of a widget; ``auto`` is light."""
        shade = "dark" if theme == "dark" else "light"
        chosen = device if isinstance(device, Mapping) else None
        if overlay is None or isinstance(overlay, str):
            return cls(shade, overlay or "none", None, direction, chosen)
        return cls(shade, "user", overlay, direction, chosen)

    def drawn(self, payload: GraphPayload, **how: Any) -> str:
        """Return the image as SVG. ``how`` and errors are those of ``svg_picture``."""
        options = {"direction": self.direction, **how}
        return svg_picture(
            payload,
            theme=self.theme,
            overlay=self.overlay,
            numbers=self.numbers,
            device=self.device,
            **options,
        )


def picture(subject: AnalysedSubject, style: PictureStyle) -> str | None:
    """Return the initial view as SVG that fits the page width, with fewer boxes if it would be too large.

    None if it cannot be drawn: without Node.js, or if even a few boxes exceed ``MAX_BYTES``.
    """
    budget = BUDGET
    while budget >= 5:
        try:
            svg = style.drawn(subject.payload, budget=budget)
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
    """Remove the XML header and limit the width to that of the page."""
    return svg.removeprefix(_HEAD).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
