"""A module of PyTorch as a model: exported once, kept by reference, written to a file when it is read."""

from __future__ import annotations

import contextlib
import logging
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from py_autodoc.errors import InputError, RequirementError

_QUIET = ("torch.onnx", "torch._subclasses", "torch.export", "torch._dynamo", "torch.fx")


class Exported:
    """What the exporter made. Its weights are the module's own, not copies."""

    def __init__(self, program: Any, name: str) -> None:
        self._program = program
        self._name = name

    @contextlib.contextmanager
    def file(self) -> Iterator[str]:
        """Path of the model in a folder of its own, which is removed afterwards."""
        with tempfile.TemporaryDirectory(prefix="onnx-autodoc-") as folder:
            path = Path(folder, f"{self._name}.onnx")
            self._program.save(path)
            yield str(path)


def is_module(model: Any) -> bool:
    """Whether it is an ``nn.Module``; nothing is imported to tell."""
    return any(
        base.__module__.startswith("torch.nn.") and base.__name__ == "Module" for base in type(model).__mro__
    )


def export_module(module: Any, inputs: Any, dynamic_shapes: Any = None) -> Exported:
    """Export a module with its hierarchy, as it is in evaluation.

    ``inputs`` are example inputs: one tensor, a tuple of positional or a dict of named ones.

    Raises:
        RequirementError: torch or onnxscript is missing.
        InputError: the module cannot be exported, or not with these inputs.
    """
    args, kwargs = _arguments(inputs)
    training = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with _quiet():
            program = _export(module, args, kwargs, dynamic_shapes)
    except ImportError as fault:
        raise RequirementError(
            "needs-torch",
            f"Exporting a module needs {fault.name or 'torch'}, which is not installed.",
            "pip install 'onnx-autodoc[export]'",
        ) from None
    except Exception as fault:  # whatever the module's own code and the exporter raise
        raise InputError(
            "export-failed",
            f"{type(module).__name__} could not be exported: {_reason(fault)}",
            "Check the example inputs, or export it yourself and give the file.",
        ) from fault
    finally:
        for part, mode in training.items():
            part.training = mode
    return Exported(program, re.sub(r"\W+", "_", type(module).__name__)[:80] or "model")


def _export(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any) -> Any:
    import onnxscript  # noqa: F401 - the exporter needs it, and says so in many lines
    import torch

    return torch.onnx.export(
        module, args, kwargs=kwargs or None, dynamo=True, verbose=False, dynamic_shapes=dynamic_shapes
    )


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)), {}


def _reason(fault: BaseException) -> str:
    """The first line of the innermost cause, where the fault itself is."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    line = (str(fault).strip().splitlines() or [""])[0].strip()
    return f"{line or type(fault).__name__}"[:300]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What goes wrong is told by the exception; the exporter's running commentary is left out."""
    loggers = [logging.getLogger(name) for name in _QUIET]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
