"""What stands at the end of every way to a tagged file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir

from py_autodoc.tags.model import TagCoverage, Tags


@dataclass(slots=True)
class TaggedModel:
    """A model with tags that was written."""

    path: Path
    """The model's file, or the folder of several."""
    exporter: str
    tags: Tags
    sidecar: dict[str, Any]
    sidecar_path: Path | None
    model: ir.Model
    """The tagged model."""
    timings: dict[str, float] = field(default_factory=dict)
    """Stage → seconds."""
    warnings: list[str] = field(default_factory=list)
    """What the reader must know about the tags, one line each."""

    @property
    def coverage(self) -> TagCoverage:
        """Nodes by how their module or layer is known."""
        return self.tags.coverage
