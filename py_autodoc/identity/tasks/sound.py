"""Sound: what is heard in it, and how good it is."""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.inputs import bins
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, ModelPort, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task
from py_autodoc.identity.words import SPECTRUM, words
from py_autodoc.units import plural

_LETTERS = 28
"""Letters, a space and a blank, at least."""
_KEYS = 88
_BANDS = frozenset({80, 100, 128})
"""Usual numbers of mel bands that a voice is made from."""
_SOUNDS = 5000
"""Kinds of sounds, or of speakers, at most: a longer row is a waveform."""
_VECTORS = frozenset({128, 192, 256, 512, 768, 1024})
"""Usual lengths of vectors for whole sounds."""
_OPINION = frozenset({"mos", "dnsmos", "plcmos", "aecmos", "utmos", "nisqa"})
_OPINIONS = 5
"""Opinion scores that are given at once, at most: signal, background, overall …"""


def _heard(case: IdentityCase) -> ModelPort | None:
    """The sound that goes in, where nothing else does."""
    return (case.wave or case.bands) if case.only in ("waveform", "spectrogram") else None


def _in(port: ModelPort) -> str:
    return f"a {port.role} goes in"


def _level(port: ModelPort) -> float:
    return SURE if port.sure else PROBABLE


def _one(case: IdentityCase) -> OutputEnd | None:
    """The only result when it is one row of numbers."""
    end = case.end
    return end if end is not None and end.rank in (1, 2) else None


@task("audio-encoding", "audio encoding", ("audio-feature-extraction", "audio-encoding"), ())
def encoding(case: IdentityCase) -> RuleReading | None:
    """Vectors along a sound."""
    port = _heard(case)
    if port is None or not case.ends:
        return None
    end = case.ends[0]
    wide = end.width in {layer.hidden_size for layer in case.structure.attention if layer.hidden_size}
    if end.rank == 3 and (end.kind == "norm" or wide) and not end.activation:
        normed = end.kind == "norm"
        told = f"a vector of {end.width or '?'} for each frame comes out, " + (
            "normalized, no scores" if normed else "as wide as the layers"
        )
        level = _level(port) if normed or end.kind == "join" else WEAK
        return RuleReading(level, (_in(port), told), "hidden states")
    if case.named("embedding", "embeddings", "embs", "embed"):
        return RuleReading(SURE, (_in(port), "an output is named embedding"), "embedding")
    if (
        end.rank == 2
        and (end.kind == "unit" or end.width in (128, 192, 256, 512, 1024))
        and not end.activation
    ):
        return RuleReading(PROBABLE, (_in(port), f"a vector of {end.width} comes out"), "embedding")
    return None


@task("speech-recognition", "speech recognition", ("automatic-speech-recognition", "speech-recognition"),
      ("ForCTC", "ForSpeechSeq2Seq"))  # fmt: skip
def recognition(case: IdentityCase) -> RuleReading | None:
    """Scores of letters or words, along a sound or written by a decoder."""
    sound = case.wave or case.bands
    end = case.vocabulary
    if sound is not None and case.tokens is not None and case.family == "encoder-decoder" and end is not None:
        told = "an encoder hears, a decoder with cross attention scores the next token"
        return RuleReading(SURE if sound.sure else PROBABLE + 0.1, (_in(sound), told), "next-token scores")
    if sound is not None and case.tokens is not None and case.family == "encoder-decoder":
        told = "an encoder reads sound, a decoder with cross attention reads text"
        return RuleReading(WEAK, (_in(sound), told), "hidden states")
    port, first = _heard(case), case.first
    if port is None or first is None or first.rank != 3 or (first.width or 0) < _LETTERS:
        return None
    if first.at(1) == 1 or first.kind not in ("linear", "conv") or first.activation not in ("", "Softmax"):
        return None
    wide = first.width in {layer.hidden_size for layer in case.structure.attention if layer.hidden_size}
    if wide and not first.activation and first.kind != "linear":
        return None
    told = f"{first.width:,} scores for each frame come out: letters or word pieces"
    soft = first.activation == "Softmax"
    return RuleReading(SURE if soft and port.sure else PROBABLE, (_in(port), told), "character scores")


@task("audio-frame-classification", "audio frame classification", ("speaker-segmentation",),
      ("ForAudioFrameClassification",))  # fmt: skip
def frames(case: IdentityCase) -> RuleReading | None:
    """A few scores for each frame: who speaks, what is heard."""
    port, end = _heard(case), case.end
    if port is None or end is None or end.rank != 3 or not 1 <= (end.width or 0) < _LETTERS:
        return None
    if end.kind not in ("linear", "conv") or case.port("state") is not None:
        return None
    told = f"{plural(end.width or 0, 'score')} for each frame come out"
    return RuleReading(PROBABLE, (_in(port), told), "class scores")


