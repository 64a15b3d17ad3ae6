"""``onnx-autodoc tags``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from py_autodoc import units
from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.options import force
from py_autodoc.outputs import check_output
from py_autodoc.render.csv import csv_text

if TYPE_CHECKING:
    from py_autodoc.tags import Tags


@click.command("tags", short_help="List the module that each node comes from.")
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--output",
    type=click.Choice(["summary", "detailed", "json", "csv"], case_sensitive=False),
    default="summary",
    show_default=True,
    help="summary: one row per tag; detailed: also per node; json, csv: for programs.",
)
@click.option("--filter", "pattern", metavar="GLOB", help="Only matching tags, such as '*/BertLayer.0*'.")
@click.option(
    "--restore",
    metavar="OUT.onnx",
    help="Write the model with tags restored from its table, if a tool removed them from nodes.",
)
@click.option(
    "--assign",
    metavar="OUT.onnx",
    help="Write the model with tags derived from the metadata of torch.onnx's dynamo exporter.",
)
@force
def command(
    model: str, output: str, pattern: str | None, restore: str | None, assign: str | None, force: bool
) -> None:
    """List the modules that the nodes of MODEL come from, and the evidence."""
    from py_autodoc.errors import OptionError
    from py_autodoc.tags import load_tags, restore_file, tag_file

    if restore and assign:
        raise OptionError("two-outputs", "Pass --restore or --assign, not both.")
    if restore or assign:
        out = str(restore or assign)
        # The Python API may replace the model itself; a command never overwrites its input.
        check_output(out, "onnx", [model], force)
        write = restore_file if restore else tag_file
        written = write(model, out, force=force)
        stderr.note(f"{out}: {_coverage(written)}")
        return
    _, tags = load_tags(model)
    from py_autodoc.tags.listing import listing, table_rows

    if output == "json":
        stdout.as_json(listing(tags, pattern))
    elif output == "csv":
        stdout.text(csv_text(table_rows(tags, pattern)))
    else:
        stdout.lines(_lines(tags, output, pattern))
    if tags.source == "none":
        name = os.path.basename(model)
        stderr.note(f"note: {name} has no tags; `tags --assign` can derive them if torch.onnx exported it.")


def _lines(tags: Tags, output: str, pattern: str | None) -> list[str]:
    from py_autodoc.tags.listing import node_rows, tag_rows

    lines = [_coverage(tags), ""]
    for row in tag_rows(tags, pattern):
        most = ", ".join(f"{name} {count:,}" for name, count in list(row.operators.items())[:4])
        lines.append(f"{row.nodes_total:>7,} {row.nodes:>7,}  {row.tag}" + (f"  ({most})" if most else ""))
    lines.insert(2, f"{'nodes':>7} {'own':>7}  tag")
    if output == "detailed":
        lines.append("")
        for node in node_rows(tags, pattern):
            merged = f" + {', '.join(node.origins)}" if len(node.origins) > 1 else ""
            lines.append(
                f"  {node.node}  {node.operator}  {node.tag}  [{node.via}: {node.scope or '.'}{merged}]"
            )
    return lines


def _coverage(tags: Tags) -> str:
    counted = tags.coverage
    if not counted.nodes:
        return "no nodes"
    shares = {"recorded": counted.traced, "inferred": counted.inferred, "unknown": counted.unknown}
    parts = ", ".join(f"{name} {units.share(share or 0, 1)}" for name, share in shares.items())
    return f"{counted.nodes:,} nodes: {parts} (source: {tags.source})"
