"""Documents of a model from Python: Markdown, PDF, plots."""

from __future__ import annotations

from typing import Any

from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.sections.section_model import SectionContext


def to_markdown(source: Any, *, max_layers: int | None = None) -> str:
    """Return the model card of a report, or of a model, as Markdown.

    Args:
        source: a report of ``analyze``, with its dimensions and device; or a model, as ``analyze`` takes it.
        max_layers: layers that tables list at most.

    Raises:
        InputError: the model cannot be read.
    """
    from py_autodoc.render.markdown import card

    report, _ = _opened(source)
    return card(SectionContext(report, max_layers))


def to_pdf(source: Any, *, max_layers: int | None = None) -> bytes:
    """Return the report as PDF; of a model, with its graph on a page. Arguments as in ``to_markdown``.

    Raises:
        InputError: the model cannot be read.
        RequirementError: typst is missing (``onnx-autodoc[pdf]``).
    """
    from py_autodoc.render.pdf import pdf

    report, analysis = _opened(source)
    return pdf(SectionContext(report, max_layers), analysis)


def plots(source: Any) -> dict[str, bytes]:
    """Return the plots of a report or a model: file name (``depth.svg``, ``depth-dark.png``, …) → its bytes.

    Plots without numbers are left out, of a report also ``roofline``, which needs the model.

    ``source`` is as in ``to_markdown``.

    Raises:
        InputError: the model cannot be read.
        RequirementError: matplotlib is missing (``onnx-autodoc[plots]``).
    """
    from py_autodoc.render.plots import plots as drawn

    report, analysis = _opened(source)
    return dict(drawn(report, analysis).values())


def _opened(source: Any) -> tuple[Report, Analysis | None]:
    """Return the report, and the analysis if a model was given."""
    if isinstance(source, Report):
        return source, None
    analysis = run_analysis(source, Options())
    return build_report(analysis), analysis
