"""Parts of a model that a vendor's tools have compiled: ONNX Runtime's EPContext nodes.

Their operators and weights are inside a binary that only the named execution provider reads; what it was
compiled for stands in the attributes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.units import plural

COMPILED = frozenset({("com.microsoft", "EPContext")})
_PLAIN = re.compile(r"[\w .,:/\\()+-]+")
_MAX_TEXT = 80
_MAX_NAMES = 4


class CompiledParts(NamedTuple):
    """What the compiled parts of a model say of themselves."""

    target: str
    """Execution provider without the words of its class: ``QNN``; empty if none is named."""
    lines: tuple[str, ...]
    """Target with SDK and architecture, partitions, and where the binary is."""


def is_compiled(node: Node) -> bool:
    """True for a node whose operators and weights are in a binary."""
    return (node.domain, node.op_type) in COMPILED


def compiled_for(node: Node) -> str:
    """Return the target of a compiled node; ``an execution provider`` if it names none."""
    return _target(node) or "an execution provider"


def compiled_parts(model: Model) -> CompiledParts | None:
    """Return what the compiled nodes of a model say; None without any."""
    nodes = [node for node in model.nodes if is_compiled(node)]
    if not nodes:
        return None
    lines = []
    targets = Counter((_target(node), _text(node, "ep_sdk_version"), _text(node, "hardware_architecture"))
                      for node in nodes)  # fmt: skip
    for (target, version, architecture), count in targets.most_common(_MAX_NAMES):
        facts = [
            f"{plural(count, 'part')} compiled for {target or 'an execution provider'}",
            *([f"SDK {version}"] if version else []),
            *([f"architecture {architecture}"] if architecture else []),
        ]
        lines.append(", ".join(facts))
    names = [name for node in nodes if (name := _text(node, "partition_name"))]
    if names:
        more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
        lines.append(f"partitions: {', '.join(names[:_MAX_NAMES])}{more}")
    lines += _places(nodes)
    return CompiledParts(targets.most_common(1)[0][0][0], tuple(lines))


def _places(nodes: list[Node]) -> list[str]:
    """Return where the binary is: in the model, or in files beside it."""
    # A node that is not the main one uses the binary of the main node.
    main = [node for node in nodes if node.attributes.get("main_context", 1) != 0]
    inside = sum(node.attributes.get("embed_mode", 1) != 0 for node in main)
    files = dict.fromkeys(
        name
        for node in nodes
        if node.attributes.get("embed_mode", 1) == 0 and (name := _text(node, "ep_cache_context"))
    )
    places = [f"{plural(inside, 'binary', 'binaries')} inside the file"] if inside else []
    if files:
        places.append(f"binary in the file {', '.join(list(files)[:_MAX_NAMES])}")
    return places


def _target(node: Node) -> str:
    return _text(node, "source").removesuffix("ExecutionProvider")


def _text(node: Node, name: str) -> str:
    """Return a short printable attribute; empty for others."""
    value = node.attributes.get(name)
    text = value[:_MAX_TEXT] if isinstance(value, str) else ""
    return text if _PLAIN.fullmatch(text) else ""
