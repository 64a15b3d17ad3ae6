"""Extractive question answering, for which transformers no longer has a pipeline."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import torch

from py_autodoc.errors import AnalysisError, OptionError
from py_autodoc.hf.serving.span_answers import AnswerWindow, best_answers, window_answers

_Base: Any = import_module("transformers.pipelines.base").ChunkPipeline


class QuestionAnsweringPipeline(_Base):  # type: ignore[misc]
    """Finds the span of a context that answers a question.

    A context longer than the model's maximum input is read in overlapping windows.

    Call it with ``question=…, context=…`` (strings, lists of equal length, or many questions about one
    context), with ``{"question": …, "context": …}``, with a list of those, or with a generator, which is read
    as results are consumed. Parameters of the call or of the constructor:

    ``top_k`` (1): number of answers; ``doc_stride`` (128, or half of a window): tokens shared by two windows;
    ``max_seq_len`` (384, or the model's maximum): tokens of a window including the question;
    ``max_question_len`` (64): tokens of the question, truncated beyond that; ``max_answer_len`` (15): tokens
    of an answer; ``handle_impossible_answer`` (False): allow an empty answer; ``align_to_words`` (True):
    return whole words.

    The result is ``{"score", "start", "end", "answer"}`` with ``context[start:end] == answer``, or a list of
    them, best first, if ``top_k`` is above 1. The score is the probability of the first token times that of
    the last, within the window.
    """

    _load_tokenizer = True
    _load_processor = False
    _load_image_processor = False
    _load_feature_extractor = False
    default_input_names = "question,context"

    def _sanitize_parameters(
        self,
        top_k: int | None = None,
        doc_stride: int | None = None,
        max_seq_len: int | None = None,
        max_question_len: int | None = None,
        max_answer_len: int | None = None,
        handle_impossible_answer: bool | None = None,
        align_to_words: bool | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        before = {
            "doc_stride": doc_stride,
            "max_seq_len": max_seq_len,
            "max_question_len": max_question_len,
            "align_to_words": align_to_words,
        }
        after = {
            "top_k": top_k,
            "max_answer_len": max_answer_len,
            "handle_impossible_answer": handle_impossible_answer,
        }
        for name in ("top_k", "max_answer_len", "max_question_len", "max_seq_len"):
            value = {**before, **after}[name]
            if value is not None and value < 1:
                raise OptionError("option-value", f"{name} is {value}; it must be at least 1.")
        return _without_none(before), {}, _without_none(after)

    def __call__(
        self, inputs: Any = None, *, question: Any = None, context: Any = None, **options: Any
    ) -> Any:
        """Answer one or many questions; see the class."""
        if inputs is None:
            inputs = _paired(question, context)
        elif question is not None or context is not None:
            raise OptionError("question-form", "Pass question= and context=, or one dict of both, not both.")
        if isinstance(inputs, (tuple, list)):
            inputs = list(inputs)
            if not inputs:
                return []
        elif not isinstance(inputs, (Mapping, types.GeneratorType)) and not hasattr(inputs, "__getitem__"):
            raise _form(inputs)
        return super().__call__(inputs, **options)

    def preprocess(
        self,
        example: Any,
        doc_stride: int | None = None,
        max_seq_len: int | None = None,
        max_question_len: int = 64,
        align_to_words: bool = True,
    ) -> Iterator[dict[str, Any]]:
        """Yield the windows of one question and its context."""
        question, context = _texts(example)
        if not self.tokenizer.is_fast:
            raise OptionError("slow-tokenizer", "Question answering needs a fast tokenizer, for offsets.")
        question = self._cut(question, max_question_len)
        encoded, first = self._encode(question, context, doc_stride, max_seq_len)
        context_index = 1 if first else 0
        windows = [self._window(encoded, i, context_index) for i in range(len(encoded["input_ids"]))]
        if not any(window.context.any() for window in windows):
            raise OptionError("empty-context", "The context has no word that the tokenizer knows.")
        if align_to_words:
            windows = _aligned(windows, [encoded.word_ids(i) for i in range(len(windows))])
        for i, window in enumerate(windows):
            names = [name for name in self.tokenizer.model_input_names if name in encoded]
            tensors = {name: torch.tensor([encoded[name][i]]) for name in names}
            yield {**tensors, "window": window, "text": context, "is_last": i == len(windows) - 1}

    def _cut(self, question: str, longest: int) -> str:
        encoded = self.tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)
        offsets = encoded["offset_mapping"]
        return question if len(offsets) <= longest else question[: offsets[longest - 1][1]]

    def _encode(
        self, question: str, context: str, stride: int | None, longest: int | None
    ) -> tuple[Any, bool]:
        """Return the windows from the tokenizer, and whether the question comes first."""
        tokenizer = self.tokenizer
        size = min(tokenizer.model_max_length, 384) if longest is None else longest
        question_tokens = len(tokenizer(question, add_special_tokens=False)["input_ids"])
        context_tokens = size - question_tokens - tokenizer.num_special_tokens_to_add(pair=True)
        if context_tokens < 1:
            raise OptionError(
                "question-too-long",
                f"The question leaves no room for the context in {size} tokens.",
                "Shorten it, or set max_question_len or max_seq_len.",
            )
        overlap = min(size // 2, 128, context_tokens - 1) if stride is None else stride
        if not 0 <= overlap < context_tokens:
            raise OptionError(
                "option-value",
                f"doc_stride is {overlap}; with this question it must be 0 to {context_tokens - 1}.",
            )
        first = tokenizer.padding_side == "right"
        encoded = tokenizer(
            question if first else context,
            context if first else question,
            truncation="only_second" if first else "only_first",
            max_length=size,
            stride=overlap,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        return encoded, first

    def _window(self, encoded: Any, number: int, context_index: int) -> AnswerWindow:
        ids = encoded["input_ids"][number]
        offsets = np.asarray(encoded["offset_mapping"][number], np.int64).reshape(-1, 2)
        context = np.array([index == context_index for index in encoded.sequence_ids(number)])
        cls = self.tokenizer.cls_token_id
        null = ids.index(cls) if cls is not None and cls in ids else None
        left_padded = self.tokenizer.padding_side == "left"
        return AnswerWindow(context, offsets[:, 0], offsets[:, 1], null, left_padded)

    def _forward(self, inputs: dict[str, Any], **_parameters: Any) -> dict[str, Any]:
        window_inputs = {name: inputs.pop(name) for name in ("window", "text", "is_last")}
        outputs = self.model(**inputs)
        return {"start": outputs["start_logits"], "end": outputs["end_logits"], **window_inputs}

    def postprocess(
        self,
        windows: list[dict[str, Any]],
        top_k: int = 1,
        max_answer_len: int = 15,
        handle_impossible_answer: bool = False,
    ) -> dict[str, Any] | list[dict[str, Any]]:
        """Return the best answers over all windows of one question."""
        answers_by_window, nothing = [], []
        for window in windows:
            start, end = (window[name][0].float().numpy() for name in ("start", "end"))
            answers, none = window_answers(window["window"], start, end, top_k, max_answer_len)
            answers_by_window.append(answers)
            if none is not None:
                nothing.append(none)
        text = windows[0]["text"]
        best = [
            {
                "score": answer.score,
                "start": answer.start,
                "end": answer.end,
                "answer": text[answer.start : answer.end],
            }
            for answer in best_answers(answers_by_window, nothing, top_k, handle_impossible_answer)
        ]
        if not best:
            raise AnalysisError("scores-not-numbers", "The model's scores for this question are not numbers.")
        return best[0] if top_k == 1 else best


def _without_none(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _form(value: Any) -> OptionError:
    return OptionError(
        "question-form",
        f"A {type(value).__name__} is not a question about a context.",
        'Pass question=… and context=…, or {"question": …, "context": …}.',
    )


def _paired(question: Any, context: Any) -> Any:
    """Convert arguments by name to dicts."""
    if isinstance(question, (list, tuple)):
        contexts = [context] * len(question) if isinstance(context, str) else list(context or ())
        if len(contexts) != len(question):
            raise OptionError(
                "question-form", f"{len(question)} questions and {len(contexts)} contexts do not go together."
            )
        return [{"question": q, "context": c} for q, c in zip(question, contexts, strict=True)]
    return {"question": question, "context": context}


def _texts(example: Any) -> tuple[str, str]:
    if not isinstance(example, Mapping):
        raise _form(example)
    texts = []
    for name in ("question", "context"):
        text = example.get(name)
        if not isinstance(text, str) or not text.strip():
            raise OptionError(
                "question-form", f"The {name} is {'empty' if isinstance(text, str) else 'missing'}."
            )
        texts.append(text)
    return texts[0], texts[1]


def _aligned(windows: list[AnswerWindow], words: list[list[int | None]]) -> list[AnswerWindow]:
    """Extend answers to whole words; a word split between windows is combined from all of them."""
    spans: dict[int, tuple[int, int]] = {}
    for window, ids in zip(windows, words, strict=True):
        for i in np.flatnonzero(window.context):
            word = ids[i]
            if word is not None:
                span = spans.get(word, (int(window.starts[i]), int(window.ends[i])))
                spans[word] = min(span[0], int(window.starts[i])), max(span[1], int(window.ends[i]))
    aligned = []
    for window, ids in zip(windows, words, strict=True):
        starts, ends = window.starts.copy(), window.ends.copy()
        for i in np.flatnonzero(window.context):
            word = ids[i]
            if word is not None:
                starts[i], ends[i] = spans[word]
        aligned.append(AnswerWindow(window.context, starts, ends, window.null, window.left_padded))
    return aligned
