"""Our estimates against published latencies. What is asserted stands in docs/hardware.md."""

from functools import cache

import pytest
from measured import Analyses, Row, rows, score

pytestmark = pytest.mark.slow


@cache
def _both() -> tuple[list[Row], list[Row]]:
    analyses: Analyses = {}
    return rows(analyses=analyses), rows("tensorrt", analyses)


def found() -> list[Row]:
    return _both()[0]


def bert(**wanted):
    chosen = [row for row in found() if row.model.startswith("bert")]
    return [row for row in chosen if all(getattr(row, key) == value for key, value in wanted.items())]


def test_every_row_has_a_source_and_a_known_kernel_each():
    assert len(found()) == 287
    assert all(row.estimate.unknown == 0 for row in found())
    assert {row.split for row in found()} == {"calibration", "held-out", "device-scalar"}


def test_bert_as_a_runtime_runs_it():
    """Per layer: four products, attention, two norms; and the embedding, the mask.

    In one file norms and Gelu are operators, in the other they are written out.
    """
    assert {len(row.estimate.kernels) for row in bert(model="bert_base_dyn")} == {12 * 7 + 3}
    assert {len(row.estimate.kernels) for row in bert(model="bert_large")} == {24 * 7 + 2}


@pytest.mark.parametrize(
    ("chosen", "median", "inside"),
    [
        ({"device": "a100-sxm4-40gb", "precision": "fp16"}, 0.06, 1.0),
        ({"device": "a100-sxm4-40gb", "precision": "int8"}, 0.04, 1.0),
        ({"device": "a30"}, 0.06, 1.0),
        ({"device": "t4"}, 0.13, 1.0),
        ({"device": "l40s", "precision": "fp16"}, 0.14, 1.0),
        ({"device": "l40s", "precision": "int8"}, 0.13, 1.0),
    ],
)
def test_bert_by_device(chosen, median, inside):
    it = score(bert(**chosen))
    assert it.median <= median
    assert it.inside >= inside


def test_bert_by_batch():
    small = score([row for row in bert() if row.batch <= 4])
    large = score([row for row in bert() if row.batch >= 8])
    assert (small.count, large.count) == (80, 120)
    assert small.median <= 0.08
    assert large.median <= 0.06
    assert small.inside == 1.0
    assert large.inside == 1.0


def test_others_than_the_calibration():
    it = score([row for row in bert() if row.split != "calibration"])
    assert it.count == 160
    assert it.median <= 0.07
    assert it.ninth <= 0.22
    assert 0.97 <= it.bias <= 1.05
    assert it.inside == 1.0


def test_no_run_was_faster_than_its_bound():
    assert all(row.estimate.ideal < row.measured for row in found())


def of(name):
    return [row for row in found() if row.estimated_as == name]


def elsewhere(name):
    """The rows of a runtime, as they would be estimated for TensorRT."""
    keys = {(row.model, row.device, row.precision, row.batch, row.runtime) for row in of(name)}
    return [
        row for row in _both()[1] if (row.model, row.device, row.precision, row.batch, row.runtime) in keys
    ]


def test_eager():
    """ResNet-50 on V100 and T4 at batch 1 to 256, and eight models on an RTX 4090 at 512."""
    ours = score(of("pytorch-eager"))
    assert ours.count == 44
    assert ours.median <= 0.14
    assert ours.ninth <= 0.3
    assert ours.inside == 1.0
    half = [row for row in of("pytorch-eager") if row.precision != "fp32"]
    assert score(half).median <= 0.22
    assert score(half).inside == 1.0
    # What was estimated before the runtime could be chosen.
    assert score(elsewhere("pytorch-eager")).median >= 2 * ours.median


@pytest.mark.parametrize(("device", "median"), [("v100-sxm2-16gb", 0.09), ("t4", 0.13)])
def test_fp32_off_the_tensor_cores(device, median):
    """From batch 1, which the launch was fitted on for the V100, to 256."""
    several = [row for row in of("pytorch-eager") if row.device == device and row.precision == "fp32"]
    it = score(several)
    assert it.count == 9
    assert it.median <= median
    assert it.ninth <= 0.2
    assert it.inside == 1.0


def test_a_v100_in_eager_at_small_batches():
    small = [row for row in of("pytorch-eager") if row.device == "v100-sxm2-16gb" and row.batch <= 8]
    assert len(small) == 8
    assert all(0.7 <= row.ratio <= 1.15 for row in small)


def test_compiled():
    """Eight models on two GPUs at large batches, and on two CPUs at batch 1."""
    ours = score(of("torch-compile"))
    assert ours.count == 32
    assert ours.median <= 0.2
    assert 0.9 <= ours.bias <= 1.1
    assert ours.inside >= 31 / 32
    assert ours.median < score(elsewhere("torch-compile")).median


@pytest.mark.parametrize("model", ["mobilenetv3_large_100", "efficientnet_b0"])
def test_depthwise_convolutions(model):
    """On two GPUs, compiled and eager, and two CPUs; the rule was fitted on one of the GPUs."""
    several = [row for row in found() if row.model == model and not row.device.startswith("raspberry")]
    assert len({row.device for row in several}) == 4
    assert len(several) == 5
    assert all(row.inside for row in several)
    assert all(1.0 <= row.ratio <= 1.45 for row in several)


def test_grouped_convolutions():
    several = [row for row in found() if row.model == "regnety_032"]
    assert len(several) == 5
    assert all(row.inside for row in several)


def test_int8_convolutions():
    """One row: ResNet-50 on the accelerators of an Orin."""
    (row,) = [row for row in found() if row.device == "jetson-agx-orin-dla"]
    assert row.inside
    assert 0.9 <= row.ratio <= 1.1


@pytest.mark.parametrize("device", ["raspberry-pi-4", "raspberry-pi-5"])
def test_single_board_computers(device):
    """Convolutions and an encoder of speech, in ncnn and whisper.cpp."""
    several = [row for row in found() if row.device == device]
    it = score(several)
    assert it.count == 5
    assert it.median <= 0.4
    assert it.inside == 1.0
