"""From the scores of windows to answers: pure numbers, no model and no tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class AnswerWindow:
    """The part of a context that the model sees at once, after the question.

    Every array has an entry a token: of the question, the context and the special tokens.
    """

    context: Array
    """The token belongs to the context (bool)."""
    starts: Array
    """Where the answer starts in the context when it starts with this token (characters)."""
    ends: Array
    """Where it ends when it ends with this token."""
    null: int | None
    """The token by which models say that there is no answer (CLS); None: the tokenizer has none."""
    left: bool = False
    """A batch pads before the text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of the context."""

    score: float
    start: int
    end: int


def _probabilities(logits: Array, allowed: Array) -> Array:
    """Softmax over the allowed tokens; 0 elsewhere."""
    scores = np.where(allowed, logits.astype(np.float64), -np.inf)
    powers = np.exp(scores - scores[allowed].max())
    return np.asarray(powers / powers.sum())


def window_answers(
    window: AnswerWindow, start: Array, end: Array, count: int, longest: int
) -> tuple[list[Answer], float | None]:
    """The best parts of one window.

    The score is the probability of the first token times that of the last one, each among the tokens
    of this window's context and the one that stands for no answer.

    Args:
        window: what the tokens are.
        start: logits of the first token of the answer, one a token.
        end: logits of the last one.
        count: how many answers.
        longest: tokens of the longest answer.

    Returns:
        Answers, best first, and the score of there being none (None: the model cannot say).
    """
    size = len(window.context)
    start, end = (start[-size:], end[-size:]) if window.left else (start[:size], end[:size])
    allowed = window.context.copy()
    if window.null is not None:
        allowed[window.null] = True
    if not allowed.any():
        return [], None
    first, last = _probabilities(start, allowed), _probabilities(end, allowed)
    none = None if window.null is None else float(first[window.null] * last[window.null])
    first, last = np.where(window.context, first, 0.0), np.where(window.context, last, 0.0)
    span = min(longest, size)
    # scores[k, i]: the answer of tokens i … i + k
    scores = np.full((span, size), -1.0)
    for k in range(span):
        both = window.context[: size - k] & window.context[k:]
        scores[k, : size - k] = np.where(both, first[: size - k] * last[k:], -1.0)
    flat = scores.ravel()
    best = np.argsort(-flat, kind="stable")[: count if count < flat.size else flat.size]
    found = []
    for at in best[flat[best] >= 0]:
        k, i = divmod(int(at), size)
        found.append(Answer(float(flat[at]), int(window.starts[i]), int(window.ends[i + k])))
    return found, none


def best_answers(
    found: Iterable[Sequence[Answer]], nothing: Sequence[float], count: int, impossible: bool
) -> list[Answer]:
    """The best of all windows.

    A part of the context that several windows see counts once, with its best score. No answer is as
    likely as in the window that is least sure of it: one window with the answer is enough.
    """
    merged: dict[tuple[int, int], Answer] = {}
    for answers in found:
        for one in answers:
            held = merged.get((one.start, one.end))
            if held is None or held.score < one.score:
                merged[one.start, one.end] = one
    ranked = list(merged.values())
    if impossible and nothing:
        ranked.append(Answer(min(nothing), 0, 0))
    ranked.sort(key=lambda one: -one.score)
    return ranked[:count]
