"""Words in the names of inputs and outputs, whatever their spelling."""

from __future__ import annotations

import re

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

IMAGE = frozenset({"image", "images", "img", "imgs", "pixel", "pixels", "photo", "picture", "rgb", "bgr"})
AUDIO = frozenset({"audio", "audios", "wav", "waveform", "waveforms", "wave", "speech", "pcm", "sound"})
SPECTRUM = frozenset({
    "mel", "mels", "fbank", "fbanks", "spectrogram", "melspec", "melspectrogram", "logmel", "mfcc", "spec",
})  # fmt: skip
RATE = frozenset({"sr", "samplerate", "rate"})
MASK = frozenset({"mask", "masks", "padding"})
LENGTH = frozenset({"length", "lengths", "len", "lens"})
STATE = frozenset({
    "state", "states", "staten", "h", "c", "hn", "cn", "h0", "c0", "cache", "caches",
})  # fmt: skip
CACHED = frozenset({"key", "keys", "kv", "k", "v", "cache", "caches"})
STEP = frozenset({"timestep", "timesteps", "sigma"})


def words(name: str) -> tuple[str, ...]:
    """``StatefulPartitionedCall:0`` → (stateful, partitioned, call, 0); lower case."""
    return tuple(part.lower() for part in _PART.findall(name[:200]))


def contains_word(name: str, wanted_words: frozenset[str]) -> bool:
    """True if one of the words occurs in a name, as a word or as the whole name."""
    parts = words(name)
    return bool(wanted_words.intersection(parts)) or "".join(parts) in wanted_words
