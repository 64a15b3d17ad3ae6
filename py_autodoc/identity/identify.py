"""Describes a model in words: its task from metadata and structure, its kind and its ports."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.results import Structure
from py_autodoc.identity.case import DATA, IdentityCase
from py_autodoc.identity.kind import kind_of
from py_autodoc.identity.metadata_task import is_class_name, task_in_metadata
from py_autodoc.identity.model import (
    FILE,
    LIKELY,
    NOTHING,
    STRUCTURE,
    SURE,
    WEAK,
    MetadataTask,
    ModelIdentity,
    ModelPort,
    RuleReading,
)
from py_autodoc.identity.registry import TaskRule, tasks

_MAX_WHY = 8
_TEXT_TASKS = frozenset({"text-classification", "token-classification", "question-answering"})
_AUDIO = "audio-classification"
log = logging.getLogger(__name__)


def identify(flow: DataflowGraph, structure: Structure, flows: Sequence[DataflowGraph] = ()) -> ModelIdentity:
    """Return the identity of a model. ``flow`` is its main graph, ``flows`` all its graphs."""
    case = IdentityCase(flow, structure, flows)
    readings = _readings(case)
    from_metadata = _for_inputs(case, task_in_metadata(case.model))
    task = _task(from_metadata, readings)
    roles = {port.tensor: port.role for port in case.ports if port.role}
    reading = next((reading for one, reading in readings if one.id == task.id), RuleReading(0, ()))
    outputs = _outputs(case, reading, roles)
    return ModelIdentity(task, kind_of(case), tuple(sorted(case.ports, key=_weight)), tuple(outputs), roles)


def _for_inputs(case: IdentityCase, stated: MetadataTask | None) -> MetadataTask | None:
    """Correct a text task of a class that transformers uses for other inputs too.

    ``Wav2Vec2ForSequenceClassification`` reads audio, ``ViltForQuestionAnswering`` an image and text.
    """
    if stated is None or stated.id not in _TEXT_TASKS or not is_class_name(stated):
        return stated
    if case.tokens is None and case.port("waveform", "signal", "spectrogram") is not None:
        classification = stated.id == "text-classification"
        return replace(stated, id=_AUDIO, text=tasks()[_AUDIO].words) if classification else None
    return None if case.image is not None and not case.page else stated


def _readings(case: IdentityCase) -> list[tuple[TaskRule, RuleReading]]:
    """Return the readings of all rules, strongest first, ties sorted by id."""
    readings: list[tuple[TaskRule, RuleReading]] = []
    for one in tasks().values():
        try:
            reading = one.read(case)
        except MemoryError:
            raise
        except Exception:
            log.debug("the rule of %s failed", one.id, exc_info=True)
            continue
        if reading is not None:
            readings.append((one, reading))
    return sorted(readings, key=lambda item: -item[1].strength)


def _task(from_metadata: MetadataTask | None, readings: list[tuple[TaskRule, RuleReading]]) -> MetadataTask:
    """Prefer metadata to structure; two certain readings reduce each other to likely."""
    own = next((r for one, r in readings if from_metadata is not None and one.id == from_metadata.id), None)
    if from_metadata is not None and from_metadata.known == FILE:
        why = (*from_metadata.why, *(own.why if own is not None else ()))
        return MetadataTask(from_metadata.id, from_metadata.text, FILE, why[:_MAX_WHY])
    if not readings:
        return from_metadata or NOTHING
    one, best = readings[0]
    if from_metadata is not None and best.strength < SURE:
        return MetadataTask(from_metadata.id, from_metadata.text, LIKELY, from_metadata.why)
    if best.strength < WEAK:
        return NOTHING
    rival = next((other for other, r in readings[1:] if r.strength == best.strength), None)
    is_sure = best.strength >= SURE and rival is None
    why = (*best.why, *((f"equally likely: {rival.words}",) if rival is not None else ()))
    return MetadataTask(one.id, one.words, STRUCTURE if is_sure else LIKELY, why[:_MAX_WHY])


def _weight(port: ModelPort) -> int:
    """Sort key: data first, then other inputs, then states and caches."""
    if port.role in DATA:
        return 0
    return 2 if port.role in ("state", "key/value cache", "sample rate", "number", "time step") else 1


def _outputs(case: IdentityCase, reading: RuleReading, roles: dict[int, str]) -> list[ModelPort]:
    """Return the outputs, results before states and caches."""
    results = {end.tensor: end for end in case.ends}
    ports: list[ModelPort] = []
    for tensor in dict.fromkeys(case.model.graphs[0].outputs):
        info = case.model.tensors[tensor]
        kept = tensor not in results and case.kept(tensor)
        role = reading.outputs.get(tensor, "")
        if not role and not reading.outputs and (len(results) == 1 or not ports):
            role = reading.output
        own = "state or cache" if kept else role
        if own:
            roles[tensor] = own
        ports.append(
            ModelPort(tensor, info.name, case.flow.types.dtypes[tensor], case.flow.shapes[tensor], own)
        )
    return sorted(ports, key=lambda port: port.role == "state or cache")
