"""``onnx-autodoc compare`` by structure: what is printed, written and failed on."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.verdict import tell_verdict
from py_autodoc.render.output import targets
from py_autodoc.render.text import shorten

if TYPE_CHECKING:
    from py_autodoc.compare.align import Alignment
    from py_autodoc.compare.gate import Condition
    from py_autodoc.render.output import Target
    from py_autodoc.report.analysis import Analysis

SAME, DIFFERENT, FAILS = 0, 1, 5
_PARTIAL = ("the comparison is partial", "See `analyze` for its diagnostics.")
_LONGEST = 200
PICTURES = ("--out-svg", "--out-png")
_SCALE = 2.0
"""Pixels of a PNG for one unit of the picture."""
_KINDS = {
    "--out-json": "report",
    "--out-md": "markdown",
    "--out-pdf": "pdf",
    "--out-svg": "svg",
    "--out-png": "png",
}


def compare(
    paths: Sequence[str],
    analyses: Sequence[Analysis],
    asked: Mapping[str, str | None],
    fail_on: Sequence[str],
    weights: bool,
    force: bool,
    direction: str = "auto",
) -> int:
    """Compare the first model with the others. Returns the exit status.

    ``asked`` are paths by option. Raises: OptionError, OutputError, RequirementError.
    """
    from py_autodoc.compare.gate import condition, failing

    conditions = [condition(text) for text in fail_on]
    outputs = targets({option: (asked.get(option), kind) for option, kind in _KINDS.items()}, paths, force)
    if "--out-pdf" in outputs:
        from py_autodoc.render.pdf import typst

        typst()
    if "--out-png" in outputs:
        from py_autodoc.render.png import resvg

        resvg()
    status = max(tell_verdict(p, one, True, _PARTIAL) for p, one in zip(paths, analyses, strict=True))
    found = _aligned(paths, analyses, weights)
    failed = failing(conditions, found)
    svg = ""
    if not outputs.keys().isdisjoint(PICTURES):
        from py_autodoc.compare.picture import picture

        svg = picture(found[0], direction=direction)
    for option, target in outputs.items():
        if option in PICTURES:
            drawn: str | bytes = svg
            if option == "--out-png":
                from py_autodoc.render.png import png_picture

                drawn = png_picture(svg, _SCALE)
            _tell(target, target.write(drawn))
            continue
        text = _document(option, analyses, found, failed, target.to_stdout)
        _tell(target, target.write(text))
    if not any(target.to_stdout for target in outputs.values()):
        from py_autodoc.compare.text import text as lines_of

        stdout.lines(lines_of(analyses, found))
    for one, at, why in failed:
        name = analyses[at + 1].model.file.name
        stderr.error(f"{shorten(name, _LONGEST)}: {one.text}: {why}.", "")
    if failed:
        return FAILS
    if conditions:
        return status
    return status or (SAME if all(one.same for one in found) else DIFFERENT)


def _tell(target: Target, written: int) -> None:
    if not target.to_stdout and sys.stderr.isatty():
        stderr.note(f"Wrote {target.shown} ({written:,} bytes).")


def _aligned(paths: Sequence[str], analyses: Sequence[Analysis], weights: bool) -> list[Alignment]:
    from py_autodoc.compare.align import align

    if not weights:
        return [align(analyses[0], other) for other in analyses[1:]]
    from py_autodoc.compare.weights import align_with_weights

    return [
        align_with_weights((analyses[0], paths[0]), (other, path))
        for other, path in zip(analyses[1:], paths[1:], strict=True)
    ]


def _document(
    option: str,
    analyses: Sequence[Analysis],
    found: Sequence[Alignment],
    failed: Sequence[tuple[Condition, int, str]],
    printed: bool,
) -> str | bytes:
    if option == "--out-json":
        from py_autodoc.compare.document import FailedCondition, comparison

        made = [
            FailedCondition(condition=one.text, model_path=analyses[at + 1].model.file.name, reason=why)
            for one, at, why in failed
        ]
        return comparison(analyses, found, made).to_json(printed) + "\n"
    told = [f"{analyses[at + 1].model.file.name}: {one.text}: {why}" for one, at, why in failed]
    if option == "--out-pdf":
        from py_autodoc.compare.pdf import pdf

        return pdf(analyses, found, told)
    from py_autodoc.compare.markdown import markdown
    from py_autodoc.outputs.marks import sealed_text

    text = markdown(analyses, found, told)
    return text if printed else sealed_text(text, "markdown")
