"""Which end of the likely range a limit on latency applies to."""

from __future__ import annotations

from py_autodoc.errors import OptionError

TYPICAL, HIGH = "typical", "high"
RISKS = (TYPICAL, HIGH)
"""The estimate itself, or the upper end of its likely range."""


def checked_risk(name: str) -> str:
    """Return the normalized name, ``typical`` for an empty one. Raises: OptionError if it is unknown."""
    risk = name.strip().lower() or TYPICAL
    if risk not in RISKS:
        raise OptionError(
            "unknown-risk", f"Unknown risk {risk[:40]!r}.", f"Choose one of {', '.join(RISKS)}."
        )
    return risk


def judged(estimated: float | None, high: float | None, risk: str) -> float | None:
    """Return the latency that a limit is compared with; None if it is unknown."""
    return high if risk == HIGH else estimated
