"""The summary printed after an export, on stderr because stdout is for data."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from py_autodoc.cli.streams import styled
from py_autodoc.render import units
from py_autodoc.render.terminal_text import printable, shorten

MAX_WIDTH = 120
MAX_INPUTS = 12
TOP_MODULES = 8
_DIM, _HEAD, _STRONG, _WARN = "dim", "bold", "bold cyan", "yellow"


def print_export(report: Mapping[str, Any], notes: Sequence[str]) -> None:
    """Print the summary. Names are ``Text``, so that models cannot style our output."""
    console = Console(file=styled(sys.stderr), markup=False, emoji=False, highlight=False)
    console.width = min(console.width, MAX_WIDTH)
    try:
        for model in report["models"]:
            console.print(_title(model))
            console.print(Padding(_facts(report, model, console.width), (0, 0, 0, 2)))
        for line in report["warnings"]:
            console.print(Text(f"! {printable(line)}", style=_WARN))
        for line in notes:
            console.print(Text(f"· {printable(line)}", style=_DIM))
    except (OSError, ValueError):  # a closed stderr is not a reason to fail
        return


def _title(model: Mapping[str, Any]) -> Text:
    sizes = [f"{printable(file['name'])} {units.size(file['bytes'])}" for file in model["files"][1:]]
    first = units.size(model["files"][0]["bytes"]) if model["files"] else ""
    return Text.assemble((printable(model["file"]), _STRONG), "  ", (" · ".join([first, *sizes]), _DIM))


def _facts(report: Mapping[str, Any], model: Mapping[str, Any], width: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    source, counted = report["source"], model["coverage"]
    opset = ", ".join(f"{domain} {number}" for domain, number in model["opset"].items())
    facts = [source["class"], f"{units.count(source['parameters'])} parameters"]
    facts += ["random weights"] if source.get("weights") == "random" else []
    rows = [
        ("Model", " · ".join(facts)),
        ("Exporter", f"{report['exporter']} · {opset} · {sum(report['seconds'].values()):.1f} s"),
        ("Inputs", ", ".join(_value(value) for value in model["graph_inputs"][:MAX_INPUTS])),
        ("Outputs", ", ".join(_value(value) for value in model["outputs"][:MAX_INPUTS])),
        ("Nodes", f"{counted['nodes']:,}: {_coverage(counted)}"),
        ("Modules", _modules(model)),
        *_carried(model["metadata"]),
    ]
    for label, text in rows:
        grid.add_row(Text(label, style=_HEAD), Text(shorten(printable(text), 6 * width)))
    return grid


def _carried(carried: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return what a transformers model includes, with its size in the file."""
    if carried is None:
        return []
    source = carried["task_source"]
    task = f"{carried['task']} ({source})" if carried["task"] else "unknown; --task names it"
    files = carried["processor_files"]
    if files:
        stored = units.size(sum(file["characters"] for file in files))
        largest = max(files, key=_bytes)
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        processor = f"{largest['name']} {units.size(largest['bytes'])}{more}, {stored} in the file"
    else:
        processor = "not included" if carried["left_out"] else "none found"
    return [("Task", task), ("Processor", processor), ("Metadata", units.size(carried["characters"]))]


def _bytes(file: Mapping[str, Any]) -> int:
    return int(file["bytes"])


def _coverage(counted: Mapping[str, Any]) -> str:
    """Return the coverage; only what an exporter recorded counts as recorded."""
    shares = counted["shares"]
    text = f"recorded {units.share(shares['traced'], 1)}, inferred {units.share(shares['inferred'], 1)}"
    return f"{text}, unknown {units.share(shares['unknown'], 1)}"


def _modules(model: Mapping[str, Any]) -> str:
    ran = [module for module in model["modules"] if module["nodes_total"]]
    silent = sum(module["status"] == "not_executed" for module in model["modules"])
    tags = len({module["tag"] for module in ran})
    more = f", {silent:,} did not run" if silent else ""
    return f"{len(model['modules']):,} in {tags:,} tags{more}; `onnx-autodoc tags {model['file']}` lists them"


def _value(value: Mapping[str, Any]) -> str:
    shape = "×".join("?" if size is None else str(size) for size in value["shape"] or ()) or "–"
    return f"{value['name']} {value['type'].lower()} {shape}"
