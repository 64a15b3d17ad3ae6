"""Other batches for a file that has its batch fixed: not made before somebody asks; carried by a page."""

from __future__ import annotations

import base64
import gzip
import re

import msgspec
import pytest
from rebind_fixture import fixed, model

from py_autodoc.render.html import html_page
from py_autodoc.report.builders import batch_offer, batch_section
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.schema import Bundle
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = "tests/data/"


def test_no_payload_makes_it(monkeypatch):
    def never(*_):
        raise AssertionError("nobody asked")

    monkeypatch.setattr(batch_offer, "plan_batch", never)
    assert build_payload(run_analysis(fixed(), Options())).batch is None


def test_an_answer_has_shapes_of_its_own():
    analysis = run_analysis(fixed(), Options())
    payload = build_payload(analysis)
    offer = batch_section.batch_answer(analysis).offer
    assert offer is not None
    assert (offer.dim.name, offer.dim.value) == ("batch", 1)
    assert len(offer.shape) == len(payload.tensors.shape)
    assert len(offer.shapes) == len(offer.expressions.shapes)
    for mine, theirs in zip(offer.shape, payload.tensors.shape, strict=True):
        assert offer.shapes[mine] == payload.shapes[theirs]


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (model(), Options(), "a dimension is already symbolic"),
        (fixed(), Options(batch_size=3), "rewritten for another batch already"),
        (DATA + "models/trt_loop.onnx", Options(), "Squeeze"),
    ],
)
def test_why_there_is_none_is_said(source, options, says):
    answer = batch_section.batch_answer(run_analysis(source, options))
    assert answer.offer is None
    assert says in answer.reason


def test_models_of_very_many_nodes_are_not_followed(monkeypatch):
    monkeypatch.setattr(batch_section, "MAX_REQUESTED", 2)
    assert "more than 2 nodes" in batch_section.batch_answer(run_analysis(fixed(), Options())).reason


def test_a_fault_of_ours_is_an_answer(monkeypatch):
    def broken(*_):
        raise ValueError("made up")

    monkeypatch.setattr(batch_offer, "plan_batch", broken)
    assert "internal fault" in batch_section.batch_answer(run_analysis(fixed(), Options())).reason


def test_a_page_carries_it():
    page = html_page(run_analysis(fixed(), Options()))
    packed = re.search(r'id="autodoc-model">([^<]+)<', page)
    assert packed is not None
    bundle = msgspec.json.decode(gzip.decompress(base64.b64decode(packed.group(1))), type=Bundle)
    assert bundle.payload.batch is not None
