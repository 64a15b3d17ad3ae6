"""``onnx-autodoc compare``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from py_autodoc.cli import stderr
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.errors import OptionError
from py_autodoc.render.output import Target
from py_autodoc.render.text import printable

if TYPE_CHECKING:
    from py_autodoc.compare.tags import TagChange, TagComparison
    from py_autodoc.compare.topology import Difference

PARTIAL = 2
"""Exit status when a stage of an analysis failed."""


@click.command("compare", short_help="What differs between two models: their graph, their modules.")
@click.argument("a", type=click.Path(path_type=str))
@click.argument("b", type=click.Path(path_type=str))
@click.option("--topology", is_flag=True, help="Nodes, edges, attributes and weights, byte for byte.")
@click.option("--tags", is_flag=True, help="Modules: which tags there are, and the nodes of each.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--beside",
    metavar="PATH.html",
    help="Write a page that shows both, linked and offline. Alone it compares nothing.",
)
def command(a: str, b: str, topology: bool, tags: bool, as_json: bool, beside: str | None) -> int:
    """Say what differs between the models A and B. Without an option: their graphs.

    \b
    Exit status: 0 when they are the same, 1 otherwise.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    status = _page(a, b, beside) if beside is not None else 0
    asked = topology or tags or as_json or beside is None
    return max(status, _compare(a, b, topology, tags, as_json) if asked else 0)


def _page(a: str, b: str, out: str) -> int:
    """Write the page of both, free dimensions at usual sizes. Returns the exit status."""
    from py_autodoc.render.html import html_page
    from py_autodoc.report.analysis import Options, run

    Target(out, "--beside", b)
    target = Target(out, "--beside", a)
    if target.to_stdout:
        raise OptionError("beside-to-stdout", "--beside writes a file.", "Give a file name.")
    analyses = []
    for path in (a, b):
        with ProgressLine(printable(os.path.basename(path)), None) as line:
            analyses.append(run(path, Options(assume=True), line.update))
    written = target.write(html_page(*analyses))
    if sys.stderr.isatty():
        stderr.note(f"Wrote {target.shown} ({written:,} bytes).")
    if any(analysis.partial for analysis in analyses):
        stderr.error("Part of the analysis failed; the page is partial.", "See its diagnostics.")
        return PARTIAL
    return 0


def _compare(a: str, b: str, topology: bool, tags: bool, as_json: bool) -> int:
    """Print what differs. Returns the exit status."""
    from py_autodoc.compare.tags import compare_tags
    from py_autodoc.compare.topology import same_topology
    from py_autodoc.tags import load_tags

    topology = topology or not tags
    graph = same_topology(a, b) if topology else None
    modules = compare_tags(load_tags(a)[1], load_tags(b)[1]) if tags else None
    if as_json:
        found: dict[str, object] = {}
        if graph is not None:
            found["topology"] = [asdict(one) for one in graph]
        if modules is not None:
            found["tags"] = modules.to_dict()
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        lines = (_topology(graph) if graph is not None else []) + (_tags(modules) if modules else [])
        click.echo("\n".join(map(printable, lines)))
    return int(bool(graph) or (modules is not None and not modules.equal))


def _topology(found: list[Difference]) -> list[str]:
    if not found:
        return ["The graphs are the same: nodes, edges, attributes and weights."]
    return [f"The graphs differ ({len(found):,} differences listed):", *(f"  {one}" for one in found)]


def _tags(found: TagComparison) -> list[str]:
    if found.equal:
        return [f"The modules are the same: {found.same:,} tags."]
    lines = [f"{found.same:,} tags are the same."]
    for title, changes in (
        ("Changed", found.changed),
        ("Only in the first", found.only_a),
        ("Only in the second", found.only_b),
    ):
        if changes:
            lines += [f"{title}: {len(changes):,}", *map(_change, changes)]
    return lines


def _change(one: TagChange) -> str:
    counts = " → ".join("–" if count is None else f"{count:,}" for count in (one.a, one.b))
    operators = ", ".join(f"{name} {count:+,}" for name, count in list(one.operators.items())[:6])
    return f"  {one.tag}  {counts} nodes ({operators})"
