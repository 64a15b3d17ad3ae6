"""The estimate against numbers computed by hand, and what it does not know."""

import json
import math

import msgspec
import numpy as np
import pytest
from graphs import Graph, convnet, transformer
from latency_fixture import FIXTURE, experts, fixture, looped
from onnx import TensorProto, helper

from py_autodoc import analyze
from py_autodoc.hardware.cloud import of_device
from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import MODEL, Device, device
from py_autodoc.hardware.profile import PRECISIONS, find_profile
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs
from py_autodoc.report.pipeline.device_choice import stored_precisions
from py_autodoc.report.viewer_payload.build_payload import build_payload

PEAK, BANDWIDTH, START = 100e12, 1e12, 5.28e-6


def board(**other) -> Device:
    """100 TFLOP/s at fp16, 1 TB/s, 100 units."""
    known = {
        "id": "board", "name": "Board", "vendor": "", "category": "datacenter", "memory_bytes": 1 << 30,
        "usable_memory_fraction": None, "bandwidth_bytes_per_s": int(BANDWIDTH), "sustained": 1.0,
        "units": 100, "peaks": (int(20e12), None, int(PEAK), None, None, int(2 * PEAK)),
        "l2_bytes": None, "clock_hz": None, "band": 0, "confidence": "high",
    }  # fmt: skip
    return Device(**{**known, **other})


def estimated(model, one=None, precision="fp16", options=None):
    analysis = run_analysis(model, options)
    return estimate(analysis.kernels, estimate_inputs(analysis), one or board(), precision, MODEL)


def test_what_moves_memory():
    g = Graph(x=[1000, 1000])
    g.op("Relu", "x")
    result = estimated(g.model())
    assert result.seconds == pytest.approx(2 * 2e6 / (BANDWIDTH * 0.773) + START)
    assert result.ideal == pytest.approx(2 * 2e6 / BANDWIDTH)
    assert (result.low, result.high) == (result.seconds * 0.7, result.seconds * 1.5)
    assert (result.label, result.bottleneck, result.unknown) == ("estimate", "kernel_overhead", 0)


def test_integers_keep_their_width():
    g = Graph(x=[1000, 1000])
    g.op("ArgMax", "x", axis=1)
    result = estimated(g.model())
    assert result.seconds == pytest.approx((2e6 + 8e3) / (BANDWIDTH * 0.773) + START)


def test_a_product_by_hand():
    """2048 × 4096 over 1024: tiles of 256 × 128 are 8 · 32 = 256, in three waves of 100."""
    g = Graph(x=[2048, 1024])
    g.op("MatMul", "x", g.weight(1024, 4096))
    result = estimated(g.model())
    flops = 2 * 2048 * 4096 * 1024
    share = 1.0 * (256 / 300) * 1024 / (1024 + 265)
    # Smaller tiles fill the last wave better, but do less: 128 × 128 are 512 in six waves.
    share = max(share, 0.95 * (512 / 600) * 1024 / (1024 + 265))
    share = max(share, 0.85 * (1024 / 1100) * 1024 / (1024 + 265))
    assert result.seconds == pytest.approx(flops / (PEAK * 1.044 * share) + START)
    assert result.ideal == pytest.approx(flops / PEAK)
    assert result.utilization == pytest.approx(flops / (PEAK * result.seconds))
    assert result.bottleneck == "compute"


def test_a_sum_is_split_where_tiles_are_few():
    """One tile of 32 × 32, k = 8192: eight parts of 1024 on eight units of 100."""
    g = Graph(x=[32, 8192])
    g.op("MatMul", "x", g.weight(8192, 32))
    compute = estimated(g.model()).kernels[0].compute
    share = 0.35 * (8 / 100) * 1024 / (1024 + 265)
    assert compute == pytest.approx(2 * 32 * 32 * 8192 / (PEAK * 1.044 * share))


def test_products_side_by_side_are_one_wider_product():
    def time(*widths):
        g = Graph(x=[512, 256])
        result = estimated(g.model(*[g.op("MatMul", "x", g.weight(256, width)) for width in widths]))
        return result.kernels[0].compute

    assert time(256, 256, 256) == pytest.approx(time(768))
    assert time(128, 512, 128) == pytest.approx(time(768))


def test_a_convolution_is_a_product_of_columns():
    g = Graph(x=[8, 64, 32, 32])
    g.conv("x", 128, 64)
    convolution = estimated(g.model()).kernels[0].compute
    g = Graph(x=[8 * 32 * 32, 64 * 9])
    g.op("MatMul", "x", g.weight(64 * 9, 128))
    assert convolution == pytest.approx(estimated(g.model()).kernels[0].compute)


