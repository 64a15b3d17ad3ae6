"""What the documents are made from: an analysis as the context of its sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from py_autodoc.hf import keys
from py_autodoc.hf.codec import Damaged, unpack_json
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.build import build_report
from py_autodoc.report.schema import Report
from py_autodoc.report.sections.model import Context, Labels

MAX_LABELS = 100_000
LONGEST = 1 << 20
"""Characters of a list of names that is read."""
_ENTRY = re.compile(r"""\s*(\d{1,9})\s*:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(,|\})""")
"""An entry of a dict as Python writes it, number to text."""
_SETTINGS = {
    "model_type": "Model type", "architectures": "Architecture", "_name_or_path": "Trained from",
    "problem_type": "Problem type", "vocab_size": "Vocabulary", "num_hidden_layers": "Hidden layers",
}  # fmt: skip


def context(analysis: Analysis, report: Report | None = None) -> Context:
    """The report of an analysis with the labels that the file names; all layers are needed."""
    metadata = analysis.model.metadata
    config = _config(metadata)
    labels = _ultralytics(metadata) or _hugging_face(config)
    whole = report if report is not None and not report.layers_omitted else build_report(analysis)
    if report is not None:
        whole = replace(whole, llm_summary=report.llm_summary)
    return Context(whole, labels, dict(_settings(config)))


def _config(metadata: Mapping[str, str]) -> dict[str, Any]:
    """The model's configuration as transformers writes it; empty without, or where it is damaged."""
    packed = metadata.get(keys.CONFIG)
    if packed:
        with suppress(Damaged):
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
            yield label, str(value)[:400]


def _ultralytics(metadata: Mapping[str, str]) -> Labels | None:
    """``names`` as Ultralytics writes them: ``{0: 'person', 1: 'bicycle'}``, read without evaluating it."""
    text = metadata.get("names", "")
    if not text.startswith("{") or len(text) > LONGEST:
        return None
    names: dict[int, str] = {}
    at = 1
    while (found := _ENTRY.match(text, at)) and len(names) < MAX_LABELS:
        names[int(found[1])] = re.sub(r"\\(.)", r"\1", found[2] if found[2] is not None else found[3])
        at = found.end()
        if found[4] == "}":
            return Labels(names, "names") if not text[at:].strip() else None
    return None


def _hugging_face(config: Mapping[str, Any]) -> Labels | None:
    """``id2label``, where it says more than ``LABEL_0``."""
    found = config.get("id2label")
    if not isinstance(found, dict) or len(found) > MAX_LABELS:
        return None
    names = {
        int(key): value for key, value in found.items() if str(key).isdecimal() and isinstance(value, str)
    }
    told = any(value != f"LABEL_{number}" for number, value in names.items())
    return Labels(names, f"{keys.CONFIG}: id2label") if names and told else None
