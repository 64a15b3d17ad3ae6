"""A comparison as PDF: what its Markdown says, names as text, the same bytes again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.compare.align import align
from py_autodoc.compare.pdf import pdf
from py_autodoc.compare.sections import sections
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.sections.section_model import Items, Paragraph, Table

sys.path.append(str(Path(__file__).parents[1] / "render"))
from document_cases import HOSTILE, hostile

pytest.importorskip("typst")
pypdfium2 = pytest.importorskip("pypdfium2")
pytestmark = pytest.mark.slow

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
FLOAT, INT8 = MODELS / "resnet_tiny.onnx", MODELS / "resnet_tiny_qdq_int8.onnx"
PAIRS = [(FLOAT, INT8), (MODELS / "light_resnet50.onnx", MODELS / "light_vgg19.onnx")]


def bare(text):
    """Without spaces and the places where long names may break."""
    return re.sub(r"[\s\u200b\ufffe\xad]|\x02", "", text)


def text_of(data):
    document = pypdfium2.PdfDocument(data)
    try:
        return bare("".join(page.get_textpage().get_text_range() for page in document))
    finally:
        document.close()


def compared(*paths):
    analyses = [run_analysis(str(path), Options(assume=True)) for path in paths]
    return analyses, [align(analyses[0], other) for other in analyses[1:]]


def cells(made):
    for section in made:
        for block in section.blocks:
            if isinstance(block, Paragraph):
                yield block.line
            elif isinstance(block, Items):
                yield from block.lines
            else:
                assert isinstance(block, Table)
                for row in block.rows:
                    yield from row


@pytest.mark.parametrize("paths", [*PAIRS, (FLOAT, INT8, MODELS / "light_squeezenet.onnx")])
def test_every_cell_of_the_sections_is_in_the_pdf(paths):
    analyses, found = compared(*paths)
    text = text_of(pdf(analyses, found, ["b.onnx: macs>+5%: MACs grew"]))
    made = sections(analyses, found, ["b.onnx: macs>+5%: MACs grew"])
    told = list(cells(made))
    assert len(told) > 15
    for line in told:
        assert bare("".join(cell if isinstance(cell, str) else cell.text for cell in line)) in text
    for section in made:
        # Of two models that have nothing in common there is only the verdict, at the top.
        assert len(section.blocks) == 1 or bare(section.title) in text


def test_the_same_bytes_again_tagged_and_titled():
    first, again = (pdf(*compared(FLOAT, INT8)) for _ in range(2))
    assert first == again
    assert b"<pdfuaid:part>1</pdfuaid:part>" in first.replace(b"\n", b"")
    document = pypdfium2.PdfDocument(first)
    assert document.get_metadata_value("Title").startswith("Comparison of resnet_tiny.onnx and")
    assert {item.get_title() for item in document.get_toc()} >= {"What changed", "Numbers"}
    document.close()


def test_names_are_text(tmp_path):
    """Every second node gets another operator, so that its name is in the tables."""
    left = hostile(tmp_path / "a.onnx")
    model = onnx.load(left)
    for node in model.graph.node:
        node.op_type = {"Relu": "Tanh"}.get(node.op_type, node.op_type)
    right = tmp_path / "#panic(1) *b*.onnx"
    onnx.save(model, right)
    data = pdf(*compared(left, right), HOSTILE)
    text = text_of(data)
    for one in HOSTILE[:8]:
        assert re.sub(r"\s", "", one) in text, one
    assert '#panic("x")' in text
    assert "#panic(1)*b*.onnx" in text
    for risk in (b"/URI", b"/JavaScript", b"/Launch"):
        assert risk not in data


def test_the_command_writes_it_and_keeps_what_is_not_its_own(tmp_path):
    out = tmp_path / "c.pdf"
    command = ["compare", str(FLOAT), str(INT8), "--out-pdf", str(out)]
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1, done.output
        assert out.read_bytes().startswith(b"%PDF-")
    out.write_bytes(b"mine")
    assert CliRunner().invoke(app, command).exit_code == 3
    assert out.read_bytes() == b"mine"


def test_without_typst_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    out = tmp_path / "c.pdf"
    done = CliRunner().invoke(app, ["compare", str(FLOAT), str(INT8), "--out-pdf", str(out)])
    assert done.exit_code == 2
    assert "pip install 'onnx-autodoc[pdf]'" in done.stderr
    assert not out.exists()
