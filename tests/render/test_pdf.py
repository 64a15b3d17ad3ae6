"""The PDF report: tagged, reproducible, the numbers of the card, model text as text, no network."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading

import pytest
from document_cases import HOSTILE, MODELS, analysed, hostile
from test_markdown import values

from py_autodoc.errors import AnalysisError, AutodocError, RequirementError
from py_autodoc.render import pdf
from py_autodoc.render.document import context
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.sections import sections
from py_autodoc.report.sections.section_model import Table

typst = pytest.importorskip("typst")
pypdfium2 = pytest.importorskip("pypdfium2")


def text_of(data):
    """Text of all pages, spaces and the places where long names may break left out."""
    document = pypdfium2.PdfDocument(data)
    try:
        pages = [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()
    return re.sub(r"[\s\u200b\ufffe\xad]|\x02", "", "".join(pages))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_number_of_the_sections_is_in_the_pdf(name):
    _, made = analysed(name)
    text = text_of(pdf.pdf(made))
    found = list(values(made))
    assert len(found) > 20
    for value in found:
        assert value.text.replace(" ", "") in text, value
    for section in sections(made):
        assert section.title.replace(" ", "") in text


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_numbers_stand_side_by_side(name):
    """The numbers of a row follow its label, in the order of its columns."""
    _, made = analysed(name)
    text = text_of(pdf.pdf(made))
    totals = next(section for section in sections(made) if section.id == "totals").blocks[0]
    assert isinstance(totals, Table)
    for row in totals.rows:
        line = "".join(cell if isinstance(cell, str) else cell.text for cells in row for cell in cells)
        assert line.replace(" ", "") in text


def test_tagged_and_titled():
    data = pdf.pdf(analysed("gpt2")[1])
    assert b"/MarkInfo" in data
    assert b"/StructTreeRoot" in data
    assert b"<pdfuaid:part>1</pdfuaid:part>" in data.replace(b"\n", b"")
    assert b"/Lang(en-GB)" in data
    document = pypdfium2.PdfDocument(data)
    assert document.get_metadata_value("Title") == "gpt2.stripped.onnx"
    titles = [item.get_title() for item in document.get_toc()]
    assert {"Summary", "Findings", "Attention and KV cache"} <= set(titles)
    document.close()


@pytest.mark.slow
def test_the_same_bytes_again():
    analysis, made = analysed("resnet50")
    assert pdf.pdf(made, analysis) == pdf.pdf(made, analysis)


def test_the_graph_is_on_a_page_of_its_own():
    analysis, made = analysed("resnet50")
    with_graph, without = (pypdfium2.PdfDocument(pdf.pdf(made, one)) for one in (analysis, None))
    assert len(with_graph) == len(without) + 1
    text = with_graph[len(with_graph) - 1].get_textpage().get_text_range()
    assert "MaxPool" in text
    with_graph.close()
    without.close()


def test_model_text_is_text(tmp_path):
    analysis = run_analysis(str(hostile(tmp_path / "a.onnx")))
    data = pdf.pdf(context(analysis), analysis)
    text = text_of(data)
    for one in HOSTILE[:8]:
        shown = re.sub(r"\s", "", one)
        assert shown in text, one
    assert '#panic("x")' in text
    assert b"/URI" not in data
    assert b"/JavaScript" not in data
    assert b"/Launch" not in data


def compiled(source):
    return pdf.compile_typst(typst, f'#set document(title: "t")\n{source}', {})


def test_files_outside_are_refused(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    with pytest.raises(AnalysisError):
        compiled('#read("../../../README.md")')
    with pytest.raises(AnalysisError):
        compiled(f'#read("{tmp_path}/secret.txt")')
    assert compiled("= Title\nText")


def test_the_template_imports_nothing():
    assert not re.search(r"#?\b(import|include)\b|@preview|plugin\(", pdf.template())


_CHILD = """
import sys
sys.path[:0] = [sys.argv[1]]
from document_cases import analysed, hostile
from py_autodoc.render import pdf
from py_autodoc.render.document import context
from py_autodoc.report.pipeline.analysis import run_analysis
from pathlib import Path
if sys.argv[2] == "report":
    pdf.pdf(context(run_analysis(str(hostile(Path(sys.argv[3]) / "a.onnx")))))
else:
    import typst
    try:
        pdf.compile_typst(typst, '#import "@preview/cetz:0.3.0": *', {})
    except Exception:
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "asked"), [("report", False), ("package", True)])
def test_no_request_leaves(tmp_path, what, asked):
    """A proxy that counts; a template that imports a package shows that it would see requests."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        seen, done = [], threading.Event()

        def listen():
            while not done.is_set():
                try:
                    seen.append(server.accept()[0].close())
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        proxies = dict.fromkeys(
            ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"), address
        )
        here = os.path.dirname(__file__)
        kept = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
        try:
            command = [sys.executable, "-c", _CHILD, here, what, str(tmp_path)]
            subprocess.run(command, env=kept | proxies, check=True, timeout=120)
        finally:
            done.set()
            thread.join()
    assert bool(seen) is asked


def test_without_typst(monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(RequirementError) as fault:
        pdf.typst()
    assert fault.value.hint == "pip install 'onnx-autodoc[pdf]'"


class FontWithout:
    """A typesetter that refuses the first of some characters in its texts, as typst does."""

    def __init__(self, missing):
        self.missing, self.tries, self.texts = missing, 0, {}

    def compile(self, source, *, sys_inputs, **options):
        self.tries += 1
        self.texts = dict(sys_inputs)
        shown = json.loads(sys_inputs["data"]) + sys_inputs["graph"]
        for character in shown:
            if character in self.missing:
                raise RuntimeError(
                    f'PDF/UA-1 error: the text `"{character}"` could not be displayed with font'
                )
        return b"%PDF"


@pytest.mark.parametrize("text", ["🚀", "a🚀b🛸c", "𓀀", "\u0ff0", "\u0ff0 and \u1cd7", "plain"])
def test_characters_that_no_font_has_are_replaced(text):
    missing = {character for character in text if not character.isascii()}
    font = FontWithout(missing)
    inputs = {"data": json.dumps(f"{text} é"), "graph": f"<text>{text}</text>"}
    assert pdf.compile_typst(font, "", inputs).startswith(b"%PDF")
    expected = "".join("?" if character in missing else character for character in text)
    assert json.loads(font.texts["data"]) == f"{expected} é"
    assert font.texts["graph"] == f"<text>{expected}</text>"
    assert font.tries <= 1 + len(missing)


def test_more_than_we_try_is_one_error():
    font = FontWithout({chr(code) for code in range(0x0900, 0x0A00)})
    inputs = {"data": json.dumps("".join(sorted(font.missing))), "graph": ""}
    with pytest.raises(AutodocError, match="could not be created"):
        pdf.compile_typst(font, "", inputs)
