"""Plots of variants: which there are, what is on their front, labels that cover nothing, the command."""

from __future__ import annotations

import json
import re
import struct
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc.cli.app import app
from py_autodoc.compare.impact import ESTIMATED, Impact, ImpactPoint
from py_autodoc.compare.tradeoff import NAMES, captions, front, tradeoffs, variant_labels
from py_autodoc.render.plots import files_of
from py_autodoc.render.plots.series import PlotAxis, Scatter, ScatterPoint

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
FLOAT, INT8 = MODELS / "resnet_tiny.onnx", MODELS / "resnet_tiny_qdq_int8.onnx"
POINTS = (
    ImpactPoint(100, 4.0, 0.9, True),
    ImpactPoint(50, 3.0, 0.8, True),
    ImpactPoint(120, 5.0, 0.8, False),
)
EVERY = Impact("top1", False, "latency_ms_p50", POINTS)
LABELS = ["a", "b", "c"]


def test_a_plot_for_each_pair_of_numbers():
    found = tradeoffs(EVERY, LABELS)
    assert tuple(found) == NAMES
    one = found["quality-by-latency"]
    assert [(point.label, point.x, point.y, point.detail) for point in one.points] == [
        ("a", 4.0, 0.9, "100 B"), ("b", 3.0, 0.8, "50 B"), ("c", 5.0, 0.8, "120 B"),
    ]  # fmt: skip
    assert (one.x.lower_is_better, one.y.lower_is_better) == (True, False)
    assert [point.best for point in one.points] == [True, True, False]
    assert one.best == "size, latency_ms_p50 and top1"
    assert found["latency-by-size"].points[0].detail == "top1 0.9"
    assert captions(EVERY, LABELS)["quality-by-size"] == (
        "top1 by size. On the Pareto front of size, latency_ms_p50 and top1: a, b."
    )


def found_spans(scatter):
    return [(point.x_span, point.y_span) for point in scatter.points]


def test_without_times_or_quality_there_are_fewer():
    points = tuple(ImpactPoint(one.size, None, one.quality) for one in POINTS)
    assert list(tradeoffs(Impact("top1", False, None, points), LABELS)) == ["quality-by-size"]
    points = tuple(ImpactPoint(one.size, one.latency, None, band=(1.0, 9.0)) for one in POINTS)
    found = Impact(None, False, ESTIMATED, points)
    assert list(tradeoffs(found, LABELS)) == ["latency-by-size"]
    assert found_spans(tradeoffs(found, LABELS)["latency-by-size"]) == [(None, (1.0, 9.0))] * 3
    assert "Times are estimates." in captions(found, LABELS)["latency-by-size"]
    assert not tradeoffs(
        Impact(None, False, None, tuple(ImpactPoint(one.size, None, None) for one in POINTS)), LABELS
    )


def test_variants_of_one_name_can_be_told_apart():
    assert variant_labels(["m", "n", "m"], ["fp32", "fp32", "int8"]) == ["m (fp32)", "n", "m (int8)"]
    assert variant_labels(["m", "m", "m"], ["fp32", "int8", "int8"]) == ["m (fp32)", "m (2)", "m (3)"]


points = st.lists(
    st.builds(lambda x, y: ScatterPoint("", float(x), float(y), True), st.integers(1, 6), st.integers(1, 6)),
    min_size=1, max_size=12,
)  # fmt: skip


@given(points, st.booleans(), st.booleans())
def test_the_front_is_what_nothing_beats(found, x_less, y_less):
    def no_worse(a, b):
        in_x = a.x <= b.x if x_less else a.x >= b.x
        return in_x and (a.y <= b.y if y_less else a.y >= b.y)

    kept = front(found, PlotAxis("x", "", x_less), PlotAxis("y", "", y_less))
    held = {(found[at].x, found[at].y) for at in kept}
    assert len(held) == len(kept)
    assert [found[at].x for at in kept] == sorted(found[at].x for at in kept)
    for one in found:
        beaten = any(no_worse(other, one) and (other.x, other.y) != (one.x, one.y) for other in found)
        assert ((one.x, one.y) in held) is not beaten


@pytest.fixture(scope="module")
def drawing():
    pytest.importorskip("matplotlib")
    from py_autodoc.render.plots import draw, tradeoff

    return draw, tradeoff


