"""Every number of every document: the same in Markdown, page and PDF, and one of the JSON or made of it."""

from __future__ import annotations

import base64
import bisect
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape

import msgspec
import pypdfium2
import pytest
from document_cases import MODELS, analysed
from test_markdown import values

from py_autodoc.render import markdown, pdf
from py_autodoc.render.html import html_page
from py_autodoc.report.sections.section_document import document
from py_autodoc.units import count, exact, size

pytestmark = pytest.mark.slow

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
PROSE = {"1", "2", "1,000", "0.7", "2.5", "0"}
"""Numbers of sentences that are the same for every model: what a MAC, a kB and the band of the peak are."""
SUMMED = ("params", "macs", "flops", "read_bytes", "write_bytes", "weight_bytes")


def numbers(held) -> Iterator[float]:
    """All numbers of a JSON value, and how long its lists and objects are."""
    if isinstance(held, bool) or held is None or isinstance(held, str):
        return
    if isinstance(held, (int, float)):
        yield held
        return
    yield len(held)
    for one in held.values() if isinstance(held, dict) else held:
        yield from numbers(one)


def texts(held) -> Iterator[str]:
    """All texts of a JSON value."""
    if isinstance(held, str):
        yield held
    elif isinstance(held, (dict, list)):
        for one in held.values() if isinstance(held, dict) else held:
            yield from texts(one)


class Report:
    """The numbers of a report's JSON, and the sums, quotients and seconds that documents make of them."""

    def __init__(self, made) -> None:
        self.data = json.loads(msgspec.json.encode(made.report))
        found = set(numbers(self.data)) | self._sums()
        # Documents have seconds where the report has milliseconds.
        found |= {value / 1e3 for value in numbers(self.data["hardware_estimates"])}
        self._sorted = sorted(value for value in found if value > 0)
        wholes = [self.data["metrics"], self.data["memory"], self.data["hardware_estimates"]]
        self._wholes = {value for one in wholes for value in numbers(one) if value > 0}

    def _sums(self) -> set[float]:
        sums: Counter[tuple[str, str, str]] = Counter()
        for layer in self.data["layers"]:
            parts = layer["group"].split("/") if layer["group"] else []
            groups = [("group", "/".join(parts[:depth])) for depth in range(1, len(parts) + 1)]
            for field in SUMMED:
                often = 1 if field in ("params", "weight_bytes") else layer["repeat"] or 1
                for kind, name in [("all", ""), ("type", layer["type"]), *groups]:
                    sums[kind, name, field] += (layer[field] or 0) * often
        for block in self.data["blocks"]:
            for key in ("type", "class", "kind", "name"):
                for field, value in block.items():
                    if isinstance(value, (int, float)) and isinstance(block.get(key), str):
                        sums[f"block {key}", block[key], field] += value
        moved = sums["all", "", "read_bytes"] + sums["all", "", "write_bytes"]
        found = {float(value) for value in sums.values()} | {float(moved)}
        if moved:
            found |= {sums["all", "", "flops"] / moved, sums["all", "", "macs"] / moved}
        return found

    def has(self, value: float) -> bool:
        """Whether it is a number of the report to nine digits."""
        at = bisect.bisect_left(self._sorted, value * (1 - 1e-9))
        return value == 0 or (at < len(self._sorted) and self._sorted[at] <= value * (1 + 1e-9))

    def derives(self, value: float) -> bool:
        """Whether it is one, or the share that one has of a total."""
        return self.has(abs(value)) or any(self.has(abs(value) * whole) for whole in self._wholes)


def labels_only(card: str) -> str:
    """A card without front matter, and of its diagram nothing but the labels."""
    body = re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.S)

    def labels(diagram: re.Match[str]) -> str:
        return "\n".join(re.findall(r'"([^"]*)"', diagram[0]))

    return re.sub(r"```mermaid\n.*?```", labels, body, flags=re.S)


def of_document(made) -> Counter[str]:
    """Tokens of the document that page, JupyterLab and notebooks show."""
    found: Counter[str] = Counter()
    for section in document(made).sections:
        for text in texts(msgspec.to_builtins(section.blocks)):
            found.update(NUMBER.findall(text))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_number_of_the_sections_is_in_the_json_or_made_of_it(name):
    _, made = analysed(name)
    report = Report(made)
    lost = [
        (value.text, value.value)
        for value in values(made)
        if not value.field and value.value is not None and not report.derives(value.value)
    ]
    # Sums over modules of one class are of no group that the JSON names.
    assert len(lost) <= 0.02 * len(list(values(made))), lost