def test_groups_and_channels():
    g = Graph(x=[8, 64, 32, 32])
    g.conv(g.conv("x", 96, 64, group=4), 96, 96, group=96)
    grouped, depthwise = estimated(g.model()).kernels
    macs = 8 * 96 * 32 * 32 * 16 * 9
    share = 0.4 * (24 / 32) * 144 / (144 + 64)
    assert grouped.compute == pytest.approx(2 * macs / (PEAK * share))
    assert depthwise.compute == pytest.approx(2 * 8 * 96 * 32 * 32 * 9 / (20e12 * 0.05))


def test_attention_by_hand():
    """Two sentences, four heads, 128 queries: 16 blocks on 100 units; both products count."""
    g = Graph(x=[2, 128, 64])
    g.attention("x", 64, 4)
    core = estimated(g.model(), precision="int8").kernels[1]
    flops = 2 * 2 * (2 * 4 * 128 * 128 * 16)
    assert core.flops == flops
    # In int8, attention runs in fp16.
    assert core.compute == pytest.approx(flops / (PEAK * 0.213 * 16 / 100))


def test_the_cache():
    g = Graph(x=[1000, 1000])
    g.op("Relu", "x")
    fast = estimated(g.model(), board(l2_bytes=8_000_000, clock_hz=10**9))
    start = 7445 / 1e9
    assert fast.seconds == pytest.approx(4e6 / (32 * 100 * 1e9 * 0.773) + start)
    # The bound knows the cache as well, or it would not be one.
    assert fast.ideal == pytest.approx(4e6 / (32 * 100 * 1e9))
    assert fast.ideal < fast.seconds < 4e6 / BANDWIDTH + start * 2
    slow = estimated(g.model(), board(l2_bytes=7_999_999, clock_hz=10**9))
    assert slow.seconds == pytest.approx(4e6 / (BANDWIDTH * 0.773) + start)


def test_a_kernel_starts_after_so_many_cycles():
    g = Graph(x=[4])
    g.op("Relu", "x")
    times = [estimated(g.model(), board(clock_hz=clock)).seconds for clock in (10**9, 2 * 10**9, None)]
    assert times == pytest.approx([7445e-9, 3722.5e-9, START], rel=1e-3)


def test_weights_that_fit_stay_in_the_cache():
    """2 MB of weights, 2 · 2 kB of activations: all of it has to fit."""
    g = Graph(x=[1, 1024])
    g.op("MatMul", "x", g.weight(1024, 1024))
    weights, activations = 2 * 1024**2, 2 * 2 * 1024
    held, lost = (
        estimated(g.model(), board(l2_bytes=weights + activations - less, clock_hz=10**9)).kernels[0]
        for less in (0, 1)
    )
    cached = activations / (32 * 100 * 1e9)
    assert held.memory == pytest.approx((weights / (32 * 100 * 1e9) + cached) / 0.773)
    assert lost.memory == pytest.approx((weights / BANDWIDTH + cached) / 0.773)


def lstm(steps, batch=1, hidden=256, inputs=64, directions=1):
    g = Graph(x=[steps, batch, inputs])
    rows = 4 * hidden
    weights = g.weight(directions, rows, inputs), g.weight(directions, rows, hidden)
    way = "bidirectional" if directions == 2 else "forward"
    return g.model(g.op("LSTM", "x", *weights, hidden_size=hidden, direction=way, outputs=3)[0])


def test_a_recurrent_layer_goes_step_by_step():
    one, many = (estimated(lstm(steps)) for steps in (1, 101))
    assert one.unknown == many.unknown == 0
    state = 4 * 256 * 256 * 2
    # Two kernels a step, and the weights of the state read again.
    step = (many.seconds - one.seconds) / 100
    assert step == pytest.approx(2 * START + state / (BANDWIDTH * 0.773), rel=0.02)
    assert many.ideal < 2e-6 < step
    # Times that were never compared are no better than rough.
    assert (one.label, estimated(matmul()).label) == ("rough", "estimate")


def test_the_weights_of_a_state_stay_in_the_cache():
    def step(**device):
        one = board(clock_hz=10**9, **device)
        times = [estimated(lstm(steps), one).kernels[0].memory for steps in (1, 101)]
        return (times[1] - times[0]) / 100

    state = 4 * 256 * 256 * 2
    saved = step(l2_bytes=0) - step(l2_bytes=2 * state)
    assert saved == pytest.approx(state / 0.773 * (1 / BANDWIDTH - 1 / (32 * 100 * 1e9)), rel=0.02)