@pytest.mark.slow
@pytest.mark.parametrize("many", [2, 12, 25])
def test_labels_cover_no_mark_and_no_other_label(drawing, many):
    draw, tradeoff = drawing
    made = tuple(
        ScatterPoint(
            f"variant-{at}.onnx", 1 + (at * 7 % 11), 0.5 + (at * 5 % 13) / 40, not at % 3, f"{at} MB"
        )
        for at in range(many)
    )
    x, y = PlotAxis("latency_ms_p50", "ms"), PlotAxis("top1", "", False)
    figure = tradeoff.tradeoff(Scatter(x, y, made, front(made, x, y), "size"), draw.THEMES["light"])
    figure.canvas.draw()
    (axes,) = figure.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert [text.get_text().split("\n")[0] for text in axes.texts] == [one.label for one in made]
    frame = axes.get_window_extent()
    for at, box in enumerate(boxes):
        assert frame.x0 - 1 <= box.x0 <= box.x1 <= frame.x1 + 1
        assert not any(box.padded(-1).overlaps(other.padded(-1)) for other in boxes[at + 1 :])
        for point in made:
            assert not box.contains(*axes.transData.transform((point.x, point.y)))


@pytest.mark.slow
def test_equal_and_far_apart_numbers_can_be_drawn(drawing):
    draw, tradeoff = drawing
    x, y = PlotAxis("size", "size"), PlotAxis("$x^2$ \x1b[31m", "", True)
    for values in ([(1, 1), (1, 1)], [(1, 0), (10**12, -5)], [(5, 1e-9), (6, 1e9)]):
        made = tuple(ScatterPoint("$\\frac{", a, b, True, x_span=(a * 0.5, a * 2)) for a, b in values)
        figure = tradeoff.tradeoff(Scatter(x, y, made, front(made, x, y), "size"), draw.THEMES["dark"])
        text = draw.as_svg(figure).decode()
        ElementTree.fromstring(text)
        assert "$\\frac{" in text
        assert "\x1b" not in text


def compare(*args: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, args)], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def both(tmp_path):
    args: list[object] = [FLOAT, INT8]
    for name, quality, latency in (("a", 0.931, 14.5), ("b", 0.927, 4.5)):
        told = {"eval": {"metrics": {"top1": quality}}, "perf": {"latency_ms_p50": latency}}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(told), encoding="utf-8")
        args += ["--eval-metrics", path]
    return args


@pytest.mark.slow
def test_the_command_writes_and_links_them(both, tmp_path, drawing):
    folder, card = tmp_path / "pictures", tmp_path / "c.md"
    args = (*both, "--with-plots", "--assets-dir", folder, "--out-md", card)
    for _ in range(2):  # the second replaces the first
        assert compare(*args)[0] == 1
    assert {path.name for path in folder.iterdir()} == set(files_of(NAMES))
    text = card.read_text("utf-8")
    for name in NAMES:
        assert f'src="pictures/{name}.svg"' in text
        assert f'srcset="pictures/{name}-dark.svg"' in text
        svg = (folder / f"{name}.svg").read_text("utf-8")
        assert "resnet_tiny_qdq_int8.onnx" in svg
        assert struct.unpack(">II", (folder / f"{name}.png").read_bytes()[16:24])[0] == 880
    # The baseline is another one: the plots have the same variants.
    assert compare(*args, "--baseline-precision", "int8")[0] == 1
    assert "resnet_tiny.onnx" in (folder / "quality-by-size.svg").read_text("utf-8")


@pytest.mark.slow
def test_the_pdf_shows_them(both, tmp_path, drawing):
    pypdfium2 = pytest.importorskip("pypdfium2")
    pytest.importorskip("typst")
    out = tmp_path / "c.pdf"
    assert compare(*both, "--with-plots", "--out-pdf", out)[0] == 1
    document = pypdfium2.PdfDocument(out)
    text = re.sub(r"\s+", " ", " ".join(page.get_textpage().get_text_range() for page in document))
    document.close()
    assert "top1 by latency_ms_p50. On the Pareto front" in text
    assert "top1 (more is better)" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json", "c.pdf"]


def test_what_is_missing_is_said(both, tmp_path, monkeypatch):
    code, _, err = compare(*both, "--with-plots")
    assert (code, "--assets-dir DIR or --out-pdf" in err) == (2, True)
    code, _, err = compare(*both, "--assets-dir", tmp_path / "p")
    assert (code, "--with-plots" in err) == (2, True)
    code, _, err = compare(FLOAT, INT8, "--with-plots", "--assets-dir", tmp_path / "p", "--topology")
    assert (code, "--with-plots cannot be combined with" in err) == (2, True)
    code, _, err = compare(FLOAT, INT8, "--with-plots", "--assets-dir", tmp_path / "p")
    assert (code, "only the size of each model is known" in err) == (1, True)
    assert not (tmp_path / "p").exists()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    card = tmp_path / "c.md"
    code, _, err = compare(*both, "--with-plots", "--assets-dir", tmp_path / "p", "--out-md", card)
    assert code == 1
    assert "warning: No plots" in err
    assert "pip install 'onnx-autodoc[plots]'" in err
    assert "<picture>" not in card.read_text("utf-8")


def test_evaluations_are_never_written_over(both, tmp_path):
    code, _, err = compare(*both, "--out-json", tmp_path / "a.json", "--force")
    assert code == 3
    assert "a.json" in err
