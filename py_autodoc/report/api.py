"""The entry point of the library: ``analyze``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.document.report import Report

if TYPE_CHECKING:
    import onnx
    import onnx_ir


def analyze(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto | onnx_ir.Model,
    *,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    batch_size: int | None = None,
    resize: Mapping[str, Sequence[int]] | None = None,
    assume: bool = False,
    limits: Limits = LIBRARY,
    max_layers: int | None = None,
    thresholds: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    read_weights: bool = False,
    hash: bool = False,
    hardware: str | os.PathLike[str] | None = None,
    precision: str | None = None,
    runtime: str | None = None,
) -> Report:
    """Analyse a model: architecture, parameters, MACs, memory, findings.

    ``model`` is a path, serialized bytes, an ``onnx.ModelProto`` or an ``onnx_ir.Model``. Weights are
    read only with ``read_weights``, for the rules about their values, and with ``hash``, for the SHA-256 of
    the files (``report.model.sha256``).

    Dimensions: ``bindings`` has values of symbolic dimensions (``{"batch": 8}``, ``{"*": 1}`` for all
    others), ``input_shapes`` full shapes of inputs, and ``batch_size`` the batch. If the file has a fixed
    batch, the model is first rewritten for it, or an error names the node that prevents it. In the same way
    ``resize`` has full shapes of inputs with a fixed sequence length or resolution. With ``assume``,
    dimensions without a value get a typical one.

    ``max_layers`` keeps only the heaviest layers in the list; totals stay complete. ``thresholds`` is a
    threshold file or its content:
    ``hardware`` is the id of a hardware profile (``"l4"``) or the path of a profile file. Latency and memory
    are then estimated in ``precision`` (``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``int8``; None: the
    stored precision) with ``runtime`` (``tensorrt``, ``ort-cuda``, ``pytorch-eager``, ``torch-compile``,
    ``vendor``; None: the usual one of the device).

    Raises:
        InputError: the model cannot be read, is over a limit, or an option does not fit it.
    """
    from py_autodoc.findings.thresholds import settings
    from py_autodoc.report.document.build_report import build_report
    from py_autodoc.report.document.report_origin import Origin, attach_origin
    from py_autodoc.report.pipeline.analysis import Options, run_analysis

    options = Options(
        bindings=dict(bindings or {}),
        input_shapes=dict(input_shapes or {}),
        batch_size=batch_size,
        resize=dict(resize or {}),
        assume=assume,
        limits=limits,
        thresholds=None if thresholds is None else settings(thresholds),
        read_weights=read_weights,
        hash=hash,
        hardware="" if hardware is None else os.fspath(hardware),
        precision=precision or "",
        runtime=runtime or "",
    )
    analysis = run_analysis(model, options)
    report = build_report(analysis, max_layers)
    if isinstance(model, (str, os.PathLike)):
        attach_origin(report, Origin(options, path=os.path.abspath(os.fsdecode(model))))
    else:
        attach_origin(report, Origin(options, analysis=analysis))
    return report
