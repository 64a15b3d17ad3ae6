"""Reports and comparisons as PDF, set by typst: tagged (PDF/UA-1), the same bytes for the same report.

Texts of the model go in as JSON and are never read as markup. Typst may read our templates and nothing else,
and the template imports no package, so that nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import import_module, resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import AnalysisError, AutodocError, RequirementError
from py_autodoc.render.svg import svg_picture
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.sections import sections
from py_autodoc.report.sections.section_document import tiles
from py_autodoc.report.sections.section_model import (
    Block,
    Cell,
    Diagram,
    Figure,
    Items,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)
from py_autodoc.report.viewer_payload.build_payload import build_payload

if TYPE_CHECKING:
    from importlib.abc import Traversable

TIMESTAMP = 0
"""What stands for the time of creation: reports do not change with it."""
MARK = b"\n% Written by onnx-autodoc\n"
"""A comment at the end, by which a PDF of ours is known again."""
LONGEST = 2_000
"""Characters of one text."""
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"')
_NARROW, _WIDE = 16, 60
"""Characters up to which a column is as wide as its text, and from which it gets no wider."""
ASPECT = 1.35
"""Width by height of the picture: a page in landscape."""


def pdf(
    context: SectionContext, analysis: Analysis | None = None, plots: Mapping[str, str] | None = None
) -> bytes:
    """The report as the bytes of a PDF.

    With ``analysis``, the graph is drawn on a page of its own. ``plots`` are figures as SVG, by name.

    Raises:
        RequirementError: typst is not installed.
        AnalysisError: it could not set the report.
    """
    compiler = typst()
    pictures = dict(plots or {})
    if analysis is not None:
        drawn = _graph(analysis)
        if drawn is not None:
            pictures["graph"] = drawn
    report = context.report
    made = sections(context)
    return _set(
        compiler,
        report.model.name or "Model",
        report.identity.text if report.identity else "",
        tiles(made),
        made,
        pictures,
        "The graph, opened as the viewer opens it",
    )


def document(
    title: str,
    subtitle: str,
    tiles: Sequence[tuple[str, str]],
    made: Sequence[Section],
    pictures: Mapping[str, str],
    caption: str,
) -> bytes:
    """Sections under a title as the bytes of a PDF.

    ``tiles`` are labels and numbers at the top. ``pictures`` are figures as SVG, by name; ``graph`` gets a
    page of its own, with ``caption``.

    Raises:
        RequirementError: typst is not installed.
        AnalysisError: it could not set the sections.
    """
    return _set(typst(), title, subtitle, tiles, made, pictures, caption)


def _set(
    compiler: ModuleType,
    title: str,
    subtitle: str,
    tiles: Sequence[tuple[str, str]],
    made: Sequence[Section],
    pictures: Mapping[str, str],
    caption: str,
) -> bytes:
    data = {
        "title": _plain(title),
        "subtitle": _plain(subtitle),
        "tiles": tiles,
        "sections": [
            {
                "id": section.id,
                "title": _plain(section.title),
                "blocks": [
                    _block(block)
                    for block in section.blocks
                    # The graph has a page of its own, at the end.
                    if not isinstance(block, Figure) or (block.name in pictures and block.name != "graph")
                ],
            }
            for section in made
        ],
        "graph": _page(pictures.get("graph"), caption),
    }
    return compiled(compiler, template(), {"data": json.dumps(data), **pictures})


def compiled(compiler: ModuleType, source: str, inputs: Mapping[str, str]) -> bytes:
    """What typst makes of a source and texts that it reads as ``sys.inputs``. Raises: AnalysisError."""
    with resources.as_file(_templates()) as folder:
        try:
            found: bytes = compiler.compile(
                source.encode("utf-8"),
                # Nothing but our own templates can be read, and no package is found.
                root=str(folder),
                sys_inputs=dict(inputs),
                format="pdf",
                pdf_standards=["ua-1"],
                timestamp=TIMESTAMP,
                package_path=str(folder / "none"),
                package_cache_path=str(folder / "none"),
            )
        except (RuntimeError, ValueError, OSError) as fault:
            first = (str(fault).strip().splitlines() or ["no reason given"])[0]
            raise AnalysisError("pdf-failed", f"The PDF could not be set: {first[:200]}.", "") from None
    return found + MARK


def typst() -> ModuleType:
    """The library that sets. Raises: RequirementError, whose hint is the pip command."""
    try:
        return import_module("typst")
    except ImportError:
        raise RequirementError(
            "needs-typst", "PDF needs typst, which is not installed.", "pip install 'onnx-autodoc[pdf]'"
        ) from None


def template() -> str:
    """The source of the report."""
    return _templates().joinpath("report.typ").read_text("utf-8")


def _templates() -> Traversable:
    return resources.files("py_autodoc.render").joinpath("templates")


def _graph(analysis: Analysis) -> str | None:
    """The graph in rows; None where it cannot be drawn, which the command tells with the card's picture."""
    try:
        return svg_picture(build_payload(analysis), direction="wrapped", aspect=ASPECT)
    except AutodocError:
        return None


def _page(svg: str | None, caption: str) -> dict[str, Any]:
    size = _SIZE.search(svg or "")
    return {
        "file": "graph" if svg else "",
        "wide": size is not None and float(size[1]) > float(size[2]),
        "caption": caption,
    }


def _widths(block: Table) -> list[int]:
    """By column: 0 as wide as its text, else its share of the rest."""
    texts = [
        [text, *("".join(t for _, t in _cells(row[at])) for row in block.rows)]
        for at, text in enumerate(block.head)
    ]
    longest = [max(map(len, column)) for column in texts]
    return [
        0 if right or most <= _NARROW else min(_WIDE, most)
        for right, most in zip(block.numeric, longest, strict=True)
    ]


def _block(block: Block) -> dict[str, Any]:
    kind = {"kind": type(block).__name__}
    if isinstance(block, Paragraph):
        return kind | {"title": _plain(block.title), "line": _cells(block.line)}
    if isinstance(block, Items):
        return kind | {"title": _plain(block.title), "lines": [_cells(line) for line in block.lines]}
    if isinstance(block, Table):
        return kind | {
            "title": _plain(block.title),
            "head": [_plain(text) for text in block.head],
            "rows": [[_cells(line) for line in row] for row in block.rows],
            "numeric": list(block.numeric),
            "widths": _widths(block),
            "more": block.more_text,
        }
    if isinstance(block, Diagram):
        shown = [[_plain(one.title), _plain(one.detail)] for one in block.around]
        return kind | {"stages": shown, "caption": block.caption}
    return kind | {"file": block.name, "caption": block.caption}


def _cells(line: tuple[Cell, ...]) -> list[tuple[str, str]]:
    """Kind and text of each cell."""
    found = []
    for cell in line:
        if isinstance(cell, Value):
            found.append(("value", cell.text))
        elif isinstance(cell, Name):
            found.append(("name", _plain(cell.text) or "—"))
        else:
            found.append(("text", _plain(cell)))
    return found


def _plain(text: str) -> str:
    """Text on one line, without what steers."""
    return shorten(printable(text), LONGEST)
