"""Hardware profiles: the packaged ones, those of the caller's own, and what is no profile."""

import json
import math
from pathlib import Path

import pytest

from py_autodoc.errors import OptionError
from py_autodoc.hardware.latency_model import ESTIMATE, MAGNITUDE, MODEL, ROUGH, device
from py_autodoc.hardware.profile import (
    PRECISIONS,
    estimable,
    find_profile,
    load_profile,
    profiles,
    profiles_folder,
)
from py_autodoc.limits import DEVICE_FILE

FILES = sorted(profiles_folder().glob("*/*.json"))
SIX = {
    "name": "NVIDIA_RTX_4090",
    "vendor": "nvidia",
    "type": "gpu",
    "vram_bytes": 25769803776,
    "peak_fp16_flops": 330000000000000,
    "peak_fp32_flops": 82500000000000,
    "memory_bandwidth_bytes_per_s": 1000000000000,
}
SOURCED = (
    "product_fraction", "convolution_fraction", "depthwise_fraction", "bandwidth_fraction", "max_opset",
)  # fmt: skip
"""Fields that are published or measured figures, each beside its source."""
KNOWN = {
    "id", "name", "vendor", "type", "category", "architecture", "compute_capability", "vram_bytes",
    "memory_is_unified", "memory_bandwidth_bytes_per_s", "peak_fp32_flops", "peak_fp32_matrix_flops",
    "peak_tf32_flops", "peak_fp16_flops", "peak_bf16_flops", "peak_fp16_fp16acc_flops", "peak_fp8_flops",
    "peak_fp4_flops", "peak_int8_ops", "tdp_watts", "tdp_watts_min", "power_limited", "launch_year",
    "interconnect", "l2_cache_bytes", "sm_count", "boost_clock_hz", "usable_memory_fraction", "aliases",
    "sustained_compute_fraction", "sustained_fraction_source", "confidence", "notes", "sources_read",
    "sources_named_not_read", "data_date", "product_fraction", "convolution_fraction", "depthwise_fraction",
    "bandwidth_fraction", "max_opset", *(f"{name}_source" for name in SOURCED),
}  # fmt: skip


