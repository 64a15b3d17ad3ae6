"""Names of classes compared with the outputs: as many labels as classes."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Diagnostic
from py_autodoc.identity.model import ModelPort
from py_autodoc.report.builders.dataset_section import dataset
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.units import plural

CODE = "labels-mismatch"
_RANKED, _MAPS = ("classification",), ("segmentation",)
_BOXES, _MASKS = (0, 1, 4, 5), 32
"""Columns of a raw detection head beside its classes: none, objectness, a box, both; and of its masks."""
_RAW = 8
"""A head with fewer columns lists finished boxes with the number of a class."""


def label_diagnostics(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """Return a warning if the number of labels differs from that of the classes in every output."""
    card = analysis.card
    if card is not None and card.labels:
        count, source = len(card.labels), card.source or "the options"
    else:
        info = dataset(analysis.model.metadata)
        count, source = (info.num_classes or 0, info.source) if info is not None else (0, "")
    if not count or analysis.contradiction is not None:
        return ()
    classes = _classes(analysis.identified.task.id, analysis.identified.outputs, count)
    if classes is None or count in classes:
        return ()
    has = " or ".join(f"{number:,}" for number in sorted(classes))
    message = f"{source} names {plural(count, 'class', 'classes')}, but the output has {has}."
    return (Diagnostic(CODE, "warning", message, where=analysis.identified.outputs[0].name),)


def _classes(task: str, outputs: Sequence[ModelPort], count: int) -> set[int] | None:
    """Return the numbers of classes that the outputs allow; None if they do not say."""
    first = outputs[0] if outputs else None
    if first is None or not first.shape:
        return None
    shape = first.shape
    if task.endswith(_RANKED):
        last = shape[-1]
        # One score, or one number of a class, is an answer between two, or among any.
        return {last} if isinstance(last, int) and last > 1 else None
    if task.endswith(_MAPS) and "instance" not in task and len(shape) == 4:
        sizes = {size for size in (shape[1], shape[3]) if isinstance(size, int) and size > 1}
        return {min(sizes)} if sizes and isinstance(shape[1], int) else None
    if "detection" in task and len(shape) == 3:
        ends = [size for size in shape[1:] if isinstance(size, int)]
        columns = min(ends, default=0)
        if columns < _RAW or len(ends) < 2:
            return None
        allowed = {columns - extra for extra in (*_BOXES, *(extra + _MASKS for extra in _BOXES))}
        return allowed if count in allowed else {columns - 4}
    return None
