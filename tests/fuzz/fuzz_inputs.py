"""The input of a number: files and a command line, the same each time.

The commands and their options are read from the command line itself, so that a new one is fuzzed from its
first day.
"""

from __future__ import annotations

import json
import random
import zipfile
from dataclasses import dataclass
from pathlib import Path

import click
import fuzz_mutate
import fuzz_seeds

from py_autodoc.cli.app import COMMANDS, app

NAMES = (
    "batch=1", "batch=0", "batch=-1", "batch=99999999999999999999", "*=2", "*=0", "x=", "=1", "x",
    "n=1e3", "batch=2",
    "x=1x4", "x=2x4", "x=0x4", "x=batchx4", "x=-1x4", "x=1x1x1x1x1x1x1x1x1", "x=", "h=" + "9" * 400,
    "é=1", "c=",
    "/Net/Block.0", "/Net", "Net", "*", "y", "h", "t", "w", "0", "1", "-1", "l4", "nonsense", "fp16",
    "int8", "[", "a" * 300,
)  # fmt: skip
MODEL_NAMES = ("m.onnx",) * 12 + ("m", "m.ONNX", "a b.onnx", "-m.onnx", "m.keras", "m.ort", "ünï.onnx")
OUTPUTS = {
    "extract": "out.onnx", "to-torch": "out.py", "rebatch": "out.onnx", "export": "out.onnx",
    "graph": "out.svg",
}  # fmt: skip
PICTURES = {"svg": 1, "png": 1, "html": 3, "dot": 6, "netron": 6, "model-explorer": 6}
"""How often; the first two start another process."""
NOT_DRAWN = {"help", "list_hardware", "progress", "exporter"}
"""The last one would have Keras run the model, which is not ours."""


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
    options: list[str] = []
    for parameter in found.params:
        if isinstance(parameter, click.Argument):
            given.append(_argument(dice, command, parameter, files))
        elif isinstance(parameter, click.Option) and parameter.name not in NOT_DRAWN:
            options += _option(dice, command, parameter, files)
    # After "--" nothing is an option any more: half of the time, as in scripts.
    marked = ["--"] if dice.random() < 0.5 else []
    return Input(command, [command, *options, *marked, *given], files)


def _argument(dice: random.Random, command: str, parameter: click.Argument, files: dict[str, bytes]) -> str:
    name = parameter.name or ""
    if command == "rule":
        return dice.choice(("memory_bound", "", "x", "MEMORY", "é", "../x", "deep" * 100))
    if name.startswith("out"):
        return OUTPUTS.get(command, "out.bin")
    if command == "export":
        return _keras(dice, files)
    path = dice.choice(MODEL_NAMES) if name != "b" else "b.onnx"
    files[path] = a_model(dice, usual=command in ("compare", "rebatch"))
    if name == "b" and dice.random() < 0.5:
        files[path] = fuzz_mutate.raw(dice, files.get("m.onnx", fuzz_seeds.rich()), fuzz_seeds.rich())
    return path


def a_model(dice: random.Random, usual: bool = False) -> bytes:
    """A model, mostly broken."""
    seeds = fuzz_seeds.models()
    data, another = dice.choice(seeds), dice.choice(seeds)
    kind = dice.random()
    if kind < (0.2 if usual else 0.05):
        return data
    if kind < 0.75:
        return fuzz_mutate.model(dice, data, another)
    return fuzz_mutate.raw(dice, data, another)


def _keras(dice: random.Random, files: dict[str, bytes]) -> str:
    if dice.random() < 0.3:
        old = dice.choice(fuzz_seeds.keras_older())
        files["m.h5"] = fuzz_mutate.raw(dice, old, old)
        return "m.h5"
    members = list(dice.choice(fuzz_seeds.keras_archives()))
    at = dice.randrange(len(members))
    name, data = members[at]
    if name.endswith(".json") and dice.random() < 0.9:
        members[at] = (name, json.dumps(fuzz_mutate.tree(dice, json.loads(data))).encode())
    else:
        members[at] = (name, fuzz_mutate.raw(dice, data, data))
    packing = dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    made = fuzz_seeds.zipped(members, packing)
    files["m.keras"] = fuzz_mutate.raw(dice, made, made) if dice.random() < 0.3 else made
    return "m.keras"


def _option(dice: random.Random, command: str, parameter: click.Option, files: dict[str, bytes]) -> list[str]:
    chance = 1.0 if parameter.required else 0.08
    if parameter.name in ("json", "as_json", "list", "assume", "bind", "node", "tensor", "tag", "output"):
        chance = 0.4
    if dice.random() >= chance:
        return []
    flag = parameter.opts[-1]
    if parameter.is_flag:
        both = [*parameter.opts, *parameter.secondary_opts]
        return [dice.choice(both)]
    if isinstance(parameter.type, click.Choice):
        choices = list(parameter.type.choices)
        if command == "graph" and parameter.name == "format":
            choices = [kind for kind, often in PICTURES.items() for _ in range(often)]
        return [flag, dice.choice(choices)]
    if isinstance(parameter.type, (click.types.IntParamType, click.types.FloatParamType)):
        return [flag, str(dice.choice((-1, 0, 1, 1, 2, 3, 8, 21, 1000, 2**40)))]
    if parameter.name in ("restore", "assign", "beside", "report_json", "report_md") or (
        parameter.name or ""
    ).startswith("out"):
        return [flag, _output(dice, command, parameter.name or "")]
    if parameter.name == "thresholds":
        return [flag, _settings(dice, files)]
    if parameter.name == "hardware" and dice.random() < 0.6:
        files["device.json"] = json.dumps(fuzz_mutate.tree(dice, fuzz_seeds.profile())).encode()
        return [flag, "device.json"]
    return [flag, dice.choice(NAMES)]


def _output(dice: random.Random, command: str, name: str) -> str:
    endings = {"beside": "html", "restore": "onnx", "assign": "onnx", "report_md": "md", "out_csv": "csv"}
    ending = endings.get(name, "html" if "html" in name else "json")
    if command == "graph":
        ending = dice.choice([kind for kind, often in PICTURES.items() for _ in range(often)])
        ending = ending if ending in ("svg", "png", "html", "dot") else f"{ending}.json"
    return dice.choice((f"out-{name}.{ending}",) * 6 + ("-", ".", "none/out", "m.onnx", ""))


def _settings(dice: random.Random, files: dict[str, bytes]) -> str:
    chosen = fuzz_mutate.tree(dice, fuzz_seeds.thresholds())
    if dice.random() < 0.5 or not isinstance(chosen, dict):
        files["t.json"] = json.dumps(chosen).encode()
        return "t.json"
    lines = []
    for key, value in chosen.items():
        lines.append(f"[{json.dumps(key)}]")
        inner = value if isinstance(value, dict) else {"x": value}
        lines += [f"{one} = {json.dumps(held)}" for one, held in inner.items()]
    text = "\n".join(lines).encode()
    files["t.toml"] = fuzz_mutate.raw(dice, text, text) if dice.random() < 0.5 else text
    return "t.toml"


def write(made: Input, folder: Path) -> None:
    """The files of an input."""
    for name, data in made.files.items():
        (folder / name).write_bytes(data)


def commands() -> list[str]:
    """All commands that read something."""
    return [name for name in COMMANDS if name != "schema"]
