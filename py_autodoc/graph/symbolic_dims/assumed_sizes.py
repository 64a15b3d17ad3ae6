"""Meaning of a symbolic input dimension, and typical values for it.

A value is only a proposal until ``size_fitting`` has checked it against the model.

=====================  ================  ===============================================================
meaning                first proposal    recognised by
=====================  ================  ===============================================================
batch                  1                 name (``batch``, ``bs``, ``N``), else axis 0; axis 1 of a
                                         recurrent state (``state``, ``hidden``, ``h0``)
cached tokens          0                 name (``past…``, ``…cache…``) of the dimension, or of the input:
                                         a prefill, consistent with 128 tokens
… of a decode step       128               the same, in a model whose ids are one token by the file itself
tokens, frames         128               name (``seq``, ``token``, ``len``, ``time`` …), integer rank 2
                                         axis 1, the free axis of a float ``[batch, ?, features]`` or
                                         ``[batch, features, ?]``
audio samples          16000             name of the dimension; for a float of rank ≤ 2 the name of the
                                         input, or tokens by name that no integer input has; unnamed,
                                         where the model treats the input as sound
image height, width    224               name, or rank 4 float with 1, 3 or 4 channels
width of a text line   320               the width of an image whose height alone the model decides
frames of a video      16                the free axis of a rank 5 float beside channels, height and width
channels               3                 name
anything else          1
=====================  ================  ===============================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum

from py_autodoc.graph.ir.model import Model, Shape, Tensor


class SizeMeaning(Enum):
    """What a dimension counts, in the order in which values are chosen."""

    BATCH = "batch"
    IMAGE = "image"
    TOKENS = "tokens"
    SAMPLES = "samples"
    CHANNELS = "channels"
    PAST = "past"
    STEP = "step"
    """Cache of a model that takes one token at a time."""
    CLIP = "clip"
    OTHER = "other"
    LINE = "line"


TYPICAL_SIZES: dict[SizeMeaning, tuple[int, ...]] = {
    SizeMeaning.BATCH: (1, 2, 4, 8, 16, 32, 64),
    SizeMeaning.IMAGE: (
        224, 256, 640, 320, 512, 384, 48, 32, 64, 416, 608, 800, 1024, 299, 192, 160, 128, 112, 96, 336,
        448, 480, 518, 576, 768, 28,
    ),
    SizeMeaning.LINE: (320, 256, 640, 512, 192, 160, 128, 100, 96, 48),
    SizeMeaning.TOKENS: (128, 64, 32, 256, 512, 100, 77, 16, 8, 300, 1000, 1024, 3000, 1, 2, 4, 50, 197, 200),
    SizeMeaning.SAMPLES: (
        16000, 512, 576, 1024, 1536, 256, 1280, 160, 320, 480, 400, 640, 768, 2048, 4096, 8000, 8192,
        24000, 32000, 44100, 48000, 80000, 160000, 480000,
    ),
    SizeMeaning.CHANNELS: (3, 1, 4, 2, 6, 8, 16, 32, 64, 80, 128),
    SizeMeaning.PAST: (0, 128, 1, 16, 64, 127, 256),
    SizeMeaning.STEP: (128, 127, 64, 16, 1, 256, 0),
    SizeMeaning.CLIP: (16, 8, 32, 64, 24, 30, 4, 2, 1, 128),
    SizeMeaning.OTHER: (1, 128, 16, 512, 64, 16000, 32, 224, 4, 2, 8, 3, 256, 80, 100, 320, 640, 1024, 4096),
}  # fmt: skip
"""Candidate values, most typical first."""
COMMON_SIZES = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 25, 28, 32, 40, 48, 50, 56, 64, 80, 96, 100,
    112, 128, 144, 160, 192, 200, 224, 240, 256, 288, 320, 384, 400, 448, 480, 512, 640, 768, 800, 960,
    1024, 1280, 1440, 1536, 1600, 1920, 2048, 4000, 4096, 8000, 8192, 16000, 16384, 32000, 48000,
)  # fmt: skip
"""Candidates after the typical ones, for any meaning."""

_BY_NAME = (
    (re.compile(r"past|cache", re.I), SizeMeaning.PAST),
    (re.compile(r"batch|^bs?$|^n$|^bsz$", re.I), SizeMeaning.BATCH),
    (re.compile(r"sample|audio|wave", re.I), SizeMeaning.SAMPLES),
    (re.compile(r"height|width|^[hw]$|^(image|img)_?(size|h|w)$", re.I), SizeMeaning.IMAGE),
    (re.compile(r"^c$|channel", re.I), SizeMeaning.CHANNELS),
    (re.compile(r"seq|token|len|time|frame|^[tls]$", re.I), SizeMeaning.TOKENS),
)
_AUDIO = re.compile(r"audio|wave|speech|pcm|waveform|signal", re.I)
_NO_AUDIO = re.compile(r"mask|emb|feat|hidden|score|logit", re.I)
_STATE = re.compile(r"(^|[_.])(state|hidden|cell|memory|[hc][0n]?|[hc]x)([_.\d]|$)", re.I)
_CACHE = re.compile(r"past|cache", re.I)
_IDS = re.compile(r"(^|[_.])(ids|tokens?)([_.\d]|$)", re.I)
_CROSS = re.compile(r"encoder|cross", re.I)
_RATE = re.compile(r"^(sr|sample_?rate|sampling_?rate)$", re.I)
_SPECTRAL = frozenset({"STFT", "DFT"})
_MOVING = frozenset(
    {
        *("Unsqueeze", "Squeeze", "Reshape", "Pad", "Slice", "Identity", "Cast", "Concat", "Transpose"),
        *("Mul", "Sub", "Div", "Expand"),
    }
)
_MAX_VISITED = 24
"""Maximum tensors searched."""
_INTEGER = frozenset({2, 3, 4, 5, 6, 7, 12, 13})
_IMAGE_CHANNELS = (1, 3, 4)
_MIN_FEATURES = 16


def holds_integers(t: Tensor) -> bool:
    """True for ids, masks and positions."""
    return t.dtype in _INTEGER


def takes_a_rate(inputs: Iterable[Tensor]) -> bool:
    """True if an input is a sampling rate, so that others are audio."""
    return any(t.dtype in _INTEGER and len(t.shape or ()) <= 1 and _RATE.search(t.name) for t in inputs)


def takes_one_token(inputs: Iterable[Tensor]) -> bool:
    """True if the file fixes the ids to one token, so that the cache holds the previous ones."""
    ids = [t.shape for t in inputs if t.dtype in _INTEGER and _IDS.search(t.name) and len(t.shape or ()) == 2]
    return bool(ids) and all(shape is not None and shape[1] == 1 for shape in ids)


def is_signal(model: Model, t: Tensor) -> bool:
    """True if an input, at most reshaped, feeds a convolution over one channel or a transform."""
    front, seen = [t.id], {t.id}
    while front and len(seen) < _MAX_VISITED:
        for number in model.tensors[front.pop()].consumers:
            node = model.nodes[number]
            if node.op_type in _SPECTRAL:
                return True
            if node.op_type == "Conv" and node.attributes.get("group", 1) == 1:
                x, w = (*node.inputs, -1, -1)[:2]
                weight = model.tensors[w].shape if w >= 0 else None
                if x in seen and weight is not None and len(weight) == 3 and weight[1] == 1:
                    return True
            elif node.op_type in _MOVING:
                new = [o for o in node.outputs if o >= 0 and o not in seen]
                front += new
                seen.update(new)
    return False


def meaning(symbol: str, t: Tensor, shape: Shape, axis: int, signal: bool = False) -> SizeMeaning:
    """Return what dimension ``axis`` of the graph input ``t`` counts.

    ``symbol`` is its name, or empty; ``signal`` states that the model treats the input as audio.
    """
    rank, integer = len(shape), t.dtype in _INTEGER
    for pattern, counted in _BY_NAME:
        if symbol and pattern.search(symbol):
            if counted is SizeMeaning.PAST and _CROSS.search(symbol):
                return SizeMeaning.TOKENS
            waveform = counted is SizeMeaning.TOKENS and rank <= 2 and axis == rank - 1 and not integer
            return SizeMeaning.SAMPLES if waveform and not _NO_AUDIO.search(t.name) else counted
    if axis == rank - 1 and not integer and (signal or (rank <= 2 and _AUDIO.search(t.name))):
        return SizeMeaning.SAMPLES
    if axis == 0:
        return SizeMeaning.BATCH
    if integer and rank == 2:
        return SizeMeaning.TOKENS
    if _CACHE.search(t.name) and not integer and rank >= 4:
        return SizeMeaning.TOKENS if _CROSS.search(t.name) else SizeMeaning.PAST
    if rank == 3 and axis == 1 and isinstance(shape[0], int) and _STATE.search(t.name):
        return SizeMeaning.BATCH
    if rank == 4 and not integer:
        return _image(shape, axis)
    if rank == 5 and not integer:
        return _video(shape, axis)
    if rank == 3 and not integer and _has_features(shape[3 - axis]):
        return SizeMeaning.TOKENS
    return SizeMeaning.OTHER


_SPECIFIC = (
    SizeMeaning.SAMPLES,
    SizeMeaning.TOKENS,
    SizeMeaning.IMAGE,
    SizeMeaning.PAST,
    SizeMeaning.STEP,
    SizeMeaning.CHANNELS,
    SizeMeaning.BATCH,
)
"""Most specific first."""


def common(meanings: Mapping[str, SizeMeaning]) -> SizeMeaning:
    """Return the meaning of symbols of equal size: batch if a name says so, else the most specific."""
    batch = next(pattern for pattern, counted in _BY_NAME if counted is SizeMeaning.BATCH)
    if any(counted is SizeMeaning.BATCH and batch.search(name) for name, counted in meanings.items()):
        return SizeMeaning.BATCH
    return next((what for what in _SPECIFIC if what in meanings.values()), SizeMeaning.OTHER)


def _has_features(size: object) -> bool:
    return isinstance(size, int) and size >= _MIN_FEATURES


def _image(shape: Shape, axis: int) -> SizeMeaning:
    if shape[1] in _IMAGE_CHANNELS and axis in (2, 3):
        return SizeMeaning.IMAGE
    if shape[3] in _IMAGE_CHANNELS and axis in (1, 2):
        return SizeMeaning.IMAGE
    return SizeMeaning.OTHER


def _video(shape: Shape, axis: int) -> SizeMeaning:
    if shape[1] not in _IMAGE_CHANNELS and shape[2] not in _IMAGE_CHANNELS:
        return SizeMeaning.OTHER
    return SizeMeaning.IMAGE if axis >= 3 else SizeMeaning.CLIP
