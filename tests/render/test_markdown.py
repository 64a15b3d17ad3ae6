"""The model card: numbers, front matter, escaping, markers."""

from __future__ import annotations

import json
import re
from functools import cache

import msgspec
import pytest
import yaml
from document_cases import DATA, HOSTILE, MODELS, analysed, hostile
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc.errors import InputError
from py_autodoc.render import markdown
from py_autodoc.render.document import context
from py_autodoc.render.markdown_text import code, escape, mermaid, quote_yaml
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.sections import ORDER, sections
from py_autodoc.report.sections.section_model import Diagram, Items, Paragraph, Table, Value

CELL = re.compile(r"(?<!\\)\|")
WRITTEN = re.compile(r"(≥ )?[\d,.]+(e-\d+)?( [KMGTPEZYkmnµ]?(B|s)?)?( %)?")


def values(context):
    """Every number of the sections."""
    for section in sections(context):
        for block in section.blocks:
            lines = []
            if isinstance(block, Paragraph):
                lines = [block.line]
            elif isinstance(block, Items):
                lines = block.lines
            elif isinstance(block, Table):
                lines = [line for row in block.rows for line in row]
            yield from (cell for line in lines for cell in line if isinstance(cell, Value))


def at(document, pointer):
    """What a JSON pointer leads to."""
    for part in pointer.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_numbers_are_those_of_the_json(name):
    _, made = analysed(name)
    document = json.loads(msgspec.json.encode(made.report))
    found = [value for value in values(made) if value.field]
    assert len(found) > 20
    for value in found:
        assert at(document, value.field) == value.value, value.field


def tables(text):
    """Rows of all tables of a Markdown text, cells as they stand."""
    return [
        [cell.strip() for cell in CELL.split(line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|") and "---" not in line
    ]


@pytest.mark.parametrize("name", MODELS)
def test_every_row_of_the_sections_is_a_row_of_the_card(name):
    _, made = analysed(name)
    rows = tables(markdown.card(made))
    expected = []
    for section in sections(made):
        for block in section.blocks:
            if isinstance(block, Table):
                expected.append([escape(text) for text in block.head])
                expected += [["".join(map(shown, line)).strip() for line in row] for row in block.rows]
    assert rows == expected


def shown(cell):
    return str(markdown._finalize(cell))


@pytest.mark.parametrize("name", MODELS)
def test_every_number_of_the_card_is_a_number_of_the_report(name):
    """Cells that read as numbers, and what stands in sentences, come from values."""
    _, made = analysed(name)
    known = {value.text for value in values(made)}
    for row in tables(markdown.card(made)):
        for cell in row:
            if WRITTEN.fullmatch(cell):
                assert cell in known or cell.isdecimal(), cell


def test_sections_are_unique_and_in_order():
    _, made = analysed("gpt2")
    ids = [section.id for section in sections(made)]
    assert ids == [name for name in ORDER if name in ids]
    assert {"summary", "totals", "attention", "device", "findings", "origin"} <= set(ids)


def test_what_is_not_there_has_no_section():
    ids = {section.id for section in sections(analysed("resnet50")[1])}
    assert not ids & {"attention", "device", "dimensions", "labels"}


def test_free_sizes_give_no_totals_but_expressions():
    _, made = analysed("bert-free")
    text = markdown.card(made)
    assert "| MACs | — | — |" in text
    assert "Costs depend on symbolic dimensions without a value" in text
    assert "MACs = `" in text


@pytest.mark.parametrize("name", MODELS)
def test_stages_hold_every_node_and_join(name):
    _, made = analysed(name)
    for section in sections(made):
        for block in section.blocks:
            if isinstance(block, Diagram):
                count = len(block.stages)
                assert 4 <= count <= 22
                assert all(0 <= a < count and 0 <= b < count and a != b for a, b in block.edges)
                nodes = sum(int(stage.detail.split()[0].replace(",", "")) for stage in block.stages[:-2])
                assert nodes == sum(1 for layer in made.report.layers if not layer.subgraph)


@pytest.mark.parametrize("name", MODELS)
def test_the_hub_reads_the_front_matter(name, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    _, made = analysed(name)
    path = tmp_path / "README.md"
    path.write_text(markdown.card(made), "utf-8")
    read = hub.ModelCard.load(path)
    assert read.data.library_name == "onnx"
    assert "onnx" in read.data.tags
    assert read.data.license is None
    assert read.text.lstrip().startswith("# ")


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("", []),
        ("AGPL-3.0 License (https://ultralytics.com/license)", ["license: agpl-3.0"]),
        ("mit", ["license: mit"]),
        ('mine: "x"\nlicense: mit', ["license: other", 'license_name: "mine: \\"x\\" license: mit"']),
    ],
)
def test_license_is_what_the_file_says(given, lines):
    assert markdown._license(given) == lines


@cache
def attacked():
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())
    try:
        analysis = run_analysis(str(hostile(folder / "a.onnx")))
        return markdown.card(context(analysis))
    finally:
        import shutil

        shutil.rmtree(folder)