def test_directions_run_side_by_side():
    one, two = (estimated(lstm(100, directions=n)) for n in (1, 2))
    assert one.seconds < two.seconds < 1.6 * one.seconds


def test_a_recurrent_layer_on_a_cpu_is_one_operator():
    cpu = board(category="cpu")
    times = [estimated(lstm(steps), cpu, "fp32").seconds for steps in (1, 101)]
    assert (times[1] - times[0]) / 100 < 3e-5


def test_a_layout_and_a_length_that_is_not_known():
    g = Graph(x=[2, 50, 16])
    g.op("GRU", "x", g.weight(1, 48, 16), g.weight(1, 48, 16), hidden_size=16, layout=1, outputs=2)
    # 2 · 50 kernels for the steps, one for the inputs.
    assert estimated(g.model(g.nodes[-1].output[0])).seconds == pytest.approx(101 * START, rel=0.05)
    free = Graph(x=["steps", 1, 64])
    free.op("LSTM", "x", free.weight(1, 64, 64), free.weight(1, 64, 16), hidden_size=16, outputs=3)
    assert estimated(free.model(free.nodes[-1].output[0])).unknown == 1


def moe(tokens, experts=16, chosen=2):
    g = Graph(x=[tokens, 512], r=[tokens, experts])
    g.op("MoE", "x", "r", g.weight(experts, 512, 1024), "", g.weight(experts, 1024, 512),
         domain="com.microsoft", k=chosen)  # fmt: skip
    return g.model()


@pytest.mark.slow
def test_of_a_mixture_the_experts_that_are_hit_are_read():
    each = 2 * 512 * 1024 * 2
    one, many = (estimated(moe(tokens)).kernels[0] for tokens in (1, 10_000))
    assert one.memory * 0.773 * BANDWIDTH == pytest.approx(2 * each, rel=0.01)
    assert many.memory * 0.773 * BANDWIDTH == pytest.approx(16 * each + 10_000 * (512 * 2 + 16) * 2, rel=0.01)
    assert one.seconds == pytest.approx(one.memory + 4 * START)
    assert many.bound == "compute"
    # Rows of an expert are padded: 16 cost as much as 1.
    assert one.compute == pytest.approx(2 * 2 * 512 * 1024 * 2 / (PEAK * 0.5 / 16))


@pytest.mark.slow
@pytest.mark.parametrize(("tokens", "chosen"), [(1, 2), (1, 1), (3, 2), (64, 2), (4000, 3)])
def test_experts_that_work_on_what_is_sent_to_them(tokens, chosen):
    """Four experts of two products of 32 × 48, as exporters write them, each with its share of tokens."""
    found = estimated(experts(tokens, 4, chosen))
    assert found.unknown == 0
    assert found.label == "rough"
    router, work = 2 * tokens * 32 * 4, 2 * tokens * chosen * 2 * 32 * 48
    # An expert has whole tokens, and one token more a product is what rounding up can add.
    share = 1 - (1 - chosen / 4) ** tokens
    most = router + work + 4 * share * 2 * 2 * 32 * 48
    assert router + work <= sum(time.flops for time in found.kernels) + 4 <= most + 8
    if tokens == 1:
        products = [t for t in found.kernels if t.flops and t.flops != router]
        assert sum(time.flops for time in products) == pytest.approx(work, abs=8)
        # Of four experts, as many run and read their weights as are chosen.
        assert (
            sum(t.memory for t in products)
            < sum(t.memory for t in estimated(experts(1, 4, 4)).kernels if t.flops and t.flops != router)
            * (chosen / 4)
            * 1.01
        )


def test_experts_of_nobody_knows_how_many_tokens():
    found = estimated(experts("tokens"))
    assert found.unknown > 8
    sized_later = estimated(experts("tokens"), options=Options(bindings={"tokens": 20}))
    assert sized_later.unknown == 0
    assert sized_later.seconds == estimated(experts(20)).seconds
    none = estimated(experts("tokens"), options=Options(bindings={"tokens": 0}))
    assert none.unknown == 0
    assert sum(time.flops for time in none.kernels) == 0


def test_a_cpu_has_no_tiles_and_no_cache():
    g = Graph(x=[512, 4096])
    g.op("MatMul", "x", g.weight(4096, 512))
    result = estimated(g.model(), board(category="cpu", l2_bytes=1 << 40, clock_hz=10**9), "fp32")
    assert result.seconds == pytest.approx(2 * 512 * 512 * 4096 / (20e12 * 0.4) + 3e-5)


