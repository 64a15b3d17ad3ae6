"""A PyTorch module as a model: exported once, kept by reference, written to a file when read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from py_autodoc.errors import RequirementError
from py_autodoc.outputs import scratch


class ExportedModule:
    """Result of the exporter. Its weights are shared with the module."""

    def __init__(self, done: Any, name: str) -> None:
        self._done = done
        self._name = name

    @contextlib.contextmanager
    def file(self) -> Iterator[str]:
        """Yield the path of the model in a temporary folder."""
        from py_autodoc.torch.inmemory import save

        with scratch() as folder:
            path = folder / f"{self._name}.onnx"
            save(self._done, path)
            yield str(path)


def is_module(model: Any) -> bool:
    """True for an ``nn.Module``. Does not import torch."""
    return any(
        base.__module__.startswith("torch.nn.") and base.__name__ == "Module" for base in type(model).__mro__
    )


def export_module(module: Any, inputs: Any, dynamic_shapes: Any = None) -> ExportedModule:
    """Export a module with its hierarchy, in evaluation mode.

    ``inputs`` are example inputs: one tensor, a tuple of positional or a dict of named ones.

    Raises:
        RequirementError: torch or onnxscript is missing.
        OptionError: the inputs are invalid.
        AnalysisError: the module cannot be exported, or not with these inputs.
    """
    try:
        done = _export(module, inputs, dynamic_shapes)
    except ImportError as error:
        raise RequirementError(
            "needs-torch",
            f"Exporting a module needs {error.name or 'torch'}, which is not installed.",
            "pip install 'onnx-autodoc[export]'",
        ) from None
    return ExportedModule(done, re.sub(r"\W+", "_", type(module).__name__)[:80] or "model")


def _export(module: Any, inputs: Any, dynamic_shapes: Any) -> Any:
    import onnxscript  # noqa: F401 - the exporter needs it, and says so in many lines

    from py_autodoc.torch.inmemory import export_in_memory

    return export_in_memory(module, inputs, dynamic=dynamic_shapes)
