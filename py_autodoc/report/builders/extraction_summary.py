"""The result of an extraction in wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema import Extracted

if TYPE_CHECKING:
    from py_autodoc.extract import Extraction

MAX_NAMES = 100
MAX_NAME = 200


def summarise_extraction(extraction: Extraction, size: int, path: str = "") -> Extracted:
    """Return counts and names for display; ``path`` as the user knows it, ``size`` in bytes."""
    subgraph = extraction.subgraph
    return Extracted(
        path=path,
        nodes=len(subgraph.operations) + len(subgraph.constants),
        inputs=[shorten_middle(name, MAX_NAME) for name in subgraph.external_inputs[:MAX_NAMES]],
        input_count=len(subgraph.external_inputs),
        outputs=[shorten_middle(name, MAX_NAME) for name in subgraph.outputs[:MAX_NAMES]],
        output_count=len(subgraph.outputs),
        widened=len(subgraph.widened),
        convex=subgraph.convex,
        bytes=size,
    )
