"""A PyTorch module as the reference: compares the results of its submodules."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from py_autodoc.errors import AnalysisError
from py_autodoc.ort import one_line
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import InputSpec, Sample
from py_autodoc.verify.capture import CapturedTensors, TensorRequest
from py_autodoc.verify.references import (
    Array,
    ReferencePoint,
    ReferencePoints,
    ReferenceRun,
    expected_tolerance,
)

_RESULT = "\0result"
"""Keys of the module's own results are pairs (this, position)."""


class ModuleReference:
    """A PyTorch module, run in evaluation mode on the device of its parameters.

    Args:
        module: the module that was exported.
        specs: inputs of the model. They are passed by name if ``forward`` has these parameters, else by
            position.
    """

    def __init__(self, module: Any, specs: Sequence[InputSpec]) -> None:
        self.name = type(module).__name__
        self._module, self._specs = module, list(specs)
        self._folded: list[str] = []
        """Normalizations without a node in the model: they are part of the weights before them."""

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """Return one point for each submodule with a single result, and the outputs in order.

        A node belongs to the module whose path the exporter recorded.
        """
        points = ReferencePoints()
        modules = {name for name, _ in self._module.named_modules() if name}
        self._folded = _folded(self._module, model)
        for path, tensors in _module_results(model).items():
            if path not in modules:
                continue
            if len(tensors) != 1:
                points.skipped["modules with several results"] += 1
                continue
            tensor = model.model.tensors[tensors[0]]
            request = TensorRequest(tensor.name)
            if captured.has(request):
                points.layers.append(
                    ReferencePoint(path, request, tensor.producer, (tensor.producer,), reference_name=path)
                )
        points.outputs = [
            (name, f"result {position}", (_RESULT, position))
            for position, name in enumerate(captured.outputs)
        ]
        return points

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Return a run that records the results of these modules with forward hooks."""
        return _ModuleRun(self._module, list(keys), self._specs, self._folded)

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """Return the tolerance of the model's lowest precision."""
        return expected_tolerance([model])


@dataclass(frozen=True, slots=True)
class _ModuleRun:
    module: Any
    keys: list[Any]
    specs: list[InputSpec]
    folded: list[str]

    def values(self, sample: Sample, index: int) -> Iterator[Array]:
        torch: Any = import_module("torch")
        results: dict[Any, Array] = {}
        modules = dict(self.module.named_modules())
        hooks = []
        calls: Counter[str] = Counter()
        recorded = dict[int, tuple[str, Any]]()
        for path in (key for key in self.keys if isinstance(key, str)):
            hooks.append(modules[path].register_forward_hook(_recorder(path, results, calls, recorded)))
        for path in self.folded:
            hooks.append(modules[path].register_forward_hook(_continuing(results, recorded)))
        training = self.module.training
        device = next((parameter.device for parameter in self.module.parameters()), torch.device("cpu"))
        try:
            self.module.eval()
            inputs = {spec.name: torch.from_numpy(sample[spec.name].copy()).to(device) for spec in self.specs}
            parameters = inspect.signature(self.module.forward).parameters
            with torch.inference_mode():
                by_name = all(name in parameters for name in inputs)
                result = self.module(**inputs) if by_name else self.module(*inputs.values())
        except Exception as fault:
            raise AnalysisError(
                "reference-failed", f"{type(self.module).__name__} failed on a sample: {one_line(fault)}"
            ) from fault
        finally:
            for hook in hooks:
                hook.remove()
            self.module.train(training)
        results.update({(_RESULT, position): array for position, array in enumerate(_tensors(result))})
        missing = [key for key in self.keys if key not in results and not isinstance(key, str)]
        if missing:
            raise AnalysisError(
                "reference-outputs",
                f"{type(self.module).__name__} returns fewer tensors than the model has outputs.",
            )
        # A module that was not called exactly once has no result to compare: an empty array of another shape.
        return iter([results.get(key, np.zeros((0, 2))) for key in self.keys])


def _folded(module: Any, analysis: Analysis) -> list[str]:
    """Return the paths of batch normalizations that no node of the model belongs to."""
    present = {
        ".".join(node.scope[:depth])
        for node in analysis.model.nodes
        for depth in range(1, len(node.scope) + 1)
    }
    return [
        path
        for path, one in module.named_modules()
        if path and path not in present and getattr(one, "running_var", None) is not None
    ]


def _continuing(results: dict[Any, Array], recorded: dict[int, tuple[str, Any]]) -> Any:
    """Return a forward hook of a folded module: its result is that of the module whose result it reads."""

    def record(_module: Any, args: Any, result: Any) -> None:
        path, _ = recorded.get(id(args[0]), ("", None)) if args else ("", None)
        if path in results:
            results[path] = next(_tensors(result))
            recorded[id(result)] = path, result

    return record


def _recorder(
    path: str, results: dict[Any, Array], calls: Counter[str], recorded: dict[int, tuple[str, Any]]
) -> Any:
    """Return a forward hook that stores the first tensor of a module which is called once.

    ``recorded`` gets the path by the identity of the result, which it keeps alive.
    """

    def record(_module: Any, _args: Any, result: Any) -> None:
        recorded[id(result)] = path, result
        calls[path] += 1
        tensors = list(_tensors(result))
        if calls[path] == 1 and tensors:
            results[path] = tensors[0]
        else:
            results.pop(path, None)

    return record


def _tensors(result: Any) -> Iterator[Array]:
    """Yield all tensors of a nested result, in order. bfloat16 becomes float32: NumPy does not have it."""
    torch: Any = import_module("torch")
    if isinstance(result, torch.Tensor):
        tensor = result.detach().cpu()
        yield (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    elif isinstance(result, Mapping):
        for item in result.values():
            yield from _tensors(item)
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from _tensors(item)


def _module_results(analysis: Analysis) -> dict[str, list[int]]:
    """Map the path of each module to the tensors that it computes and that are used outside of it."""
    model = analysis.model
    outputs = set(model.graphs[0].outputs)
    results: dict[str, list[int]] = {}
    for number in model.graphs[0].nodes:
        scope = model.nodes[number].scope
        for tensor in (output for output in model.nodes[number].outputs if output >= 0):
            consumers = [model.nodes[node].scope for node in model.tensors[tensor].consumers]
            for depth in range(1, len(scope) + 1):
                if tensor in outputs or any(other[:depth] != scope[:depth] for other in consumers):
                    results.setdefault(".".join(scope[:depth]), []).append(tensor)
    return results
