"""Classes and training data that the metadata of the file names."""

from __future__ import annotations

import re

from py_autodoc.report.sections.model import Block, Context, Name, Paragraph, Section, Table, Value

MOST = 100
SETTINGS = {
    "task": "Task", "imgsz": "Image size", "stride": "Stride", "batch": "Batch", "author": "Author",
    "date": "Date", "version": "Version", "license": "License", "description": "Description",
    "sample_rate": "Sample rate",
}  # fmt: skip
"""Keys that Ultralytics and others write, and what they mean."""
_TRAINED = re.compile(r"trained on ([\w./ -]{1,120})", re.IGNORECASE)


def section(context: Context) -> Section | None:
    """What the file says of its data; None where it says nothing."""
    metadata, blocks = context.report.model.metadata, list[Block]()
    rows = [((label,), (Name(metadata[key]),)) for key, label in SETTINGS.items() if metadata.get(key)]
    trained = _TRAINED.search(metadata.get("description", ""))
    if trained:
        rows.append((("Trained on",), (Name(trained[1].strip()),)))
    rows += [((key,), (Name(value),)) for key, value in context.config.items()]
    if rows:
        blocks.append(Table(("Metadata", "Value"), tuple(rows)))
    if context.labels is not None and context.labels.names:
        names = context.labels.names
        shown = tuple(((Value(number),), (Name(name),)) for number, name in sorted(names.items())[:MOST])
        more = max(0, len(names) - MOST)
        title = f"{len(names):,} classes"
        blocks.append(Table(("Class", "Label"), shown, more, title))
        blocks.append(Paragraph(("Labels are what the file claims under ", Name(context.labels.source), ".")))
    return Section("labels", "Data and labels", tuple(blocks)) if blocks else None
