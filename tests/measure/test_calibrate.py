"""A profile of this machine: what is measured, how it is read again, and what the estimate makes of it."""

from __future__ import annotations

import json
import sys
from itertools import count
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from py_autodoc import analyze
from py_autodoc.cli.hardware import THIS_MACHINE, command
from py_autodoc.errors import OptionError, RequirementError
from py_autodoc.hardware import profile as profiles
from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import MODEL, device
from py_autodoc.measure import calibrate as calibrating
from py_autodoc.measure.calibrate import calibrate, quickest
from py_autodoc.measure.workloads import workloads
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs
from py_autodoc.sweep import Axes, sweep

RESNET = "tests/data/models/resnet_tiny.onnx"
RATES = ("product_flops", "convolution_flops", "depthwise_flops", "bandwidth_bytes_per_s", "start_seconds")


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    pytest.importorskip("onnxruntime")
    return calibrate(1, seconds=0.2)


def test_work_is_that_of_the_analysis() -> None:
    """FLOPs of the products and convolutions, bytes of the others: as our own rules count them."""
    for one in workloads():
        totals = run_analysis(one.model, Options()).totals
        if one.kind in ("product", "convolution", "depthwise"):
            assert 2 * totals.macs == one.work
        elif one.kind in ("moved", "cached"):
            assert one.work == 4 * 2 * np.prod(next(iter(one.shapes.values())))


def test_a_profile_of_its_own(measured: dict[str, Any], tmp_path: Any) -> None:
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps(measured), encoding="utf-8")
    found = device(profiles.load_profile(str(path)))
    assert found is not None
    assert found.measured is not None
    assert found.category == "cpu"
    assert MODEL.bands[found.band].label == "rough"
    assert [p for p in ("fp32", "fp16", "int8") if found.peak(p)] == ["fp32"]
    # The peak is the best that was seen, so that no share of it is above 1.
    assert all(0 < share <= 1 for share in found.measured[:4])
    assert 0 < found.measured.start < 1e-2


def test_the_rates_decide(measured: dict[str, Any], tmp_path: Any) -> None:
    """Half of every rate is twice the time, whatever the peak."""
    analysis = run_analysis(RESNET, Options(assume=True))
    assert analysis.kernels is not None

    def seconds(change: dict[str, float]) -> float:
        path = tmp_path / "cpu.json"
        path.write_text(json.dumps({**measured, **change}), encoding="utf-8")
        one = device(profiles.load_profile(str(path)))
        assert one is not None
        found = estimate(analysis.kernels, estimate_inputs(analysis), one, "fp32", MODEL).seconds  # type: ignore[arg-type]
        assert found is not None
        return found

    names = [f"measured_{name}" for name in RATES]
    slow = {name: measured[name] * (2 if name.endswith("seconds") else 0.5) for name in names}
    assert seconds(slow) == pytest.approx(2 * seconds({}), rel=1e-9)
    assert seconds({"peak_fp32_flops": 3 * measured["peak_fp32_flops"]}) == pytest.approx(seconds({}))


def test_what_onnx_runtime_measured_is_estimated_for_onnx_runtime(
    measured: dict[str, Any], tmp_path: Any
) -> None:
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps(measured), encoding="utf-8")
    usual = analyze(RESNET, assume=True, hardware=str(path)).hardware_estimates
    assert usual is not None
    assert usual.runtime == "ort-cuda"
    fused = analyze(RESNET, assume=True, hardware=str(path), runtime="tensorrt").hardware_estimates
    assert fused is not None
    assert fused.kernels < usual.kernels
    found = sweep(RESNET, Axes(hardware=[str(path)]))
    assert found.runtime == "ort-cuda"
    assert found.points[0].latency_ms == usual.estimated_latency_ms
    # Beside a device of another kind each is estimated for its own.
    both = sweep(RESNET, Axes(hardware=[str(path), "l4"]))
    assert both.runtime is None
    assert [point.runtime for point in both.points] == ["ort-cuda", "tensorrt"]
    assert both.points[0].latency_ms == usual.estimated_latency_ms


