"""Files that the viewer offers to save, built from a finished analysis."""

from __future__ import annotations

from py_autodoc.errors import OptionError
from py_autodoc.render.viewer_attachments import (
    AttachmentFile,
    available_metrics,
    model_explorer_data,
    netron_attachment,
)
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import SavedFile

HTML, NETRON, MODEL_EXPLORER = "html", "netron", "model-explorer"
FORMATS = (HTML, NETRON, MODEL_EXPLORER)


def saved_file(analysis: Analysis, format: str, metric: str = "") -> SavedFile:
    """Return the model as ``html`` (one page), or its numbers for ``netron`` or ``model-explorer``.

    ``metric`` is shown by Model Explorer; the default is ``macs``.

    Raises:
        OptionError: unknown format or metric.
        RequirementError: this installation does not include the viewer.
    """
    if format == HTML:
        from py_autodoc.render.html import html_page

        return SavedFile(text=html_page(analysis), media_type="text/html", extension=".html")
    if format == NETRON:
        return _numbers(netron_attachment(analysis), ".netron.json")
    if format == MODEL_EXPLORER:
        chosen = metric or "macs"
        if chosen not in available_metrics(analysis):
            names = ", ".join(available_metrics(analysis))
            raise OptionError(
                "no-such-number", f"Model Explorer data has no {chosen[:40]}.", f"Choose one of {names}."
            )
        return _numbers(model_explorer_data(analysis, chosen), ".model-explorer.json")
    hint = f"Choose one of {', '.join(FORMATS)}."
    raise OptionError("no-such-format", f"Unknown format {format[:40]!r}.", hint)


def _numbers(attachment: AttachmentFile, extension: str) -> SavedFile:
    return SavedFile(
        text=attachment.text,
        media_type="application/json",
        extension=extension,
        unnamed=attachment.nodes - attachment.named,
    )
