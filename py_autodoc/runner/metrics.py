"""Figures of results: built in, or from the entry point ``onnx_autodoc.metrics``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from inspect import Parameter, signature
from typing import Any

import numpy as np

from py_autodoc.errors import AutodocError, InputError, OptionError
from py_autodoc.verify.distance import Agreement, Distance

GROUP = "onnx_autodoc.metrics"
Results = Sequence[Sequence[np.ndarray[Any, Any]]]
"""For each sample, the outputs in the file's order."""


class MetricsCalculator(ABC):
    """Calculates figures of the results of all samples."""

    name = ""
    """Name for ``--metrics``."""

    @abstractmethod
    def calculate(
        self, outputs: Results, labels: Sequence[Any], reference: Results | None = None
    ) -> Mapping[str, float]:
        """Return the figures by name.

        Args:
            outputs: outputs of each sample.
            labels: label of each sample, or None.
            reference: results of the reference model; None without a reference. A calculator that does
                not need it may take the first two arguments only.
        """


class Raw(MetricsCalculator):
    """No figures, only times."""

    name = "raw"

    def calculate(
        self, outputs: Results, labels: Sequence[Any], reference: Results | None = None
    ) -> Mapping[str, float]:
        """Return no figures."""
        return {}


class TopK(MetricsCalculator):
    """Share of rows whose label is among the largest scores of the first output."""

    name = "topk"

    def calculate(
        self, outputs: Results, labels: Sequence[Any], reference: Results | None = None
    ) -> Mapping[str, float]:
        """Return ``top1``, ``top5`` (with more than 5 classes) and ``rows``. Raises: InputError."""
        if any(label is None for label in labels):
            raise InputError("no-labels", "Top-k needs labels.", "Add them to the data as an array 'labels'.")
        scores = np.concatenate([output[0].reshape(-1, output[0].shape[-1]) for output in outputs])
        expected = np.concatenate([np.asarray(label).reshape(-1) for label in labels])
        if len(scores) != len(expected):
            raise InputError("label-counts", f"{len(expected)} labels for {len(scores)} rows of scores.")
        order = np.argsort(-scores, axis=1, kind="stable")
        figures = {"top1": float((order[:, 0] == expected).mean())}
        if scores.shape[1] > 5:
            figures["top5"] = float((order[:, :5] == expected[:, None]).any(axis=1).mean())
        return {**figures, "rows": float(len(expected))}


class AgreementMetric(MetricsCalculator):
    """Share of rows of the first output whose largest score has the same index as in the reference."""

    name = "agreement"

    def calculate(
        self, outputs: Results, labels: Sequence[Any], reference: Results | None = None
    ) -> Mapping[str, float]:
        """Return ``agreement``; nothing without a reference."""
        agreement = Agreement()
        for actual, expected in zip(outputs, reference or (), strict=False):
            if actual[0].shape == expected[0].shape and actual[0].dtype.kind in "biuf":
                agreement.add(expected[0], actual[0])
        return {} if agreement.share is None else {"agreement": agreement.share}


class DistanceMetric(MetricsCalculator):
    """Difference between all float outputs and those of the reference."""

    name = "distance"

    def calculate(
        self, outputs: Results, labels: Sequence[Any], reference: Results | None = None
    ) -> Mapping[str, float]:
        """Return ``sqnr_db`` and ``cosine`` if they are known."""
        distance = Distance()
        for actual, expected in zip(outputs, reference or (), strict=False):
            for a, b in zip(expected, actual, strict=False):
                if a.shape == b.shape and a.dtype.kind == "f":
                    distance.add(a, b)
        figures = {"sqnr_db": distance.sqnr_db, "cosine": distance.cosine}
        return {name: value for name, value in figures.items() if value is not None}


BUILT_IN: tuple[type[MetricsCalculator], ...] = (Raw, TopK, AgreementMetric, DistanceMetric)


def calculator(name: str) -> MetricsCalculator:
    """Return the calculator of a name: built in, else an entry point. Raises: OptionError."""
    for metrics in BUILT_IN:
        if metrics.name == name:
            return metrics()
    plugins = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in plugins:
        names = ", ".join([*(kind.name for kind in BUILT_IN), *sorted(plugins)])
        raise OptionError("unknown-metrics", f"Unknown metrics {name[:80]!r}.", f"Choose one of {names}.")
    try:
        metrics = plugins[name].load()()
    except Exception as fault:
        raise OptionError(
            "bad-metrics",
            f"The metrics {name} cannot be loaded: {_line(fault)}",
            "Install the dependencies of their package.",
        ) from fault
    if not isinstance(metrics, MetricsCalculator):
        raise OptionError("bad-metrics", f"{name} is not a MetricsCalculator.", "Derive it from this class.")
    return metrics


def figures_of(
    calculator: MetricsCalculator, outputs: Results, labels: Sequence[Any], reference: Results | None
) -> dict[str, float]:
    """Return the figures of a calculator, possibly a plug-in, as plain numbers.

    Raises: InputError: it fails, or returns something else. Errors of this package are passed on.
    """
    try:
        arguments: list[Any] = [outputs, labels, reference][: _taken(calculator)]
        returned = calculator.calculate(*arguments)
    except AutodocError:
        raise
    except Exception as fault:
        raise InputError("bad-metrics", f"The metrics {calculator.name} failed: {_line(fault)}") from fault
    subject = f"The metrics {calculator.name} returned"
    if not isinstance(returned, Mapping):
        raise InputError("bad-metrics", f"{subject} a {type(returned).__name__} instead of figures by name.")
    figures = {}
    for name, value in returned.items():
        if not isinstance(name, str):
            raise InputError("bad-metrics", f"{subject} figures whose names are not text.")
        if not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
            raise InputError(
                "bad-metrics", f"{subject} {name[:80]} as a {type(value).__name__} instead of a number."
            )
        figures[name] = float(value)
    return figures


def _taken(calculator: MetricsCalculator) -> int:
    """Return 2 for a calculator that takes no reference, else 3."""
    try:
        taken = signature(calculator.calculate)
        taken.bind(None, None)
    except (TypeError, ValueError):  # it has no signature, or needs the third
        return 3
    kinds = [one.kind for one in taken.parameters.values()]
    positional = sum(kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)
    return 3 if positional > 2 or Parameter.VAR_POSITIONAL in kinds else 2


def _line(fault: Exception) -> str:
    """Return the message of an exception in one line."""
    text = str(fault).strip().splitlines()
    return (text[0][:200] if text else type(fault).__name__).rstrip(".") + "."
