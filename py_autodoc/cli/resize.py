"""``onnx-autodoc resize``."""

from __future__ import annotations

import click

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.options import force

_MAX_NOTES = 8


@click.command("resize", short_help="Change the fixed sequence length or resolution of a model.")
@click.argument("model", type=click.Path(path_type=str))
@click.argument("out", metavar="OUT.onnx", type=click.Path(path_type=str))
@click.option(
    "--input-shape",
    metavar="NAME=1x3x320x320",
    multiple=True,
    required=True,
    help="Full shape of an input; other inputs keep theirs. Repeatable.",
)
@click.option("--bind", metavar="NAME=N", multiple=True, help="Value for a symbolic dimension. Repeatable.")
@force
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def command(
    model: str, out: str, input_shape: tuple[str, ...], bind: tuple[str, ...], force: bool, as_json: bool
) -> None:
    """Write MODEL, which has fixed dimensions, to OUT.onnx for other input shapes.

    Operators and weights stay the same; constants that encode old dimensions are rewritten, and stored tables
    along a sequence are cut to their first entries. If a table would have to grow, covers an image, or a
    constant is ambiguous, nothing is written and the node is named.
    """
    from py_autodoc.extract.resize import resize
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes

    result = resize(model, out, parse_input_shapes(input_shape), bindings=parse_bindings(bind), force=force)
    if as_json:
        stdout.as_json(result.to_dict())
        return
    size = sum(path.stat().st_size for path in result.paths)
    count = len(result.edits)
    changed = f"{count:,} edit{'s' * (count != 1)}" if count else "only declared shapes changed"
    stderr.note(f"{' and '.join(path.name for path in result.paths)}: {changed}, {size:,} bytes")
    for name, shape in result.inputs.items():
        if shape != result.fixed[name]:
            stderr.note(f"note: input {name}: {_shape(shape)} (the file had {_shape(result.fixed[name])}).")
    for name, shape in result.outputs.items():
        stderr.note(f"note: output {name}: {_shape(shape)}.")
    for location, what in result.notes[:_MAX_NOTES]:
        stderr.note(f"note: {location}: {what}.")
    if len(result.notes) > _MAX_NOTES:
        stderr.note(f"note: {len(result.notes) - _MAX_NOTES:,} more with --json.")


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
