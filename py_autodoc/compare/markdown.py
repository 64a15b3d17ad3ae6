"""A comparison as Markdown. Names from the models are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.impact import Evaluations
from py_autodoc.compare.sections import sections, title
from py_autodoc.render.markdown_text import picture, pictures
from py_autodoc.render.terminal_text import printable
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.sections.section_model import Block, Figure, Items, Line, Paragraph, Table

_MAX_TEXT = 600
"""Maximum number of characters of a text; cells are shorter."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#!|~&@$]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def markdown(
    analyses: Sequence[Analysis],
    alignments: Sequence[Alignment],
    failed: Sequence[str] = (),
    evaluations: Evaluations = (),
    figures: Mapping[str, str] | None = None,
) -> str:
    """Return the comparison of the first model with the others.

    ``figures`` maps plots to image paths, as in ``render.markdown.card``.
    """
    images = pictures(figures or {})
    lines = [f"# {_escaped(title(analyses))}", ""]
    for section in sections(analyses, alignments, failed, evaluations):
        if section.id == "failed":
            lines += [f"**{section.title}:**", ""]
        elif len(alignments) > 1 or not section.id.startswith("pair"):
            lines += [f"## {_escaped(section.title)}", ""]
        for block in section.blocks:
            if isinstance(block, Figure):
                lines += [picture(images[block.name], block.caption), ""] if block.name in images else []
            else:
                lines += [*_block(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield (f"**{block.title}:** " if block.title else "") + _text(block.line)
    elif isinstance(block, Items):
        yield from (f"- {_text(line)}" for line in block.lines)
    elif isinstance(block, Table):
        yield "| " + " | ".join(map(_escaped, block.head)) + " |"
        yield "|" + " --- |" * len(block.head)
        yield from ("| " + " | ".join(map(_text, row)) + " |" for row in block.rows)
        if block.more:
            yield ""
            yield f"{block.more:,} more rows are in the JSON file."


def _text(line: Line) -> str:
    return "".join(_escaped(cell if isinstance(cell, str) else cell.text) for cell in line)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", printable(shorten_middle(text, _MAX_TEXT)))
