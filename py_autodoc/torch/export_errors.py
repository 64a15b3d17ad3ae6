"""Export failures as one line that names the error and a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from py_autodoc.errors import AnalysisError, AutodocError
from py_autodoc.torch.inputs import ModelInputs

_LINE = 300


def first_line(fault: BaseException) -> str:
    """Return the first non-empty line of a message, with the type of the exception."""
    lines = (line.strip() for line in str(fault).splitlines())
    text = next((line for line in lines if line), "")
    kind = type(fault).__name__
    return f"{kind}: {text}"[:_LINE] if text else kind


def as_sentence(fault: BaseException) -> str:
    """Return ``first_line`` with a full stop, so that another sentence can follow."""
    line = first_line(fault)
    return line if line.endswith((".", "!", "?")) else f"{line}."


def root_cause(fault: BaseException) -> BaseException:
    """Return the exception at the start of the chain."""
    visited: set[int] = set()
    while id(fault) not in visited:
        visited.add(id(fault))
        below = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
        if below is None:
            break
        fault = below
    return fault


@contextmanager
def translate_errors(model: object, inputs: ModelInputs) -> Iterator[None]:
    """Convert exceptions of the model or the exporter to an AnalysisError.

    Raises:
        AnalysisError: ``export-forward`` if the model fails on the inputs without an exporter,
            ``export-failed`` if only the export fails.
    """
    try:
        yield
    except (AutodocError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as fault:
        _forward_alone(model, inputs)
        raise AnalysisError(
            "export-failed",
            f"The exporter cannot export this model: {first_line(root_cause(fault))}",
            "Try another exporter (dynamo, torchscript, hf) or another opset.",
        ) from fault


def _forward_alone(model: object, inputs: ModelInputs) -> None:
    """Call the model as the exporter did, so that an error of the model itself is reported as such."""
    if not isinstance(model, torch.nn.Module):
        return
    try:
        with torch.no_grad():
            model(*inputs.args, **inputs.kwargs)
    except Exception as fault:
        raise AnalysisError(
            "export-forward",
            f"The model fails on these inputs: {first_line(fault)}",
            "Check the inputs' names, shapes and types.",
        ) from fault