def outside_code(text):
    """Text without code spans and fences."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_names_are_inert():
    text = attacked()
    plain = outside_code(text.split("---", 2)[2])
    assert "<" not in re.sub(r"<!-- onnx-autodoc \w+ -->|&lt;", "", plain)
    assert not re.search(r"(?<!\\)\]\(", plain)
    assert not re.search(r"(?<!\\)!\[", plain)
    assert not re.search(r"https?://|www\.", plain)
    assert "@" not in plain
    assert "$" not in plain
    assert "{{ 7" not in plain.replace("{{ 7 \\* 7", "")  # not computed
    assert "49" not in plain
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\u202e" not in text


def test_front_matter_of_a_hostile_model_has_only_our_keys():
    data = yaml.safe_load(attacked().split("---\n")[1])
    assert set(data) <= {"library_name", "pipeline_tag", "license", "license_name", "tags"}
    assert data["license"] == "other"


def test_titles_of_a_hostile_model_are_ours():
    outside = re.sub(r"^```.*?^```", "", attacked(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", outside, re.M)
    assert titles[0] == "a.onnx"
    assert len(titles) <= len(ORDER) + 1


def test_the_labels_of_a_hostile_model_are_all_there():
    text = attacked()
    assert f"**{len(HOSTILE)} classes**" in text


@given(st.text())
def test_a_code_span_is_one_cell_of_one_line(text):
    span = code(text)
    assert "\n" not in span
    assert not CELL.search(span)
    if span != "—":
        fence = re.match("`+", span)[0]
        assert span.endswith(fence)
        inside = span[len(fence) : -len(fence)]
        assert not re.search(f"(?<!`){fence}(?!`)", inside)


@given(st.text())
def test_escaped_text_has_no_markup(text):
    made = escape(text)
    assert "\n" not in made
    assert not re.search(r"[<>|$@\"]", made)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]~]", re.sub(r"\\.", "", made))


@given(st.text())
def test_labels_of_diagrams(text):
    assert re.fullmatch(r"(?:[\w ,.:/×·…+-]|#\d+;|—)+", mermaid(text))


@given(st.text())
def test_quoted_text_is_read_back_as_text(text):
    assert isinstance(yaml.safe_load(f"a: {quote_yaml(text)}")["a"], str)


class TestUpdated:
    def test_between_markers(self):
        text = f"# Mine\n\n{markdown.BEGIN}\nold\n{markdown.END}\nafter\n"
        made = markdown.replace_between_markers(text, "new\n", "README.md")
        assert made == f"# Mine\n\n{markdown.BEGIN}\n\nnew\n\n{markdown.END}\nafter\n"
        assert markdown.replace_between_markers(made, "new\n", "README.md") == made

    def test_line_ends_stay(self):
        text = f"a\r\n{markdown.BEGIN}\r\n{markdown.END}\r\n"
        made = markdown.replace_between_markers(text, "x\ny\n", "README.md")
        assert made.count("\n") == made.count("\r\n")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            markdown.BEGIN,
            f"{markdown.END}\n{markdown.BEGIN}",
            f"{markdown.BEGIN}\n{markdown.BEGIN}\n{markdown.END}",
            f"see {markdown.BEGIN} and\n{markdown.END}\n",
        ],
    )
    def test_without_markers(self, text):
        with pytest.raises(InputError, match=r"README\.md"):
            markdown.replace_between_markers(text, "x", "README.md")

    def test_a_name_cannot_be_a_marker(self):
        assert markdown.END not in outside_code(attacked())


def test_the_page_of_the_docs_is_what_is_written():
    page = (DATA.parents[1] / "docs/documents.md").read_text("utf-8")
    folder = DATA.parents[1] / "docs/images/resnet50"
    figures = {path.stem: f"images/resnet50/{path.name}" for path in folder.iterdir()}
    assert len(figures) == 12
    made = markdown.replace_between_markers(
        page, markdown.body(analysed("resnet50")[1], figures), "documents.md"
    )
    version = re.compile(r"(?<=Made by onnx-autodoc )\S+")
    assert version.sub("", page) == version.sub("", made)
