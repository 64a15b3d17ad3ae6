"""Question answering against a reference of its own: torch, loops, one window after the other."""

from __future__ import annotations

import math

import numpy as np
import pipeline_models as pm
import pytest
import torch

import py_autodoc
from py_autodoc.errors import AnalysisError, OptionError
from py_autodoc.hf.serving.span_answers import Answer, AnswerWindow, best_answers, window_answers

pytestmark = pytest.mark.slow

QUESTION = "Who was eating the food near the river?"
CONTEXT = "A man was eating bread. Angela Merkel met Ada Lovelace, in Zürich, near the naïve river-bank."
LONG = pm.long_context(900)


@pytest.fixture(scope="module")
def answerer(tmp_path_factory):
    """A small model with its tokenizer and its file."""
    model = pm.bert("BertForQuestionAnswering")
    path = tmp_path_factory.mktemp("qa") / "m.onnx"
    return model, pm.tokenizer(), pm.export(model, path, pm.tokenizer())


def reference(model, tokenizer, question, context, size=384, stride=128, longest=15, words=True):
    """Every answer of every window as {(start, end): best score}, and the smallest score of no answer."""
    encoded = tokenizer(
        question, context, truncation="only_second", max_length=size, stride=stride,
        return_overflowing_tokens=True, return_offsets_mapping=True,
    )  # fmt: skip
    scores, nothing = {}, 1.0
    whole = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    spans = {}
    for (start, end), word in zip(whole["offset_mapping"], whole.word_ids(), strict=True):
        low, high = spans.get(word, (start, end))
        spans[word] = (min(low, start), max(high, end))
    word_at = {
        offsets: spans[w] for offsets, w in zip(whole["offset_mapping"], whole.word_ids(), strict=True)
    }
    for i, ids in enumerate(encoded["input_ids"]):
        with torch.no_grad():
            out = model(
                input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([encoded["token_type_ids"][i]]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
            )  # fmt: skip
        context_tokens = [n for n, s in enumerate(encoded.sequence_ids(i)) if s == 1]
        allowed = [0, *context_tokens]

        def probability(logits, allowed=allowed):
            powers = {n: math.exp(float(logits[0, n]) - float(logits.max())) for n in allowed}
            total = sum(powers.values())
            return {n: power / total for n, power in powers.items()}

        start, end = probability(out.start_logits), probability(out.end_logits)
        nothing = min(nothing, start[0] * end[0])
        offsets = encoded["offset_mapping"][i]
        for s in context_tokens:
            for e in context_tokens:
                if 0 <= e - s < longest:
                    a, b = (word_at[offsets[s]][0], word_at[offsets[e]][1]) if words else (
                        offsets[s][0], offsets[e][1])  # fmt: skip
                    scores[a, b] = max(scores.get((a, b), 0.0), start[s] * end[e])
    return scores, nothing


def check(answers, scores, context, count):
    assert len(answers) == count
    best = sorted(scores.values(), reverse=True)[:count]
    for answer, score in zip(answers, best, strict=True):
        assert set(answer) == {"score", "start", "end", "answer"}
        assert context[answer["start"] : answer["end"]] == answer["answer"] != ""
        assert abs(answer["score"] - score) < pm.TOLERANCE
        assert abs(answer["score"] - scores[answer["start"], answer["end"]]) < pm.TOLERANCE


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("context", [CONTEXT, LONG], ids=["short", "long"])
def test_equal_to_the_reference(answerer, context, words):
    model, tokenizer, path = answerer
    pipe = py_autodoc.pipeline(path)
    assert pipe.task == "question-answering"
    scores, _ = reference(model, tokenizer, QUESTION, context, words=words)
    one = pipe(question=QUESTION, context=context, align_to_words=words)
    assert isinstance(one, dict)
    check([one], scores, context, 1)
    if not words:  # with words several spans of tokens are one answer
        check(pipe(question=QUESTION, context=context, top_k=7, align_to_words=False), scores, context, 7)


def test_windows(answerer):
    model, tokenizer, path = answerer
    pipe = py_autodoc.pipeline(path, max_seq_len=64, doc_stride=16, max_answer_len=4, align_to_words=False)
    scores, nothing = reference(model, tokenizer, QUESTION, LONG, 64, 16, 4, words=False)
    found = pipe(question=QUESTION, context=LONG, top_k=20, batch_size=5)
    check(found, scores, LONG, 20)
    # Answers lie in several windows, the later ones too.
    assert len({one["start"] * 10 // len(LONG) for one in found}) > 1
    none = pipe(question=QUESTION, context=LONG, top_k=10**6, handle_impossible_answer=True)
    empty = [one for one in none if one["answer"] == ""]
    assert len(empty) == 1
    assert abs(empty[0]["score"] - nothing) < pm.TOLERANCE
    assert [one["score"] for one in none] == sorted((one["score"] for one in none), reverse=True)


def test_forms_of_a_question(answerer):
    path = answerer[2]
    pipe = py_autodoc.pipeline(path)
    both = {"question": QUESTION, "context": CONTEXT}
    other = {"question": "What?", "context": LONG}
    one, two = pipe(both), pipe(other)
    pm.same(pipe(**both), one)
    pm.same(pipe([both, other]), [one, two])
    pm.same(pipe([both, other], batch_size=3), [one, two])
    pm.same(pipe((both,)), [one])
    pm.same(list(pipe(item for item in (both, other))), [one, two])
    pm.same(pipe(question=[QUESTION, QUESTION], context=CONTEXT), [one, one])
    pm.same(pipe(question=[QUESTION], context=[CONTEXT]), [one])
    assert pipe([]) == []


def test_a_long_question_is_cut(answerer):
    pipe = py_autodoc.pipeline(answerer[2])
    question = " ".join(QUESTION.split() * 30)
    cut = pipe(question=question, context=CONTEXT, max_question_len=9)
    pm.same(cut, pipe(question=QUESTION, context=CONTEXT))
    with pytest.raises(OptionError, match="no room"):
        pipe(question=question * 2, context=CONTEXT, max_question_len=500)


@pytest.mark.parametrize(
    "call",
    [
        {"question": QUESTION},
        {"question": "", "context": CONTEXT},
        {"question": QUESTION, "context": " "},
        {"question": [QUESTION, QUESTION], "context": [CONTEXT]},
        {"inputs": 5},
        {"inputs": ["just text"]},
        {"inputs": {"question": QUESTION, "context": 5}},
        {"inputs": {"question": "a", "context": "b"}, "question": "c"},
        {"question": QUESTION, "context": CONTEXT, "top_k": 0},
        {"question": QUESTION, "context": CONTEXT, "doc_stride": 384},
        {"question": QUESTION, "context": CONTEXT, "doc_stride": -1},
        {"question": QUESTION, "context": "\u200b\u0000"},
    ],
)
def test_what_is_no_question(answerer, call):
    pipe = py_autodoc.pipeline(answerer[2])
    with pytest.raises(OptionError) as caught:
        pipe(**call)
    assert "\n" not in str(caught.value)


def test_scores_that_are_no_numbers(answerer, tmp_path):
    model = pm.bert("BertForQuestionAnswering")
    with torch.no_grad():
        model.qa_outputs.bias.fill_(float("nan"))
    path = pm.export(model, tmp_path / "m.onnx", pm.tokenizer())
    with pytest.raises(AnalysisError, match="not numbers"):
        py_autodoc.pipeline(path)(question=QUESTION, context=CONTEXT)


def window(left=False):
    context = np.array([False, False, False, True, True, True, False])
    return AnswerWindow(context, np.array([0, 0, 2, 0, 4, 8, 0]), np.array([0, 1, 3, 3, 7, 9, 0]), 0, left)


def test_padding_of_a_batch_is_not_read():
    logits = np.array([1.0, 9, 9, 2, 3, 1, 9], np.float32)
    plain = window_answers(window(), logits, logits, 3, 2)
    padding = np.full(4, 99, np.float32)
    assert window_answers(window(), *[np.concatenate([logits, padding])] * 2, 3, 2) == plain
    assert window_answers(window(left=True), *[np.concatenate([padding, logits])] * 2, 3, 2) == plain
    assert {(one.start, one.end) for one in plain[0]} == {(4, 7), (0, 7), (4, 9)}


def test_the_same_part_counts_once():
    answers = [[Answer(0.5, 0, 3), Answer(0.1, 4, 7)], [Answer(0.6, 0, 3)]]
    assert best_answers(answers, [0.2, 0.9], 5, False) == [Answer(0.6, 0, 3), Answer(0.1, 4, 7)]
    assert best_answers(answers, [0.2, 0.9], 2, True) == [Answer(0.6, 0, 3), Answer(0.2, 0, 0)]
