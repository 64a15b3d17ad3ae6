"""Heads by the task: the graph alone often does not say if they give classes, actions or future values."""

from __future__ import annotations

from dataclasses import replace

from py_autodoc.blocks.results import RecognisedBlock, Structure
from py_autodoc.graph.ir.model import Model
from py_autodoc.identity.model import UNKNOWN, ModelIdentity
from py_autodoc.identity.words import words

_OPEN = frozenset({"classifier", "binary-classifier", "token-classifier", "dense", "regression"})
"""Variants by form alone."""
_BY_TASK = {
    "control": "policy",
    "time-series-forecasting": "forecast",
    "tabular-regression": "regression",
    "image-regression": "regression",
}
_ACTIONS = frozenset({"action", "actions"})
_SEGMENTATION = ("segmentation", "mask-generation")
"""Ends of the ids of tasks that are segmentations."""
_CLASSIFIED = frozenset({
    "image", "tokens", "bytes", "waveform", "signal", "spectrogram", "video", "volume", "volume or video",
})  # fmt: skip
"""Roles of inputs that are pooled to be classified."""


def with_task_heads(model: Model, structure: Structure, identity: ModelIdentity) -> Structure:
    """Return the structure with the variants of its heads as the task has them.

    A head of one value beside the actions of an agent estimates their return. Without a task, a pooled row of
    measurements is not said to be classified. A head that computes maps has the form of a segmentation; it is
    none in a model of another known task. An output named as actions is no class, whatever the task.
    """
    if not any(block.kind == "head" for block in structure.blocks):
        return structure
    task = identity.task.id
    names = [set(words(model.tensors[tensor].name)) for tensor in model.graphs[0].outputs]
    measured = not _CLASSIFIED & {port.role for port in identity.inputs}
    heads = [block for block in structure.blocks if block.kind == "head"]
    acting = any(head.facts.get("classes") != 1 for head in heads)

    def variant(block: RecognisedBlock) -> str:
        if block.variant == "segmentation":
            return block.variant if task == UNKNOWN or task.endswith(_SEGMENTATION) else ""
        if block.variant not in _OPEN:
            return block.variant
        index = block.facts.get("output")
        if isinstance(index, int) and index < len(names) and _ACTIONS & names[index]:
            return "policy"
        if task == "control" and block.facts.get("classes") == 1 and acting:
            return "value"
        if task in _BY_TASK:
            return _BY_TASK[task]
        is_open = block.variant == "classifier" and not block.facts.get("activation")
        return "dense" if is_open and measured and "classification" not in task else block.variant

    blocks = tuple(
        replace(block, variant=variant(block)) if block.kind == "head" else block
        for block in structure.blocks
    )
    return replace(structure, blocks=blocks)
