"""Text generation from text, images or audio."""

from __future__ import annotations

from py_autodoc.identity.case import LANGUAGE, IdentityCase, text_like
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.units import plural


@task("text-generation", "text generation", ("text-generation",), ("ForCausalLM", "LMHeadModel"))
def generation(case: IdentityCase) -> RuleReading | None:
    """Match scores of the next token from the tokens before it."""
    end = case.vocabulary
    if end is None:
        return _from_vectors(case)
    if case.only not in ("tokens", "") or case.family == "encoder-decoder":
        return None
    if case.crossing and case.count("tokens") > 1:
        return None  # one sequence is read, the other generated
    others = {p.role for p in case.ports} & {"image", "waveform", "spectrogram", "features"}
    if others:
        return None
    evidence = f"{end.width:,} scores per position as output, one for each row of the token table"
    why: tuple[str, ...] = (evidence,)
    level = PROBABLE
    cached = case.port("key/value cache") is not None
    if case.causal or cached:
        why = (evidence, "every attention layer is causal" if case.causal else "keys and values are cached")
        level = SURE
    elif case.family in ("state-space", "recurrent") or (
        case.family == "hybrid" and case.causal is not False
    ):
        why = (evidence, *case.structure.verdict.evidence[:1])
        level = SURE
    elif case.family == "transformer-decoder":
        why = (evidence, *case.structure.verdict.evidence[-2:])
        level = SURE if case.sure_family else PROBABLE
    elif case.causal is False or case.family == "fourier":
        return None
    if not text_like(case) or case.crossing:
        # The decoder of another task, such as speech recognition, also generates text.
        level = min(level, PROBABLE + 0.1)
    return RuleReading(level, why, "next-token scores")


def _from_vectors(case: IdentityCase) -> RuleReading | None:
    """Match a decoder that takes vectors instead of tokens."""
    end = case.first
    cached = case.port("key/value cache") is not None
    if not cached or case.tokens is not None or end is None or end.rank != 3 or end.kind != "linear":
        return None
    if (end.width or 0) < LANGUAGE:
        return None
    evidence = f"vectors with cached keys and values as input, {end.width:,} scores per position as output"
    return RuleReading(SURE, (evidence,), "next-token scores")


@task(
    "text-to-text",
    "text-to-text generation",
    ("text2text-generation", "summarization", "translation"),
    ("ForSeq2SeqLM",),
)
def rewriting(case: IdentityCase) -> RuleReading | None:
    """Match an encoder that reads tokens and a decoder that generates others."""
    tokens = [port for port in case.ports if port.role == "tokens"]
    decoding = case.family == "encoder-decoder" or (case.crossing and case.family == "transformer-decoder")
    if not decoding or len(tokens) < 2 or case.only != "tokens":
        return None
    evidence = "a token encoder, a decoder with cross-attention that scores the next token"
    if case.vocabulary is None:
        return RuleReading(WEAK, ("an encoder and a decoder with token inputs",), "hidden states")
    is_sure = text_like(case) and case.sure_family and case.family == "encoder-decoder"
    return RuleReading(SURE if is_sure else PROBABLE + 0.1, (evidence,), "next-token scores")


@task(
    "image-to-text",
    "image-to-text generation",
    ("image-to-text", "image-text-to-text", "visual-question-answering", "document-question-answering"),
    ("ForVision2Seq",),
)
def describing(case: IdentityCase) -> RuleReading | None:
    """Match an image and tokens as inputs, and scores of the next token as output."""
    if case.image is None or case.tokens is None or case.vocabulary is None:
        return None
    evidence = f"image and token inputs, {plural(case.vocabulary.width or 0, 'score')} per token as output"
    return RuleReading(SURE if text_like(case) else PROBABLE, (evidence,), "next-token scores")


@task("image-text-matching", "image–text matching", ("zero-shot-image-classification",), ("CLIPModel",))
def matching(case: IdentityCase) -> RuleReading | None:
    """Match image and text encoders whose embeddings are compared."""
    if case.image is None or case.page:
        return None
    found = _towers(case, "image")
    # One channel may be a spectrogram as well.
    return (
        found if found is None or case.image.sure else found._replace(strength=min(found.strength, PROBABLE))
    )


@task("audio-text-matching", "audio–text matching", ("zero-shot-audio-classification",), ("ClapModel",))
def audio_matching(case: IdentityCase) -> RuleReading | None:
    """Match encoders of sound and text whose embeddings are compared (Wu et al., CLAP, 2023)."""
    heard = case.port("spectrogram", "waveform", "signal")
    return None if heard is None or case.image is not None else _towers(case, "sound")


def _towers(case: IdentityCase, other: str) -> RuleReading | None:
    """Match encoders of text and of something else, whose embeddings are compared."""
    if case.tokens is None or case.vocabulary is not None:
        return None
    if case.crossing and case.family != "transformer-encoder":
        return None
    towers = any("towers" in line for line in case.structure.verdict.evidence)
    unit = any(end.kind == "unit" for end in case.ends)
    named = case.named("similarity", "embeds") or any("per" in case.name(end) for end in case.ends)
    evidence = f"{other} and text inputs, each with its own tower"
    if towers or unit or named:
        return RuleReading(
            SURE if towers and (unit or named or case.ends) else PROBABLE, (evidence,), "similarity"
        )
    return RuleReading(WEAK, (f"{other} and text inputs",), "scores")
