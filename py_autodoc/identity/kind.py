"""Kind of a network in words, by how it mixes positions."""

from __future__ import annotations

from py_autodoc.blocks.architecture.layer_inventory import CONV, RECURRENT, count_layers
from py_autodoc.graph.operators.compiled_parts import compiled_parts
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.metadata_task import named_make
from py_autodoc.identity.model import FILE, LIKELY, NOTHING, STRUCTURE, MetadataTask

_FAMILY_TEXTS = {
    "cnn": "CNN",
    "transformer-encoder": "transformer encoder",
    "transformer-decoder": "transformer decoder",
    "encoder-decoder": "transformer encoder–decoder",
    "recurrent": "recurrent network",
    "state-space": "state-space model",
    "mlp": "MLP",
    "fourier": "Fourier-mixing network",
    "graph": "graph neural network",
    "classical-ml": "classical machine learning",
}
_MIN_CONFIDENCE = 0.75
_MIXED, _SIDE = 0.3, 0.05
"""Shares of the MACs, as in ``blocks/architecture/classify_architecture.py``."""


def kind_of(case: IdentityCase) -> MetadataTask:
    """Return the family in words, with the model name if the file states one."""
    verdict = case.structure.verdict
    compiled = compiled_parts(case.model)
    if compiled is not None:
        target = compiled.target or "an execution provider"
        why = tuple(dict.fromkeys((*compiled.lines, *verdict.evidence)))
        return MetadataTask(verdict.family, f"compiled for {target}", FILE, why)
    description = _FAMILY_TEXTS.get(verdict.family) or _describe_layers(case)
    named = named_make(case.model)
    if not description and named is None:
        return NOTHING
    known = STRUCTURE if verdict.confidence >= _MIN_CONFIDENCE else LIKELY
    why = tuple(verdict.evidence)
    if description and any(block.kind == "moe" for block in case.structure.blocks):
        description += " with mixtures of experts"
    if named is None:
        return MetadataTask(verdict.family, description, known, why)
    metadata_text = f"{named[0]}: {named[1]}"
    if not description:
        return MetadataTask("unknown", named[0], FILE, (metadata_text,))
    return MetadataTask(verdict.family, f"{description} ({named[0]})", known, (metadata_text, *why))


def _describe_layers(case: IdentityCase) -> str:
    """Describe the layers of detectors, segmenters and hybrids."""
    family = case.family
    if family not in ("detector", "segmenter", "hybrid"):
        return ""
    inventory = count_layers(list(case.flows) or [case.flow])
    conv, recurrent = inventory.share(CONV), inventory.share(RECURRENT)
    parts = []
    if inventory.kinds[CONV].layers and (conv >= _MIXED or not case.structure.attention):
        parts.append("CNN")
    if case.structure.attention:
        parts.append("transformer")
    if recurrent >= _SIDE:
        parts.append("recurrent")
    if family == "hybrid" and any("state-space" in line for line in case.structure.verdict.evidence):
        parts = ["transformer", "state-space"]
    if not parts:
        return "hybrid" if family == "hybrid" else ""
    return parts[0] if len(parts) == 1 else f"{'/'.join(parts)} hybrid"
