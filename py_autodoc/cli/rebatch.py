"""``onnx-autodoc rebatch``."""

from __future__ import annotations

import click

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.options import force

_MAX_NOTES = 8


@click.command("rebatch", short_help="Change the fixed batch size of a model.")
@click.argument("model", type=click.Path(path_type=str))
@click.argument("out", metavar="OUT.onnx", type=click.Path(path_type=str))
@click.option(
    "--batch", metavar="N|NAME", required=True, help="New batch size, or a name (batch) for a symbolic one."
)
@click.option(
    "--axis",
    metavar="INPUT=AXIS",
    multiple=True,
    help="Batch axis of an input (default: inferred). Repeatable.",
)
@click.option("--same", metavar="INPUT", multiple=True, help="Input shared by all items. Repeatable.")
@click.option(
    "--from",
    "fixed",
    metavar="N",
    type=click.IntRange(min=1),
    help="Batch size in the file (default: 1, or the first dimension of all inputs and outputs).",
)
@click.option(
    "--bind", metavar="NAME=N", multiple=True, help="Set another symbolic dimension to a value. Repeatable."
)
@force
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def command(
    model: str,
    out: str,
    batch: str,
    axis: tuple[str, ...],
    same: tuple[str, ...],
    fixed: int | None,
    bind: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write MODEL, which has a fixed batch size, to OUT.onnx for another batch size, or a symbolic one.

    Item i of a result is what MODEL computes for item i alone. If a node would mix items, or has no rule,
    nothing is written and the node is named. Weights, metadata and tags are kept.
    """
    from py_autodoc.extract.rebatch import parse_axes, parse_batch, rebatch
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings

    result = rebatch(
        model,
        out,
        parse_batch(batch),
        axes=parse_axes(axis, same),
        fixed=fixed,
        bindings=parse_bindings(bind),
        force=force,
    )
    if as_json:
        stdout.as_json(result.to_dict())
        return
    size = sum(path.stat().st_size for path in result.paths)
    count = len(result.edits)
    changed = f"{count:,} edit{'s' * (count != 1)}" if count else "only declared shapes changed"
    names = " and ".join(path.name for path in result.paths)
    stderr.note(f"{names}: batch {result.batch} (the file had {result.fixed}), {changed}, {size:,} bytes")
    for name, number in result.inputs.items():
        if number:
            stderr.note(f"note: input {name}: the batch is axis {number}.")
    for name, output in result.outputs.items():
        if output is not None and output.entries_per_item > 1 and not output.ragged:
            stderr.note(
                f"note: output {name}: each item has {output.entries_per_item:,} entries "
                f"of axis {output.axis}."
            )
    for location, what in result.notes[:_MAX_NOTES]:
        stderr.note(f"note: {location}: {what}.")
    if len(result.notes) > _MAX_NOTES:
        stderr.note(f"note: {len(result.notes) - _MAX_NOTES:,} more with --json.")
