"""``torch.onnx.export`` based on ``torch.export``: the default exporter, and the reference for the graph."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import onnx_ir as ir
import torch

from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.tags.assign import assign
from py_autodoc.tags.model import Tags
from py_autodoc.tags.naming import Namer
from py_autodoc.torch.control_flow_modules import Branches, recording
from py_autodoc.torch.fx import FxEvidence, classes_in
from py_autodoc.torch.inputs import dynamic_shapes
from py_autodoc.torch.older_opsets import convert, exported_opset
from py_autodoc.torch.result import ExportRequest
from py_autodoc.torch.scopes import namer_of, watching

NO_CALLS = "This version of torch keeps no FX nodes: several calls of one module are not distinguished."


@dataclass(slots=True)
class DynamoExport:
    """One exported graph with its tags, not written to a file yet."""

    model: ir.Model
    tags: Tags
    module: Any
    """The exported model or component."""
    ran: set[str]
    """Modules that ran during tracing."""
    warnings: list[str] = field(default_factory=list)
    program: Any = None


def export_dynamo(request: ExportRequest, named: torch.nn.Module | None = None) -> DynamoExport:
    """Export and tag in memory. For a program, ``named`` is the module it was made from.

    Raises whatever torch raises.
    """
    model, inputs = request.model, request.inputs
    module = model if isinstance(model, torch.nn.Module) else None
    options: dict[str, Any] = {"verbose": False, **request.options}
    if module is not None:
        shapes = dynamic_shapes(module, inputs, request.input_names, request.dynamic)
        options.update(kwargs=inputs.kwargs or None, dynamic_shapes=shapes)
    # Without no_grad, type promotion of some models fails in torch.export.
    with torch.no_grad(), quiet(), watching(module) as ran, recording(module) as branches:
        program = torch.onnx.export(
            model,
            inputs.args if module is not None else (),
            dynamo=True,
            opset_version=exported_opset(request.opset),
            input_names=request.input_names,
            output_names=request.output_names,
            **options,
        )
    if program is None:
        raise RuntimeError("torch.onnx.export gave no program")
    with quiet():
        convert(program.model, request.opset)
    request.stage("tag", 0.9)
    return tagged(
        program.model, module or named, program.exported_program, request.keep, ran, program, branches
    )


def tagged(
    model: ir.Model,
    module: torch.nn.Module | None,
    program: torch.export.ExportedProgram | None,
    keep: tuple[str, ...],
    ran: set[str],
    exported: Any,
    branches: Branches | None = None,
) -> DynamoExport:
    """Determine the tags of a new export without writing them into the model."""
    # Garbage collection of torch's leftover objects would take longer than the tags.
    with gc_paused():
        return _tagged(model, module, program, keep, ran, exported, branches)


def _tagged(
    model: ir.Model,
    module: torch.nn.Module | None,
    program: torch.export.ExportedProgram | None,
    keep: tuple[str, ...],
    ran: set[str],
    exported: Any,
    branches: Branches | None,
) -> DynamoExport:
    if module is not None:
        namer = namer_of(module, keep)
    else:
        namer = Namer(classes_in(program.graph) if program is not None else {}, keep=keep)
    parameters = None
    if program is not None:
        signature = program.graph_signature
        parameters = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    evidence = FxEvidence(model, namer, parameters, branches)
    tags = assign(model, namer, evidence, "dynamo")
    return DynamoExport(model, tags, module, ran, [] if evidence.has_graph else [NO_CALLS], exported)


_TALKERS = ("onnxscript", "torch.onnx", "torch.utils._pytree", "torchao", "transformers")
_TRACERS = ("torch.export", "torch.export._trace", "torch._export", "torch._subclasses.fake_tensor")
"""Loggers of tracing, which log the traceback of a failure that they raise as well."""


@contextmanager
def quiet(*more: str) -> Iterator[None]:
    """Suppress messages meant for developers of the exporters: warnings, logs below errors, output on stdout.

    Errors that tracing logs are suppressed too: they reach the caller as exceptions.

    ``more`` names additional loggers.
    """
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), quiet_loggers(*more):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def quiet_loggers(*more: str) -> Iterator[None]:
    """Suppress only the logs: what a user's own code prints while it builds a model is for the user."""
    minimums = dict.fromkeys((*_TALKERS, *more), logging.ERROR) | dict.fromkeys(_TRACERS, logging.CRITICAL)
    levels = {name: logging.getLogger(name).level for name in minimums}
    for name, level in minimums.items():
        logging.getLogger(name).setLevel(level)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
