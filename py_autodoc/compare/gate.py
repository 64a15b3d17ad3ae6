"""Conditions on a comparison: differences that a pipeline does not accept."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.compare.align import Alignment, AlignmentVerdict
from py_autodoc.compare.changes import NAMES, Change
from py_autodoc.compare.measures import MEASURES, Number, measured, percent, relative
from py_autodoc.errors import OptionError
from py_autodoc.similar_names import similar_names

_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_FORM = re.compile(
    r"\s*(?P<name>[a-z_]+)\s*(?P<than>>=|<=|>|<)\s*(?P<sign>[+-]?)"
    r"(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?P<unit>%|[kmgt]?)b?\s*",
    re.IGNORECASE,
)
_KINDS = {NAMES[one]: one for one in Change}
_NUMBERS = tuple(one.id for one in MEASURES)
WORDS = ("architecture", "interface", "added", "removed", *_KINDS)
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

    def holds(self, found: Alignment, before: dict[str, Number], after: dict[str, Number]) -> str:
        """Return why it is met or cannot be evaluated; empty if it is not met."""
        return self.beyond(before, after) if self.than else self._word(found)

    def beyond(self, before: dict[str, Number], after: dict[str, Number]) -> str:
        """Return the same for a condition on a number."""
        base, value = before[self.name], after[self.name]
        if value is None or (self.change and base is None):
            return f"{self.name} is not wholly known"
        shown = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
        if not self.change:
            return f"{self.name} is {shown}" if _beyond(value, self.than, self.number) else ""
        assert base is not None
        change = value - base
        if self.share:
            part = relative(base, value)
            change = 100 * part if part is not None else 0.0 if value == base else math.inf
        told = percent(relative(base, value))
        return f"{self.name} is {shown} ({told})" if _beyond(change, self.than, self.number) else ""

    def _word(self, found: Alignment) -> str:
        if self.name == "architecture":
            return "" if found.verdict is AlignmentVerdict.SAME else found.verdict.value
        if self.name == "interface":
            first = found.interface[0] if found.interface else None
            return "" if first is None else f"{first.what}: {first.left} → {first.right}"
        if self.name in ("added", "removed"):
            count = len(found.only_right if self.name == "added" else found.only_left)
            return f"{count:,} nodes {self.name}" if count else ""
        kind = _KINDS[self.name]
        count = sum(kind in pair.changes for pair in found.pairs)
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
    made = _FORM.fullmatch(text)
    if made is None:
        raise OptionError(
            "bad-condition",
            f"{option} {text[:60]!r} is not a condition.",
            f"Pass a condition such as 'macs>+5%', or a word: {', '.join(words)}.",
        )
    name = made["name"].lower()
    if name not in names:
        guess = similar_names(name, names)
        raise OptionError(
            "bad-condition",
            f"{option} {text[:60]!r}: unknown metric {name!r}.",
            f"Did you mean {guess[0]!r}?" if guess else f"Choose one of {', '.join(names)}.",
        )
    unit = made["unit"].lower()
    number = float(made["number"]) * (1 if unit == "%" else _SCALES[unit])
    if made["sign"] == "-":
        number = -number
    share = unit == "%"
    return GateCondition(text.strip(), name, made["than"], number, bool(made["sign"]) or share, share)


def failing(
    conditions: Sequence[GateCondition], found: Sequence[Alignment]
) -> list[tuple[GateCondition, int, str]]:
    """Return (condition, index of the alignment, reason) for those that are met."""
    if not conditions or not found:
        return []
    before = measured(found[0].sides[0].analysis)
    failed = []
    for at, one in enumerate(found):
        after = measured(one.sides[1].analysis)
        failed += [(c, at, why) for c in conditions if (why := c.holds(one, before, after))]
    return failed


def _beyond(value: float, than: str, number: float) -> bool:
    if than == ">":
        return value > number
    if than == ">=":
        return value >= number
    return value < number if than == "<" else value <= number
