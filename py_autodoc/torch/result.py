"""Result of an export, and the request passed between exporters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.hf.write import EmbeddedMetadata
from py_autodoc.tags.export_stages import ExportProgress
from py_autodoc.tags.result import TaggedModel
from py_autodoc.torch.inputs import Dynamic, ModelInputs


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export, and how."""

    model: Any
    inputs: ModelInputs
    path: Path
    dynamic: Dynamic = None
    opset: int | None = None
    input_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None
    keep: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    external_data: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options passed on to the exporter."""
    stage: ExportProgress = lambda stage, share: None
    sources: Sequence[PathLike] = ()
    """Files and folders that the model was read from, which are never overwritten."""
    force: bool = False


@dataclass(slots=True)
class ExportResult(TaggedModel):
    """An exported model. For several components, ``path`` is their common folder.

    After the TorchScript exporter, the weights of ``model`` are references to the file.
    """

    components: dict[str, ExportResult] = field(default_factory=dict)
    """For an export of several models (prefill, decode, …): name → its result."""
    exported: Any = None
    """Result object of the exporter: an ``ONNXProgram``, an ``ExportedModel`` of transformers, or None."""

    carried: EmbeddedMetadata | None = None
    """Embedded metadata of a transformers model; None for other models."""