def test_what_is_sustained_divides_compute_alone():
    g = Graph(x=[2048, 1024])
    g.op("MatMul", "x", g.weight(1024, 4096))
    full, half = (estimated(g.model(), board(sustained=share)).kernels[0] for share in (1.0, 0.5))
    assert half.compute == pytest.approx(2 * full.compute)
    assert (half.memory, half.ideal) == (full.memory, full.ideal)


def matmul():
    g = Graph(x=[16, 64])
    g.op("MatMul", "x", g.weight(64, 64))
    return g.model()


def test_loops_count_as_often_as_they_run():
    analysis = run_analysis(looped(7))
    times = estimate(analysis.kernels, estimate_inputs(analysis), board(), "fp16", MODEL).kernels
    once = estimated(matmul()).kernels[0]
    assert times[-1].seconds == pytest.approx(7 * once.seconds)


def test_an_unknown_number_of_runs_is_unknown():
    result = estimated(looped(None))
    assert result.unknown == 1
    assert [time is None for time in result.kernels] == [False, False, True]
    assert result.seconds > 0


def test_free_sizes_give_no_number():
    result = estimated(transformer("batch", "seq"))
    assert result.seconds is result.low is result.high is result.ideal is result.utilization is None
    assert result.unknown == len(result.kernels) == 7
    bound = estimated(transformer("batch", "seq"), options=Options(bindings={"batch": 2, "seq": 48}))
    assert bound.seconds == pytest.approx(estimated(transformer(2, 48)).seconds)


def test_operators_without_a_rule_are_counted():
    g = Graph(x=[4, 16])
    g.op("Mystery", g.op("Relu", "x"), domain="com.example")
    result = estimated(g.model())
    assert (result.unknown, len(result.kernels)) == (1, 2)


def test_nothing_to_run_is_no_time():
    g = Graph(x=[4])
    g.op("Identity", "x")
    assert estimated(g.model()).seconds is None
    found = analyze(g.model(), hardware="l4").hardware_estimates
    assert (found.estimated_latency_ms, found.kernels, found.unknown_kernels) == (None, 0, 0)
    assert found.reason == "nothing of this model runs: all of it is constant, or only looks at its inputs"


def test_empty_tensors():
    g = Graph(x=[0, 16])
    g.op("MatMul", "x", g.weight(16, 16))
    assert estimated(g.model()).seconds == pytest.approx(16 * 16 * 2 / (BANDWIDTH * 0.773) + START)


def test_sizes_beyond_all_models_are_unknown():
    """Products of sizes that no float can hold; a convolution of one axis."""
    huge = 2**62
    g = Graph(x=[huge] * 20, y=[huge, huge])
    wide = g.op("Relu", "x")
    product = g.op("MatMul", "y", g.op("Transpose", "y"))
    g.inputs.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [4]))
    result = estimated(g.model(wide, product, g.op("Conv", "z", g.weight(4, 4, 1))))
    assert result.unknown == len(result.kernels) == 3
    assert analyze(g.model(wide), hardware="l4").hardware_estimates.vram_required_bytes is None


def test_a_precision_that_the_device_does_not_have():
    with pytest.raises(ValueError, match="Board has no fp8 rate"):
        estimated(transformer(), precision="fp8")


def test_what_was_never_compared_is_rough():
    labels = {}
    for name in ("l4", "rtx-4070", "mi300x"):
        one = device(find_profile(name))
        found = {p: estimated(matmul(), one, p) for p in PRECISIONS if one.peak(p)}
        labels[name] = {p: result.label for p, result in found.items()}
        assert all(result.high == result.seconds * 2 for result in found.values() if result.label == "rough")
    compared = dict.fromkeys(("fp16", "bf16", "int8"), "estimate")
    assert labels["l4"] == {**dict.fromkeys(("fp32", "tf32", "fp8"), "rough"), **compared}
    assert set(labels["rtx-4070"].values()) == {"rough"}
    assert set(labels["mi300x"].values()) == {"order of magnitude"}


def test_half_the_width_is_not_slower():
    big = transformer(16, 384)
    for name in ("a100-sxm4-40gb", "l4", "mi300x", "jetson-orin-nx-16gb"):
        one = device(find_profile(name))
        assert estimated(big, one, "fp16").seconds < estimated(big, one, "fp32").seconds


