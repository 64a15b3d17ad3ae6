"""Runs that write, for ``make fuzz``: outputs that are inputs in all ways, and kills at random moments.

Both are numbered like the inputs of a command, so that a fault's number makes its run again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "outputs"))
import writers
import writing

OVERWRITES, KILLS = "overwrites", "kills"
COMMANDS = (OVERWRITES, KILLS)
_LONGEST_S = 1.5
"""By then most commands have ended."""


def fault(kind: str, number: int) -> str | None:
    """Make the run of a number. Return what is wrong with it, or None."""
    dice = random.Random(f"{kind}:{number}")
    found = [one for one in writers.writers() if one.command != "hardware"]
    if kind == KILLS:
        found = [
            one
            for one in found
            if one.parameter not in writers.FOLDERS | writing.NEVER_WRITTEN and one.command in writing.KILLED
        ]
        chosen = dice.choice(found)
        if dice.random() < 0.5:
            return writing.kill(chosen, at=dice.randrange(1, 9))[0] or None
        return writing.kill(chosen, seconds=dice.uniform(0.001, _LONGEST_S))[0] or None
    chosen = dice.choice(found)
    file = "k.keras" if chosen.command == "export" else "m.onnx"
    options: tuple[str, ...] = ()
    if dice.random() < 0.5 and writers.reads(chosen.command):
        flag, file = dice.choice(writers.reads(chosen.command))
        options = (flag, file)
    ways = [one for one in writers.TARGETS if file.endswith(".onnx") or "data" not in one]
    return writing.overwrite(chosen, file, dice.choice(ways), dice.random() < 0.5, options) or None


def survey(kind: str, first: int, last: int) -> Iterator[tuple[int, str | None]]:
    """(number, fault or None) of the runs from ``first`` up to ``last``."""
    for number in range(first, last):
        yield number, fault(kind, number)
