"""``make fuzz``: every command with many broken inputs, until a time is over; the next run goes on.

``overwrites`` and ``kills`` stand for runs whose output is an input, and for runs that are killed.

    python tests/fuzz/fuzz_run.py [--inputs 50000] [--minutes 30] [--folder .fuzz] [--again] [COMMAND …]

The folder keeps how far each command is; of each input that broke the rule its files, arguments and fault.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import fuzz_inputs
import fuzz_rule
import fuzz_writing

SLICE = 1000
"""Inputs of a command before the next command has its turn."""
WRITES = 100
"""The same for runs that write, each of which makes its files."""


def main() -> int:
    """Runs, reports, and returns how it went: 0 no faults, 1 faults."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commands", nargs="*", default=[*fuzz_inputs.commands(), *fuzz_writing.COMMANDS])
    parser.add_argument("--inputs", type=int, default=50_000, help="of each command (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=30.0, help="of all commands (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"))
    parser.add_argument("--again", action="store_true", help="from the first input on")
    asked = parser.parse_args()
    asked.folder.mkdir(exist_ok=True)
    ends = time.monotonic() + 60 * asked.minutes
    at = {} if asked.again else _known(asked.folder)
    faults = 0
    spent: dict[str, float] = {}
    done: dict[str, int] = {}
    while time.monotonic() < ends and any(at.get(one, 0) < asked.inputs for one in asked.commands):
        for command in asked.commands:
            first = at.get(command, 0)
            writes = command in fuzz_writing.COMMANDS
            last = min(first + (WRITES if writes else SLICE), asked.inputs)
            survey = fuzz_writing.survey if writes else fuzz_rule.survey
            before = _cpu()
            for number, fault in survey(command, first, last):
                done[command] = done.get(command, 0) + 1
                at[command] = number + 1
                if fault is not None:
                    faults += 1
                    if not writes:
                        _keep(asked.folder, command, number, fault)
                    print(f"{command} {number}: {fault}", flush=True)
                if time.monotonic() > ends:
                    break
            spent[command] = spent.get(command, 0.0) + _cpu() - before
            (asked.folder / "state.json").write_text(json.dumps(at))
    print(", ".join(f"{command} {count:,}" for command, count in sorted(at.items())), f"· {faults} faults")
    rates = (f"{one} {count / max(spent[one], 1e-3):,.0f}" for one, count in sorted(done.items()))
    print("inputs a second of CPU:", ", ".join(rates))
    return int(faults > 0)


def _cpu() -> float:
    """Seconds of CPU of this process and of those that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _known(folder: Path) -> dict[str, int]:
    path = folder / "state.json"
    found: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _keep(folder: Path, command: str, number: int, fault: str) -> None:
    made = fuzz_inputs.make(command, number)
    place = folder / f"{command}-{number}"
    place.mkdir(exist_ok=True)
    fuzz_inputs.write(made, place)
    (place / "fault.txt").write_text(f"{fault}\n{json.dumps(made.arguments)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