@task("music-transcription", "music transcription")
def transcription(case: IdentityCase) -> RuleReading | None:
    """A score for each key of a piano and frame."""
    port = _heard(case)
    if port is None or sum(end.width == _KEYS and end.activation == "Sigmoid" for end in case.ends) < 2:
        return None
    told = f"several outputs of {_KEYS} scores a frame, one for each key of a piano"
    return RuleReading(SURE if port.sure else PROBABLE, (_in(port), told), "note scores")


@task("audio-classification", "audio classification", ("audio-classification",),
      ("ForAudioClassification",))  # fmt: skip
def classification(case: IdentityCase) -> RuleReading | None:
    """Scores of classes for a sound."""
    port, end = _heard(case), _one(case)
    if port is None or end is None or end.kind not in ("linear", "conv", "other"):
        return None
    if not (2 if end.activation != "Sigmoid" else 1) <= (end.width or 0) <= _SOUNDS:
        return None
    told = f"{plural(end.width or 0, 'score')} for the whole sound come{'s' * (end.width == 1)} out"
    if case.port("state") is not None:
        return None
    if end.activation == "Softmax" or (end.activation == "Sigmoid" and (end.width or 0) > 100):
        return RuleReading(_level(port), (_in(port), told, f"they end in a {end.activation}"), "class scores")
    if end.width == 1:
        return RuleReading(PROBABLE, (_in(port), "one number between 0 and 1 comes out"), "score")
    unlike = (end.width or 0) <= _OPINIONS or end.width in _VECTORS
    return RuleReading(WEAK if unlike else PROBABLE, (_in(port), told), "class scores")


@task("voice-activity", "voice activity", ("voice-activity-detection", "voice-activity", "vad"), ())
def activity(case: IdentityCase) -> RuleReading | None:
    """One probability for a short piece of sound, and a state for the next one."""
    port, end = _heard(case) or case.port("signal"), case.end
    if port is None and end is not None:
        return _streamed(case, end)
    if port is None or end is None or end.activation not in ("Sigmoid", "Softmax", ""):
        return None
    one = end.rank in (1, 2, 3) and all(d in (1, 2) or i == 0 for i, d in enumerate(end.shape or ()))
    stated = case.port("state") is not None
    rated = case.port("sample rate") is not None
    if not one or not stated:
        return None
    told = "one probability for each piece of sound comes out, and a state for the next piece"
    if end.activation == "Sigmoid" or rated:
        return RuleReading(SURE if port.sure or rated else PROBABLE, (_in(port), told), "speech probability")
    return RuleReading(WEAK, (_in(port), told), "score")


def _streamed(case: IdentityCase, end: OutputEnd) -> RuleReading | None:
    """Features of frames in place of sound, with a state that is handed on."""
    port = case.port("features")
    if port is None or port.rank != 3 or case.only != "features" or case.port("state") is None:
        return None
    if end.rank not in (2, 3) or end.width != 1 or end.activation != "Sigmoid":
        return None
    told = "frames of features and a state go in, one probability for each frame comes out"
    return RuleReading(WEAK, (told,), "speech probability")


@task("speech-quality", "speech quality", ("speech-quality",), ())
def quality(case: IdentityCase) -> RuleReading | None:
    """A few scores without a bound for a whole recording."""
    port, end = _heard(case), _one(case)
    graph = words(case.model.graphs[0].name)
    if case.end is not None and case.end.rank <= 2 and (case.end.width or 1) <= _OPINIONS:
        parts = (*graph, *case.name(case.end))
        if any(part in _OPINION for part in parts):
            return RuleReading(SURE, ("the file names mean opinion scores",), "opinion scores")
    if port is None or end is None or case.port("state") is not None:
        return None
    if end.width == 2:
        return None  # two classes
    if not 1 <= (end.width or 0) <= _OPINIONS or end.activation not in ("", "Relu") or end.kind != "linear":
        return None
    told = (
        f"{plural(end.width or 0, 'unbounded number')} for the whole recording come out, as opinion scores do"
    )
    if {"sig", "bak", "ovr"} <= set(graph):
        return RuleReading(SURE, (_in(port), told, "the file names opinion scores"), "opinion scores")
    return RuleReading(PROBABLE, (_in(port), told), "opinion scores")


@task("pitch-estimation", "pitch estimation", ("pitch-estimation",), ())
def pitch(case: IdentityCase) -> RuleReading | None:
    """A frequency for each frame."""
    port = _heard(case)
    if port is not None and case.named("pitch", "f0"):
        return RuleReading(SURE, (_in(port), "an output is named so"), "pitch")
    return None


