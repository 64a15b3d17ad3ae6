"""The scores that GLUE asks of classifiers: accuracy, F1 and the correlation of Matthews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError
from py_autodoc.runner import MetricsCalculator


class GlueMetrics(MetricsCalculator):
    """Scores of classes in the first output, against a label of each row."""

    name = "glue"

    def calculate(
        self,
        outputs: Sequence[Sequence[np.ndarray]],
        labels: Sequence[Any],
        reference: Sequence[Sequence[np.ndarray]] | None,
    ) -> Mapping[str, float]:
        """``accuracy``, ``f1`` (of class 1 where there are two, else the mean) and ``mcc``."""
        if any(one is None for one in labels):
            raise InputError(
                "no-labels", "The scores of GLUE need labels.", "Give a 'label' beside each text."
            )
        scores = np.concatenate([one[0].reshape(-1, one[0].shape[-1]) for one in outputs])
        wanted = np.concatenate([np.asarray(one).reshape(-1) for one in labels])
        classes = scores.shape[1]
        if len(scores) != len(wanted):
            raise InputError("label-counts", f"{len(wanted)} labels for {len(scores)} rows of scores.")
        if not np.isin(wanted, np.arange(classes)).all():
            raise InputError("bad-label", f"The labels are not all classes from 0 to {classes - 1}.")
        table = np.zeros((classes, classes))
        np.add.at(table, (wanted.astype(int), scores.argmax(axis=1)), 1)
        f1 = f1_of_classes(table)
        return {
            "accuracy": float(np.trace(table) / table.sum()),
            "f1": float(np.nan_to_num(f1[1]) if classes == 2 else np.nanmean(f1)),
            "mcc": matthews(table),
        }


def f1_of_classes(table: np.ndarray) -> np.ndarray:
    """F1 of each class, NaN where a class is neither there nor found. Rows of the table are labels."""
    both = table.sum(axis=0) + table.sum(axis=1)
    return np.divide(2 * np.diag(table), both, out=np.full(len(table), np.nan), where=both > 0)


def matthews(table: np.ndarray) -> float:
    """The correlation of labels and answers; 0 where one of them is always the same."""
    count, right = table.sum(), np.trace(table)
    labels, answers = table.sum(axis=1), table.sum(axis=0)
    below = np.sqrt((count**2 - answers @ answers) * (count**2 - labels @ labels))
    return float((count * right - labels @ answers) / below) if below else 0.0
