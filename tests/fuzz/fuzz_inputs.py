"""The input of a number: files and a command line, the same each time.

The commands and their options are read from the command line itself, so that a new one is fuzzed from its
first day.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import click
import fuzz_mutate
import fuzz_options
import fuzz_seeds
import fuzz_sources

from py_autodoc.cli.app import COMMANDS, app

MODEL_NAMES = ("m.onnx",) * 12 + ("m", "m.ONNX", "a b.onnx", "-m.onnx", "m.keras", "m.ort", "ünï.onnx")
OUTPUTS = {
    "extract": "out.onnx", "to-torch": "out.py", "rebatch": "out.onnx", "resize": "out.onnx",
    "export": "out.onnx", "quantize": "out.onnx",
    "graph": "out.svg",
}  # fmt: skip


@dataclass(frozen=True)
class Input:
    """What a command is given; ``files`` are written into an empty folder, which it works in."""

    command: str
    arguments: list[str]
    files: dict[str, bytes]


def make(command: str, number: int) -> Input:
    """The input of that number."""
    dice = random.Random(f"{command}:{number}")
    found = app.get_command(click.Context(app), command)
    assert found is not None
    files = {"w.bin": fuzz_seeds.WEIGHTS}
    given: list[str] = []
    kind = ""
    for parameter in found.params:
        if command == "export" and parameter.name == "source":
            source, kind = fuzz_sources.source(dice, files)
            given.append(source)
        elif isinstance(parameter, click.Argument):
            given.append(_argument(dice, command, parameter, files))
    options = fuzz_options.drawn(dice, command, found.params, files, kind)
    # After "--" nothing is an option any more: half of the time, as in scripts.
    marked = ["--"] if dice.random() < 0.5 else []
    return Input(command, [command, *options, *marked, *given], files)


def _argument(dice: random.Random, command: str, parameter: click.Argument, files: dict[str, bytes]) -> str:
    name = parameter.name or ""
    if command == "rule":
        return dice.choice(("memory_bound", "", "x", "MEMORY", "é", "../x", "deep" * 100))
    if command == "hardware":
        return dice.choice(("list", "show", "detect", "fly") if name == "action" else ("l4", "t4", "x", "é"))
    if name.startswith("out"):
        return OUTPUTS.get(command, "out.bin")
    path = dice.choice(MODEL_NAMES) if name != "b" else "b.onnx"
    files[path] = a_model(dice, command)
    if name == "b" and dice.random() < 0.5:
        files[path] = fuzz_mutate.raw(dice, files.get("m.onnx", fuzz_seeds.rich()), fuzz_seeds.rich())
    return path


def a_model(dice: random.Random, command: str) -> bytes:
    """A model, mostly broken."""
    seeds = fuzz_seeds.models()
    data, another = dice.choice(seeds), dice.choice(seeds)
    if command in ("extract", "tags") and dice.random() < 0.6:
        data = fuzz_seeds.rich()
    if command in ("rebatch", "resize") and dice.random() < 0.7:
        data = fuzz_seeds.fixed()
    if command == "opdocs" and dice.random() < 0.8:
        data = dice.choice(fuzz_seeds.quantized())
    kind = dice.random()
    if kind < (
        0.2
        if command in ("compare", "rebatch", "resize", "verify", "quantize", "sensitivity", "run", "opdocs")
        else 0.05
    ):
        return data
    if kind < 0.75:
        return fuzz_mutate.model(dice, data, another)
    return fuzz_mutate.raw(dice, data, another)


def write(made: Input, folder: Path) -> None:
    """The files of an input."""
    for name, data in made.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def commands() -> list[str]:
    """All commands that read something."""
    return [name for name in COMMANDS if name != "schema"]
