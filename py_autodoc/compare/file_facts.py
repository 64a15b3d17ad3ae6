"""What two files state about themselves: versions, and what a user needs to feed and to read the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from py_autodoc.compare.changes import Change, Detail
from py_autodoc.graph.ir.model import Model
from py_autodoc.report.builders.dataset_section import dataset
from py_autodoc.samples.preprocessing import preprocessing_of
from py_autodoc.units import UNKNOWN

_STANDARD = "ai.onnx"
_LICENSE = ("license", "licence", "License")
PRODUCER = "producer"
"""Listed, but not a difference: a new release of the exporter writes the same model."""


def file_facts(left: Model, right: Model) -> tuple[Detail, ...]:
    """Return the statements that differ: opsets, IR version, labels, preprocessing, licence, producer."""
    return tuple(
        Detail(Change.FILE, what, before or UNKNOWN, after or UNKNOWN)
        for what, before, after in _statements(left, right)
        if before != after
    )


def _statements(left: Model, right: Model) -> Iterator[tuple[str, str, str]]:
    for domain in dict.fromkeys((*left.opsets, *right.opsets)):
        # A model without operators of a domain need not import it, so only two versions can contradict.
        if domain in left.opsets and domain in right.opsets:
            yield f"opset {domain or _STANDARD}", str(left.opsets[domain]), str(right.opsets[domain])
    yield "IR version", str(left.ir_version or ""), str(right.ir_version or "")
    yield "model version", str(left.model_version or ""), str(right.model_version or "")
    before, after = left.metadata, right.metadata
    yield "licence", _license(before), _license(after)
    yield _labels(before, after)
    if preprocessing_of(before) != preprocessing_of(after):
        yield "preprocessing", *_distinct(_preprocessing(before), _preprocessing(after))
    yield PRODUCER, _producer(left), _producer(right)


def _license(metadata: Mapping[str, str]) -> str:
    return next((metadata[key].strip() for key in _LICENSE if metadata.get(key, "").strip()), "")


def _labels(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the first label that differs, or the numbers of labels."""
    names = [{} if (info := dataset(metadata)) is None else info.class_names for metadata in (before, after)]
    left, right = names
    if left.keys() == right.keys():
        number = next((key for key in left if left[key] != right[key]), None)
        return ("labels", "", "") if number is None else (f"label {number}", left[number], right[number])
    counts = [f"{len(side):,} classes" if side else "" for side in names]
    return "labels", *_distinct(counts[0], counts[1])


def _preprocessing(metadata: Mapping[str, str]) -> str:
    """Return the resizing, range and normalization of the images, as far as stated."""
    found = preprocessing_of(metadata)
    if found is None:
        return ""
    size = found.output_size
    parts = [
        found.resize,
        "" if size is None else f"{size[0]}×{size[1]}",
        f"scale {found.scale:.6g}",
        f"mean {', '.join(f'{value:g}' for value in found.mean)}" if found.mean else "",
        f"std {', '.join(f'{value:g}' for value in found.std)}" if found.std else "",
        "BGR" if found.bgr else "",
    ]
    return ", ".join(part for part in parts if part)


def _distinct(left: str, right: str) -> tuple[str, str]:
    """Make two statements that differ in something unnamed differ as text."""
    return (left, right) if left != right else (left, f"{right} (other settings)")


def _producer(model: Model) -> str:
    return f"{model.producer_name} {model.producer_version}".strip()
