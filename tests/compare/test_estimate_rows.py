"""The Markdown of a comparison on a device has the estimates of each variant."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_autodoc import analyze
from py_autodoc.compare.estimate_rows import estimate_rows
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.units import seconds, size

DATA = Path(__file__).parents[1] / "data/models"
FLOAT, INT8 = str(DATA / "resnet_tiny.onnx"), str(DATA / "resnet_tiny_qdq_int8.onnx")


@pytest.mark.parametrize("device", ["l4", "raspberry-pi-5"])
def test_each_variant_has_its_estimate(device):
    analyses = [run_analysis(model, Options(assume=True, hardware=device)) for model in (FLOAT, INT8)]
    (_, latencies), (_, memories) = estimate_rows(analyses)
    for model, latency, memory in zip((FLOAT, INT8), latencies, memories, strict=True):
        own = analyze(model, assume=True, hardware=device).hardware_estimates
        assert own is not None
        assert latency.startswith(f"{seconds(own.estimated_latency_ms / 1e3)} in {own.precision} (")
        assert own.label in latency
        assert memory == size(own.vram_required_bytes)
    assert estimate_rows([run_analysis(FLOAT), run_analysis(INT8)]) == []
