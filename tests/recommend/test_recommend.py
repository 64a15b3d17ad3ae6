"""Which device to take: tiers, targets, prices, words; devices of this machine; bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_autodoc import analyze
from py_autodoc.cli import axes
from py_autodoc.cli.app import app
from py_autodoc.errors import OptionError
from py_autodoc.hardware.cloud import instances, of_device
from py_autodoc.hardware.detect import cpu, detected
from py_autodoc.hardware.profile import find_profile, profiles
from py_autodoc.recommend import RecommendOptions, recommend

DATA = Path(__file__).parent.parent / "data" / "stripped"
RESNET = str(DATA / "resnet50.stripped.onnx")
BERT = str(DATA / "bert_base_dyn.stripped.onnx")


@pytest.mark.slow
def test_every_number_is_that_of_an_analysis():
    found = recommend([RESNET], RecommendOptions(target="cloud", precision=["fp16"], batch=8))
    assert found.candidates
    for one in found.candidates[:5]:
        report = analyze(RESNET, batch_size=8, hardware=one.device, precision="fp16")
        estimates = report.hardware_estimates
        assert one.estimated_latency_ms == estimates.estimated_latency_ms
        assert one.vram_required_gb == estimates.vram_required_bytes / 1e9
        assert one.estimated_throughput_fps == pytest.approx(8 / one.estimated_latency_ms * 1e3)
        if one.price_usd_per_hour is not None:
            million = one.price_usd_per_hour / 3600 / one.estimated_throughput_fps * 1e6
            assert one.usd_per_million == pytest.approx(million)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["edge", "local", "cloud", ""])
def test_tiers_keep_the_targets(target):
    wanted = RecommendOptions(target=target, latency=20, throughput=100, precision=["fp16"])
    found = recommend([RESNET], wanted)
    assert found.nearest_miss is None
    for one in (found.recommended, found.optimal):
        assert one.meets_all_targets
        assert one.fits is not False
        assert one.estimated_latency_ms <= 20
        assert one.estimated_throughput_fps >= 100
    assert found.minimum.fits is not False
    speeds = [c.estimated_throughput_fps for c in found.candidates if c.meets_all_targets]
    assert speeds == sorted(speeds, reverse=True)
    sure = [c for c in found.candidates if c.meets_all_targets and c.label != "order of magnitude"]
    assert found.optimal.estimated_throughput_fps == max(c.estimated_throughput_fps for c in sure)


@pytest.mark.slow
def test_power_and_price_are_limits():
    found = recommend([RESNET], RecommendOptions(target="edge", power=12, precision=["fp16"]))
    for one in (found.minimum, found.recommended, found.optimal):
        assert one.power_watts <= 12
    cheap = recommend(
        [RESNET], RecommendOptions(target="cloud", price=0.9, precision=["fp16"], provider="aws")
    )
    for one in (cheap.minimum, cheap.recommended, cheap.optimal):
        assert one.price_usd_per_hour <= 0.9
        assert one.instance.startswith("aws-")


def test_what_cannot_be_met_names_the_nearest():
    found = recommend([RESNET], RecommendOptions(target="edge", latency=0.001, precision=["fp16"]))
    assert found.recommended is None
    assert found.nearest_miss is not None
    assert "instead of 0.001 ms" in found.nearest_miss.reason
    others = [one.estimated_latency_ms for one in found.candidates if one.fits is not False]
    assert found.nearest_miss.estimated_latency_ms == min(others)


def test_more_precisions_are_never_slower():
    one = recommend([RESNET], RecommendOptions(target="cloud", precision=["fp16"], batch=4))
    both = recommend([RESNET], RecommendOptions(target="cloud", precision=["fp16", "int8"], batch=4))
    slow = {c.device: c.estimated_latency_ms for c in one.candidates}
    for candidate in both.candidates:
        if candidate.device in slow:
            assert candidate.estimated_latency_ms <= slow[candidate.device]


def test_several_models_are_sums():
    options = RecommendOptions(target="edge", precision=["fp16"], batch=1, bindings={})
    one, other = recommend([RESNET], options), recommend([BERT], options)
    both = recommend([RESNET, BERT], options)
    first = {c.device: c for c in one.candidates}
    second = {c.device: c for c in other.candidates}
    assert both.candidates
    for candidate in both.candidates:
        a, b = first[candidate.device], second[candidate.device]
        assert candidate.estimated_latency_ms == pytest.approx(
            a.estimated_latency_ms + b.estimated_latency_ms
        )
        assert candidate.vram_required_gb == pytest.approx(a.vram_required_gb + b.vram_required_gb)


def test_free_sizes_are_named():
    found = recommend([BERT], RecommendOptions(target="edge", precision=["fp16"]))
    assert found.bindings
    assert all("batch" not in name for name in found.bindings)


@pytest.mark.parametrize(
    "options",
    [
        RecommendOptions(target="moon"),
        RecommendOptions(provider="mars"),
        RecommendOptions(precision=["fp17"]),
        RecommendOptions(bindings={"nobody": 1}),
    ],
)
def test_bad_options(options):
    with pytest.raises(OptionError):
        recommend([RESNET], options)


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_the_command(tmp_path):
    out = tmp_path / "r.json"
    done = invoke("recommend", RESNET, "--deployment-target", "edge", "--target-latency", "20ms",
                  "--precision", "fp16", "--out-json", out)  # fmt: skip
    assert (done.exit_code, done.stderr, done.stdout) == (0, "", "")
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["user_constraints"]["max_latency_ms"] == 20
    assert found["recommended"]["meets_all_targets"] is True
    assert found["recommended"]["vram_required_gb"] > 0
    missed = invoke("recommend", RESNET, "--deployment-target", "edge", "--target-latency", "1us")
    assert missed.exit_code == 5
    assert missed.stderr.startswith("error: resnet50.stripped.onnx: no device meets all targets. Closest: ")
    assert json.loads(missed.stdout)["recommended"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["--target-latency", "soon"],
        ["--target-latency", "0"],
        ["--target-throughput", "-1"],
        ["--target-throughput", "nan"],
        ["--max-power", "0"],
        ["--cloud", "mars"],
        ["--deployment-target", "moon"],
    ],
)
def test_bad_arguments_are_one_line(arguments):
    done = invoke("recommend", RESNET, *arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["latency", "throughput", "power", "price"])
@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
def test_a_target_is_above_zero(name, value):
    with pytest.raises(OptionError, match=f"{name} is .*; it must be above 0"):
        recommend([RESNET], RecommendOptions(**{name: value}))


def test_lines_have_every_tier():
    from py_autodoc.cli.recommend import lines

    found = recommend([RESNET], RecommendOptions(target="cloud", precision=["fp16"]))
    text = "\n".join(lines(found))
    for title in ("Minimum", "Recommended", "Optimal", "The best 10 of"):
        assert title in text
    assert "/h (" in text


# ---------------------------------------------------------------- devices


def test_instances_name_known_devices_and_dated_prices():
    known = {one.id for one in profiles()}
    assert len(instances()) == 75
    for one in instances():
        assert one.device_id in known
        assert one.device_count >= 1
        assert one.price_date.startswith("20")
        assert one.region
    cheapest = of_device("l4", "aws")
    assert cheapest.instance_type == "g6.xlarge"
    assert of_device("a10", "azure").device_share == 1
    assert of_device("jetson-nano") is None


CPUINFO = """processor\t: 0
model name\t: {name}
flags\t\t: fpu sse4_2 avx avx2 fma {flags}
processor\t: 1
model name\t: {name}
"""


def test_a_cpu_is_read_and_matched():
    names = [one for one in profiles() if one.type == "cpu"]
    for profile in names:
        found = cpu(CPUINFO.format(name=profile.name, flags="avx512_vnni"))
        assert found["profile"] == profile.id
        assert found["notes"][0] == "2 logical processors"
        assert not any("VNNI" in note for note in found["notes"])
    plain = cpu(CPUINFO.format(name="Nobody's CPU", flags=""))
    assert plain["profile"] == ""
    assert any("no VNNI" in note for note in plain["notes"])
    for features in ("", "asimddp"):  # of ARM
        found = cpu(f"Features\t: fp asimd {features}\nprocessor\t: 0\n")
        assert not any("VNNI" in note for note in found["notes"])
    assert cpu("")["name"]


def test_this_machine():
    found = detected()
    assert found[0]["kind"] == "cpu"
    for one in found:
        assert one["profile"] == "" or find_profile(one["profile"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list"], "l4 "),
        (["list", "--category", "edge"], "jetson"),
        (["list", "--cloud", "all"], "aws-g6-xlarge"),
        (["list", "--cloud", "aws"], "aws-g6-xlarge"),
        (["show", "l4"], "NVIDIA L4"),
        (["detect"], "cpu: "),
    ],
)
def test_the_hardware_command(arguments, told):
    done = invoke("hardware", *arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    assert told in done.stdout
    assert json.loads(invoke("hardware", *arguments, "--json").stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["show"],
        ["list", "l4"],
        ["show", "nobody"],
        ["list", "--category", "x"],
        ["detect", "--cloud", "all"],
        ["list", "--cloud", "mars"],
        ["list", "--cloud", "aws", "--category", "edge"],
    ],
)
def test_bad_hardware_arguments(arguments):
    done = invoke("hardware", *arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("30", 30), ("30fps", 30), ("30 FPS", 30), ("1000/s", 1000), ("2.5 items/s", 2.5), ("600/min", 10),
        ("1e3", 1000), ("50hz", 50),
    ],
)  # fmt: skip
def test_rates(given, wanted):
    assert axes.per_second(given, "--target-throughput") == pytest.approx(wanted)


@pytest.mark.parametrize("given", ["30ms", "fps", "30fp", "/s", "inf", "0fps", "30 / 2"])
def test_what_is_no_rate(given):
    with pytest.raises(OptionError, match="--target-throughput"):
        axes.per_second(given, "--target-throughput")


OLD_OPSET = {"jetson-nano", "jetson-nano-2gb", "jetson-tx2"}


@pytest.fixture(scope="module")
def at_any_size():
    """ResNet-50 with a free batch, at opset 17 or later, for a rate that no small board reaches."""
    return recommend([DYNAMIC], RecommendOptions(target="edge", throughput=400, precision=["fp16"]))


DYNAMIC = str(DATA / "resnet50_dyn.stripped.onnx")


def test_a_board_that_does_not_read_the_opset_is_in_no_tier(at_any_size):
    listed = {one.device: one for one in at_any_size.candidates}
    assert listed.keys() >= OLD_OPSET
    for name in OLD_OPSET:
        assert listed[name].reads_opset is False
        assert not listed[name].meets_all_targets
        assert "does not read opset" in listed[name].reason
    tiers = (at_any_size.minimum, at_any_size.recommended, at_any_size.optimal, at_any_size.nearest_miss)
    assert OLD_OPSET.isdisjoint(one.device for one in tiers if one is not None)


def test_a_minimum_is_not_many_times_too_slow(at_any_size):
    assert at_any_size.minimum.estimated_throughput_fps >= 100
    alone = recommend([DYNAMIC], RecommendOptions(precision=["fp16"]))
    assert alone.minimum.estimated_latency_ms <= 1000
    assert alone.minimum.batch == 1


def test_the_batch_is_the_smallest_that_is_fast_enough(at_any_size):
    """Not the largest one, at which a slow device takes seconds."""
    for one in at_any_size.candidates:
        if one.meets_all_targets and one.batch > 1 and one.devices == 1:
            half = recommend(
                [DYNAMIC], RecommendOptions(target="edge", batch=one.batch // 2, precision=["fp16"])
            )
            smaller = {c.device: c.estimated_throughput_fps for c in half.candidates}
            assert smaller[one.device] < 400
            break


def test_each_device_has_a_runtime_that_exists_for_it():
    found = recommend([RESNET], RecommendOptions(batch=1))
    assert found.runtime is None
    of = {one.device: one.runtime for one in found.candidates}
    assert (of["l4"], of["raspberry-pi-5"], of["mi300x"]) == ("tensorrt", "ort-cuda", "vendor")
    only = recommend([RESNET], RecommendOptions(batch=1, runtime="tensorrt"))
    assert {find_profile(one.device).vendor for one in only.candidates} == {"nvidia"}


def test_the_upper_end_of_the_range_is_a_stricter_target():
    typical = recommend([RESNET], RecommendOptions(target="local", latency=2, precision=["fp16"]))
    high = recommend([RESNET], RecommendOptions(target="local", latency=2, precision=["fp16"], risk="high"))
    fast = {one.device for one in high.candidates if one.meets_all_targets}
    assert fast < {one.device for one in typical.candidates if one.meets_all_targets}
    assert all(one.latency_high_ms <= 2 for one in high.candidates if one.meets_all_targets)
    with pytest.raises(OptionError, match="Unknown risk"):
        recommend([RESNET], RecommendOptions(risk="brave"))


def test_several_devices_share_what_is_too_much_for_one():
    wanted = RecommendOptions(target="cloud", throughput=300_000, precision=["int8"], max_devices=64)
    found = recommend([DYNAMIC], wanted)
    assert found.recommended is not None
    several = [one for one in found.candidates if one.meets_all_targets]
    one_each = {one.device: one for one in found.candidates if one.devices == 1}
    for one in several:
        alone = one_each[one.device]
        assert one.devices > 1
        assert one.estimated_throughput_fps == pytest.approx(one.devices * alone.estimated_throughput_fps)
        assert one.estimated_throughput_fps >= 300_000 > (one.devices - 1) * alone.estimated_throughput_fps
        assert one.estimated_latency_ms == alone.estimated_latency_ms
        assert one.vram_required_gb == alone.vram_required_gb
    systems = {one.device: one.system for one in several}
    assert any(name and "DGX" in name for name in systems.values())
    none = recommend([DYNAMIC], RecommendOptions(throughput=300_000, precision=["int8"], max_devices=1))
    assert all(one.devices == 1 for one in none.candidates)


def test_numbers_have_no_exponents():
    from py_autodoc.cli.recommend import lines

    wanted = RecommendOptions(target="cloud", throughput=300_000, precision=["fp16"])
    text = "\n".join(lines(recommend([DYNAMIC], wanted), all_devices=True))
    assert "e+" not in text
    assert "items/s instead of 300,000" in text
