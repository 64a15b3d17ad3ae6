"""Infer the task of a file without metadata from its inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.errors import OptionError
from py_autodoc.hf.serving.session import SessionPort

_WORDS = 1000
"""A last axis of at least this size is a vocabulary, not labels."""


@dataclass(frozen=True, slots=True)
class InferredTask:
    """A task and the confidence in it."""

    task: str
    confidence: str
    """high: names and shapes agree; medium: one of them matches; low: only the most likely task."""
    reason: str


def infer_task(
    inputs: Mapping[str, SessionPort],
    outputs: Sequence[SessionPort],
    file: str,
    vocabulary: int | None = None,
) -> InferredTask:
    """Infer the task of a file.

    Args:
        inputs: the file's inputs.
        outputs: the file's outputs.
        file: its name for messages.
        vocabulary: vocabulary size of the tokenizer, if known.

    Raises:
        OptionError: no task fits.
    """
    names = {port.name for port in outputs}
    guess = None
    if {"start_logits", "end_logits"} <= names:
        if "bbox" not in inputs:
            guess = InferredTask("question-answering", "high", "outputs start_logits and end_logits")
    elif "pred_boxes" in names:
        guess = InferredTask("object-detection", "medium", "an output pred_boxes")
    elif _of_images(inputs):
        guess = _image(outputs)
    elif _of_text(inputs):
        guess = _text(outputs, vocabulary)
    if guess is None:
        has = ", ".join(f"{port.name} {port.shown()}" for port in outputs)
        raise OptionError(
            "task-unclear", f"{file}: its outputs ({has}) do not determine its task.", "Pass task=…."
        )
    return guess


def _of_images(inputs: Mapping[str, SessionPort]) -> bool:
    return "pixel_values" in inputs or any(
        port.rank == 4 and port.dtype.kind == "f" for port in inputs.values()
    )


def _of_text(inputs: Mapping[str, SessionPort]) -> bool:
    if any(name.startswith("past_key_values") for name in inputs):
        return False
    return "input_ids" in inputs or any(port.rank == 2 and port.dtype.kind == "i" for port in inputs.values())


def _main(outputs: Sequence[SessionPort]) -> tuple[SessionPort, bool]:
    """Return the main output, and whether its name identifies it."""
    for name in ("logits", "last_hidden_state"):
        for port in outputs:
            if port.name == name:
                return port, True
    return outputs[0], False


def _image(outputs: Sequence[SessionPort]) -> InferredTask | None:
    port, named = _main(outputs)
    if port.name == "last_hidden_state":
        return InferredTask("image-feature-extraction", "high", "images in, last_hidden_state out")
    if port.rank == 2 and len(outputs) == 1:
        confidence = "high" if named else "medium"
        return InferredTask("image-classification", confidence, f"images in, {port.name} {port.shown()} out")
    return None


def _text(outputs: Sequence[SessionPort], vocabulary: int | None) -> InferredTask | None:
    port, named = _main(outputs)
    last = port.dims[-1] if port.dims else None
    label = f"{port.name} {port.shown()}"
    if port.name == "last_hidden_state":
        return InferredTask("feature-extraction", "high", "text in, last_hidden_state out")
    if port.rank == 2:
        return InferredTask("text-classification", "medium" if named else "low", f"one row per text: {label}")
    if port.rank != 3 or last is None:
        return None
    if last == vocabulary or (named and vocabulary is None and last >= _WORDS):
        confidence = "medium" if named and last == vocabulary else "low"
        return InferredTask("fill-mask", confidence, f"a score for every word at every token: {label}")
    if named:
        confidence = "medium" if last < _WORDS else "low"
        return InferredTask("token-classification", confidence, f"one row per token: {label}")
    return InferredTask("feature-extraction", "low", f"one vector per token: {label}")
