"""Every option with which a command writes a file, and runs of it: read from the command line itself.

An option that takes a file is one of ``READ`` or is run by ``writers``; a new one is run from its first day.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.cli.app import COMMANDS, app

DATA = Path(__file__).parents[1] / "data"
READ = frozenset({
    "a", "against", "b", "baseline", "data", "device", "eval_metrics", "hardware", "inputs", "layer_info",
    "model", "models", "others", "policy", "preprocessing", "profile", "recipe", "sensitivity",
    "source", "thresholds", "tokenizer", "update",
})  # fmt: skip
"""Parameters that name a file or a folder which is read."""
NO_PATH = frozenset({("extract", "tag")})
"""Written as PATH, but a path of modules."""
FOLDERS = frozenset({"assets_dir", "extract_processor"})
"""A folder is written; the files in it have names of ours."""
BASE: dict[str, list[str]] = {
    "analyze": ["m.onnx"],
    "check": ["m.onnx", "--max-params", "1T"],
    "compare": ["m.onnx", "n.onnx"],
    "export": ["k.keras"],
    "extract": ["m.onnx", "--node", "1"],
    "graph": ["m.onnx", "--format", "dot"],
    "hardware": ["calibrate"],
    "llm": ["m.onnx", "--hardware", "l4"],
    "metadata": ["m.onnx"],
    "opdocs": ["m.onnx"],
    "quantize": ["m.onnx", "--method", "dynamic"],
    "rebatch": ["m.onnx", "--batch", "4", "--from", "2"],
    "recommend": ["m.onnx"],
    "resize": ["m.onnx", "--input-shape", "x=4x8"],
    "run": ["m.onnx", "--runs", "1", "--warmup", "0"],
    "sensitivity": ["m.onnx"],
    "sweep": ["m.onnx", "--hardware", "l4"],
    "tags": ["m.onnx"],
    "to-torch": ["m.onnx"],
    "verify": ["m.onnx", "--against", "n.onnx"],
}
"""Command → arguments of a run, without what it writes. The output goes after the positional ones."""
GIVEN = {
    "data": "in.npz",
    "hardware": "device.json",
    "thresholds": "t.toml",
    "policy": "p.toml",
    "recipe": "r.json",
    "baseline": "n.onnx",
    "profile": "times.json",
    "preprocessing": "pre.json",
    "layer_info": "layers.json",
    "eval_metrics": "e.json",
    "update": "old.md",
    "tokenizer": "tokenizer.json",
    "sensitivity": "s.json",
}
"""Option that is read → a file for it: an input like the model."""
NEEDS = {
    "out_layers": ["--profile", "times.json"],
    "out_plot": ["--profile", "times.json", "--hardware", "l4"],
}


@dataclass(frozen=True)
class Writer:
    """An option or argument that names what a command writes."""

    command: str
    parameter: str
    flag: str
    """Empty for an argument."""

    def arguments(self, out: str, *extra: str) -> list[str]:
        """The command line of a run that writes ``out``."""
        base = BASE[self.command]
        positions = next((at for at, one in enumerate(base) if one.startswith("-")), len(base))
        if self.flag:
            arguments = [one.name for one in _command(self.command).params if isinstance(one, click.Argument)]
            if "out" in arguments:  # what the command writes besides
                base = [*base[:positions], "made.onnx", *base[positions:]]
            return [self.command, *base, *NEEDS.get(self.parameter, ()), *extra, self.flag, out]
        return [self.command, *base[:positions], out, *base[positions:], *extra]

    def forced(self) -> bool:
        """True if the command has ``--force``."""
        return any("--force" in one.opts for one in _command(self.command).params)


def _command(name: str) -> click.Command:
    found = app.get_command(click.Context(app), name)
    assert found is not None
    return found


def takes_path(command: str, parameter: click.Parameter) -> bool:
    """True if a parameter names a file or a folder, as far as its own description says."""
    if getattr(parameter, "is_flag", False) or (command, parameter.name) in NO_PATH:
        return False
    shown = parameter.metavar or getattr(parameter.type, "name", "")
    named = any(word in shown for word in ("PATH", "FILE", "DIR", "OUT", "path", "MODEL", "REPORT"))
    return named or (parameter.name or "").startswith("out_") or parameter.name == "out"


def writers() -> Iterator[Writer]:
    """All of them, in the order of the commands."""
    for command in COMMANDS:
        for parameter in _command(command).params:
            if takes_path(command, parameter) and parameter.name not in READ:
                flag = parameter.opts[-1] if isinstance(parameter, click.Option) else ""
                yield Writer(command, parameter.name or "", flag)


def reads(command: str) -> list[tuple[str, str]]:
    """(flag, file) of the options of a command that read one of ``GIVEN``."""
    return [
        (parameter.opts[-1], GIVEN[parameter.name or ""])
        for parameter in _command(command).params
        if isinstance(parameter, click.Option) and parameter.name in GIVEN
    ]


def fill(folder: Path) -> None:
    """Write the inputs: models with their weights outside, a model of Keras, files of options."""
    weight = numpy_helper.from_array(np.eye(8, dtype=np.float32), "weight")
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Gemm", ["x", "weight"], ["h"], "a"),
        helper.make_node("Relu", ["h"], ["y"], "b"),
    ]
    graph = helper.make_graph(nodes, "g", [info("x", 1, [2, 8])], [info("y", 1, [2, 8])], [weight])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    for name, data in (("m.onnx", "w.bin"), ("n.onnx", "v.bin")):
        copy = onnx.ModelProto.FromString(made.SerializeToString())
        onnx.save(copy, folder / name, save_as_external_data=True, location=data, size_threshold=0)
    shutil.copy(next(iter(sorted((DATA / "keras").glob("*.keras")))), folder / "k.keras")
    profiles = sorted((DATA.parents[1] / "profiles").glob("*/l4.json"))
    shutil.copy(profiles[0], folder / "device.json")
    np.savez(folder / "in.npz", x=np.ones((2, 8), np.float32))
    (folder / "t.toml").write_text("[huge-output]\nenabled = true\n")
    (folder / "p.toml").write_text('require = ["runs"]\n')
    (folder / "r.json").write_text('{"method": "dynamic"}')
    for name in ("pre.json", "layers.json", "e.json", "tokenizer.json", "s.json"):
        (folder / name).write_text("{}")
    (folder / "old.md").write_text("old")
    (folder / "times.json").write_text('[{"cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 2}]')


TARGETS = ("itself", "link", "hard", "data", "hard-data", "around", "folder-link")
"""Ways to name an input as an output."""


def alias(folder: Path, file: str, way: str) -> str:
    """A path in the folder that leads to an input, or to the weights of a model, in that way."""
    data = {"m.onnx": "w.bin", "n.onnx": "v.bin"}.get(file, file)
    if way == "itself":
        return file
    if way == "data":
        return data
    if way == "around":
        (folder / "sub").mkdir(exist_ok=True)
        return f"sub/../{file}"
    if way == "folder-link":
        if not (folder / "here").exists():
            (folder / "here").symlink_to(folder, target_is_directory=True)
        return f"here/{file}"
    name = f"{way}-{file}"
    if not (folder / name).exists():
        if way == "link":
            (folder / name).symlink_to(file)
        else:
            os.link(folder / (data if way == "hard-data" else file), folder / name)
    return name


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder, links as what they lead to; folders that links lead to are left out."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
