"""Result of tagging or exporting a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir

from py_autodoc.tags.model import TagCoverage, Tags


@dataclass(slots=True)
class TaggedModel:
    """A tagged model that was written."""

    path: Path
    """The model's file, or the folder of several models."""
    exporter: str
    tags: Tags
    sidecar: dict[str, Any]
    sidecar_path: Path | None
    model: ir.Model
    """The tagged model."""
    timings: dict[str, float] = field(default_factory=dict)
    """Stage → seconds."""
    warnings: list[str] = field(default_factory=list)
    """Notes about the tags for the user, one line each."""

    @property
    def coverage(self) -> TagCoverage:
        """Return node counts by how their module or layer is known."""
        return self.tags.coverage
