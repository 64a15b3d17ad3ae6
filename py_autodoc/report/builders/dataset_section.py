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
LONGEST = 1 << 20
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
    found = DatasetInfo(
        task=shorten_middle(metadata.get("task") or metadata.get(TASK, ""), _NAME),
        num_classes=len(names) or None,
        class_names={str(number): shorten_middle(name, _NAME) for number, name in sorted(names.items())},
        source=source if names else "",
        image_size=_image_size(metadata.get("imgsz", "")),
        trained_on=trained[1].strip() if trained else "",
        settings=dict(_settings(config)),
    )
    return found if found != DatasetInfo() else None


def _config(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the model configuration as transformers writes it; empty if absent or damaged."""
    packed = metadata.get(CONFIG)
    if packed:
        with suppress(DamagedValue):
            found = unpack_json(packed)
            if isinstance(found, dict):
                return found
    return {}


def _settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, label in _SETTINGS.items():
        value = config.get(key)
        if isinstance(value, list):
            value = ", ".join(str(one) for one in value[:8])
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            yield label, shorten_middle(str(value), _NAME)


def _image_size(text: str) -> list[int] | None:
    """Parse ``[640, 480]``, or ``640`` for both."""
    found = _SIZE.fullmatch(text[:64])
    if found is None:
        return None
    return [int(found[1]), int(found[2] or found[1])]


def _ultralytics(metadata: Mapping[str, str]) -> dict[int, str]:
    """Parse ``names`` as Ultralytics writes them, without evaluating: ``{0: 'person', 1: 'bicycle'}``."""
    text = metadata.get("names", "")
    if not text.startswith("{") or len(text) > LONGEST:
        return {}
    names: dict[int, str] = {}
    at = 1
    while (found := _ENTRY.match(text, at)) and len(names) < MAX_CLASSES:
        names[int(found[1])] = re.sub(r"\\(.)", r"\1", found[2] if found[2] is not None else found[3])
        at = found.end()
        if found[4] == "}":
            return names if not text[at:].strip() else {}
    return {}


def _hugging_face(config: Mapping[str, Any]) -> dict[int, str]:
    """Return ``id2label``, unless it only holds placeholders such as ``LABEL_0``."""
    found = config.get("id2label")
    if not isinstance(found, dict) or len(found) > MAX_CLASSES:
        return {}
    names = {
        int(key): value
        for key, value in found.items()
        if str(key).isdecimal() and len(str(key)) < 10 and isinstance(value, str)
    }
    told = any(value != f"LABEL_{number}" for number, value in names.items())
    return names if told else {}
