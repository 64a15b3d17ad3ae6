"""Build a transformers pipeline from an ONNX file."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_autodoc.bounded import parse_json
from py_autodoc.errors import InputError, OptionError, RequirementError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.hf.read import HfMetadata, read_metadata
from py_autodoc.hf.serving.fixed_shapes import PaddedBatch, fixed_length
from py_autodoc.hf.serving.infer_task import infer_task as infer
from py_autodoc.hf.serving.model import OnnxModel, named_after
from py_autodoc.hf.serving.outputs import check_labels, label_count
from py_autodoc.hf.serving.processors import ROLES, parts_for
from py_autodoc.hf.serving.requirements import PIP
from py_autodoc.hf.serving.session import ServingSession
from py_autodoc.limits import SETTINGS
from py_autodoc.ort import one_line
from py_autodoc.packed import special_floats

if TYPE_CHECKING:
    import onnx

transformers: Any = import_module("transformers")

OWN_PIPELINES = {
    "question-answering": "py_autodoc.hf.serving.question_answering.QuestionAnsweringPipeline",
}
"""Pipelines that transformers does not have, or no longer has."""
_GENERATING = ("summarization", "translation", "text2text-generation", "image-to-text")


def build(
    model: PathLike | onnx.ModelProto,
    task: str | None,
    processor: Any,
    config: Any,
    infer_task: bool,
    providers: Sequence[Any] | None,
    session_options: Any,
    options: dict[str, Any],
) -> Any:
    """See ``py_autodoc.hf.pipeline``."""
    _check_device(options)
    infer_task = bool(options.pop("force_task_detection", False)) or infer_task
    session = ServingSession(model, providers, session_options)
    metadata = read_metadata(model)
    for line in metadata.warnings:
        _warn(f"{session.name}: {line}")
    config_dict = _config_dict(config, metadata, processor)
    task_name = task or metadata.task
    if task_name is None:
        task_name = _inferred(session, config_dict, metadata, infer_task)
    task_name, kind = _pipeline_class(task_name, session.name)
    explicit = {role: options.pop(role) for role in ROLES if role in options}
    settings = _config(config, config_dict, task_name, session)
    files = metadata.files
    parts = _bounded(parts_for(kind, explicit, processor, files, config_dict, session.name), session)
    network = _network(session, settings, task_name, parts)
    with _only_own_words(type(network) is OnnxModel):
        try:
            return kind(model=network, task=task_name, device="cpu", **parts, **options)
        except ImportError as fault:
            raise RequirementError(
                "pipeline-needs",
                f"The pipeline {task_name} needs a library: {one_line(fault)}",
                PIP,
            ) from fault


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)


def _check_device(options: dict[str, Any]) -> None:
    device = options.pop("device", None)
    if device is not None and str(device) not in ("cpu", "-1"):
        raise OptionError(
            "pipeline-device",
            f"device={device} is not supported; ONNX Runtime providers decide where the model runs.",
            'Pass providers=["CUDAExecutionProvider", …].',
        )
    if options.pop("trust_remote_code", False):
        raise OptionError("remote-code", "Code from a model is never executed.", "Pass processor=….")


def _config_dict(config: Any, metadata: HfMetadata, processor: Any) -> dict[str, Any] | None:
    """Return the configuration as a dict: the given one, the file's, or the one in the processor's folder."""
    if isinstance(config, Mapping):
        return dict(config)
    if config is not None:
        return dict(config.to_dict())
    if metadata.config is not None or not isinstance(processor, (str, Path)):
        return metadata.config
    path = Path(processor) / "config.json"
    if not path.is_file():
        return None
    try:
        return dict(parse_json(path.read_text("utf-8"), SETTINGS))
    except (OSError, ValueError, TypeError) as fault:
        raise InputError("bad-config", f"config.json cannot be read: {one_line(fault, path)}") from fault


def _inferred(
    session: ServingSession, config: dict[str, Any] | None, metadata: HfMetadata, allowed: bool
) -> str:
    """Infer the task of a file whose metadata does not name it."""
    name = session.name
    if not allowed:
        what = "does not name its task" if metadata.present else "has no transformers metadata"
        raise OptionError(
            "task-missing",
            f"{name} {what}.",
            "Pass task='text-classification' (or another)"
            + ("" if metadata.files else " and processor=FOLDER")
            + ", or infer_task=True to infer the task from its outputs.",
        )
    size = config.get("vocab_size") if config else None
    guess = infer(session.inputs, session.outputs, name, size if isinstance(size, int) else None)
    basis = f"{guess.confidence} confidence: {guess.reason}"
    _warn(f"{name}: inferred the task {guess.task} ({basis}). Pass task= to set it.")
    return guess.task


def _pipeline_class(task: str, name: str) -> tuple[str, Any]:
    from transformers.pipelines import PIPELINE_REGISTRY

    if task in OWN_PIPELINES:
        return task, _resolved(OWN_PIPELINES[task])
    try:
        task, entry, _ = PIPELINE_REGISTRY.check_task(task)
    except KeyError:
        names = sorted({*PIPELINE_REGISTRY.supported_tasks, *OWN_PIPELINES})
        hint = f"Known: {', '.join(names)}."
        if task.split("_")[0] in _GENERATING:
            hint = "Tasks that generate text need more than one run of one file."
        raise OptionError("task-unknown", f"No pipeline for {task[:80]}.", hint) from None
    kind = _resolved(entry["impl"])
    if kind._pipeline_calls_generate:
        raise OptionError(
            "task-generates",
            f"{name}: {task} generates step by step, which one file without a cache cannot do.",
            "For the result of one step, pass task='feature-extraction'.",
        )
    return task, kind


def _resolved(kind: Any) -> Any:
    """Return a class, imported if given by its dotted name."""
    if not isinstance(kind, str):
        return kind
    module, _, name = kind.rpartition(".")
    return getattr(import_module(module), name)


def _bounded(parts: dict[str, Any], session: ServingSession) -> dict[str, Any]:
    """Limit the tokenizer to the file's fixed length, in a copy of a given tokenizer."""
    length, tokenizer = fixed_length(session.inputs), parts.get("tokenizer")
    if length is None or tokenizer is None or tokenizer.model_max_length <= length:
        return parts
    _warn(
        f"{session.name} takes exactly {length:,} tokens: shorter texts are padded; longer ones are rejected "
        "or, by tasks that truncate texts, truncated. Export it with --dynamic batch,seq for any length."
    )
    tokenizer = copy.copy(tokenizer)
    tokenizer.model_max_length = length
    return {**parts, "tokenizer": tokenizer}


