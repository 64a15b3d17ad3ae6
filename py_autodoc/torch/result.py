"""What an export gives back, and what the front doors hand to each other."""

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
    """Options of the exporter itself, handed on."""
    stage: ExportProgress = lambda stage, share: None
    sources: Sequence[PathLike] = ()
    """Files and folders that the model was read from, which are never written over."""
    force: bool = False


@dataclass(slots=True)
class ExportResult(TaggedModel):
    """An exported model; several share the folder that is their path.

    After the TorchScript exporter the weights of ``model`` are references to the file.
    """

    components: dict[str, ExportResult] = field(default_factory=dict)
    """For an export of several models (prefill, decode …): name → its result."""
    exported: Any = None
    """The exporter's own result: an ``ONNXProgram``, an ``ExportedModel`` of transformers, or None."""

    carried: EmbeddedMetadata | None = None
    """What a model of transformers took along; None for any other."""
