"""``onnx-autodoc extract``."""

from __future__ import annotations

import re

import click

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.options import force


@click.command("extract", short_help="Write one module, or some nodes, as a separate model.")
@click.argument("model", type=click.Path(path_type=str))
@click.argument("out", metavar="OUT.onnx", type=click.Path(path_type=str))
@click.option("--tag", metavar="PATH", help="A tag (/BertModel/BertEncoder/BertLayer.0) or a module's path.")
@click.option(
    "--call",
    metavar="N",
    type=click.IntRange(min=0),
    help="Call number, for a module that is called several times.",
)
@click.option(
    "--node", metavar="ID|NAME", multiple=True, help="Id of a node in the report, or its name. Repeatable."
)
@click.option(
    "--tensor", metavar="NAME", multiple=True, help="Include the node that produces it. Repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Print the contents of the sub-model as JSON.")
@force
def command(
    model: str,
    out: str,
    tag: str | None,
    call: int | None,
    node: tuple[str, ...],
    tensor: tuple[str, ...],
    as_json: bool,
    force: bool,
) -> None:
    """Write a module of MODEL, or some of its nodes, to OUT.onnx as a separate model.

    Its inputs are the tensors it uses from the rest of the model, its outputs the tensors that the rest
    uses. Its weights are included. For the same inputs it computes the same values as the full model.
    """
    from py_autodoc.errors import OptionError
    from py_autodoc.extract import extract

    if sum((tag is not None, bool(node), bool(tensor))) != 1:
        raise OptionError("nothing-selected", "Pass one of --tag, --node and --tensor.")
    nodes = [int(one) if re.fullmatch(r"-?[0-9]{1,18}", one) else one for one in node] or None
    result = extract(model, out, tag, call=call, nodes=nodes, outputs=tensor or None, force=force)
    subgraph = result.subgraph
    if as_json:
        facts = {**subgraph.to_dict(), "files": [path.name for path in result.paths]}
        stdout.as_json(facts | {"weight_bytes": result.weight_bytes})
        return
    size = sum(path.stat().st_size for path in result.paths)
    stderr.note(
        f"{' and '.join(path.name for path in result.paths)}: {len(subgraph.operations):,} nodes"
        f" (+ {len(subgraph.constants):,} for constants), {len(subgraph.external_inputs):,} inputs,"
        f" {len(subgraph.outputs):,} outputs, {size:,} bytes"
    )
    if not subgraph.convex:
        stderr.note("note: an input depends on an output, so the rest cannot run all before or all after it.")
    if subgraph.widened:
        stderr.note(
            f"note: included as a whole although only a part was requested: {', '.join(subgraph.widened)}."
        )