@task("audio-enhancement", "audio enhancement", ("audio-to-audio", "speech-enhancement"), ())
def enhancement(case: IdentityCase) -> RuleReading | None:
    """A waveform of the same length, or several: cleaned, or taken apart."""
    port, end = case.wave, case.first
    if port is None and end is not None:
        return _bins(case, end)
    if port is None or end is None or case.only != "waveform" or not port.size or end.shape is None:
        return None
    length = port.size[0]
    if isinstance(length, int) and length >= 400 and end.width is not None:
        near = 0.9 <= end.width / length <= 1.1
        if near and len([d for d in end.shape[1:] if d != 1]) <= 2:
            return RuleReading(_level(port), (_in(port), "one of the same length comes out"), "waveform")
    return None


def _bins(case: IdentityCase, end: OutputEnd) -> RuleReading | None:
    """A spectrum, or a mask for it, of as many bins as go in."""
    port = next((port for port in case.ports if bins(port.shape)), None)
    if port is None or case.only not in ("features", "spectrogram", "") or end.shape is None:
        return None
    if bins(end.shape) != bins(port.shape) or len(end.shape) != port.rank:
        return None
    told = f"a spectrum of {bins(port.shape)} bins goes in, one of as many comes out"
    return RuleReading(PROBABLE, (told,), "spectrum or its mask")


@task("speech-synthesis", "speech synthesis", ("text-to-speech", "text-to-audio", "vocoder"),
      ("ForTextToWaveform", "ForTextToSpectrogram"))  # fmt: skip
def synthesis(case: IdentityCase) -> RuleReading | None:
    """A waveform out of text or of frequency bands."""
    end = case.first
    if end is None or end.shape is None or (case.tokens is None and case.bands is None):
        return None
    if case.wave is not None or case.image is not None:
        return None
    spoken = _spoken(case)
    if spoken is not None:
        return spoken
    wave = end.activation == "Tanh" or case.named("audio", "wav", "waveform", "wave")
    flat = end.rank in (1, 2, 3, 4) and all(d == 1 for d in end.shape[1:-1])
    if not wave or not flat:
        return None
    if end.width is not None and end.width < 400 and not case.named("audio", "wav", "waveform", "wave"):
        return None
    if case.tokens is not None:
        return RuleReading(SURE, ("tokens go in, one long row of samples comes out",), "waveform")
    bands = case.bands
    sure = bands is not None and bands.sure
    return RuleReading(
        SURE if sure else PROBABLE, ("a spectrogram goes in, a waveform comes out",), "waveform"
    )


def _spoken(case: IdentityCase) -> RuleReading | None:
    """Frames of frequency bands out of tokens, more of them than tokens (Ren et al., FastSpeech, 2019)."""
    tokens, end = case.tokens, case.first
    if tokens is None or end is None or end.rank != 3 or case.vocabulary is not None or end.activation:
        return None
    before = tokens.shape[-1] if tokens.shape else None
    longer = end.shape is not None and end.shape[1] != before and end.at(1) != 1
    named = any(SPECTRUM.intersection(case.name(e)) for e in case.ends)
    if case.only != "tokens" or not longer or end.width not in _BANDS:
        return None
    told = f"tokens go in, another number of frames of {end.width} numbers comes out: frequency bands"
    why = (told, "an output is named so") if named else (told,)
    return RuleReading(SURE if named else PROBABLE, why, "spectrogram")


@task("audio-codec", "audio coding", ("audio-codec",), ())
def codec(case: IdentityCase) -> RuleReading | None:
    """A waveform becomes codes by the nearest vector of a table, and a waveform again."""
    port, end = case.wave, case.first
    if port is None or end is None or case.only != "waveform" or not port.size or end.shape is None:
        return None
    length, flow = port.size[0], case.flow
    picked = [
        number
        for number in flow.of(("Gather",))
        if flow.constants[flow.nodes[number].inputs[0]] and _nearest(flow, flow.nodes[number].inputs[1])
    ]
    if not picked or not isinstance(length, int) or end.width is None:
        return None
    if not 0.9 <= end.width / length <= 1.1:
        return None
    told = "vectors are replaced by the nearest ones of a table, and a waveform of the same length comes out"
    return RuleReading(SURE + 0.05 if port.sure else PROBABLE + 0.1, (_in(port), told), "waveform")


def _nearest(flow: DataflowGraph, tensor: int) -> bool:
    """The place of the best of several."""
    for _ in range(8):
        number = flow.producers[tensor]
        if flow.op_types[number] in ("ArgMin", "ArgMax", "TopK"):
            return True
        data = flow.data_inputs[number]
        if len(data) != 1:
            return False
        tensor = data[0]
    return False