@pytest.mark.parametrize("name", MODELS)
def test_every_number_of_the_card_has_a_source(name):
    _, made = analysed(name)
    report = Report(made)
    known = {token for value in values(made) for token in NUMBER.findall(value.text)} | PROSE
    known |= {token for text in texts(report.data) for token in NUMBER.findall(text)}
    known |= {str(value) for value in numbers(report.data) if isinstance(value, int)}
    known |= set(of_document(made))  # stages, as the page has them
    card = labels_only(markdown.card(made))
    rows = re.sub(r"… \d[\d,]* more", "", card)
    lost = {token for token in NUMBER.findall(rows) if token not in known}
    assert lost == set()


@pytest.mark.parametrize("name", MODELS)
def test_page_and_card_have_the_same_numbers(name):
    _, made = analysed(name)
    shown = of_document(made)
    card = Counter(NUMBER.findall(labels_only(markdown.card(made))))
    assert len(shown) > 20
    assert {token for token in shown if token not in card} == set()
    # The card has a title, and says of itself how it was made.
    report = Report(made)
    about = {token for text in texts(report.data) for token in NUMBER.findall(text)} | PROSE
    assert {token for token in card if token not in shown} - about == set()


@pytest.mark.parametrize("name", MODELS)
def test_the_file_of_the_page_has_these_numbers(name):
    """The Report tab of the HTML file shows the document that is packed in it, and the part that is there
    without scripts has no number of its own."""
    analysis, made = analysed(name)
    written = html_page(analysis)
    packed = re.search(r'id="autodoc-model">([^<]*)<', written)
    assert packed is not None
    bundle = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert bundle["document"] == msgspec.to_builtins(document(made))
    plain = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", written, flags=re.S)
    report = Report(made)
    known = {token for text in texts(report.data) for token in NUMBER.findall(text)} | PROSE
    known |= set(of_document(made))
    # Its layers are those of the JSON, in the units of the product.
    written_as = (str, exact, count, size)
    for value in numbers(report.data):
        if isinstance(value, int):
            known |= {token for write in written_as for token in NUMBER.findall(write(value))}
    about = report.data["model"]
    known.update(NUMBER.findall(size(about["file_bytes"] + about["external_bytes"])))
    shown = set(NUMBER.findall(unescape(plain)))
    assert len(shown) > 10
    assert shown - known == set()


@pytest.mark.parametrize("name", MODELS)
def test_pdf_and_page_have_the_same_numbers(name):
    _, made = analysed(name)
    report = Report(made)
    opened = pypdfium2.PdfDocument(pdf.pdf(made))
    try:
        pages = [page.get_textpage().get_text_range() for page in opened]
    finally:
        opened.close()
    # Words are broken at the end of a line, numbers are not.
    text = re.sub(r"[\u200b\ufffe\xad\x02]", "", "\n".join(pages))
    printed = set(NUMBER.findall(text))
    shown = set(of_document(made))
    counted = {str(at) for at in range(len(pages) + 1)}
    about = {token for one in texts(report.data) for token in NUMBER.findall(one)}
    whole = re.sub(r"\s", "", text)
    assert {token for token in shown if token not in printed and token not in whole} == set()
    drawn = {token for token in printed if token not in shown} - counted - about - PROSE
    # The picture and the charts have shapes and numbers of their own, which are of the report as well.
    integers = {str(value) for value in numbers(report.data) if isinstance(value, int)}
    joined = "|".join(sorted(shown | about | integers | PROSE))
    assert {token for token in drawn - integers if token not in joined} == set()


def test_another_number_is_noticed():
    _, made = analysed("resnet50")
    report = Report(made)
    assert report.derives(report.data["metrics"]["total_macs"])
    assert not report.derives(report.data["metrics"]["total_macs"] * 1.0001)
    card = labels_only(markdown.card(made))
    known = {token for value in values(made) for token in NUMBER.findall(value.text)}
    assert "25.5" in NUMBER.findall(card)
    assert "25.6" not in known
