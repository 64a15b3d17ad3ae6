"""``onnx-autodoc to-torch``."""

from __future__ import annotations

import click

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.options import force
from py_autodoc.units import plural


@click.command("to-torch", short_help="Write a model as readable PyTorch source and its weights.")
@click.argument("model", type=click.Path(path_type=str))
@click.argument("out", metavar="OUT.py", type=click.Path(path_type=str), required=False)
@click.option(
    "--weights",
    type=click.Choice(["safetensors", "npz"]),
    help="Format of the weights next to OUT.py (default: safetensors if installed).",
)
@click.option("--list", "listing", is_flag=True, help="Only list unsupported operators.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary, or the list, as JSON.")
@force
def command(
    model: str, out: str | None, weights: str | None, listing: bool, as_json: bool, force: bool
) -> int:
    """Write MODEL as PyTorch source to OUT.py, with its weights in a file next to it.

    The file has a class for each named module of the model, and load(), which returns the model with its
    weights. It only needs PyTorch, and computes the same results
    as the model.

    \b
    Exit status: 0 if written, or with --list if every operator is supported; otherwise 1, and nothing is
    written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    from py_autodoc.errors import OptionError

    if listing:
        return _list(model, as_json)
    if out is None:
        raise OptionError("nothing-to-write", "Pass the Python file to write, or --list.")
    from py_autodoc.to_torch import NotCoveredError, write
    from py_autodoc.to_torch.convert import table

    try:
        result = write(model, out, weights=weights, force=force)
    except NotCoveredError as left:
        if as_json:
            stdout.as_json([operator.to_dict() for operator in left.uncovered])
        else:
            for line in table(left.uncovered):
                stderr.note(line)
        raise
    if as_json:
        stdout.as_json(result.to_dict())
        return 0
    names = " and ".join(path.name for path in result.paths)
    parts = [
        plural(result.nodes, "node") + " as " + plural(len(result.classes), "class", "classes"),
        plural(result.modules, "module"),
        plural(result.weights, "weight"),
        plural(result.weight_bytes, "byte"),
    ]
    stderr.note(f"{names}: {', '.join(parts)}")
    return 0


def _list(model: str, as_json: bool) -> int:
    """Print the unsupported operators."""
    from py_autodoc.to_torch import uncovered
    from py_autodoc.to_torch.convert import table

    operators = uncovered(model)
    if as_json:
        stdout.as_json([operator.to_dict() for operator in operators])
    else:
        stdout.lines(table(operators) or ["Every operator is covered."])
    return int(bool(operators))
