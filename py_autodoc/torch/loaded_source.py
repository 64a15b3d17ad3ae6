"""A source after loading, and what every kind of source needs for it."""

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
    """As ``py_autodoc.torch.export`` takes it."""
    facts: dict[str, Any]
    """Kind and name of the source, class, numbers; for the report."""
    output_names: list[str] | None = None
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the user should know and need not mend."""
    folder: str | None = None
    """Where its configuration and processor are: a folder, or an id of the hub."""


def reject_transformers_options(wanted: InputOptions, kind: str) -> None:
    """Raises: OptionError when an option is given that only models of transformers understand."""
    asked = {
        "--batch-size": wanted.batch,
        "--sequence-length": wanted.sequence,
        "--input-text": wanted.text,
        "--random-weights": wanted.random_weights or None,
    }
    for option, value in asked.items():
        if value is not None:
            raise OptionError(
                "option-for-transformers",
                f"{option} is for Hugging Face folders, not for {kind}.",
                "Use --input-shape or --inputs.",
            )


def facts_of(model: Any) -> dict[str, Any]:
    """Class, number of parameters (shared ones once) and types of the weights."""
    parameters = list(model.parameters())
    kinds = sorted({str(one.dtype).removeprefix("torch.") for one in parameters})
    return {
        "class": type(model).__name__,
        "parameters": sum(one.numel() for one in parameters),
        "weight_types": kinds,
    }
