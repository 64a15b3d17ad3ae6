"""A loaded source, and helpers for all kinds of sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.torch.input_options import InputOptions

PIP = 'pip install "onnx-autodoc[export]"'
"""Command that installs the packages an export needs."""


@dataclass(slots=True)
class LoadedSource:
    """A model with its example inputs."""

    model: Any
    """A ``torch.nn.Module`` or a program of ``torch.export``."""
    example: Any
    """Example inputs in a format that ``py_autodoc.torch.export`` accepts."""
    facts: dict[str, Any]
    """Kind and name of the source, class and parameter count, for the report."""
    output_names: list[str] | None = None
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Messages for the user that need no action."""
    folder: str | None = None
    """Source of its configuration and processor: a folder or a hub id."""


def reject_transformers_options(options: InputOptions, kind: str) -> None:
    """Raise an OptionError if an option is given that only transformers models support."""
    given_options = {
        "--batch-size": options.batch,
        "--sequence-length": options.sequence,
        "--input-text": options.text,
        "--random-weights": options.random_weights or None,
    }
    for option, value in given_options.items():
        if value is not None:
            raise OptionError(
                "option-for-transformers",
                f"{option} is for Hugging Face folders, not for {kind}.",
                "Use --input-shape or --inputs.",
            )


def facts_of(model: Any) -> dict[str, Any]:
    """Return the class, the number of parameters (shared ones once) and the types of the weights."""
    parameters = list(model.parameters())
    kinds = sorted({str(parameter.dtype).removeprefix("torch.") for parameter in parameters})
    return {
        "class": type(model).__name__,
        "parameters": sum(parameter.numel() for parameter in parameters),
        "weight_types": kinds,
    }
