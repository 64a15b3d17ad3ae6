"""What a conversion gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir

from py_autodoc.tags import Coverage, Tags


@dataclass(slots=True)
class ConvertResult:
    """A converted model; the same as what ``py_autodoc.torch.export`` gives back, as far as both have it."""

    path: Path
    exporter: str
    """``keras``."""
    tags: Tags
    sidecar: dict[str, Any]
    sidecar_path: Path | None
    model: ir.Model
    source: dict[str, Any]
    """Name, form, version of Keras, class, parameters and their types of what was read."""
    timings: dict[str, float] = field(default_factory=dict)
    """Stage → seconds."""
    warnings: list[str] = field(default_factory=list)
    components: dict[str, Any] = field(default_factory=dict)
    """Always empty: one file."""
    carried: None = None
    """A file of Keras has no configuration of transformers to take along."""

    @property
    def coverage(self) -> Coverage:
        """Nodes by how their layer is known."""
        return self.tags.coverage
