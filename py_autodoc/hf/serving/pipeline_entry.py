"""The public ``pipeline``: nothing heavy is imported before it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.hf.serving.requirements import require_packages

if TYPE_CHECKING:
    from transformers import Pipeline, PreTrainedConfig


def pipeline(
    model: PathLike,
    *,
    task: str | None = None,
    processor: Any = None,
    config: PreTrainedConfig | Mapping[str, Any] | None = None,
    infer_task: bool = False,
    providers: Sequence[Any] | None = None,
    session_options: Any = None,
    **options: Any,
) -> Pipeline:
    """A transformers pipeline for an ONNX file, on ONNX Runtime.

    A file that ``onnx-autodoc export`` wrote needs nothing else: configuration, processor and task are in
    its metadata. Nothing is fetched, no code that comes with a model is run.

    Args:
        model: the file.
        task: a task of transformers' pipelines, or ``question-answering``; None: the file's.
        processor: tokenizer, image processor, feature extractor, processor, or the folder of one; None:
            what the file carries.
        config: the model's configuration (for its labels); None: the file's, or the one in the
            processor's folder; without any, labels are numbered.
        infer_task: work the task out from inputs and outputs where the file does not say it; a warning
            says how sure that is.
        providers: ONNX Runtime's execution providers; None: the CPU.
        session_options: an ``onnxruntime.SessionOptions``.
        options: of the pipeline (``batch_size``, ``top_k``, ``aggregation_strategy``, …).

    Returns:
        The pipeline; its ``model`` runs the file, ``model.session`` is ONNX Runtime's.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: the file is not a model.
        OptionError: the task or the processor is not known, or does not fit the file.
        InputError: the file's processor or configuration cannot be read, or needs foreign code.
        AnalysisError: ONNX Runtime rejects the file.
        RequirementError: transformers 5, torch or onnxruntime is missing; the hint is the pip command.
    """
    require_packages()
    from py_autodoc.hf.serving.load import build

    return build(model, task, processor, config, infer_task, providers, session_options, dict(options))  # type: ignore[no-any-return]
