"""The picture a saved notebook keeps for readers that run no widgets."""

from __future__ import annotations

import logging

from py_autodoc.errors import AutodocError, RequirementError
from py_autodoc.render.svg import BUDGET, svg_picture
from py_autodoc.widget.subject import Subject

MAX_BYTES = 200_000
"""A notebook keeps one of these a widget."""
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
log = logging.getLogger(__name__)


def picture(subject: Subject, theme: str, overlay: str) -> str | None:
    """The opening view as SVG that fits the width of a page, with fewer boxes where it would be too large.

    None where it cannot be drawn: without Node, or when even a few boxes take more than ``MAX_BYTES``.
    """
    budget = BUDGET
    while budget >= 5:
        try:
            svg = svg_picture(subject.payload, theme=theme, overlay=overlay, budget=budget)
        except RequirementError:
            return None
        except AutodocError:
            log.warning("No picture for readers without widgets", exc_info=True)
            return None
        if len(svg.encode()) <= MAX_BYTES:
            return _fitting(svg)
        budget //= 2
    return None


def _fitting(svg: str) -> str:
    """Without the head of a file, and never wider than the page."""
    return svg.removeprefix(_HEAD).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
