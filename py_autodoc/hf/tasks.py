"""Detect the task of a transformers model from the registries in transformers.

Every auto class (``AutoModelForMaskedLM``, …) has a registry of its classes, and every pipeline names the
auto classes it accepts. An architecture belongs to the pipeline of the most specific registry that lists it:
the one with the fewest entries, so ``AutoModelForSpeechSeq2Seq`` takes precedence over
``AutoModelForPreTraining``. No architecture is hard-coded.
"""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from inspect import signature
from typing import Any

from py_autodoc.errors import OptionError, RequirementError

TASKS = {
    # Removed pipelines of transformers 5. The same classes do summarization and translation.
    "AutoModelForSeq2SeqLM": "text2text-generation",
    "AutoModelForQuestionAnswering": "question-answering",
    # Accepted by a pipeline that does not list it.
    "AutoModelForUniversalSegmentation": "image-segmentation",
    "AutoModelForInstanceSegmentation": "image-segmentation",
    "AutoModelForTextEncoding": "feature-extraction",
    "AutoModelForRNNT": "automatic-speech-recognition",
    # A registry without an auto class: image models without a head.
    "AutoModelForImage": "image-feature-extraction",
}
"""Auto class → task, for auto classes that no pipeline of transformers lists."""

_PIXELS, _IDS = "pixel_values", "input_ids"
"""Names in transformers of the main image and text inputs."""
_TEXT_TO_TEXT = "text2text-generation"
_REFINED = ("summarization", "translation")
_REGISTRY = re.compile(r"MODEL_FOR_([A-Z0-9_]+)_MAPPING_NAMES")
_WORD = re.compile(r"[A-Z]+[a-z0-9]*?(?=[A-Z][a-z]|$)|[A-Z][a-z0-9]+")
_PIP = 'pip install "onnx-autodoc[export]"'


@dataclass(frozen=True, slots=True)
class TaskGuess:
    """A task and the evidence for it."""

    task: str | None
    """A task of transformers' pipelines if there is one, else the auto class as words; None if unknown."""
    source: str | None
    """Evidence for the task.

    ``registry``: the architecture is listed; ``architecture``: its name ends like an auto class;
    ``fallback``: from the outputs of ``forward``, or from the configuration class alone.
    """
    candidates: tuple[str, ...] = ()
    """Tasks of all registries that list the architecture, most specific first."""
    model_class: str | None = None
    """The architecture."""


@dataclass(frozen=True, slots=True)
class _Auto:
    """An auto class and its architectures."""

    name: str
    names: frozenset[str]
    tasks: tuple[str, ...]
    """Tasks from pipelines and ``TASKS``; empty if unknown."""


def detect_task(config: Any) -> TaskGuess:
    """Detect the task of a model.

    Args:
        config: the content of ``config.json``, a transformers configuration, or a model.

    Raises:
        RequirementError: transformers (with torch) is not installed.
    """
    content = _content(config)
    listed = content.get("architectures")
    name = listed[0] if isinstance(listed, (list, tuple)) and listed else None
    if not isinstance(name, str) or not name:
        return _of_kind(content.get("model_type"))
    autos = list(_autos())
    matches = sorted(
        (auto for auto in autos if name in auto.names), key=lambda auto: (not auto.tasks, len(auto.names))
    )
    if matches:
        order = dict.fromkeys(_task(auto, name) for auto in matches)
        task = _refined(_wide_enough(list(order), name), content)
        return TaskGuess(task, "registry", tuple(order), name)
    ending = max(
        (auto for auto in autos if _ends(name, auto.name)), key=lambda auto: len(auto.name), default=None
    )
    if ending is not None:
        task = _task(ending, name)
        return TaskGuess(task, "architecture", (task,), name)
    features = _features(name)
    return TaskGuess(features, "fallback" if features else None, (features,) if features else (), name)


