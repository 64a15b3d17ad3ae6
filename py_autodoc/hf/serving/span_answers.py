"""Compute answers from the scores of windows, independently of the model and the tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class AnswerWindow:
    """The part of a context in one model input, after the question.

    Every array has one entry per token of the question, the context and the special tokens.
    """

    context: Array
    """True for tokens of the context."""
    starts: Array
    """Start of an answer that begins with this token, as a character offset in the context."""
    ends: Array
    """End of an answer that ends with this token."""
    null: int | None
    """Token whose score means that there is no answer (CLS); None if the tokenizer has none."""
    left_padded: bool = False
    """True if batches are padded before the text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A span of the context."""

    score: float
    start: int
    end: int


def _probabilities(logits: Array, allowed: Array) -> Array:
    """Return the softmax over the allowed tokens, and 0 for others."""
    scores = np.where(allowed, logits.astype(np.float64), -np.inf)
    powers = np.exp(scores - scores[allowed].max())
    return np.asarray(powers / powers.sum())


def window_answers(
    window: AnswerWindow, start: Array, end: Array, count: int, longest: int
) -> tuple[list[Answer], float | None]:
    """Return the best spans of one window.

    The score is the probability of the first token times that of the last token. Each is relative to the
    context tokens of this window and the token that stands for no answer.

    Args:
        window: the roles of the tokens.
        start: logits for the first token of the answer, one per token.
        end: logits for the last token.
        count: number of answers.
        longest: maximum tokens of an answer.

    Returns:
        Answers, best first, and the score of no answer (None if the model cannot express it).
    """
    size = len(window.context)
    start, end = (start[-size:], end[-size:]) if window.left_padded else (start[:size], end[:size])
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
        in_context = window.context[: size - k] & window.context[k:]
        scores[k, : size - k] = np.where(in_context, first[: size - k] * last[k:], -1.0)
    flat = scores.ravel()
    best = np.argsort(-flat, kind="stable")[: count if count < flat.size else flat.size]
    answers = []
    for position in best[flat[best] >= 0]:
        k, i = divmod(int(position), size)
        answers.append(Answer(float(flat[position]), int(window.starts[i]), int(window.ends[i + k])))
    return answers, none


def best_answers(
    answers_by_window: Iterable[Sequence[Answer]], nothing: Sequence[float], count: int, impossible: bool
) -> list[Answer]:
    """Return the best answers over all windows.

    A span that occurs in several windows counts once, with its best score. The score of no answer is the
    lowest of all windows, since one window with the answer is enough.
    """
    merged: dict[tuple[int, int], Answer] = {}
    for answers in answers_by_window:
        for answer in answers:
            best = merged.get((answer.start, answer.end))
            if best is None or best.score < answer.score:
                merged[answer.start, answer.end] = answer
    ranked = list(merged.values())
    if impossible and nothing:
        ranked.append(Answer(min(nothing), 0, 0))
    ranked.sort(key=lambda answer: -answer.score)
    return ranked[:count]
