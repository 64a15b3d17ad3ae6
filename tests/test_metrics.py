"""The one table of metrics, and that every list of metrics is made of it."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc import metrics
from py_autodoc.cli import graph
from py_autodoc.compare.measures import MEASURES
from py_autodoc.metrics import METRICS, RAMPS, Metric, Place, shown
from py_autodoc.render import svg, viewer_attachments
from py_autodoc.render.csv import layers_csv
from py_autodoc.report.api import analyze
from py_autodoc.report.encode.total_texts import strip
from py_autodoc.report.node_query.query_fields import FIELD_NAMES, field_of
from py_autodoc.report.schema import Coverage, Layer, NodeColumns
from py_autodoc.report.schema import Metrics as Totals

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "tests/data/models/resnet_tiny.onnx"
METRIC_IDS = [one.id for one in METRICS]


def test_ids_and_names_are_unique():
    assert len(set(METRIC_IDS)) == len(METRICS)
    queried = [name for one in METRICS for name in one.query]
    conditions = [one.total.name for one in METRICS if one.total]
    for names in (queried, conditions):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("one", METRICS, ids=METRIC_IDS)
def test_an_entry_fits_the_wire_and_the_other_entries(one: Metric):
    stored = {other.id for other in METRICS if other.stored}
    if one.stored:
        assert one.id in NodeColumns.__struct_fields__
        assert one.id in Layer.__struct_fields__
    assert set(one.over) | set(one.under) <= stored
    # One source, or none where it is of the model alone.
    assert sum((bool(one.stored), bool(one.over), one.device)) == (0 if _is_of_model(one) else 1)
    assert one.ramp in RAMPS
    assert set(one.shown) <= set(get_args(Place))
    assert one.additive or not one.share
    assert one.about or one.total
    if one.total:
        fields = set(Totals.__struct_fields__)
        assert {one.total.field, one.total.reason} - {""} <= fields
        assert not one.total.covered or one.total.covered in Coverage.__struct_fields__
        assert not one.total.heatmap or one.total.heatmap in metrics.ids("heatmap")
    if one.share:
        assert one.device or (one.total and one.total.field)
    if {"strip", "totals"} & set(one.shown):
        assert one.total
        assert one.total.field


def _is_of_model(one: Metric) -> bool:
    return one.total is not None and not {*one.shown} & {"heatmap", "column", "costs", "chart", "csv"}


def test_a_place_has_the_metrics_that_name_it_each_once():
    for place in get_args(Place):
        assert sorted(metrics.ids(place)) == sorted(one.id for one in METRICS if place in one.shown)


def test_a_new_entry_comes_last_in_its_places():
    new = Metric(id="new", label="New", unit="bytes", over=("read_bytes",), shown=("heatmap", "column"))
    table = (new, *METRICS)
    for place in ("heatmap", "column"):
        found = [one.id for one in shown(place, table)]
        assert sorted(found) == sorted([*metrics.ids(place), "new"])
        assert found[: len(metrics._FIRST[place])] == list(metrics._FIRST[place])
    assert shown("strip", table) == shown("strip")
    moved = tuple(replace(one, shown=()) for one in METRICS)
    assert all(shown(place, moved) == () for place in get_args(Place))


def test_heatmaps_are_the_same_everywhere():
    heatmaps = list(metrics.ids("heatmap"))
    settings = json.loads((ROOT / "schema/plugin.json").read_text(encoding="utf-8"))
    offered = [option["const"] for option in settings["properties"]["overlay"]["oneOf"]]
    from py_autodoc.widget.autodoc import OVERLAYS

    assert list(svg.OVERLAYS) == list(graph.OVERLAYS) == offered == ["auto", "none", *heatmaps]
    assert list(OVERLAYS) == heatmaps
    # What the widget's documentation says.
    assert set(viewer_attachments.METRICS) == (set(heatmaps) | {"read_bytes", "write_bytes"}) - {"latency"}


def test_the_documentation_names_every_heatmap():
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| `--overlay NAME`"))
    named = [name for name in re.findall(r"`([a-z_]+)`", row) if name in svg.OVERLAYS]
    # Behind the list stands what a file for Model Explorer takes by default.
    assert named == [*svg.OVERLAYS, "auto", "macs"]


def test_the_documentation_names_every_field_of_queries():
    text = (ROOT / "docs/viewer.md").read_text(encoding="utf-8")
    fields = re.search(r"Fields: `([^`]+)`", text)
    assert fields is not None
    assert {one.query[0] for one in METRICS if one.query} <= set(fields[1].split())


number = st.one_of(st.none(), st.just(0), st.integers(1, 2**60))


@given(st.fixed_dictionaries(dict.fromkeys(("flops", "macs", "read_bytes", "write_bytes"), number)))
def test_a_derived_number_is_a_quotient_of_sums_unknown_where_a_part_is(parts: dict[str, int | None]):
    rate = Metric(
        id="rate", label="Rate", unit="FLOP/B", over=("flops", "macs"), under=("read_bytes", "write_bytes")
    )
    over = [parts[name] for name in rate.over]
    under = [parts[name] for name in rate.under]
    found = metrics.derived(rate, parts.__getitem__)
    if None in (*over, *under):
        assert found is None
    elif sum(under):
        assert found == sum(over) / sum(under)
    else:
        assert found == (None if sum(over) else 0)
    assert metrics.derived(replace(rate, under=()), parts.__getitem__) == (
        None if None in over else sum(over)
    )


def test_every_name_of_a_query_is_a_field_of_numbers():
    for one in METRICS:
        for name in one.query:
            field = field_of(name)
            assert field is not None
            assert field.kind == "number"
        assert one.query[:1] == tuple(name for name in FIELD_NAMES if name in one.query)


def test_totals_are_called_the_same_everywhere():
    report = analyze(MODEL)
    labels = [tile.label for tile in strip(report)]
    always = [one.id for one in shown("strip") if not metrics.total_of(one.id).optional]
    assert labels == [*map(metrics.total_label, always), "Coverage"]
    assert {one.label for one in MEASURES} >= set(labels) - {"Coverage"}
    assert [one.id for one in MEASURES] == [metrics.total_of(one.id).name for one in shown("compare")]


def test_the_csv_has_the_metrics_that_say_so():
    report = analyze(MODEL)
    rows = list(csv.DictReader(io.StringIO(layers_csv(report))))
    for one in shown("csv"):
        head = one.id if one.stored == "inference" else f"{one.id}_per_run"
        values = [getattr(layer, one.id) for layer in report.layers]
        assert [row[head] for row in rows] == ["" if value is None else str(value) for value in values]
        assert (f"{one.id}_per_inference" in rows[0]) == (one.stored == "execution")
        assert (f"{one.id}_percent" in rows[0]) == bool(one.share)
