"""The public ``pipeline``, which imports large packages only when called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import OptionError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.hf.serving.requirements import require_packages

if TYPE_CHECKING:
    import onnx
    from transformers import Pipeline, PreTrainedConfig


def pipeline(
    model_or_task: PathLike | onnx.ModelProto | None = None,
    model: PathLike | onnx.ModelProto | None = None,
    *,
    task: str | None = None,
    processor: Any = None,
    config: PreTrainedConfig | Mapping[str, Any] | None = None,
    infer_task: bool = False,
    providers: Sequence[Any] | None = None,
    session_options: Any = None,
    **options: Any,
) -> Pipeline:
    """Create a transformers pipeline for an ONNX file, run by ONNX Runtime.

    A file written by ``onnx-autodoc export`` needs no further arguments: configuration, processor and task
    are in its metadata. Nothing is downloaded, and no code from a model is executed.

    Args:
        model_or_task: the model; or, as in transformers, the task, if ``model`` is the model.
        model: the ONNX file, or an ``onnx.ModelProto`` with its weights.
        task: a task of transformers' pipelines, or ``question-answering``; None uses the file's.
        processor: tokenizer, image processor, feature extractor, processor, or the folder of one; None uses
            the files embedded in the model.
        config: the model's configuration, for its labels; None uses the file's, or the one in the processor's
            folder; without any, labels are numbered.
        infer_task: infer the task from inputs and outputs if the file does not name it; a warning states the
            confidence.
        providers: ONNX Runtime's execution providers; None uses the CPU.
        session_options: an ``onnxruntime.SessionOptions``.
        options: options of the pipeline (``batch_size``, ``top_k``, ``aggregation_strategy``, …).

    Returns:
        The pipeline; its ``model`` runs the file, and ``model.session`` is the ONNX Runtime session.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: the file is not a model.
        OptionError: the task or the processor is unknown, or does not fit the file.
        InputError: the file's processor or configuration cannot be read, or needs custom code.
        ModelRefused: ONNX Runtime refuses the file.
        RequirementError: transformers 5, torch or onnxruntime is missing; the hint is the pip command.
    """
    if model is None:
        model = model_or_task
    elif model_or_task is not None:
        task = _only_task(model_or_task, task)
    if model is None:
        raise OptionError("no-model", "The model is missing.", 'Pass its file: pipeline("model.onnx").')
    require_packages()
    from py_autodoc.hf.serving.load import build

    return build(model, task, processor, config, infer_task, providers, session_options, dict(options))  # type: ignore[no-any-return]


def _only_task(first: Any, task: str | None) -> str:
    """Return the task given as first argument, the model being the second or ``model=``."""
    if not isinstance(first, str) or task not in (None, first):
        raise OptionError(
            "two-models",
            "Two models or two tasks are given.",
            'Pass pipeline("text-classification", "model.onnx").',
        )
    return first
