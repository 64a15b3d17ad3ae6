"""The report as JSON in pieces: layers are built, encoded and released a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.report.document.build_report import layers_of, report_around
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import LlmSummary

_LAYERS = 2_000
"""Layers per piece; about half a megabyte."""
_INDENT = 2


def report_pieces(
    analysis: Analysis,
    max_layers: int | None = None,
    pretty: bool = False,
    llm_summary: LlmSummary | None = None,
) -> Iterator[bytes]:
    """Yield ``build_report(…).to_json()`` and a line end in pieces, to limit memory use.

    ``llm_summary`` is included. ``pretty`` formats like ``to_json(2)``, with two spaces per level.
    """
    encoder = msgspec.json.Encoder()

    def text(value: object, levels: int) -> bytes:
        data = encoder.encode(value)
        if not pretty:
            return data
        # JSON text itself contains no line breaks.
        return msgspec.json.format(data, indent=_INDENT).replace(b"\n", _line(levels))

    with gc_paused():
        layers, omitted = layers_of(analysis, max_layers)
        report = replace(report_around(analysis, [], omitted), llm_summary=llm_summary)
    colon = b": " if pretty else b":"
    opening = b"{"
    for field in msgspec.structs.fields(Report):
        yield opening + (_line(1) if pretty else b"") + encoder.encode(field.encode_name) + colon
        opening = b","
        if field.name == "layers":
            yield from _list((text(layer, 2) for layer in layers), pretty)
        else:
            yield text(getattr(report, field.name), 1)
    yield (_line(0) if pretty else b"") + b"}\n"


def _list(items: Iterable[bytes], pretty: bool) -> Iterator[bytes]:
    """Yield a list on the second level, a few items per piece."""
    between = b"," + _line(2) if pretty else b","
    opening = b"[" + (_line(2) if pretty else b"")
    batch: list[bytes] = []
    has_items = False
    for item in items:
        batch.append(item)
        if len(batch) == _LAYERS:
            yield opening + between.join(batch)
            opening, batch, has_items = between, [], True
    if batch:
        yield opening + between.join(batch)
        has_items = True
    yield ((_line(1) if pretty else b"") if has_items else b"[") + b"]"


def _line(levels: int) -> bytes:
    return b"\n" + b" " * (_INDENT * levels)
