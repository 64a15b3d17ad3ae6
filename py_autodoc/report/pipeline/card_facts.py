"""What the owner says about a model: the table ``[card]`` of a TOML file, and options that replace entries.

::

    [card]
    owner = "Vision team"
    intended-use = "Sorting parcels on a belt"
    limits = ["Not tested below 5 lux"]
    labels = ["parcel", "letter"]

    [[card.evaluation]]
    metric = "accuracy"
    value = 0.931
    dataset = "belt-2026, 4,000 images"
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.findings.thresholds import read_file
from py_autodoc.limits import CARD_FILE
from py_autodoc.option_files import shown_name
from py_autodoc.report.schema import CardFacts, Evaluation

CARD_TABLE = "card"
DEFAULT_FILE = "autodoc.toml"
"""Read from the current folder if it is there."""
MAX_TEXT = 4_000
"""Maximum characters of a text."""


def card_facts(
    file: str | None, given: Mapping[str, str], limits: Sequence[str] = (), evaluation: Sequence[str] = ()
) -> CardFacts | None:
    """Return the statements of a file (None: the default one, if it has any) and of options; None if none.

    ``given`` maps fields to texts, ``evaluation`` lists ``metric=value`` or ``metric@data=value``.

    Raises: PathError, OptionError.
    """
    found = _of_file(file)
    stated = {name: text for name, text in given.items() if text}
    if limits:
        stated["limits"] = list(limits)  # type: ignore[assignment]
    if evaluation:
        stated["evaluation"] = [_evaluation(text) for text in evaluation]  # type: ignore[assignment]
    if not stated:
        return found
    return msgspec.structs.replace(found or CardFacts(), **stated)


def _of_file(file: str | None) -> CardFacts | None:
    path = file or DEFAULT_FILE
    if file is None and not os.path.isfile(path):
        return None
    content = read_file(path, CARD_FILE)
    name = shown_name(path)
    table = content.get(CARD_TABLE)
    if table is None:
        if file is None:
            return None
        raise OptionError("bad-card", f"{name} has no table [card].", "Write [card] above its entries.")
    try:
        table = {str(key).replace("-", "_"): value for key, value in table.items()}
        _check_names(table, CardFacts, name)
        for entry in table.get("evaluation", ()):
            _check_names(entry, Evaluation, name)
        facts = msgspec.convert(table, CardFacts)
    except (msgspec.ValidationError, AttributeError, TypeError) as fault:
        raise OptionError("bad-card", f"{name}: [card]: {str(fault)[:200]}.", _hint()) from None
    return msgspec.structs.replace(facts, source=name)


def _check_names(table: Mapping[str, Any], of: type[msgspec.Struct], name: str) -> None:
    known = [field for field in of.__struct_fields__ if field != "source"]
    for key in table:
        if key not in known:
            raise OptionError("bad-card", f"{name}: [card] has no entry {key[:60]!r}.", _hint(known))
    for key, value in table.items():
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise OptionError("bad-card", f"{name}: {key} has more than {MAX_TEXT:,} characters.")


def _hint(known: Sequence[str] = ()) -> str:
    names = known or [field for field in CardFacts.__struct_fields__ if field != "source"]
    return f"Entries there: {', '.join(name.replace('_', '-') for name in names)}."


def _evaluation(text: str) -> Evaluation:
    """Parse ``accuracy=0.931`` or ``accuracy@belt-2026=0.931``. Raises: OptionError."""
    metric, equals, value = text.rpartition("=")
    metric, _, data = metric.partition("@")
    if not equals or not metric.strip() or not value.strip():
        raise OptionError(
            "bad-card", f"--evaluation {text[:60]!r} is not METRIC=VALUE.", "Write accuracy=0.93."
        )
    try:
        parsed: float | str = float(value)
    except ValueError:
        parsed = value.strip()
    return Evaluation(metric=metric.strip(), value=parsed, dataset=data.strip())
