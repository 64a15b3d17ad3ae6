"""Classes and training data named in the metadata of the file."""

from __future__ import annotations

from py_autodoc.report.schema import DatasetInfo
from py_autodoc.report.sections.section_model import (
    Block,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)
from py_autodoc.units import plural

MAX_ROWS = 100
SETTINGS = {
    "task": "Task", "imgsz": "Image size", "stride": "Stride", "batch": "Batch", "author": "Author",
    "date": "Date", "version": "Version", "license": "License", "description": "Description",
    "sample_rate": "Sample rate",
}  # fmt: skip
"""Keys written by Ultralytics and others, and their meaning."""


def section(context: SectionContext) -> Section | None:
    """Return what the file states about its data; None if nothing."""
    metadata, blocks = context.report.model.metadata, list[Block]()
    info = context.report.dataset or DatasetInfo()
    rows: list[tuple[Line, ...]] = []
    if info.task and "task" not in metadata:
        rows.append(((SETTINGS["task"],), (Name(info.task),)))
    rows += [((label,), (Name(metadata[key]),)) for key, label in SETTINGS.items() if metadata.get(key)]
    if info.trained_on:
        rows.append((("Trained on",), (Name(info.trained_on),)))
    rows += [((key,), (Name(value),)) for key, value in info.settings.items()]
    if rows:
        blocks.append(Table(("Metadata", "Value"), tuple(rows)))
    if info.class_names:
        names = info.class_names
        class_rows = tuple(
            ((Value(int(number)),), (Name(name),)) for number, name in list(names.items())[:MAX_ROWS]
        )
        omitted, title = max(0, len(names) - MAX_ROWS), plural(len(names), "class", "classes")
        blocks.append(Table(("Class", "Label"), class_rows, omitted, title))
        blocks.append(Paragraph(("Labels come from the metadata ", Name(info.source), ".")))
    return Section("labels", "Data and labels", tuple(blocks)) if blocks else None
