"""Options of other tools and documents: the same here is accepted, for the rest a hint names the command.

One row a spelling. Nothing here appears in ``--help`` or in completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import click

ANY = "*"
"""All commands that have the option meant."""


class Accepted(NamedTuple):
    """A spelling that is taken as an option of the same command."""

    commands: Sequence[str]
    spelling: str
    option: str
    """Option meant; empty: the spelling is a flag that changes nothing."""


class Hinted(NamedTuple):
    """A spelling that gets a hint in place of the nearest options."""

    commands: Sequence[str]
    spelling: str
    hint: str


ACCEPTED = (
    Accepted(ANY, "--hardware-profile", "--hardware"),
    Accepted(ANY, "--device", "--hardware"),
    Accepted(("analyze", "sensitivity", "verify", "run"), "--html", "--out-html"),
    Accepted(("analyze", "compare", "llm", "recommend", "sensitivity"), "--md", "--out-md"),
    Accepted(("analyze", "compare", "llm", "recommend", "sensitivity"), "--markdown", "--out-md"),
    Accepted(("analyze", "compare", "sensitivity"), "--pdf", "--out-pdf"),
    Accepted(("analyze", "sweep"), "--csv", "--out-csv"),
    Accepted(("sweep", "llm"), "--batch-sizes", "--batch"),
    Accepted(("sweep", "llm", "rebatch"), "--batch-size", "--batch"),
    Accepted(("recommend",), "--max-latency", "--target-latency"),
    Accepted(("sweep",), "--charts", "--assets-dir"),
    Accepted(("sweep",), "--gpu-count", "--devices"),
    Accepted(("compare",), "--models", ""),
)

_DEVICES_TOGETHER = (
    "For text generation: `onnx-autodoc llm MODEL --hardware h100 --tensor-parallel N` or "
    "`--pipeline-parallel N`; for other models: `onnx-autodoc sweep MODEL --hardware h100 --devices 1,2,4`."
)
_RECOMMEND = (
    "Devices for a target: `onnx-autodoc recommend MODEL --deployment-target cloud --target-latency 50ms "
    "--target-throughput 30fps`."
)
_PRICES = (
    "Prices: `onnx-autodoc recommend MODEL --cloud aws`, "
    "`onnx-autodoc sweep MODEL --hardware l4 --cloud all`, `onnx-autodoc hardware list --cloud all`."
)
_EXPORT = (
    "Export first, the ONNX file is kept: `onnx-autodoc export SOURCE model.onnx`, then "
    "`onnx-autodoc analyze model.onnx`."
)
_RESOLUTIONS = "Several resolutions: `onnx-autodoc sweep MODEL --input-resolution 224x224,384x384`."
HINTED = (
    Hinted(
        ANY,
        "--format",
        "The option says the format: `onnx-autodoc analyze MODEL --out-md card.md --out-html page.html "
        "--out-pdf card.pdf --out-json report.json`.",
    ),
    Hinted(ANY, "--html", "One offline page: `onnx-autodoc analyze MODEL --out-html page.html`."),
    Hinted(
        ANY, "--json", "As a file: `onnx-autodoc analyze MODEL --out-json report.json`; a pipe gets JSON too."
    ),
    Hinted(
        ANY, "--hardware-profile", "Estimates for a device: `onnx-autodoc analyze MODEL --hardware ID|FILE`."
    ),
    Hinted(ANY, "--input-resolution", _RESOLUTIONS),
    Hinted(ANY, "--batch-sizes", "Several batch sizes: `onnx-autodoc sweep MODEL --batch 1,2,4`."),
    Hinted(ANY, "--cloud", _PRICES),
    Hinted(ANY, "--list-cloud", "Instances and prices: `onnx-autodoc hardware list --cloud all`."),
    Hinted(ANY, "--list-hardware", "Devices: `onnx-autodoc hardware list`."),
    Hinted(ANY, "--deployment-target", _RECOMMEND),
    Hinted(ANY, "--target-latency", _RECOMMEND),
    Hinted(ANY, "--target-throughput", _RECOMMEND),
    Hinted(ANY, "--gpu-count", _DEVICES_TOGETHER),
    Hinted(ANY, "--from-pytorch", _EXPORT),
    Hinted(ANY, "--keep-onnx", _EXPORT),
    Hinted(ANY, "--models", "Models are named without an option: `onnx-autodoc analyze A.onnx B.onnx`."),
    Hinted(
        ANY,
        "--eval-metrics",
        "Measured metrics: `onnx-autodoc compare A.onnx B.onnx --eval-metrics a.json …`.",
    ),
    Hinted(
        ANY,
        "--baseline-precision",
        "Variants: `onnx-autodoc compare A.onnx B.onnx --baseline-precision fp32`.",
    ),
    Hinted(ANY, "--fx-graph", "`onnx-autodoc export SOURCE model.onnx --fx-graph FILE` writes it."),
    Hinted(ANY, "--jit-graph", "`onnx-autodoc export SOURCE model.onnx --jit-graph FILE` writes it."),
    Hinted(ANY, "--llm-summary", "`onnx-autodoc analyze MODEL --llm-summary --out-md card.md` writes it."),
    Hinted(ANY, "--with-plots", "Plots: `onnx-autodoc analyze MODEL --with-plots --assets-dir DIR`."),
    Hinted(ANY, "--max-layers", "`onnx-autodoc analyze MODEL --max-layers N` limits what is listed."),
)


def accept_spellings(name: str, command: click.Command) -> None:
    """Let a command take the other spellings of its options."""
    options = {spelling: option for option in command.params for spelling in option.opts}
    for commands, spelling, meant in ACCEPTED:
        if spelling in options or not _applies(commands, name):
            continue
        if not meant:
            command.params.append(_ignored(spelling))
        elif meant in options:
            command.params.append(_OtherSpelling(spelling, options[meant]))


def hint(name: str, spelling: str) -> str | None:
    """Return what to use in place of an option that a command does not have; None if nothing is known."""
    for commands, hinted, text in HINTED:
        if spelling == hinted and _applies(commands, name):
            return text
    return None


def _applies(commands: Sequence[str], name: str) -> bool:
    return commands == ANY or name in commands


def _ignored(spelling: str) -> click.Option:
    return click.Option([spelling, "_ignored"], is_flag=True, hidden=True, expose_value=False)


class _OtherSpelling(click.Option):
    """Parsed as the option that is meant: its value, callback and errors are that option's."""

    def __init__(self, spelling: str, meant: click.Parameter) -> None:
        super().__init__([spelling, "_other_spelling"], hidden=True, expose_value=False)
        self._meant = copy(meant)
        self._meant.opts, self._meant.secondary_opts = [spelling], []

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add the spelling for the option that is meant."""
        self._meant.add_to_parser(parser, ctx)

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> tuple[Any, list[str]]:
        """Do nothing: the option that is meant has the value."""
        return None, args
