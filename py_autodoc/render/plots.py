"""Plots of a report, drawn by matplotlib."""

from __future__ import annotations

from py_autodoc.errors import RequirementError
from py_autodoc.report.sections.model import Context

FILES: tuple[str, ...] = ()


def plots(context: Context) -> dict[str, tuple[str, bytes]]:
    """Figure → file name and data."""
    raise RequirementError(
        "needs-matplotlib",
        "Plots need matplotlib, which is not installed.",
        "pip install 'onnx-autodoc[plots]'",
    )
