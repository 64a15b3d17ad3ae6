"""What an export gives back, and what the front doors hand to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir

from py_autodoc.hf.write import Gathered
from py_autodoc.tags.model import Coverage, Tags
from py_autodoc.tags.stages import Progress
from py_autodoc.torch.inputs import Dynamic, Inputs


@dataclass(frozen=True, slots=True)
class Request:
    """What to export, and how."""

    model: Any
    inputs: Inputs
    path: Path
    dynamic: Dynamic = None
    opset: int | None = None
    input_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None
    keep: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    external_data: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the exporter itself, handed on."""
    stage: Progress = lambda stage, share: None


@dataclass(slots=True)
class ExportResult:
    """An exported model."""

    path: Path
    """The model's file, or the folder of several."""
    exporter: str
    tags: Tags
    sidecar: dict[str, Any]
    sidecar_path: Path | None
    model: ir.Model
    """The tagged model. After the TorchScript exporter its weights are references to the file."""
    timings: dict[str, float] = field(default_factory=dict)
    """Stage → seconds."""
    warnings: list[str] = field(default_factory=list)
    """What the reader must know about the tags, one line each."""
    components: dict[str, ExportResult] = field(default_factory=dict)
    """For an export of several models (prefill, decode …): name → its result."""
    exported: Any = None
    """The exporter's own result: an ``ONNXProgram``, an ``ExportedModel`` of transformers, or None."""

    carried: Gathered | None = None
    """What a model of transformers took along; None for any other."""

    @property
    def coverage(self) -> Coverage:
        """Nodes by how their module is known."""
        return self.tags.coverage
