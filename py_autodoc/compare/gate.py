"""Conditions on a comparison: differences that a pipeline does not accept."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.compare.align import Alignment, AlignmentVerdict
from py_autodoc.compare.changes import NAMES, Change
from py_autodoc.compare.file_facts import PRODUCER
from py_autodoc.compare.measures import MEASURES, Number, metric_values, percent, relative
from py_autodoc.errors import OptionError
from py_autodoc.similar_names import similar_names

_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_FORM = re.compile(
    r"\s*(?P<name>[a-z_]+)\s*(?P<than>>=|<=|>|<)\s*(?P<sign>[+-]?)"
    r"(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?P<unit>%|[kmgt]?)b?\s*",
    re.IGNORECASE,
)
_KINDS = {
    NAMES[change]: change for change in Change if change not in (Change.NAME, Change.ORDER, Change.FILE)
}
_NUMBERS = tuple(measure.id for measure in MEASURES)
WORDS = ("architecture", "interface", "file", "added", "removed", *_KINDS)
"""Conditions without a number."""


@dataclass(frozen=True, slots=True)
class GateCondition:
    """One condition: on a number if ``than`` is set, else one of ``WORDS``."""

    text: str
    name: str
    than: str = ""
    number: float = 0.0
    change: bool = False
    """True for conditions on the change rather than on the other model's value."""
    share: bool = False
    """True if the change is in percent."""

    def holds(self, alignment: Alignment, before: dict[str, Number], after: dict[str, Number]) -> str:
        """Return why it is met or cannot be evaluated; empty if it is not met."""
        return self.number_reason(before, after) if self.than else self._word_reason(alignment)

    def number_reason(self, before: dict[str, Number], after: dict[str, Number]) -> str:
        """Return the same for a condition on a number."""
        base, value = before[self.name], after[self.name]
        if value is None or (self.change and base is None):
            return f"{self.name} is not wholly known"
        value_text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
        if not self.change:
            return f"{self.name} is {value_text}" if _beyond(value, self.than, self.number) else ""
        assert base is not None
        change = value - base
        if self.share:
            share = relative(base, value)
            change = 100 * share if share is not None else 0.0 if value == base else math.inf
        change_text = percent(relative(base, value))
        return (
            f"{self.name} is {value_text} ({change_text})" if _beyond(change, self.than, self.number) else ""
        )

    def _word_reason(self, alignment: Alignment) -> str:
        if self.name == "architecture":
            return "" if alignment.verdict is AlignmentVerdict.SAME else alignment.verdict.value
        if self.name == "interface":
            change = alignment.interface[0] if alignment.interface else None
            return "" if change is None else f"{change.what}: {change.left} → {change.right}"
        if self.name == "file":
            fact = next((detail for detail in alignment.file if detail.what != PRODUCER), None)
            return "" if fact is None else f"{fact.what}: {fact.left} → {fact.right}"
        if self.name in ("added", "removed"):
            count = len(alignment.only_right if self.name == "added" else alignment.only_left)
            return f"{count:,} nodes {self.name}" if count else ""
        kind = _KINDS[self.name]
        if kind is Change.WEIGHTS and not alignment.weights_read:
            return "values of weights were not compared"
        count = sum(kind in pair.changes for pair in alignment.pairs)
        return f"{count:,} operators changed in {self.name}" if count else ""


def condition(
    text: str,
    option: str = "--fail-on",
    names: Sequence[str] = _NUMBERS,
    words: Sequence[str] = WORDS,
) -> GateCondition:
    """Parse a condition: ``architecture``, ``removed``, ``macs>+5%``, ``size>100M``, ``params<-1000``.

    Numbers with a sign or a percent sign refer to the change from the first model, others to the value
    itself. ``option`` is named in errors; ``names`` and ``words`` are the allowed subjects.

    Raises: OptionError.
    """
    word = text.strip().lower()
    if word in words:
        return GateCondition(text.strip(), word)
    match = _FORM.fullmatch(text)
    if match is None:
        raise OptionError(
            "bad-condition",
            f"{option} {text[:60]!r} is not a condition.",
            f"Pass a condition such as 'macs>+5%', or a word: {', '.join(words)}.",
        )
    name = match["name"].lower()
    if name not in names:
        guess = similar_names(name, names)
        raise OptionError(
            "bad-condition",
            f"{option} {text[:60]!r}: unknown metric {name!r}.",
            f"Did you mean {guess[0]!r}?" if guess else f"Choose one of {', '.join(names)}.",
        )
    unit = match["unit"].lower()
    number = float(match["number"]) * (1 if unit == "%" else _SCALES[unit])
    if match["sign"] == "-":
        number = -number
    share = unit == "%"
    return GateCondition(text.strip(), name, match["than"], number, bool(match["sign"]) or share, share)


def failing(
    conditions: Sequence[GateCondition], alignments: Sequence[Alignment]
) -> list[tuple[GateCondition, int, str]]:
    """Return (condition, index of the alignment, reason) for those that are met."""
    if not conditions or not alignments:
        return []
    before = metric_values(alignments[0].sides[0].analysis)
    failed = []
    for index, alignment in enumerate(alignments):
        after = metric_values(alignment.sides[1].analysis)
        reasons = [condition.holds(alignment, before, after) for condition in conditions]
        failed += [(c, index, reason) for c, reason in zip(conditions, reasons, strict=True) if reason]
    return failed


def _beyond(value: float, than: str, number: float) -> bool:
    if than == ">":
        return value > number
    if than == ">=":
        return value >= number
    return value < number if than == "<" else value <= number
