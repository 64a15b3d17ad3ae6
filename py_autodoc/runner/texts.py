"""Read texts and their labels from a file: one per line, or one JSON object per line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from py_autodoc.bounded import TooMuch, parse_json
from py_autodoc.errors import InputError, PathError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.limits import TEXTS_FILE, Bounds
from py_autodoc.option_files import opened

ENDINGS = frozenset({".txt", ".jsonl"})
MAX_LINE = 1 << 20
"""Maximum characters of a line, about 200,000 words."""
MAX_TEXTS = 100_000
MAX_CHARACTERS = 1 << 25
"""Maximum characters of all texts, whose tokens take about a hundred bytes each."""
FIELD = "text"
PAIR = "text_pair"
"""Field of the optional second text of a sample."""
_LABELS = ("label", "labels")
_LINE = Bounds(values=10_000, depth=16)


@dataclass(frozen=True, slots=True)
class Text:
    """One sample."""

    text: str
    pair: str | None = None
    label: Any = None
    """Label in the file; None if it has none."""


def is_texts(data: Any) -> bool:
    """True for the path of a text file, by its extension."""
    if not isinstance(data, (str, os.PathLike)):
        return False
    return Path(data).suffix.lower() in ENDINGS and not os.path.isdir(data)


def read_texts(file: PathLike, field: str = FIELD, most: int | None = None) -> list[Text]:
    """Read the texts of a UTF-8 file.

    In a ``.txt`` each line is a text; empty lines are skipped. In a ``.jsonl`` each line is an object with
    ``field``, and optionally ``text_pair`` and ``label``.

    Args:
        file: the file.
        field: field of an object that contains the text.
        most: maximum number of texts; None uses 100,000.

    Raises:
        PathError: there is no such file, or it is not in UTF-8.
        InputError: a line is not such an object, or there is no text. The message names the line.
    """
    name = base_name(file)[:200]
    texts: list[Text] = []
    lines, characters = Path(file).suffix.lower() == ".jsonl", 0
    try:
        for number, line in _lines(file, name):
            if len(texts) == min(most or MAX_TEXTS, MAX_TEXTS):
                break
            characters += len(line)
            if characters > MAX_CHARACTERS:
                raise InputError(
                    "text-too-large",
                    f"{name}: the first {number:,} lines have more than {MAX_CHARACTERS:,} characters.",
                    "Use fewer with --samples.",
                )
            location = f"{name}, line {number}"
            texts.append(_object(line, location, field) if lines else Text(line))
    except (OSError, ValueError) as fault:
        raise PathError("path-unreadable", f"{name} cannot be read as text in UTF-8.") from fault
    if not texts:
        raise InputError("no-samples", f"{name} contains no text.")
    return texts


def _lines(file: PathLike, name: str) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines with their numbers."""
    with opened(file, TEXTS_FILE) as stream, TextIOWrapper(stream, encoding="utf-8-sig") as text:
        number = 0
        while line := text.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise InputError(
                    "text-too-large",
                    f"{name}, line {number} has more than {MAX_LINE:,} characters.",
                    "Write one text per line.",
                )
            if line.strip():
                yield number, line.rstrip("\r\n")


def _object(line: str, location: str, field: str) -> Text:
    try:
        content = parse_json(line, _LINE)
    except TooMuch as fault:
        raise InputError("bad-text", f"{location} {fault}.") from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError(
            "bad-text", f"{location} is not a JSON object.", f'Write {{"{FIELD}": "…", "label": 1}}.'
        )
    pair = content.get(PAIR)
    if not isinstance(content.get(field), str):
        names = ", ".join(str(key)[:40] for key in list(content)[:10] if isinstance(content[key], str))
        raise InputError(
            "bad-text",
            f"{location} has no text in {field[:80]!r}.",
            f"Choose another field with --text-field: {names}." if names else "Write one text per line.",
        )
    if pair is not None and not isinstance(pair, str):
        raise InputError("bad-text", f"{location} has no text in {PAIR!r}.")
    label = next((content[key] for key in _LABELS if key in content), None)
    for value in (content[field], pair or ""):
        # An escape can encode an unpaired surrogate, which tokenizers do not accept.
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            raise InputError(
                "bad-text", f"{location} contains an unpaired surrogate, which is not a character."
            )
    return Text(content[field], pair, label)
