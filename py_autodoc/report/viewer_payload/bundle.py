"""The complete data of one model for the viewer, for use without a server.

The notebook widget and the one-file page contain it. Stack traces are omitted: they contain paths of the
machine that exported the model.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import msgspec

from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.report.builders.node_details import module_origin, node_facts, operator_info
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import (
    AttributeInfo,
    Bundle,
    BundleNode,
    GraphPayload,
    OperatorDoc,
    Plans,
    ReportDocument,
)
from py_autodoc.report.viewer_payload.build_payload import build_payload

MAX_DETAILS = 20_000
"""Larger models (in nodes) are stored without attributes and constants; the viewer says so."""
GZIP_LEVEL = 6
"""Level 9 takes three times as long without making columns of numbers smaller."""


def build_bundle(
    analysis: Analysis,
    payload: GraphPayload | None = None,
    document: ReportDocument | None = None,
    serving: Plans | None = None,
) -> bytes:
    """Return the bundle of a model as gzipped JSON; the same model gives the same bytes.

    ``payload`` is that of ``analysis``, if already built. ``document`` is its report as texts and ``serving``
    text generation on its device; pages include both.
    """
    with gc_paused():  # many objects, none of them garbage
        bundle = _bundle(analysis, build_payload(analysis) if payload is None else payload)
        bundle = msgspec.structs.replace(bundle, document=document, serving=serving)
        return gzip.compress(msgspec.json.encode(bundle), GZIP_LEVEL, mtime=0)


def _bundle(analysis: Analysis, payload: GraphPayload) -> Bundle:
    model = analysis.model
    operators: dict[tuple[str, str, int], int] = {}
    pool: list[OperatorDoc] = []
    descriptions: list[dict[str, str]] = []
    nodes: dict[str, BundleNode] = {}
    for number in _nodes_with_details(analysis):
        facts = node_facts(analysis.loaded, model, analysis.types, number)
        index = None
        if facts.documented is not None:
            key = (facts.documented.domain, facts.documented.type, facts.documented.since_version)
            index = operators.setdefault(key, len(pool))
            if index == len(pool):
                pool.append(operator_info(facts.documented))
                descriptions.append({})
            descriptions[index].update({a.name: a.description for a in facts.attributes if a.description})
        nodes[str(number)] = BundleNode(
            operator=index,
            attributes=[_without_description(a) for a in facts.attributes],
            constants=facts.constants,
            tag=shorten_middle(model.nodes[number].tag),
            doc_string=facts.doc_string,
            metadata=facts.metadata,
            module=module_origin(model.nodes[number]),
        )
    return Bundle(
        version=2,
        payload=payload,
        operators=pool,
        descriptions=descriptions,
        nodes=nodes,
    )


def _without_description(attribute: AttributeInfo) -> AttributeInfo:
    """Remove the description, which is stored once, with the operator."""
    return msgspec.structs.replace(attribute, description="") if attribute.description else attribute


def _nodes_with_details(analysis: Analysis) -> Iterator[int]:
    nodes = [node.id for node in analysis.model.nodes if not node.is_constant]
    return iter(nodes if len(nodes) <= MAX_DETAILS else [])