def _config(config: Any, content: dict[str, Any] | None, task: str, session: ServingSession) -> Any:
    """Return the configuration as an object; without one, labels are numbered."""
    if isinstance(config, transformers.PreTrainedConfig):
        return config
    if content is None:
        labels = label_count(task, session.outputs)
        return transformers.PreTrainedConfig(**({} if labels is None else {"num_labels": labels}))
    mapping = import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    model_type = content.get("model_type")
    is_known = isinstance(model_type, str) and model_type in mapping
    try:
        kind = mapping[model_type] if is_known else transformers.PreTrainedConfig
        return kind.from_dict(special_floats(content))
    except Exception as fault:
        raise InputError(
            "bad-config",
            f"{session.name}: its configuration cannot be read: {one_line(fault)}",
            "Pass config=….",
        ) from fault


def _network(session: ServingSession, config: Any, task: str, parts: Mapping[str, Any]) -> OnnxModel:
    tokenizer = parts.get("tokenizer") or getattr(parts.get("processor"), "tokenizer", None)
    token = getattr(tokenizer, "pad_token_id", None)
    if token is None:
        token = getattr(config, "pad_token_id", None)
    padding = PaddedBatch(token, getattr(tokenizer, "pad_token_type_id", 0) or 0)
    architectures = getattr(config, "architectures", None) or [None]
    network = named_after(architectures[0])(session, config, task, padding)
    check_labels(task, session.outputs, network.outputs.names, config.num_labels, session.name)
    return network


@contextmanager
def _only_own_words(unnamed: bool) -> Iterator[None]:
    """Suppress the error that pipelines log for a model whose architecture is unknown."""
    logger = logging.getLogger("transformers.pipelines.base")
    level = logger.level
    if unnamed:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