def test_no_kernel_is_above_the_peak():
    """A sum over so many terms would be at 1.044 · k / (k + 265) of it, were that not more than all."""
    g = Graph(x=[8192, 32768], w=[32768, 8192])
    g.op("MatMul", "x", "w")
    flops = 2 * 8192 * 8192 * 32768
    times = estimated(g.model(), board(units=None)).kernels[0]
    assert times.compute == times.ideal == pytest.approx(flops / PEAK)


def test_the_band_does_not_reach_below_the_bound():
    """Bytes at 0.773 of the bandwidth are nearer to the bound than 0.65."""
    g = Graph(x=[10_000, 10_000])
    g.op("Relu", "x")
    result = estimated(g.model())
    assert result.low == result.ideal > 0.65 * result.seconds


@pytest.mark.parametrize(
    "name", ["a100-sxm4-40gb", "l4", "rtx-4090", "t4", "mi300x", "xeon-8480-plus", "apple-m2"]
)
@pytest.mark.parametrize("model", [transformer(16, 384), convnet(64)], ids=["transformer", "convnet"])
def test_no_kernel_is_below_its_bound(model, name):
    one, analysis = device(find_profile(name)), run_analysis(model)
    for precision in PRECISIONS:
        if one.peak(precision):
            result = estimate(analysis.kernels, estimate_inputs(analysis), one, precision, MODEL)
            assert 0 < result.ideal <= result.low < result.seconds < result.high
            assert all(0 < time.ideal < time.seconds < math.inf for time in result.kernels)


# ------------------------------------------------------------------ the report


def test_without_a_device_there_is_none():
    assert analyze(transformer()).hardware_estimates is None


def test_the_report():
    found = analyze(transformer(), hardware="l4", precision="fp16").hardware_estimates
    assert (found.device, found.device_name, found.precision, found.batch_size) == (
        "l4",
        "NVIDIA L4",
        "fp16",
        2,
    )
    assert found.latency_low_ms < found.estimated_latency_ms < found.latency_high_ms
    assert found.theoretical_latency_ms < found.estimated_latency_ms
    assert (found.kernels, found.unknown_kernels, found.reason) == (7, 0, "")
    assert math.fsum(one.latency_ms for one in found.layers) == pytest.approx(found.estimated_latency_ms)
    assert len({number for one in found.layers for number in one.layers}) == sum(
        len(one.layers) for one in found.layers
    )
    assert all(one.layer in one.layers for one in found.layers)
    assert [one.name for one in found.layers][:1] == ["MatMul_1"]
    assert found.fits_in_vram is True
    assert 0 < found.compute_utilization_estimate < 1


@pytest.mark.parametrize(
    ("shape", "sizes", "batch"),
    [
        (["seq", "batch", 16], {"seq": 30, "batch": 4}, 4),
        (["seq", "batch", 16], {"seq": 30}, None),
        (["n", 16], {"n": 5}, 5),
        (["batch", "sub_batch", 16], {"batch": 6, "sub_batch": 2}, 6),
        ([], {}, None),
    ],
)
def test_the_batch_is_what_is_named_so(shape, sizes, batch):
    g = Graph(x=shape)
    g.op("Relu", "x")
    assert analyze(g.model(), bindings=sizes, hardware="l4").hardware_estimates.batch_size == batch


def test_memory_in_the_precision():
    g = Graph(x=[1, 1000])
    g.op("Add", g.op("MatMul", "x", g.weight(1000, 1000)), g.op("Relu", "x"))
    half, full = (analyze(g.model(), hardware="l4", precision=p).hardware_estimates for p in ("fp16", "fp32"))
    assert full.vram_required_bytes == pytest.approx(1.1 * (4e6 + 3 * 4e3), rel=1e-3)
    assert half.vram_required_bytes == pytest.approx(full.vram_required_bytes / 2, abs=2)


def test_a_model_that_does_not_fit(tmp_path):
    small = {"name": "s", "vram_bytes": 1 << 20, "memory_bandwidth_bytes_per_s": 1e9, "peak_fp32_flops": 1e9}
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small))
    found = analyze(transformer(16, 384), hardware=path).hardware_estimates
    assert (found.device, found.precision, found.fits_in_vram) == ("custom:small", "fp32", False)
    assert found.label == "order of magnitude"


def test_a_device_without_the_rate_says_which_it_has():
    found = analyze(transformer(), hardware="tpu-v5e").hardware_estimates
    assert found.estimated_latency_ms is found.vram_required_bytes is found.fits_in_vram is None
    assert found.reason == "Google TPU v5e has no published fp32 rate; it has bf16, int8"
    assert found.layers == []


