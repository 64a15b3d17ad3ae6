"""Select nodes that stay in float by name, module path or query."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from py_autodoc.errors import OptionError
from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload


def excluded_nodes(queries: Sequence[str], analysis: Analysis, prepared: onnx.ModelProto) -> list[str]:
    """Return the names of the selected nodes in the prepared model.

    Each text is tried as the name of a node or of its output, as a module path or tag with all its nodes,
    then as a query.

    Raises: OptionError: a text matches no node.
    """
    by_output = {out: node.name for node in prepared.graph.node for out in node.output}
    excluded_names: dict[str, None] = {}
    matcher: NodeMatcher | None = None
    for text in queries:
        numbers = _named(text, analysis)
        if not numbers:
            matcher = matcher or NodeMatcher(build_payload(analysis))
            numbers = matcher.find(text)
        tensors = (t for number in numbers for t in analysis.model.nodes[number].outputs if t >= 0)
        outputs = (analysis.model.tensors[t].name for t in tensors)
        names = [by_output[output] for output in outputs if output in by_output]
        if not names:
            raise OptionError(
                "no-such-node",
                f"--exclude {text[:80]!r} matches no node.",
                "Pass a node, a tensor, a module path such as encoder.layer.0, or a query such as 'op=Conv'.",
            )
        excluded_names.update(dict.fromkeys(names))
    return list(excluded_names)


def _named(text: str, analysis: Analysis) -> list[int]:
    model = analysis.model
    tensors = model.tensors
    exact = [
        node.id
        for node in model.nodes
        if node.graph == 0 and text in (node.name, *(tensors[t].name for t in node.outputs if t >= 0))
    ]
    if exact:
        return exact
    parts = tuple(text.replace("/", ".").strip(".").split("."))
    tag = text if text.startswith("/") else f"/{text}"
    return [
        node.id
        for node in model.nodes
        if ".".join(node.scope).split(".")[: len(parts)] == list(parts)
        or node.tag == tag
        or node.tag.startswith(f"{tag}/")
    ]
