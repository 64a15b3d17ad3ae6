"""Choose layers to keep float: a curve over the ranking, and the shortest sufficient prefix."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from py_autodoc.errors import OptionError

if TYPE_CHECKING:
    from py_autodoc.sensitivity.scores import Score

_TARGET = re.compile(r"\s*(agreement|sqnr|kl|relative_error)\s*(>=|<=|>|<)\s*([0-9.eE+-]+)\s*(%|dB)?\s*")
_LARGER = {"agreement": True, "sqnr": True, "kl": False, "relative_error": False}
MOST_POINTS = 24
"""Maximum number of points of a curve."""


@dataclass(frozen=True, slots=True)
class ScoreTarget:
    """Target of a mixture: ``agreement>=0.99``, ``sqnr>=30``, ``kl<=0.01``."""

    text: str
    name: str
    value: float

    def met(self, score: Score) -> bool:
        """True if a score reaches it. Raises: OptionError if the model has no such figure."""
        if math.isinf(score.relative_error):
            return False
        if self.name == "sqnr":
            return score.sqnr_db is None or score.sqnr_db >= self.value
        figure = getattr(score, self.name)
        if figure is None:
            raise OptionError(
                "no-such-figure",
                f"The output does not hold class scores, so {self.name} is undefined.",
                "Set a target for sqnr or relative_error.",
            )
        return bool(figure >= self.value) if _LARGER[self.name] else bool(figure <= self.value)


def target(text: str) -> ScoreTarget:
    """Parse a target. Raises: OptionError."""
    match = _TARGET.fullmatch(text)
    try:
        value = float(match[3]) if match else None
    except ValueError:
        value = None
    if match is None or value is None or _LARGER[match[1]] != match[2].startswith(">"):
        raise OptionError(
            "bad-target",
            f"{text[:80]!r} is not a valid target.",
            "Use 'agreement>=0.99', 'sqnr>=30', 'kl<=0.01' or 'relative_error<=0.05', for example.",
        )
    return ScoreTarget(text.strip(), match[1], value / 100 if match[4] == "%" else value)


def fewest_float_layers(layers: int, goal: ScoreTarget, score: Callable[[int], Score]) -> tuple[int, bool]:
    """Return the number of most sensitive layers that must stay float, and whether that is enough.

    ``score`` returns the score for a number of float layers. For few layers, the smallest sufficient number
    is found. For many, it is found by bisection, which assumes that more float layers improve the score; the
    returned number was measured.
    """
    if layers < MOST_POINTS:
        for count in range(layers + 1):
            if goal.met(score(count)):
                return count, True
        return layers, False
    low, high = 0, layers
    if not goal.met(score(high)):
        return high, False
    while low < high:
        middle = (low + high) // 2
        if goal.met(score(middle)):
            high = middle
        else:
            low = middle + 1
    return high, True


def curve_points(count: int) -> list[int]:
    """Return the numbers of float layers to measure: all if they are few, else denser at the beginning."""
    if count < MOST_POINTS:
        return list(range(count + 1))
    steps = MOST_POINTS - 1
    return sorted({round(count * (step / steps) ** 2) for step in range(steps + 1)} | {1, 2, 3})
