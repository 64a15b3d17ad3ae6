"""resolution-mismatch: joins that need cropping or padding, uneven factors, unread borders."""

from __future__ import annotations

import pytest
from rule_help import F, Net, found

RULE = "resolution-mismatch"


def unet(size, fit="Pad", levels=3):
    """Down by pooling, up by Resize ×2, joined by Concat; ``fit`` makes odd sizes meet."""
    net = Net(1, 32, size, size)
    at, kept, sizes = net.relu(net.conv("x", 64)), [], []
    for _ in range(levels):
        kept.append(at)
        sizes.append(size)
        at = net.op("MaxPool", at, kernel_shape=[2, 2], strides=[2, 2])
        at = net.relu(net.conv(at, 64))
        size //= 2
    for skip, wanted in zip(reversed(kept), reversed(sizes), strict=True):
        scales = net.constant([1.0, 1.0, 2.0, 2.0], F)
        if fit == "Resize":
            at = net.op("Resize", at, "", "", net.constant([1, 64, wanted, wanted]))
            size = wanted
        else:
            at = net.conv(net.op("Resize", at, "", scales), 64)
            size *= 2
        if size != wanted:
            ends = [0, 0, 0, 0, 0, 0, wanted - size, wanted - size]
            at = net.op("Pad", at, net.constant(ends))
            size = wanted
        at = net.relu(net.conv(net.op("Concat", at, skip, axis=1, width=128), 64))
    return net.model(at)


def test_fires():
    findings = found(RULE, unet(60))  # 60 → 30 → 15 → 7; 14 is padded to 15
    (finding,) = [f for f in findings if "made" in f.evidence and "wanted" in f.evidence]
    assert finding.severity == "medium"
    assert (finding.evidence["made"], finding.evidence["wanted"]) == ([14, 14], [15, 15])
    assert "is padded to 15×15" in finding.message
    assert len(finding.nodes) == 3


def test_a_small_change_is_low():
    findings = [f for f in found(RULE, unet(250)) if "wanted" in f.evidence]
    assert [f.evidence["wanted"] for f in findings] == [[125, 125]]
    assert [f.severity for f in findings] == ["low"]


def test_fires_on_uneven_factors():
    (finding,) = [f for f in found(RULE, unet(60, fit="Resize")) if "given" in f.evidence]
    assert finding.severity == "low"
    assert (finding.evidence["given"], finding.evidence["made"]) == ([7, 7], [15, 15])


def test_fires_on_cropping():
    net = Net(1, 64, 15, 15)
    low = net.relu(net.conv("x", 128, strides=[2, 2]))
    up = net.op("ConvTranspose", low, net.trained(128, 64, 2, 2), width=64, strides=[2, 2])
    cut = net.op("Slice", up, net.constant([0, 0]), net.constant([15, 15]), net.constant([2, 3]))
    (finding,) = found(RULE, net.model(net.op("Add", cut, net.conv("x", 64))))
    assert finding.evidence["made"] == [16, 16]
    assert "is cropped to 15×15" in finding.message


@pytest.mark.parametrize("fit", ["Pad", "Resize"])
def test_does_not_fire_on_sizes_that_fit(fit):
    assert found(RULE, unet(64, fit=fit)) == []


def test_fires_on_unread_borders():
    net = Net(1, 64, 19, 19)
    at = net.relu(net.conv("x", 128))
    pooled = net.op("MaxPool", at, kernel_shape=[2, 2], strides=[2, 2])
    (finding,) = found(RULE, net.model(pooled))
    assert finding.severity == "low"
    assert finding.evidence["unread"] == [1, 1]
    net = Net(1, 64, 7, 7)
    pooled = net.op("MaxPool", net.conv("x", 128), kernel_shape=[2, 2], strides=[2, 2])
    assert [f.severity for f in found(RULE, net.model(pooled))] == ["info"]


def test_does_not_fire_on_padding_strided_projections_and_ceil():
    net = Net(1, 64, 18, 18)
    at = net.conv("x", 64, 3, strides=[2, 2])  # 18 + 2 - 3 leaves one row of padding unread
    at = net.conv(at, 128, 1, strides=[2, 2])
    at = net.op("MaxPool", at, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    assert found(RULE, net.model(at)) == []


def test_does_not_fire_on_a_resize_that_is_not_joined():
    net = Net(1, 64, 10, 10)
    at = net.op("Resize", net.conv("x", 128), "", net.constant([1.0, 1.0, 1.5, 1.5], F))
    assert found(RULE, net.model(net.relu(at))) == []


@pytest.mark.parametrize("name", ["segformer_b0", "detr_r50", "resnet50", "mobilenet_v2", "swin_t"])
def test_does_not_fire_on_known_architectures(name):
    assert found(RULE, f"tests/data/stripped/{name}.stripped.onnx") == []