def written(tmp_path, data, name="board.json"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return str(path)


def test_all_are_there():
    assert len(FILES) == len(profiles()) >= 230
    assert len({one.id for one in profiles()}) == len(FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_packaged_profile(path):
    data = json.loads(path.read_text("utf-8"))
    assert data["id"] == path.stem
    assert data["vendor"] == path.parent.name
    assert set(data) <= KNOWN
    assert data["confidence"] in ("high", "medium")
    assert data["data_date"]
    if data["confidence"] == "high":
        assert data.get("sources_read") or data.get("sources_named_not_read")
    if "sustained_compute_fraction" in data:
        assert data["sustained_fraction_source"]
    assert all(data.get(f"{name}_source") for name in SOURCED if name in data)
    for field, value in data.items():
        assert value is not None, "what is not known is left out"
        if isinstance(value, int | float) and not isinstance(value, bool):
            assert math.isfinite(value)
            assert value > 0
            if "fraction" in field:
                assert value <= 1
    one = find_profile(path.stem)
    assert one.id == path.stem
    assert (device(one) is not None) == estimable(one)


def test_peaks_are_dense_and_in_order():
    """A peak with sparsity, or a vector rate among tensor rates, would stand out here."""
    for one in filter(None, map(device, profiles())):
        half, narrow = one.peak("fp16"), one.peak("int8")
        if half and narrow:
            assert narrow <= 4.2 * half, one.id
    assert (
        device(find_profile("p40")).peak("fp16")
        == find_profile("p40").peak("fp32")
        > find_profile("p40").peak("fp16")
    )
    assert find_profile("h100-sxm").peak("fp16") == 989400000000000
    assert find_profile("rtx-4090").peak("fp16") == 165200000000000
    assert find_profile("l4").peak("fp16") == 121000000000000


def test_without_a_bandwidth_there_is_no_device():
    blind = [one.id for one in profiles() if not estimable(one)]
    assert blind == ["coral-edge-tpu", "hailo-8", "hailo-8l"]


def test_bands_and_sustained_rates():
    assert [device(find_profile(name)).band for name in ("t4", "rtx-4070", "mi300x", "core-i7-12700h")] == [
        ESTIMATE, ROUGH, MAGNITUDE, MAGNITUDE,
    ]  # fmt: skip
    assert [band.label for band in MODEL.bands] == ["estimate", "rough", "order of magnitude"]
    assert device(find_profile("t4")).sustained == 0.48
    assert device(find_profile("rtx-4060-laptop")).sustained == 0.7
    assert device(find_profile("rtx-4070")).sustained == 1.0
    assert device(find_profile("core-i7-12700h")).sustained == 1.0


@pytest.mark.parametrize(("wanted", "found"), [("L4", "l4"), ("h100", "h100-sxm"), ("NVIDIA L4", "l4")])
def test_names_and_aliases(wanted, found):
    assert find_profile(wanted).id == found


@pytest.mark.parametrize(
    ("wanted", "code", "says"),
    [
        ("rtx-409", "unknown-device", "rtx-4090"),
        ("a100-sxm4-40", "unknown-device", "a100-sxm4-40gb"),
        ("rtx-3060", "ambiguous-device", "rtx-3060-12gb"),
        ("nothing like it", "unknown-device", "--list-hardware"),
        ("", "unknown-device", "--list-hardware"),
        ("x" * 10_000, "unknown-device", "--list-hardware"),
    ],
)
def test_a_mistyped_id_lists_the_nearest(wanted, code, says):
    with pytest.raises(OptionError) as fault:
        find_profile(wanted)
    assert fault.value.code == code
    assert says in fault.value.hint
    assert "\n" not in str(fault.value)
    assert len(str(fault.value)) < 1000


def test_a_file_with_the_six_fields(tmp_path):
    one = load_profile(written(tmp_path, SIX))
    assert one.id == "custom:board"
    assert one.category == one.confidence == "custom"
    made = device(one)
    assert made.peaks == (82500000000000, None, 330000000000000, None, None, None)
    assert (made.band, made.units, made.sustained) == (MAGNITUDE, None, 1.0)
    assert find_profile(written(tmp_path, SIX, "other.json")).id == "custom:other"


def test_a_packaged_file_may_be_given_as_a_file():
    path = next(path for path in FILES if path.stem == "a100-sxm4-40gb")
    given = load_profile(str(path))
    assert given.id == "custom:a100-sxm4-40gb"
    # Nobody knows what was changed in it.
    assert (device(find_profile(path.stem)).band, device(given).band) == (ESTIMATE, MAGNITUDE)


def test_a_cpu_of_the_callers_own(tmp_path):
    assert load_profile(written(tmp_path, {**SIX, "type": "cpu"})).category == "cpu"


BAD = {
    "empty": b"",
    "no-json": b"\x00\xff",
    "list": b"[]",
    "text": b'"l4"',
    "deep": b"[" * 100_000,
    "deep-field": b'{"name": "x", "other": ' + b"[" * 100_000,
    "no-name": {key: value for key, value in SIX.items() if key != "name"},
    "blank-name": {**SIX, "name": " "},
    "long-name": {**SIX, "name": "x" * 1000},
    "no-bandwidth": {key: value for key, value in SIX.items() if key != "memory_bandwidth_bytes_per_s"},
    "no-peak": {key: value for key, value in SIX.items() if "peak" not in key},
    "text-peak": {**SIX, "peak_fp16_flops": "330e12"},
    "zero": {**SIX, "memory_bandwidth_bytes_per_s": 0},
    "negative": {**SIX, "peak_fp16_flops": -1},
    "huge": {**SIX, "peak_fp16_flops": 1e30},
    "infinite": b'{"name": "x", "memory_bandwidth_bytes_per_s": 1e999, "peak_fp16_flops": 1}',
    "nan": b'{"name": "x", "memory_bandwidth_bytes_per_s": NaN, "peak_fp16_flops": 1}',
    "huge-integer": b'{"name": "x", "vram_bytes": 1' + b"0" * 5000 + b"}",
    "no-cores": {**SIX, "sm_count": 0},
    "more-than-all": {**SIX, "usable_memory_fraction": 1.5},
    "gigabytes-a-second": {**SIX, "memory_bandwidth_bytes_per_s": 1008},
    "fraction-of-a-byte": {**SIX, "memory_bandwidth_bytes_per_s": 0.5},
    "teraflops": {**SIX, "peak_fp16_flops": 330},
    "gigaflops": {**SIX, "peak_fp32_flops": 82500},
    "tera-operations": {**SIX, "peak_int8_ops": 660},
    "gigabytes": {**SIX, "vram_bytes": 24},
    "mebibytes": {**SIX, "vram_bytes": 24576},
    "gigahertz": {**SIX, "boost_clock_hz": 2.52},
    "megahertz": {**SIX, "boost_clock_hz": 2520},
    "megabytes-of-cache": {**SIX, "l2_cache_bytes": 72},
    "percent": {**SIX, "sustained_compute_fraction": 70},
    "wide-integer": b'{"name": "x", "memory_bandwidth_bytes_per_s": 1e12, "peak_fp16_flops": 1e14, '
    b'"vram_bytes": 1' + b"0" * 400 + b"}",
    "typo": {**SIX, "peak_fp16_flop": 1e14},
    "capitals": {**SIX, "SM_count": 128},
    "too-large": b" " * (DEVICE_FILE.bytes + 1),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_what_is_no_profile(tmp_path, data):
    with pytest.raises(OptionError) as fault:
        load_profile(written(tmp_path, data))
    assert fault.value.code == "bad-profile"
    assert fault.value.message.startswith(
        ("board.json is not a hardware profile: ", "board.json is too large for a hardware profile")
    )
    assert str(tmp_path) not in str(fault.value)
    assert len(str(fault.value)) < 700


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"memory_bandwidth_bytes_per_s": 1008}, "memory_bandwidth_bytes_per_s is 1008.0; between 1e+08"),
        ({"peak_fp16_flop": 1e14}, "it has no field 'peak_fp16_flop', but there is peak_fp16_flops"),
    ],
)
def test_a_wrong_unit_or_name_is_told(tmp_path, data, says):
    with pytest.raises(OptionError) as fault:
        load_profile(written(tmp_path, {**SIX, **data}))
    assert says in fault.value.message