def test_free_sizes_in_the_report():
    found = analyze(transformer("batch", "seq"), hardware="l4").hardware_estimates
    assert found.estimated_latency_ms is found.batch_size is None
    assert found.unknown_kernels == 7
    assert found.reason == "7 kernels of unknown size (bind batch, seq)"
    assert [one.latency_ms for one in found.layers] == [None] * 7


# ------------------------------------------------------------------ the payload


def test_the_payload():
    part = build_payload(run_analysis(transformer(), Options(hardware="l4", precision="fp16"))).hardware
    assert (part.chosen, part.precision, part.stored) == ("l4", "fp16", ["fp32"])
    boards = [part.devices.id[int(index)] for index in part.devices.measured]
    assert boards == ["raspberry-pi-4", "raspberry-pi-5"]  # the shares that published times give
    names = [name for name in part.devices.__struct_fields__ if name not in ("peaks", "measured", "prices")]
    columns = [getattr(part.devices, name) for name in names]
    columns += part.devices.peaks.values()
    assert {len(column) for column in columns} == {len(part.devices.id)} == {227}
    l4 = part.devices.id.index("l4")
    assert part.devices.watts[l4] == 72
    assert part.devices.prices[str(l4)].usd_per_hour == of_device("l4").approx_on_demand_usd_per_hour
    order = list(zip(part.devices.vendor, part.devices.name, strict=True))
    assert order == sorted(order)
    assert build_payload(run_analysis(transformer())).hardware.chosen == ""


def test_a_device_of_the_callers_own_is_listed_last(tmp_path):
    path = tmp_path / "own.json"
    path.write_text('{"name": "own", "memory_bandwidth_bytes_per_s": 1e12, "peak_fp16_flops": 1e14}')
    part = build_payload(run_analysis(transformer(), Options(hardware=str(path)))).hardware
    assert part.devices.id[-1] == part.chosen == "custom:own"
    assert len(build_payload(run_analysis(transformer())).hardware.devices.id) == len(part.devices.id) - 1


def stored(model):
    analysis = run_analysis(model)
    return stored_precisions(analysis.model, analysis.types, analysis.sizes, analysis.costs)


def test_what_a_model_is_stored_in():
    assert stored(transformer()) == ["fp32"]
    half = Graph(x=[4, 32])
    half.op("MatMul", half.op("Cast", "x", to=TensorProto.FLOAT16), half.weight(32, 32, dtype=np.float16))
    assert stored(half.model()) == ["fp16"]
    assert stored("tests/data/models/resnet_tiny_qdq_int8.onnx") == ["int8", "fp32"]
    g = Graph(x=[4, 32])
    g.op("MatMul", "x", g.op("DequantizeLinear", g.weight(32, 8, dtype=np.int8), g.scalar(0.1)))
    assert stored(g.model()) == ["fp32"], "weights alone are not int8 arithmetic"


@pytest.mark.parametrize(("between", "found"), [(1, ["int8", "fp32"]), (3, ["int8", "fp32"]), (9, ["fp32"])])
def test_integers_behind_a_transpose_are_integers(between, found):
    """As exporters write a layer whose weights are stored the other way round."""
    g = Graph(x=[4, 32])
    weight = g.op("DequantizeLinear", g.weight(32, 32, dtype=np.int8), g.scalar(0.1), g.scalar(0, np.int8))
    for _ in range(between):
        weight = g.op("Transpose", weight)
    g.op("MatMul", g.quantized("x"), weight)
    assert stored(g.model()) == found
    g = Graph(x=[4, 32])
    g.op("MatMul", g.quantized("x"), g.op("Relu", g.op("DequantizeLinear", g.weight(32, 32, dtype=np.int8),
                                                       g.scalar(0.1))))  # fmt: skip
    assert stored(g.model()) == ["fp32"]


def test_the_fixture_is_up_to_date():
    assert FIXTURE.read_bytes() == fixture(), "run python tests/hardware/latency_fixture.py"


def test_the_fixture_has_every_kind_of_kernel_and_of_answer():
    data = msgspec.json.decode(FIXTURE.read_bytes())
    kinds = {kind for one in data["payloads"].values() for kind in one["hardware"]["kernels"]["kind"]}
    assert kinds == {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8}
    known = [case["seconds"] for case in data["cases"]]
    assert known.count(None) > 50
    assert sum(seconds is not None for seconds in known) > 300
