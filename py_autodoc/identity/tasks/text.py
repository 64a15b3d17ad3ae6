"""Text input: vectors, classes and spans."""

from __future__ import annotations

from py_autodoc.identity.case import DATA, IdentityCase, text_like
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task
from py_autodoc.units import plural

_COUNTING = ("TfIdfVectorizer", "Tokenizer")
_SHORTEST = 128
"""Minimum length of a text embedding."""
_PAGE = {"tokens", "image"}
_MAX_LABELS = 50
"""Maximum classes of a text without a Softmax; embeddings are longer."""


def _reads(case: IdentityCase) -> bool:
    """True if the inputs are only tokens and no text is generated from them."""
    ports = [port for port in case.ports if port.role == "tokens"]
    rows = {port.rows for port in ports}
    # Ids of users and items are single numbers from tables of their own.
    in_order = any(port.rank > 1 or port.shape not in ((1,), None) for port in ports)
    # With tokens as the only input, cross-attention belongs to latent positions.
    own = not case.crossing or (len(ports) == 1 and case.family == "transformer-encoder")
    is_text_only = case.only == "tokens" or (case.page and {p.role for p in case.ports} & set(DATA) <= _PAGE)
    return is_text_only and bool(case.ends) and own and len(rows) == 1 and in_order


def _is_squeezed(case: IdentityCase, end: OutputEnd) -> bool:
    """True for one number per token, whose axis of size 1 was squeezed."""
    shape = case.flow.shapes[case.flow.first_outputs[end.node]] if end.kind == "linear" else None
    tokens = case.tokens
    return (
        tokens is not None
        and end.rank == 2
        and end.shape == tokens.shape
        and shape is not None
        and len(shape) == 3
        and shape[-1] == 1
    )


def _is_resampled(case: IdentityCase, end: OutputEnd) -> bool:
    """True unless there is one row per token: the output is longer or shorter."""
    tokens = case.tokens
    before = tokens.shape[-1] if tokens is not None and tokens.shape else None
    return isinstance(before, int) and end.at(1) is not None and end.at(1) != before


def _level(case: IdentityCase) -> float:
    return SURE if text_like(case) else PROBABLE


def _input_text(case: IdentityCase) -> str:
    table = f", embedding table of {plural(case.positions, 'row')}" if case.positions else ""
    return f"token input{table}"


def _is_hidden(case: IdentityCase, end: OutputEnd) -> bool:
    """True if the output is as wide as the layers: hidden states, not scores."""
    return end.width is not None and end.width in {
        layer.hidden_size for layer in case.structure.attention if layer.hidden_size
    }


@task("text-encoding", "text encoding", ("feature-extraction", "sentence-similarity", "text-embedding"), ())
def encoding(case: IdentityCase) -> RuleReading | None:
    """Match vectors for a text or its tokens."""
    if not _reads(case) or case.vocabulary is not None:
        return None
    end = case.ends[0]
    if _is_squeezed(case, end):
        return None
    if case.named("embedding", "embeddings") and end.rank == 2:
        return RuleReading(SURE, (_input_text(case), "an output is named embedding"), "embedding")
    if end.kind == "unit" or any(e.kind == "unit" for e in case.ends):
        return RuleReading(_level(case), (_input_text(case), "one unit-length vector as output"), "embedding")
    hidden = "hidden" in case.name(end)
    if end.rank == 3 and (end.kind == "norm" or hidden or _is_hidden(case, end)) and not end.activation:
        evidence = f"a vector of {end.width or '?'} values per token as output, no vocabulary scores"
        level = _level(case) if hidden or end.kind != "linear" else PROBABLE
        return RuleReading(level, (_input_text(case), evidence), "hidden states")
    if end.rank == 3 and end.kind == "recurrent":
        return RuleReading(
            PROBABLE,
            (_input_text(case), "output of recurrent layers for each token"),
            "hidden states",
        )
    if end.rank == 2 and (_is_hidden(case, end) or end.kind == "norm") and end.activation in ("", "Tanh"):
        evidence = f"one vector of {end.width} values for the whole text, as wide as the layers"
        return RuleReading(_level(case), (_input_text(case), evidence), "embedding")
    if end.rank == 2 and (end.width or 0) >= _SHORTEST and not end.activation:
        evidence = f"one vector of {end.width} values for the whole text"
        return RuleReading(PROBABLE, (_input_text(case), evidence), "embedding")
    return None