def test_fields_of_others_are_passed_over(tmp_path):
    others = {"tdp_watts_min": 450, "peak_fp64_flops": 1e12, "notes": "x", "my_own": {"a": [1]}}
    assert load_profile(written(tmp_path, {**SIX, **others})) == load_profile(written(tmp_path, SIX))


def test_the_packaged_ones_keep_what_is_asked_of_a_file():
    for path in FILES:
        if estimable(find_profile(path.stem)):
            assert load_profile(str(path)).name == find_profile(path.stem).name


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_no_file(tmp_path, name):
    with pytest.raises(OptionError, match=r"no such file|is a directory"):
        load_profile(str(Path(tmp_path, name)))


def test_names_of_files_cannot_style_an_id(tmp_path):
    assert load_profile(written(tmp_path, SIX, "a b<script>.json")).id == "custom:a-b-script-"


def test_precisions_have_a_width():
    assert set(dict(MODEL.widths)) == set(PRECISIONS)


@pytest.mark.parametrize(
    ("spelt", "wanted"),
    [
        ("rtx_4090", "rtx-4090"), ("RTX4090", "rtx-4090"), ("RTX 4090", "rtx-4090"), ("nvidia_a10", "a10"),
        ("NVIDIA A10G", "a10g"), ("H100_SXM", "h100-sxm"), ("raspberrypi5", "raspberry-pi-5"),
        ("a100_sxm4_80gb", "a100-sxm4-80gb"), ("core_i7_12700h", "core-i7-12700h"),
    ],
)  # fmt: skip
def test_ids_with_other_separators(spelt, wanted):
    assert find_profile(spelt).id == wanted


def test_every_id_is_found_without_hyphens_or_named_as_ambiguous():
    ids = {one.id for one in profiles()}
    for one in ids:
        for spelt in (one.replace("-", "_"), one.replace("-", "").upper(), one.replace("-", " ")):
            assert find_profile(spelt).id == one


def test_a_spelling_of_several_devices_lists_them():
    with pytest.raises(OptionError, match="several devices") as found:
        find_profile("GeForce_RTX_3060")
    assert "rtx-3060-8gb, rtx-3060-12gb" in found.value.hint or "rtx-3060-12gb" in found.value.hint
