"""Classes and training data named in the metadata: Ultralytics keys and Hugging Face configurations.

The texts are untrusted and are parsed without evaluating them; damaged or overlong entries are omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from py_autodoc.packed import DamagedValue, unpack_json
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema import DatasetInfo

CONFIG, TASK = "hf_model_config", "hf_pipeline_task"
"""Metadata keys, as defined in ``hf/keys.py``."""
MAX_CLASSES = 100_000
MAX_CHARACTERS = 1 << 20
"""Maximum characters of a list of names."""
_NAME = 400
"""Maximum characters of one name."""
_ENTRY = re.compile(r"""\s*(\d{1,9})\s*:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(,|\})""")
"""An entry of a dict in Python syntax: number to text."""
_SIZE = re.compile(r"\s*[\[(]?\s*(\d{1,6})\s*(?:,\s*(\d{1,6})\s*)?[\])]?\s*")
_TRAINED = re.compile(r"trained on ([\w./ -]{1,120})", re.IGNORECASE)
_SETTINGS = {
    "model_type": "Model type", "architectures": "Architecture", "_name_or_path": "Trained from",
    "problem_type": "Problem type", "vocab_size": "Vocabulary", "num_hidden_layers": "Hidden layers",
}  # fmt: skip


def dataset(metadata: Mapping[str, str]) -> DatasetInfo | None:
    """Return what the metadata state about the data; None if nothing."""
    config = _config(metadata)
    names, source = _ultralytics(metadata), "names"
    if not names:
        names, source = _hugging_face(config), f"{CONFIG}: id2label"
    trained = _TRAINED.search(metadata.get("description", ""))
    info = DatasetInfo(
        task=shorten_middle(metadata.get("task") or metadata.get(TASK, ""), _NAME),
        num_classes=len(names) or None,
        class_names={str(number): shorten_middle(name, _NAME) for number, name in sorted(names.items())},
        source=source if names else "",
        image_size=_image_size(metadata.get("imgsz", "")),
        trained_on=trained[1].strip() if trained else "",
        settings=dict(_settings(config)),
    )
    return info if info != DatasetInfo() else None


def _config(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the model configuration as transformers writes it; empty if absent or damaged."""
    packed = metadata.get(CONFIG)
    if packed:
        with suppress(DamagedValue):
            content = unpack_json(packed)
            if isinstance(content, dict):
                return content
    return {}


def _settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, label in _SETTINGS.items():
        value = config.get(key)
        if isinstance(value, list):
            value = ", ".join(str(item) for item in value[:8])
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            yield label, shorten_middle(str(value), _NAME)


def _image_size(text: str) -> list[int] | None:
    """Parse ``[640, 480]``, or ``640`` for both."""
    match = _SIZE.fullmatch(text[:64])
    if match is None:
        return None
    return [int(match[1]), int(match[2] or match[1])]


def _ultralytics(metadata: Mapping[str, str]) -> dict[int, str]:
    """Parse ``names`` as Ultralytics writes them, without evaluating: ``{0: 'person', 1: 'bicycle'}``."""
    text = metadata.get("names", "")
    if not text.startswith("{") or len(text) > MAX_CHARACTERS:
        return {}
    names: dict[int, str] = {}
    position = 1
    while (match := _ENTRY.match(text, position)) and len(names) < MAX_CLASSES:
        names[int(match[1])] = re.sub(r"\\(.)", r"\1", match[2] if match[2] is not None else match[3])
        position = match.end()
        if match[4] == "}":
            return names if not text[position:].strip() else {}
    return {}


def _hugging_face(config: Mapping[str, Any]) -> dict[int, str]:
    """Return ``id2label``, unless it only holds placeholders such as ``LABEL_0``."""
    labels = config.get("id2label")
    if not isinstance(labels, dict) or len(labels) > MAX_CLASSES:
        return {}
    names = {
        int(key): value
        for key, value in labels.items()
        if str(key).isdecimal() and len(str(key)) < 10 and isinstance(value, str)
    }
    has_real_names = any(value != f"LABEL_{number}" for number, value in names.items())
    return names if has_real_names else {}
