"""Intermediate graphs between PyTorch and ONNX as text, for debugging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from py_autodoc.errors import AnalysisError
from py_autodoc.torch.dynamo import quiet
from py_autodoc.torch.export_errors import as_sentence
from py_autodoc.torch.inputs import ModelInputs


def jit_graph(model: Any, example: Any) -> str:
    """Return the inlined TorchScript graph of one call. Raises: AnalysisError ``dump-failed``."""
    inputs = ModelInputs.of(example)
    try:
        if not isinstance(model, torch.nn.Module):
            raise TypeError("a program has no trace")
        with torch.no_grad(), quiet():
            trace: Callable[..., Any] = torch.jit.trace
            if inputs.args:
                traced = trace(model, (*inputs.args, *inputs.kwargs.values()), strict=False)
            else:
                traced = trace(model, example_kwarg_inputs=inputs.kwargs, strict=False)
        return str(traced.inlined_graph)
    except Exception as fault:
        raise AnalysisError(
            "dump-failed",
            f"The model has no TorchScript graph: {as_sentence(fault)}",
            "Omit --jit-graph.",
        ) from fault


def fx_graph(model: Any, example: Any, exported: Any) -> str:
    """Return the graph of ``torch.export``: that of the export if there was one, else a new one.

    Raises:
        AnalysisError: ``dump-failed``.
    """
    program = model if isinstance(model, torch.export.ExportedProgram) else None
    program = program or getattr(exported, "exported_program", None)
    try:
        if program is None:
            inputs = ModelInputs.of(example)
            with torch.no_grad(), quiet():
                program = torch.export.export(model, inputs.args, inputs.kwargs or None)
        return f"{program.graph}\n\n{program.graph_signature}\n"
    except Exception as fault:
        raise AnalysisError(
            "dump-failed", f"The model has no torch.export graph: {as_sentence(fault)}", "Omit --fx-graph."
        ) from fault
