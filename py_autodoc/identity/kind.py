"""Of which kind a network is, in words: what mixes positions in it."""

from __future__ import annotations

from py_autodoc.blocks.inventory import CONV, RECURRENT, take
from py_autodoc.identity.case import Case
from py_autodoc.identity.model import FILE, LIKELY, NOTHING, STRUCTURE, Named
from py_autodoc.identity.named import named_make

_WORDS = {
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
_SURE = 0.75
_MIXED, _SIDE = 0.3, 0.05
"""Shares of the multiply-accumulates, as ``blocks/verdict.py`` has them."""


def kind_of(case: Case) -> Named:
    """The family in words, with the make where the file names it."""
    verdict = case.structure.verdict
    words = _WORDS.get(verdict.family) or _mixture(case)
    made = named_make(case.model)
    if not words and made is None:
        return NOTHING
    known = STRUCTURE if verdict.confidence >= _SURE else LIKELY
    why = tuple(verdict.evidence)
    if words and any(block.kind == "moe" for block in case.structure.found):
        words += " with mixtures of experts"
    if made is None:
        return Named(verdict.family, words, known, why)
    told = f"{made[0]}: {made[1]}"
    if not words:
        return Named("unknown", made[0], FILE, (told,))
    return Named(verdict.family, f"{words} ({made[0]})", known, (told, *why))


def _mixture(case: Case) -> str:
    """Of detectors, segmenters and hybrids: what they are made of."""
    family = case.family
    if family not in ("detector", "segmenter", "hybrid"):
        return ""
    stock = take(list(case.flows) or [case.flow])
    conv, recurrent = stock.share(CONV), stock.share(RECURRENT)
    parts = []
    if stock.kinds[CONV].layers and (conv >= _MIXED or not case.structure.attention):
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