def known_tasks() -> tuple[str, ...]:
    """Return the names that ``checked_task`` accepts, sorted. Raises: RequirementError."""
    pipelines = _transformers("pipelines")
    names = set(pipelines.PIPELINE_REGISTRY.get_supported_tasks())
    names.update(getattr(pipelines, "REMOVED_TASKS", ()))
    names.update(task for auto in _autos() for task in (auto.tasks or (_words(auto.name),)))
    return tuple(sorted({*names, *_REFINED}))


def checked_task(task: str) -> str:
    """Return the task for a name, with aliases replaced.

    Raises:
        OptionError: the name is unknown.
        RequirementError: transformers is not installed.
    """
    names = known_tasks()
    if task not in names:
        suggestions = difflib.get_close_matches(task, names, 3)
        hint = (
            f"Did you mean {' or '.join(suggestions)}?"
            if suggestions
            else "Pass a task such as text-classification."
        )
        raise OptionError("unknown-task", f"transformers has no task {task[:80]}.", hint)
    aliases: Mapping[str, str] = _transformers("pipelines").PIPELINE_REGISTRY.task_aliases
    return aliases.get(task, task)


def _content(config: Any) -> Mapping[str, Any]:
    if isinstance(config, Mapping):
        return config
    inner = getattr(config, "config", None)
    if inner is not None and hasattr(
        inner, "model_type"
    ):  # A model: its class takes precedence over its configuration.
        return {**_content(inner), "architectures": [type(config).__name__]}
    keys = ("architectures", "model_type", "task_specific_params")
    return {key: getattr(config, key, None) for key in keys}


def _autos() -> Iterator[_Auto]:
    """Return all auto classes for models, registered ones included, then registries without an auto class."""
    tasks_by_auto = _pipeline_tasks()
    module = vars(_transformers("models.auto.modeling_auto"))
    seen_mappings: set[int] = set()
    for name, kind in module.items():
        registry = getattr(kind, "_model_mapping", None) if isinstance(kind, type) else None
        mapping = getattr(registry, "_model_mapping", None)
        if not isinstance(mapping, Mapping) or name.startswith("_"):
            continue
        seen_mappings.add(id(mapping))
        more = getattr(registry, "_extra_content", {}).values()
        names = frozenset(
            name_of_class for value in (*mapping.values(), *more) for name_of_class in _names(value)
        )
        tasks = tasks_by_auto.get(name, ())
        yield _Auto(name, names, tasks or ((TASKS[name],) if name in TASKS else ()))
    for name, mapping in module.items():
        head = _REGISTRY.fullmatch(name)
        if head and isinstance(mapping, Mapping) and id(mapping) not in seen_mappings:
            auto = "AutoModelFor" + head[1].title().replace("_", "")
            yield _Auto(
                auto,
                frozenset(name_of_class for value in mapping.values() for name_of_class in _names(value)),
                (),
            )


def _names(value: Any) -> Iterator[str]:
    for entry in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(entry, (str, type)):
            yield entry if isinstance(entry, str) else entry.__name__


def _pipeline_tasks() -> dict[str, tuple[str, ...]]:
    """Return auto class → tasks. Pipelines that list the auto class first take precedence."""
    ranked: dict[str, list[tuple[int, str]]] = {}
    for task, facts in _supported().items():
        for rank, auto in enumerate(facts.get("pt", ())):
            ranked.setdefault(auto.__name__, []).append((rank, task))
    return {name: tuple(task for _, task in sorted(entries, key=_rank)) for name, entries in ranked.items()}


def _supported() -> Mapping[str, Mapping[str, Any]]:
    """Return the tasks of pipelines, including registered ones."""
    registry: Mapping[str, Mapping[str, Any]] = _transformers("pipelines").PIPELINE_REGISTRY.supported_tasks
    return registry


def _rank(entry: tuple[int, str]) -> int:
    return entry[0]


def _task(auto: _Auto, architecture: str) -> str:
    """Return the task of an auto class; if several share it, the one for the inputs of the architecture."""
    if not auto.tasks:
        return _words(auto.name)
    if len(auto.tasks) > 1:
        facts = _supported()
        reads = _modalities(architecture)
        fitting = [task for task in auto.tasks if reads == {facts[task].get("type")}]
        if fitting:
            return fitting[0]
    return auto.tasks[0]


