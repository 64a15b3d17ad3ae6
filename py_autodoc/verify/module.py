"""A PyTorch module as the reference: what its submodules return, by the modules that the nodes come from."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from py_autodoc.errors import AnalysisError
from py_autodoc.ort import one_line
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import InputSpec, Sample
from py_autodoc.verify.capture import CapturedTensors, Scaled
from py_autodoc.verify.references import Array, ReferencePoint, ReferencePoints, ReferenceRun, expected

_RESULT = "\0result"
"""Key of the module's own results: (this, place)."""


class ModuleReference:
    """A module in evaluation mode, on the device where it is.

    Args:
        module: what was exported.
        specs: inputs of the model: arguments by name where ``forward`` has these names, else by place.
    """

    def __init__(self, module: Any, specs: Sequence[InputSpec]) -> None:
        self.name = type(module).__name__
        self._module, self._specs = module, list(specs)

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """One a module from which a single tensor leaves; and the outputs in their order."""
        found = ReferencePoints()
        modules = {name for name, _ in self._module.named_modules() if name}
        for path, numbers in _leaving(model).items():
            if path not in modules:
                continue
            if len(numbers) != 1:
                found.missed["several results of one module"] += 1
                continue
            tensor = model.model.tensors[numbers[0]]
            if captured.has(Scaled(tensor.name)):
                found.layers.append(
                    ReferencePoint(path, Scaled(tensor.name), tensor.producer, (tensor.producer,), shown=path)
                )
        found.outputs = [(name, f"result {at}", (_RESULT, at)) for at, name in enumerate(captured.outputs)]
        return found

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Ready to run the module with hooks."""
        return _ModuleRun(self._module, list(keys), self._specs)

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """By the model's numbers."""
        return expected([model])


@dataclass(frozen=True, slots=True)
class _ModuleRun:
    module: Any
    keys: list[Any]
    specs: list[InputSpec]

    def values(self, sample: Sample, at: int) -> Iterator[Array]:
        torch: Any = import_module("torch")
        got: dict[Any, Array] = {}
        named = dict(self.module.named_modules())
        hooks = []
        calls: Counter[str] = Counter()
        for path in (key for key in self.keys if isinstance(key, str)):
            hooks.append(named[path].register_forward_hook(_keeps(path, got, calls)))
        training = self.module.training
        device = next((one.device for one in self.module.parameters()), torch.device("cpu"))
        try:
            self.module.eval()
            given = {one.name: torch.from_numpy(sample[one.name].copy()).to(device) for one in self.specs}
            accepted = inspect.signature(self.module.forward).parameters
            with torch.inference_mode():
                by_name = all(name in accepted for name in given)
                result = self.module(**given) if by_name else self.module(*given.values())
        except Exception as fault:
            raise AnalysisError(
                "reference-failed", f"{type(self.module).__name__} failed on a sample: {one_line(fault)}"
            ) from fault
        finally:
            for hook in hooks:
                hook.remove()
            self.module.train(training)
        got.update({(_RESULT, place): one for place, one in enumerate(_tensors(result))})
        missing = [key for key in self.keys if key not in got and not isinstance(key, str)]
        if missing:
            raise AnalysisError(
                "reference-outputs",
                f"{type(self.module).__name__} returns fewer tensors than the model has outputs.",
            )
        import numpy as np

        # A module that was not called, or several times, has no one result: no values, other sizes.
        return iter([got.get(key, np.zeros((0, 2))) for key in self.keys])


def _keeps(path: str, got: dict[Any, Array], calls: Counter[str]) -> Any:
    def keep(_module: Any, _given: Any, result: Any) -> None:
        calls[path] += 1
        held = list(_tensors(result))
        if calls[path] == 1 and held:
            got[path] = held[0]
        else:
            got.pop(path, None)

    return keep


def _tensors(result: Any) -> Iterator[Array]:
    """All tensors of a result, in order, as arrays."""
    torch: Any = import_module("torch")
    if isinstance(result, torch.Tensor):
        kept = result.detach().cpu()
        yield (kept.float() if kept.dtype == torch.bfloat16 else kept).numpy()
    elif isinstance(result, Mapping):
        for one in result.values():
            yield from _tensors(one)
    elif isinstance(result, (list, tuple)):
        for one in result:
            yield from _tensors(one)


def _leaving(analysis: Analysis) -> dict[str, list[int]]:
    """Path of a module → the tensors made in it that something outside reads."""
    model = analysis.model
    results = set(model.graphs[0].outputs)
    found: dict[str, list[int]] = {}
    for number in model.graphs[0].nodes:
        scope = model.nodes[number].scope
        for tensor in (one for one in model.nodes[number].outputs if one >= 0):
            readers = [model.nodes[one].scope for one in model.tensors[tensor].consumers]
            for depth in range(1, len(scope) + 1):
                if tensor in results or any(one[:depth] != scope[:depth] for one in readers):
                    found.setdefault(".".join(scope[:depth]), []).append(tensor)
    return found
