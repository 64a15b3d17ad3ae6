"""Reports and comparisons as PDF, typeset by typst: tagged (PDF/UA-1) and reproducible.

Texts of the model are passed as JSON and never parsed as markup. Typst can read only our templates, which
import no package, so nothing is downloaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import AnalysisError, AutodocError
from py_autodoc.optional_packages import optional_module
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
"""Fixed creation time, for reproducible files."""
MARK = b"\n% Written by onnx-autodoc\n"
"""A comment at the end that identifies PDFs written by this program."""
MAX_CHARACTERS = 2_000
"""Maximum number of characters of one text."""
_TRIES = 16
"""Compilations, each without the characters that the one before could not show."""
_NO_GLYPH = re.compile(r'the text `"(.{1,200}?)"` could not be displayed')
_ESCAPED = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")
"""A character beyond the basic plane, as ``json.dumps`` writes it."""
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"')
_MAX_TEXT_WIDTH, _MAX_WIDTH = 16, 60
"""Columns up to the first number of characters are as wide as their text; the second is the maximum."""
ASPECT = 1.35
"""Aspect ratio of the graph: a landscape page."""


def pdf(
    context: SectionContext, analysis: Analysis | None = None, plots: Mapping[str, str] | None = None
) -> bytes:
    """Return the report as PDF.

    With ``analysis``, the graph is drawn on its own page. ``plots`` maps figure names to SVG.

    Raises:
        RequirementError: typst is not installed.
        AnalysisError: typst failed.
    """
    compiler = typst()
    pictures = dict(plots or {})
    if analysis is not None:
        drawn = _graph(analysis)
        if drawn is not None:
            pictures["graph"] = drawn
    report = context.report
    all_sections = sections(context)
    return _set(
        compiler,
        report.model.name or "Model",
        report.identity.text if report.identity else "",
        tiles(all_sections),
        all_sections,
        pictures,
        "The graph, as initially shown in the viewer",
    )


def document(
    title: str,
    subtitle: str,
    tiles: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    pictures: Mapping[str, str],
    caption: str,
) -> bytes:
    """Return titled sections as PDF.

    ``tiles`` are labels and numbers at the top. ``pictures`` maps figure names to SVG; ``graph`` is drawn on
    its own page, with ``caption``.

    Raises:
        RequirementError: typst is not installed.
        AnalysisError: typst failed.
    """
    return _set(typst(), title, subtitle, tiles, sections, pictures, caption)


def _set(
    compiler: ModuleType,
    title: str,
    subtitle: str,
    tiles: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    pictures: Mapping[str, str],
    caption: str,
) -> bytes:
    data = {
        "title": _one_line(title),
        "subtitle": _one_line(subtitle),
        "tiles": tiles,
        "sections": [
            {
                "id": section.id,
                "title": _one_line(section.title),
                "blocks": [
                    _block(block)
                    for block in section.blocks
                    # The graph has its own page, at the end.
                    if not isinstance(block, Figure) or (block.name in pictures and block.name != "graph")
                ],
            }
            for section in sections
        ],
        "graph": _page(pictures.get("graph"), caption),
    }
    return compile_typst(compiler, template(), {"data": json.dumps(data), **pictures})


def compile_typst(compiler: ModuleType, source: str, inputs: Mapping[str, str]) -> bytes:
    """Compile a source with texts that it reads as ``sys.inputs``. Raises: AnalysisError.

    Characters that no font has become question marks: an accessible PDF must not contain them.
    """
    texts = dict(inputs)
    with resources.as_file(_templates()) as folder:
        for _ in range(_TRIES):
            try:
                data: bytes = compiler.compile(
                    source.encode("utf-8"),
                    # Only our templates can be read; no packages are available.
                    root=str(folder),
                    sys_inputs=texts,
                    format="pdf",
                    pdf_standards=["ua-1"],
                    timestamp=TIMESTAMP,
                    package_path=str(folder / "none"),
                    package_cache_path=str(folder / "none"),
                )
            except (RuntimeError, ValueError, OSError) as fault:
                said = str(fault).strip()
                changed = _without_glyphs(texts, said)
                if changed != texts:
                    texts = changed
                    continue
                break
            return data + MARK
    first = (said.splitlines() or ["no reason given"])[0]
    raise AnalysisError("pdf-failed", f"The PDF could not be created: {first[:200]}.", "")


def _without_glyphs(texts: Mapping[str, str], said: str) -> dict[str, str]:
    """Return the texts without the characters that an error says no font has."""
    named = _NO_GLYPH.search(said)
    if named is None:
        return dict(texts)
    missing = {character for character in named[1] if not character.isascii()}
    # Each try takes seconds: pictures like the named one, which no text font has, go at once.
    missing |= {character for text in texts.values() for character in _decoded(text) if character > "\uffff"}
    replaced = dict(texts)
    for character in missing:
        for form in (character, json.dumps(character)[1:-1]):
            replaced = {name: text.replace(form, "?") for name, text in replaced.items()}
    return replaced


def _decoded(text: str) -> str:
    """Return a text with the characters that JSON escapes."""
    return _ESCAPED.sub(lambda found: str(json.loads(f'"{found[0]}"')), text)


def typst() -> ModuleType:
    """Return the typst module. Raises: RequirementError with the pip command as hint."""
    return optional_module("typst", "typst", "needs-typst", "PDF needs", "pip install 'onnx-autodoc[pdf]'")


def template() -> str:
    """Return the template of the report."""
    return _templates().joinpath("report.typ").read_text("utf-8")


def _templates() -> Traversable:
    return resources.files("py_autodoc.render").joinpath("templates")


def _graph(analysis: Analysis) -> str | None:
    """Return the graph laid out in rows; None if it cannot be drawn, which the command reports elsewhere."""
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
    """Return, by column, 0 for the width of its text, else its share of the remaining width."""
    texts = [
        [text, *("".join(t for _, t in _cells(row[index])) for row in block.rows)]
        for index, text in enumerate(block.head)
    ]
    longest = [max(map(len, column)) for column in texts]
    return [
        0 if right or most <= _MAX_TEXT_WIDTH else min(_MAX_WIDTH, most)
        for right, most in zip(block.numeric, longest, strict=True)
    ]


def _block(block: Block) -> dict[str, Any]:
    kind = {"kind": type(block).__name__}
    if isinstance(block, Paragraph):
        return kind | {"title": _one_line(block.title), "line": _cells(block.line)}
    if isinstance(block, Items):
        return kind | {"title": _one_line(block.title), "lines": [_cells(line) for line in block.lines]}
    if isinstance(block, Table):
        return kind | {
            "title": _one_line(block.title),
            "head": [_one_line(text) for text in block.head],
            "rows": [[_cells(line) for line in row] for row in block.rows],
            "numeric": list(block.numeric),
            "widths": _widths(block),
            "more": block.more_text,
        }
    if isinstance(block, Diagram):
        stages = [[_one_line(stage.title), _one_line(stage.detail)] for stage in block.around]
        return kind | {"stages": stages, "caption": block.caption}
    return kind | {"file": block.name, "caption": block.caption}


def _cells(line: tuple[Cell, ...]) -> list[tuple[str, str]]:
    """Return kind and text of each cell."""
    cells = []
    for cell in line:
        if isinstance(cell, Value):
            cells.append(("value", cell.text))
        elif isinstance(cell, Name):
            cells.append(("name", _one_line(cell.text) or "—"))
        else:
            cells.append(("text", _one_line(cell)))
    return cells


def _one_line(text: str) -> str:
    """Return text on one line, without control characters."""
    return shorten(printable(text), MAX_CHARACTERS)
