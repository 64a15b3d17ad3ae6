"""Export in memory: the weights are shared with the module, and nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.tags import model_files
from py_autodoc.tags.naming import KEEP
from py_autodoc.tags.tag_storage import write_tags
from py_autodoc.torch.dynamo import DynamoExport, export_dynamo
from py_autodoc.torch.export_errors import translate_errors
from py_autodoc.torch.inputs import Dynamic, ModelInputs
from py_autodoc.torch.result import ExportRequest
from py_autodoc.torch.scopes import evaluating


def export_in_memory(
    model: torch.nn.Module, example_inputs: Any, *, dynamic: Dynamic = None, keep: Sequence[str] = KEEP
) -> DynamoExport:
    """Export a module with ``torch.onnx.export`` and tag it.

    The arguments are those of ``export``. The module is exported in evaluation mode, and its mode is
    restored.

    Raises:
        OptionError: the inputs are invalid.
        AnalysisError: ``export-forward``, ``export-failed``.
    """
    inputs = ModelInputs.of(example_inputs)
    request = ExportRequest(model, inputs, Path(), dynamic, keep=tuple(keep))
    with evaluating(model), translate_errors(model, inputs):
        exported = export_dynamo(request)
    write_tags(exported.model, exported.tags)
    return exported


def save(exported: DynamoExport, path: PathLike) -> None:
    """Save a result of ``export_in_memory``, with external weights from 1.5 GiB on. Raises: OutputError."""
    model_files.save(exported.model, path)