@pytest.mark.parametrize("name", RATES)
def test_without_all_of_them_the_constants_count(measured: dict[str, Any], tmp_path: Any, name: str) -> None:
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({k: v for k, v in measured.items() if k != f"measured_{name}"}))
    found = device(profiles.load_profile(str(path)))
    assert found is not None
    assert found.measured is None
    assert MODEL.bands[found.band].label == "order of magnitude"


def test_the_quickest_run_counts_and_the_first_does_not() -> None:
    times = iter([9.0, 3.0, 2.0, 5.0, *([4.0] * 100)])
    now = [0.0]

    def one() -> None:
        now[0] += next(times)

    assert quickest(one, 12.0, lambda: now[0]) == 2.0
    # At least two runs, however long they take.
    ticks = count()
    runs = []
    quickest(lambda: runs.append(0), -1.0, lambda: float(next(ticks)))
    assert len(runs) == 3


def test_threads_and_a_runtime_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (-1, 10_000):
        with pytest.raises(OptionError, match="logical processors"):
            calibrate(threads)

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(RequirementError) as fault:
        calibrate()
    assert fault.value.hint == "pip install onnxruntime"


def test_other_work_is_told(measured: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating.os, "cpu_count", lambda: 4)
    for load, told in ((3.5, True), (1.5, False)):
        monkeypatch.setattr(calibrating.os, "getloadavg", lambda load=load: (load, 0, 0), raising=False)
        busy = calibrating._busy()
        assert ("load 3.5 on 4" in busy) == told
        found = {**measured, "notes": f"ONNX Runtime on the CPU. {busy}".strip()}
        assert any("measure again" in line for line in calibrating.lines(found)) == told


def invoke(*args: str) -> Any:
    return CliRunner().invoke(command, list(args), standalone_mode=False)


def test_the_command_writes_what_hardware_takes(
    measured: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    monkeypatch.setattr(calibrating, "calibrate", lambda threads: {**measured, "notes": str(threads)})
    with pytest.raises(OptionError):
        profiles.find_profile(THIS_MACHINE)
    result = invoke("calibrate", "--threads", "1")
    assert result.exception is None, result.exception
    assert "convolutions" in result.stdout
    assert f"--hardware {THIS_MACHINE}" in result.stdout
    assert profiles.find_profile(THIS_MACHINE).peak("fp32") == measured["peak_fp32_flops"]
    assert profiles.find_profile(THIS_MACHINE).id == f"custom:{THIS_MACHINE}"
    # Ours may be written again, another file not.
    assert invoke("calibrate").exception is None
    own = tmp_path / "own.json"
    own.write_text('{"mine": 1}')
    assert invoke("calibrate", "--out", str(own)).exception is not None
    assert own.read_text() == '{"mine": 1}'
    assert invoke("calibrate", "--out", str(own), "--force").exception is None
    assert profiles.find_profile(str(own)).name == measured["name"]
    assert json.loads(invoke("calibrate", "--out", "-").stdout)["schema"] == "autodoc.profile/1"


@pytest.mark.parametrize(
    "args", [("list", "--threads", "2"), ("show", "l4", "--out", "x"), ("detect", "--force")]
)
def test_options_of_calibrate_alone(args: tuple[str, ...]) -> None:
    assert isinstance(invoke(*args).exception, OptionError)


def test_own_names_leave_no_folder_and_hide_no_packaged_device(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    folder = profiles.user_profile_folder()
    folder.mkdir(parents=True)
    one = {"name": "mine", "memory_bandwidth_bytes_per_s": 1e11, "peak_fp32_flops": 1e12}
    for path in (folder / "l4.json", folder / "mine.json", tmp_path / "out.json", folder / "bad.json"):
        path.write_text(json.dumps(one) if path.name != "bad.json" else "{")
    assert profiles.find_profile("mine").name == "mine"
    assert profiles.find_profile("l4").vendor == "nvidia"
    for name in ("..", "../out", ".", "", "a" * 200, "nobody"):
        with pytest.raises(OptionError):
            profiles.find_profile(name)
    with pytest.raises(OptionError, match=r"bad\.json is not a hardware profile"):
        profiles.find_profile("bad")