def _wide_enough(order: Sequence[str], architecture: str) -> str:
    """Return the first task, or for a multimodal model the first that is not for text alone."""
    types = {task: facts.get("type") for task, facts in _supported().items()} | {_TEXT_TO_TEXT: "text"}
    if len(order) > 1 and types.get(order[0]) == "text" and _modalities(architecture) - {"text"}:
        return next((task for task in order if types.get(task) not in ("text", None)), order[0])
    return order[0]


def _words(auto: str) -> str:
    """Convert ``AutoModelForMultipleChoice`` to ``multiple-choice``."""
    if auto in TASKS:
        return TASKS[auto]
    stem = auto.removeprefix("Auto").removeprefix("ModelFor")
    return "-".join(_WORD.findall(stem)).lower() or stem.lower()


def _refined(task: str, content: Mapping[str, Any]) -> str:
    """Return summarization or translation if the configuration has settings for only one of them."""
    parameters = content.get("task_specific_params")
    if task != _TEXT_TO_TEXT or not isinstance(parameters, Mapping):
        return task
    named = {str(key).partition("_")[0] for key in parameters}
    return named.pop() if len(named) == 1 and named <= set(_REFINED) else task


def _ends(architecture: str, auto: str) -> bool:
    ending = auto.removeprefix("AutoModel")
    return ending.startswith("For") and architecture.endswith(ending) and architecture != ending


def _class(name: str) -> Any:
    """Return a class of transformers; None if it does not exist or cannot be imported."""
    try:
        kind = getattr(_transformers(""), name, None)
        return kind if isinstance(kind, type) and hasattr(kind, "forward") else None
    except (ImportError, RuntimeError):  # It needs a library that is not installed.
        return None


def _modalities(architecture: str) -> set[str]:
    """Return the modalities of a model: text, image, audio, …; empty if unknown.

    Classes inherit their declaration even if only a part of it applies: the vision tower of a model that
    reads text does not. Argument names are the same in all transformers models.
    """
    kind = _class(architecture)
    declared = getattr(kind, "input_modalities", ())
    modalities = {declared} if isinstance(declared, str) else set(declared or ())
    if kind is None:
        return modalities
    if str(getattr(kind, "main_input_name", "")).startswith(_PIXELS) and modalities == {"text"}:
        return {"image"}  # text is the default of a class without a declaration
    if _IDS not in signature(kind.forward).parameters and len(modalities) > 1:
        modalities.discard("text")
    return {"image"} if modalities == {"image", "video"} else modalities


def _features(architecture: str) -> str | None:
    """Return the feature task of a model without a head; None for any other."""
    kind = _class(architecture)
    if kind is None:
        return None
    try:
        returned = typing.get_type_hints(kind.forward).get("return")
    except (NameError, TypeError, AttributeError):
        return None
    names: set[str] = set()
    for type_hint in (returned, *typing.get_args(returned)):
        if isinstance(type_hint, type) and is_dataclass(type_hint):
            names.update(field.name for field in fields(type_hint))
    hidden = "last_hidden_state" in names and "logits" not in names
    return (
        _task(_Auto("", frozenset(), _pipeline_tasks().get("AutoModel", ())), architecture)
        if hidden
        else None
    )


def _of_kind(kind: Any) -> TaskGuess:
    """Return the task for a configuration without architectures, which means the model without a head."""
    registry = _transformers("models.auto.modeling_auto").MODEL_MAPPING_NAMES
    name = next(_names(registry[kind]), None) if isinstance(kind, str) and kind in registry else None
    if name is None:
        return TaskGuess(None, None)
    return TaskGuess(detect_task({"architectures": [name]}).task, "fallback", (), name)


def _transformers(module: str) -> Any:
    try:
        return import_module(f"transformers.{module}" if module else "transformers")
    except ImportError:
        raise RequirementError(
            "transformers-missing", "Looking up tasks requires transformers.", _PIP
        ) from None
