"""Convert the file's outputs to the ModelOutput that the pipeline of a task reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import torch

from py_autodoc.errors import OptionError
from py_autodoc.hf.serving.session import SessionPort

modeling_outputs: Any = import_module("transformers.modeling_outputs")
ModelOutput: Any = modeling_outputs.ModelOutput


@dataclass(frozen=True, slots=True)
class OutputForm:
    """Outputs that the pipeline of a task reads."""

    kind: str
    """Name of the ModelOutput class in transformers."""
    needed: Mapping[str, int]
    """Required fields and their rank."""
    classes: bool = False
    """True if the last axis of the logits counts labels."""


_FEATURES = OutputForm("BaseModelOutputWithPooling", {})
FORMS = {
    "audio-classification": OutputForm("SequenceClassifierOutput", {"logits": 2}, True),
    "feature-extraction": _FEATURES,
    "fill-mask": OutputForm("MaskedLMOutput", {"logits": 3}),
    "image-classification": OutputForm("ImageClassifierOutput", {"logits": 2}, True),
    "image-feature-extraction": _FEATURES,
    "question-answering": OutputForm("QuestionAnsweringModelOutput", {"start_logits": 2, "end_logits": 2}),
    "text-classification": OutputForm("SequenceClassifierOutput", {"logits": 2}, True),
    "token-classification": OutputForm("TokenClassifierOutput", {"logits": 3}, True),
    "zero-shot-classification": OutputForm("SequenceClassifierOutput", {"logits": 2}, True),
}
"""Tasks with a known form of results; for other tasks, outputs keep the file's names."""

_FEATURE_RANKS = (("last_hidden_state", 3), ("pooler_output", 2))
_FIELDS = {name for form in FORMS.values() for name in form.needed} | {name for name, _ in _FEATURE_RANKS}


class Outputs:
    """Names the outputs of a file for a task.

    Args:
        task: the task of the pipeline.
        ports: the file's outputs, in its order.
        file: the file's name for messages.

    Raises:
        OptionError: the file lacks an output that the task reads.
    """

    def __init__(self, task: str, ports: Sequence[SessionPort], file: str) -> None:
        form = FORMS.get(task, OutputForm("", {}))
        self.names = _named(ports, form, task, file)
        self._kind: Any = getattr(modeling_outputs, form.kind, ModelOutput)
        fields = getattr(self._kind, "__dataclass_fields__", {})
        self._fields = {name for name in self.names if name in fields}
        if not self._fields:
            self._kind = ModelOutput

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
        """Return the result of one run, without copies."""
        tensors = {name: torch.from_numpy(array) for name, array in zip(self.names, arrays, strict=True)}
        if self._kind is ModelOutput:
            return ModelOutput(tensors)
        result = self._kind(**{name: tensor for name, tensor in tensors.items() if name in self._fields})
        for name, tensor in tensors.items():
            if name not in self._fields:
                result[name] = tensor
        return result

    def tokenwise(self, number: int, array: np.ndarray[Any, Any]) -> bool:
        """True if axis 1 of an output counts tokens, given that it is as long as the text."""
        return array.ndim == 3 or self.names[number] in ("start_logits", "end_logits")


def _named(ports: Sequence[SessionPort], form: OutputForm, task: str, file: str) -> list[str]:
    """Return the names that the task uses for the outputs.

    An exporter without given names invents its own. The order is then that of the model, which identifies the
    outputs if the ranks agree.
    """
    names = [port.name for port in ports]
    expected = list(form.needed.items()) or (list(_FEATURE_RANKS) if form is _FEATURES else [])
    if not expected or (all(name in names for name in form.needed) and form.needed):
        _check_ranks(ports, form, task, file)
        return names
    if _FIELDS.intersection(names):
        if form.needed:
            raise _unfit(ports, form, task, file)
        return names
    for index, ((field, rank), port) in enumerate(zip(expected, ports, strict=False)):
        if port.rank not in (None, rank):
            if form.needed:
                raise _unfit(ports, form, task, file)
            break
        names[index] = field
    if len(ports) < len(form.needed):
        raise _unfit(ports, form, task, file)
    return names


def _check_ranks(ports: Sequence[SessionPort], form: OutputForm, task: str, file: str) -> None:
    if any(port.rank not in (None, form.needed.get(port.name, port.rank)) for port in ports):
        raise _unfit(ports, form, task, file)


def _unfit(ports: Sequence[SessionPort], form: OutputForm, task: str, file: str) -> OptionError:
    has = ", ".join(f"{port.name} {port.shown()}" for port in ports)
    needs = ", ".join(f"{name} with {rank} axes" for name, rank in form.needed.items())
    return OptionError(
        "task-outputs",
        f"{file} is not for {task}, which needs {needs}; it has {has}.",
        "Pass the task it was exported for, as task=….",
    )


def check_labels(
    task: str, ports: Sequence[SessionPort], names: Sequence[str], labels: int, file: str
) -> None:
    """Check that the configuration names as many labels as the file scores.

    Raises:
        OptionError: the numbers differ.
    """
    form = FORMS.get(task)
    if form is None or not form.classes:
        return
    logits = ports[list(names).index("logits")]
    scored = logits.dims[-1] if logits.dims else None
    if scored is not None and scored != labels:
        raise OptionError(
            "labels-differ",
            f"{file} scores {scored:,} labels, its configuration names {labels:,}.",
            "Pass the configuration it was exported with, as config=….",
        )


def label_count(task: str, ports: Sequence[SessionPort]) -> int | None:
    """Return the number of labels scored by a file without configuration; None if unknown or not used."""
    form = FORMS.get(task)
    if form is None or not form.classes or not ports or not ports[0].dims:
        return None
    logits = next((port for port in ports if port.name == "logits"), ports[0])
    return logits.dims[-1] if logits.dims else None
