"""Assumed sizes for symbolic input dimensions, chosen by meaning.

Used only when a caller asks for assumptions; the report says which sizes were assumed.

=====================  ======  =================================================================
meaning                value   recognised by
=====================  ======  =================================================================
batch                  1       name (``batch``, ``bs``, ``N``), else axis 0
cached tokens          0       name (``past…``, ``…cache…``): a prefill, consistent with 128 tokens
tokens, frames         128     name (``seq``, ``token``, ``len``, ``time`` …), integer rank 2 axis 1,
                               axis 1 of a float ``[batch, ?, features]``
audio samples          16000   name of the dimension; for a float of rank ≤ 2 the name of the input, or
                               tokens by name that no integer input has (``[batch, sequence]``)
image height, width    224     name, or rank 4 float with 1, 3 or 4 channels
channels               3       name
anything else          1
=====================  ======  =================================================================
"""

from __future__ import annotations

import re

from py_autodoc.graph.model import Shape, Tensor

BATCH, PAST, TOKENS, SAMPLES, IMAGE, CHANNELS = 1, 0, 128, 16000, 224, 3

_BY_NAME = (
    (re.compile(r"past|cache", re.I), PAST),
    (re.compile(r"batch|^bs?$|^n$|^bsz$", re.I), BATCH),
    (re.compile(r"sample|audio|wave", re.I), SAMPLES),
    (re.compile(r"height|width|^[hw]$|^(image|img)_?(size|h|w)$", re.I), IMAGE),
    (re.compile(r"^c$|channel", re.I), CHANNELS),
    (re.compile(r"seq|token|len|time|frame|^[tls]$", re.I), TOKENS),
)
_AUDIO = re.compile(r"audio|wave|speech|pcm|waveform|signal", re.I)
_NO_AUDIO = re.compile(r"mask|emb|feat|hidden|score|logit", re.I)
_INTEGER = frozenset({2, 3, 4, 5, 6, 7, 12, 13})


def holds_integers(t: Tensor) -> bool:
    """True for ids, masks and positions."""
    return t.dtype in _INTEGER


def assumed_size(symbol: str, t: Tensor, shape: Shape, axis: int) -> int:
    """The assumed size of dimension ``axis`` of the graph input ``t``; ``symbol`` may be empty."""
    rank, integer = len(shape), t.dtype in _INTEGER
    for pattern, value in _BY_NAME:
        if symbol and pattern.search(symbol):
            waveform = value == TOKENS and rank <= 2 and axis == rank - 1 and not integer
            return SAMPLES if waveform and not _NO_AUDIO.search(t.name) else value
    if rank <= 2 and axis == rank - 1 and not integer and _AUDIO.search(t.name):
        return SAMPLES
    if axis == 0:
        return BATCH
    if integer and rank == 2:
        return TOKENS
    if rank == 4 and not integer:
        return _image(shape, axis)
    if rank == 3 and axis == 1 and isinstance(shape[2], int) and shape[2] >= 16 and not integer:
        return TOKENS
    return 1


def _image(shape: Shape, axis: int) -> int:
    if shape[1] in (1, 3, 4) and axis in (2, 3):
        return IMAGE
    if shape[3] in (1, 3, 4) and axis in (1, 2):
        return IMAGE
    return 1
