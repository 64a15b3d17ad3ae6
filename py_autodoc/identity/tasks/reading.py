"""Text in images."""

from __future__ import annotations

from py_autodoc.identity.case import Case
from py_autodoc.identity.model import PROBABLE, SURE, Reading
from py_autodoc.identity.registry import task

_TALLEST = 64
"""Rows of an image of one line of text, at most."""
_CHARACTERS = 11
"""Digits and a blank, at least."""


@task("text-recognition", "text recognition", ("text-recognition", "ocr", "scene-text-recognition"), ())
def recognition(case: Case) -> Reading | None:
    """A row of scores of characters along the image of one line (CTC, Graves et al., 2006)."""
    image, end = case.image, case.first
    alphabet = any(
        key in case.model.metadata for key in ("character", "characters", "dictionary", "alphabet")
    )
    if image is None or case.only != "image" or end is None or len(case.ends) > 2:
        return None
    if alphabet and end.rank == 3:
        return Reading(SURE, ("an image goes in, and the file lists characters",), "character scores")
    if end.rank != 3 or (end.width or 0) < _CHARACTERS or end.kind not in ("linear", "conv"):
        return None
    rows = image.size[0] if image.size else None
    columns = image.size[1] if len(image.size) > 1 else None
    low = isinstance(rows, int) and rows <= _TALLEST
    long = isinstance(rows, int) and (not isinstance(columns, int) or columns > 1.5 * rows)
    if not low or not (long or end.activation == "Softmax"):
        return None
    told = (
        f"an image of {rows} rows goes in, {end.width:,} scores for each of the places along it come out: "
        "characters of a line of text"
    )
    return Reading(SURE if image.sure and long else PROBABLE, (told,), "character scores")
