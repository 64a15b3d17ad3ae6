"""Text in images."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task

_TALLEST = 64
"""Maximum rows of an image of one text line."""
_MORE = 3
"""Maximum scores besides the characters listed in the file: a blank, a space."""
_CHARACTERS = 11
"""Minimum number of characters: digits and a blank."""


def _alphabet(case: IdentityCase, end: OutputEnd) -> bool:
    """True if the file lists as many characters as there are scores, except for a blank and a space."""
    characters = case.model.metadata.get("character", "").split("\n")
    scores = end.width or 0
    fits = scores >= _CHARACTERS and 0 <= scores - len(characters) <= _MORE
    return fits and end.rank == 3 and len(case.ends) == 1


@task("table-recognition", "table recognition")
def tables(case: IdentityCase) -> RuleReading | None:
    """Match the tags of a table's structure, generated from an image."""
    characters = case.model.metadata.get("character", "")
    if case.image is None or "<td" not in characters or "<tr>" not in characters:
        return None
    return RuleReading(SURE, ("image input, table tags in the metadata",), "tags and boxes")


@task("text-recognition", "text recognition", ("text-recognition", "ocr", "scene-text-recognition"), ())
def recognition(case: IdentityCase) -> RuleReading | None:
    """Match rows of character scores along the image of a text line (CTC, Graves et al., 2006)."""
    image, end = case.image, case.first
    if image is None or case.only != "image" or end is None or len(case.ends) > 2:
        return None
    if _alphabet(case, end):
        return RuleReading(SURE, ("image input, list of characters in the metadata",), "character scores")
    if end.rank != 3 or (end.width or 0) < _CHARACTERS or end.kind not in ("linear", "conv"):
        return None
    rows = image.size[0] if image.size else None
    columns = image.size[1] if len(image.size) > 1 else None
    low = isinstance(rows, int) and rows <= _TALLEST
    long = isinstance(rows, int) and (not isinstance(columns, int) or columns > 1.5 * rows)
    if not low or not (long or end.activation == "Softmax"):
        return None
    evidence = f"input image of {rows} rows, {end.width:,} scores per position along it: characters of a line"
    return RuleReading(SURE if image.sure and long else PROBABLE, (evidence,), "character scores")