@task(
    "text-classification",
    "text classification",
    ("text-classification", "sentiment-analysis"),
    ("ForSequenceClassification",),
)
def classification(case: IdentityCase) -> RuleReading | None:
    """Match a few scores for a whole text."""
    if case.family == "classical-ml" and case.flow.of(_COUNTING):
        return RuleReading(SURE, ("word counts as input of a classical model",), "class")
    if not _reads(case):
        return None
    end = case.ends[0]
    width = end.width
    if (
        end.rank != 2
        or width is None
        or len(case.ends) > 1
        or _is_hidden(case, end)
        or _is_squeezed(case, end)
    ):
        return None
    evidence = f"{plural(width, 'score')} for the whole text as output"
    if width > 1 and end.activation == "Softmax":
        return RuleReading(_level(case), (_input_text(case), evidence, "final Softmax"), "class scores")
    if end.kind == "linear" and 1 < width <= _MAX_LABELS:
        return RuleReading(_level(case), (_input_text(case), evidence), "class scores")
    return RuleReading(
        WEAK if width > _MAX_LABELS else PROBABLE, (_input_text(case), evidence), "class scores"
    )


@task(
    "token-classification",
    "token classification",
    ("token-classification", "ner"),
    ("ForTokenClassification",),
)
def tagging(case: IdentityCase) -> RuleReading | None:
    """Match a few scores per token."""
    if not _reads(case) or case.vocabulary is not None or len(case.ends) > 1:
        return None
    end = case.ends[0]
    width = end.width
    if _is_squeezed(case, end):
        return RuleReading(PROBABLE, (_input_text(case), "one output value per token"), "score")
    if end.rank != 3 or width is None or _is_hidden(case, end) or end.kind not in ("linear", "other"):
        return None
    if _is_resampled(case, end):
        return None
    evidence = f"{plural(width, 'score')} per token as output"
    if case.causal:
        return RuleReading(WEAK, (_input_text(case), evidence), "class scores")
    level = _level(case) if 3 <= width <= 4 * _MAX_LABELS else PROBABLE
    return RuleReading(level, (_input_text(case), evidence), "class scores")


@task("question-answering", "question answering", ("question-answering",), ("ForQuestionAnswering",))
def answering(case: IdentityCase) -> RuleReading | None:
    """Match two scores per token: start and end of the answer."""
    if not _reads(case) or len(case.ends) != 2:
        return None
    named = case.named("start") and case.named("end")
    one, other = case.ends
    source = case.tokens
    same_shape = (
        one.shape == other.shape and one.rank == 2 and source is not None and source.shape == one.shape
    )
    if named and same_shape:
        told = "two scores per token as output, named start and end"
        return RuleReading(SURE, (_input_text(case), told), "scores")
    if same_shape and _level(case) == SURE:
        told = "two scores per token as output: start and end of a span"
        return RuleReading(SURE, (_input_text(case), told), "scores")
    return RuleReading(PROBABLE, ("two scores per token as output",), "scores") if same_shape else None


@task(
    "masked-language-modelling",
    "masked language modelling",
    ("fill-mask",),
    ("ForMaskedLM", "ForPreTraining"),
)
def masked(case: IdentityCase) -> RuleReading | None:
    """Match word scores where tokens see both sides."""
    end = case.vocabulary
    if end is None or not _reads(case) or case.family not in ("transformer-encoder", "fourier"):
        return None
    if case.causal is not False and not (case.family == "fourier" or case.crossing):
        return None
    evidence = f"{end.width:,} scores per token as output, one for each row of the table"
    if case.causal is not False:
        # Fourier transforms or attention over latent positions connect all tokens.
        return RuleReading(PROBABLE, (_input_text(case), evidence), "word scores")
    sides = "; bidirectional attention"
    return RuleReading(_level(case), (_input_text(case), evidence + sides), "word scores")


@task("byte-classification", "byte classification", ("file-type-classification",))
def bytes_of(case: IdentityCase) -> RuleReading | None:
    """Match classes of a file from some of its bytes."""
    end = case.end
    if case.only != "bytes" or end is None or end.rank != 2 or (end.width or 0) < 2:
        return None
    evidence = f"byte input, {end.width:,} scores as output"
    return RuleReading(SURE if end.activation == "Softmax" else PROBABLE, (evidence,), "class scores")
