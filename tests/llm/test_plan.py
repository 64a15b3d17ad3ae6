"""Plans of text generation: numbers by independent arithmetic, several devices, limits, bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from click.testing import CliRunner
from llm.decoders import CONFIG, SHAPE, decoder, saved
from onnx import helper

from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.errors import InputError
from py_autodoc.hardware.profile import find_profile
from py_autodoc.limits import LIBRARY
from py_autodoc.llm import PlanOptions, formulas, plan
from py_autodoc.llm.sizes import SizedModel, _names
from py_autodoc.report.pipeline.dim_bindings import batch_names

LAYERS, HIDDEN, KV = SHAPE["num_hidden_layers"], SHAPE["hidden_size"], SHAPE["num_key_value_heads"]
HEAD = HIDDEN // SHAPE["num_attention_heads"]
TABLE = SHAPE["vocab_size"] * HIDDEN
PARAMS = formulas.llama_params(SHAPE["vocab_size"], HIDDEN, LAYERS, KV * HEAD, SHAPE["intermediate_size"])
NORMS = (2 * LAYERS + 1) * HIDDEN
LLAMA_70B = {
    "model_type": "llama", "vocab_size": 128256, "hidden_size": 8192, "intermediate_size": 28672,
    "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.fixture(scope="module")
def model() -> bytes:
    return decoder().SerializeToString()


@pytest.fixture(scope="module")
def big(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("llm") / "config.json"
    path.write_text(json.dumps(LLAMA_70B))
    return str(path)


def test_what_is_told_of_a_model(model):
    found = plan(model, PlanOptions(["h100-sxm"], [1, 4], [64], ["fp16"]))
    made, one = found.decoder, found.plans[0]
    assert (made.source, made.cache, made.layers, made.kv_heads) == ("model", "inputs", LAYERS, KV)
    assert made.parameters == PARAMS
    assert made.active_parameters == PARAMS - TABLE - NORMS
    assert one.kv_cache_bytes_per_token == 2 * LAYERS * KV * HEAD * 2
    assert one.weight_bytes == PARAMS * 2 + 16  # two integers of the mask
    assert [point.kv_cache_bytes for point in one.points] == [
        64 * 2 * LAYERS * KV * HEAD * 2 * b for b in (1, 4)
    ]


def test_prefill_is_the_estimate_of_an_analysis(model):
    found = plan(model, PlanOptions(["h100-sxm"], [1, 3], [16, 40], ["fp16"]))
    for point in found.plans[0].points:
        sizes = {
            "batch": point.batch,
            "seq": point.context,
            "past": 0,
            "total_sequence_length": point.context,
        }
        report = analyze(model, bindings=sizes, hardware="h100-sxm", precision="fp16")
        assert report.hardware_estimates.reason == ""
        assert point.prefill_method == "kernels"
        assert point.prefill_ms == pytest.approx(report.hardware_estimates.estimated_latency_ms)
        assert point.prefill_flops == report.metrics.total_flops
        tokens = point.batch * point.context
        assert point.prefill_tokens_per_s == pytest.approx(tokens / point.prefill_ms * 1e3)


def test_attention_of_a_long_prompt_is_causal(model):
    """From 513 tokens on: half of its FLOPs at half of the peak; everything else as estimated."""
    device, batch, tokens = find_profile("h100-sxm"), 2, 8192
    point = plan(model, PlanOptions([device.id], [batch], [tokens], ["fp16"])).plans[0].points[0]
    sizes = {"batch": batch, "seq": tokens, "past": 0, "total_sequence_length": tokens}
    report = analyze(model, bindings=sizes, hardware=device.id, precision="fp16")
    names = {layer.id: layer.type for layer in report.layers}
    rest = [
        one.latency_ms
        for one in report.hardware_estimates.layers
        if names[one.layer] != "GroupQueryAttention"
    ]
    flops = 4 * batch * tokens * tokens * HIDDEN / 2
    attention = flops / (device.peak("fp16") * 0.5) + 7445 / device.boost_clock_hz
    assert point.prefill_ms == pytest.approx(sum(rest) + LAYERS * attention * 1e3, rel=1e-6)
    assert point.prefill_label == "rough"


def test_decode_reads_weights_and_caches(model):
    device = find_profile("a100-sxm4-80gb")
    speed = device.memory_bandwidth_bytes_per_s * 0.85
    sizes = {"batch": 1, "seq": 1, "past": 99, "total_sequence_length": 100}
    kernels = analyze(model, bindings=sizes, hardware=device.id).hardware_estimates.kernels
    found = plan(model, PlanOptions([device.id], [1, 8], [100, 4000], ["fp16"]))
    for point in found.plans[0].points:
        read = (PARAMS - TABLE) * 2 + point.batch * point.context * 2 * LAYERS * KV * HEAD * 2
        seconds = read / speed + kernels * 7445 / device.boost_clock_hz
        assert point.decode_ms == pytest.approx(seconds * 1e3)
        assert point.tokens_per_s == pytest.approx(point.batch / seconds)
        assert point.tokens_per_s_per_request == pytest.approx(1 / seconds)


@pytest.mark.parametrize("tokens", [16, 200])
def test_a_fixed_file_takes_what_its_analysis_says(tokens):
    """The launches of a short prompt are in both, with its own size by kernels and with others by formula."""
    free = decoder(cached=False)
    fixed = decoder(cached=False, batch=1, tokens=tokens)
    report = analyze(fixed.SerializeToString(), hardware="h100-sxm", precision="fp16").hardware_estimates
    options = PlanOptions(["h100-sxm"], [1], [tokens, 2 * tokens], ["fp16"])
    own, other = plan(fixed.SerializeToString(), options).plans[0].points
    assert own.prefill_ms == pytest.approx(report.estimated_latency_ms)
    assert (own.prefill_low_ms, own.prefill_high_ms) == pytest.approx(
        (report.latency_low_ms, report.latency_high_ms)
    )
    assert other.prefill_method == "formula"
    assert other.prefill_ms > report.kernels * 7445 / find_profile("h100-sxm").boost_clock_hz * 1e3
    same = plan(free.SerializeToString(), options).plans[0].points[1]
    assert max(other.prefill_low_ms, same.prefill_low_ms) < min(other.prefill_high_ms, same.prefill_high_ms)


@pytest.mark.parametrize("device", ["h100-sxm", "l4", "l40s", "mi300x", "jetson-orin-nx-16gb", "rtx-4090"])
def test_no_range_is_faster_than_reading_the_weights(big, model, device):
    options = PlanOptions([device], [1, 64], [1, 128, 8192], (), [1, 2], [1, 2])
    profile = find_profile(device)
    for source, read in ((big, 70_553_706_496 - 128256 * 8192), (model, PARAMS - TABLE)):
        for one in plan(source, replace(options, precision=["fp16"])).plans:
            least = read * 2 / one.tensor_parallel / profile.memory_bandwidth_bytes_per_s * 1e3
            for point in one.points:
                if point.decode_ms is None:
                    continue
                assert least <= point.decode_low_ms <= point.decode_ms <= point.decode_high_ms
                if source is big:  # a cache may hold the weights of a small model
                    # A pipeline fills while it drains: at least one stage at a time reads its part.
                    assert least / one.pipeline_parallel <= point.prefill_low_ms <= point.prefill_ms


@pytest.mark.parametrize("device", ["h100-sxm", "l4", "rtx-4090"])
@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_the_batch_that_computes_is_that_of_the_points(big, device, counts):
    options = PlanOptions([device], [1], [64, 1024, 32768], (), [counts[0]], [counts[1]])
    for limit in plan(big, options).plans[0].compute_bound:
        batches = [1, 1 << 16] if limit.batch is None else [limit.batch - 1, limit.batch, 1 << 16]
        points = plan(big, replace(options, batch=[n for n in batches if n], context=[limit.context]))
        bounds = [point.decode_bottleneck for point in points.plans[0].points]
        assert [bound == "compute" for bound in bounds] == [
            n >= (limit.batch or 1 << 17) for n in batches if n
        ]
        if limit.batch is None:
            assert limit.limited_by == bounds[-1]


def test_every_device_launches_all_kernels(model):
    """Launches are not divided among devices that share each layer."""
    one, four = plan(model, PlanOptions(["h100-sxm"], [1], [16], ["fp16"], [1, 4])).plans
    report = analyze(model, bindings={"batch": 1, "seq": 16, "past": 0}, hardware="h100-sxm")
    starts = report.hardware_estimates.kernels * 7445 / find_profile("h100-sxm").boost_clock_hz * 1e3
    assert four.points[0].prefill_ms > one.points[0].prefill_ms > starts


def test_model_and_configuration_agree(model, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    options = PlanOptions(["h100-sxm"], [1, 16], [64, 512], ["fp16"], [1, 2])
    ours, other = plan(model, options), plan(str(path), options)
    assert ours.decoder.parameters == other.decoder.parameters
    assert ours.decoder.active_parameters == other.decoder.active_parameters
    for one, two in zip(ours.plans, other.plans, strict=True):
        assert one.weight_bytes == two.weight_bytes + 16
        for point, same in zip(one.points, two.points, strict=True):
            assert point.kv_cache_bytes == same.kv_cache_bytes
            # They differ in launches alone: the kernels of the file, or 11 for each layer.
            assert point.decode_ms < same.decode_ms < 2 * point.decode_ms


def test_activations_are_what_crosses_kernels(model):
    """The widest moment is the logits beside what they are made of, or the gated part beside the residual."""
    found = plan(model, PlanOptions(["h100-sxm"], [1], [256], ["fp16"], chunk=256))
    alive, tokens = found.plans[0].points[0].activation_bytes, 256
    widest = tokens * (2 * HIDDEN + 2 * SHAPE["intermediate_size"]) * 2
    least = tokens * (HIDDEN + SHAPE["vocab_size"]) * 2
    assert least <= alive <= 2 * widest
    halves = plan(model, PlanOptions(["h100-sxm"], [1], [256], ["fp16"], chunk=128))
    assert halves.plans[0].points[0].activation_bytes < 0.6 * alive


def test_memory_of_70_billion_parameters(big):
    found = plan(big, PlanOptions(["h100-sxm"], [1, 8], [4096], (), [1, 2, 4, 8]))
    for one in found.plans:
        n = one.tensor_parallel
        for point in one.points:
            cache = point.batch * 4096 * 327_680 / n
            need = (70_553_706_496 * 2 / n + cache + point.activation_bytes) * 1.1
            assert point.memory_bytes_per_device == pytest.approx(need, abs=2)
            assert point.fits == (need <= one.available_bytes)
    assert not found.plans[0].points[0].fits
    assert found.plans[2].points[0].fits


def test_limits_are_the_last_that_fit(big):
    options = PlanOptions(["h100-sxm"], [1, 8], [4096, 32768], (), [4], [1, 2])
    for one in plan(big, options).plans:
        for limit in one.longest_context:
            if limit.limited_by == "model":
                assert limit.context == 131_072
                continue
            counts = [limit.context, limit.context + 1]
            at = plan(
                big,
                PlanOptions(["h100-sxm"], [limit.batch], counts, (), [4], [one.pipeline_parallel]),
            ).plans[0]
            assert [point.fits for point in at.points] == [True, False]
        for limit in one.largest_batch:
            counts = [limit.batch, limit.batch + 1]
            options = PlanOptions(["h100-sxm"], counts, [limit.context], (), [4], [one.pipeline_parallel])
            assert [point.fits for point in plan(big, options).plans[0].points] == [True, False]


def test_limits_of_a_model(model):
    """A board of 1 GB, which contexts fill: the last that fits, by fresh plans."""
    found = plan(model, PlanOptions(["jetson-nano-2gb"], [1, 64], [512, 4096], ["fp16"])).plans[0]
    for limit in found.longest_context:
        assert limit.limited_by == "memory"
        counts = [limit.context, limit.context + 1]
        at = plan(model, PlanOptions(["jetson-nano-2gb"], [limit.batch], counts, ["fp16"])).plans[0]
        assert [point.fits for point in at.points] == [True, False]
    one, many = found.longest_context
    assert one.context > 32 * many.context


def test_more_devices_than_heads_keep_copies(big):
    one = plan(big, PlanOptions(["h100-sxm"], [1], [1024], (), [16])).plans[0]
    assert one.kv_cache_bytes_per_token_per_device == 327_680 / 8
    assert any("stored 2 times" in line for line in one.warnings)


def test_tensor_parallel_scales_less_than_its_devices(big):
    found = plan(big, PlanOptions(["a100-sxm4-80gb"], [1], [1024], (), [1, 2, 4, 8]))
    times = [one.points[0].decode_ms for one in found.plans]
    for at, (before, after) in enumerate(pairwise(times)):
        assert before / 2 < after < before, at
    assert [one.warnings for one in found.plans[1:] if any("PCIe" in line for line in one.warnings)] == []


def test_pcie_is_warned_of_and_pipelines_gain_no_latency(big):
    slow = plan(big, PlanOptions(["l40s"], [1, 8], [4096], (), [4])).plans[0]
    assert any("PCIe" in line and "--pipeline-parallel" in line for line in slow.warnings)
    single, stages = plan(big, PlanOptions(["l40s"], [1, 8], [4096], (), (1,), [1, 4])).plans
    assert stages.points[0].decode_ms >= single.points[0].decode_ms
    assert stages.points[0].prefill_ms >= single.points[0].prefill_ms
    assert stages.points[1].prefill_ms < single.points[1].prefill_ms
    assert not any("Tensor parallel" in line for line in stages.warnings)
    assert stages.points[0].decode_label == "rough"
    nvlink = plan(big, PlanOptions(["h100-sxm"], [1], [1024], (), [4], link="pcie")).plans[0]
    assert nvlink.link.startswith("PCIe")


def test_prices(big):
    one = plan(big, PlanOptions(["h100-sxm"], [8], [1024], (), [8], provider="aws")).plans[0]
    assert one.instance == "aws-p5-48xlarge"
    assert one.price_usd_per_hour == pytest.approx(55.04)
    point = one.points[0]
    assert point.usd_per_million_output_tokens == pytest.approx(55.04 / 3600 / point.tokens_per_s * 1e6)
    assert point.usd_per_million_input_tokens == pytest.approx(
        55.04 / 3600 / point.prefill_tokens_per_s * 1e6
    )
    own = plan(big, PlanOptions(["h100-sxm"], [8], [1024], (), [4], price=2.5)).plans[0]
    assert own.price_usd_per_hour == 10
    small = plan(big, PlanOptions(["l4"], [1], [1024], (), provider="all")).plans[0]
    assert small.price_usd_per_hour is not None
    assert small.points[0].usd_per_million_output_tokens is None  # it does not fit


def test_a_window_caps_the_cache(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**CONFIG, "model_type": "mistral", "sliding_window": 128}))
    points = plan(str(path), PlanOptions(["l4"], [1], [64, 128, 4096], ["fp16"])).plans[0].points
    a_token = 2 * LAYERS * KV * HEAD * 2
    assert [point.kv_cache_bytes for point in points] == [64 * a_token, 128 * a_token, 128 * a_token]
    assert points[1].decode_ms == points[2].decode_ms


@pytest.mark.parametrize(
    ("change", "words"),
    [({"model_type": "bert"}, "'bert'; known are cohere2, deepseek"), ({"hidden_size": "big"}, "hidden_size"),
     ({"model_type": None}, "model_type"), ({"hidden_size": -4}, "hidden_size is -4"),
     ({"hidden_size": None}, "it has no hidden_size"), ({"num_hidden_layers": 10**6}, "more than 4,096"),
     ({"attention_bias": 3}, "attention_bias is neither"), ({"layer_types": ["x"]}, "names 1 of 3 layers"),
     ({"quantization_config": {"quant_method": "magic"}}, "quantized by 'magic'; known are awq"),
     ({"quantization_config": {"quant_method": "gptq", "bits": 99}}, "bits is 99"),
     ({"quantization_config": [4]}, "quantization_config is no object")],
)  # fmt: skip
def test_configurations_that_are_refused(tmp_path, change, words):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**CONFIG, **change}))
    with pytest.raises(InputError, match=words):
        plan(str(path), PlanOptions(["l4"]))


def test_sizes_of_an_encoder_are_its_own():
    """A decoder's batch, tokens and cache are told by its inputs; an encoder's mask is none of them."""
    made = decoder()
    mask = helper.make_tensor_value_info("encoder_attention_mask", 7, ["batch", "encoder_sequence"])
    made.graph.input.insert(0, mask)
    found = SizedModel(made.SerializeToString(), LIBRARY, {})
    names = _names(found.base, batch_names(found.base.model))
    assert names == (["past"], ["seq"], ["total_sequence_length"])


def test_command(tmp_path):
    path = saved(tmp_path)
    run = CliRunner().invoke(
        app,
        ["llm", path, "--hardware", "h100-sxm,l4",
         "--batch", "1,2", "--context", "64,1k", "--precision", "fp16",
         "--tensor-parallel", "1,2", "--cloud", "all", "--out-json", "-"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["schema"] == "autodoc.llm/1.0"
    assert [(one["hardware"], one["devices"]) for one in found["plans"]] == [
        ("h100-sxm", 1), ("h100-sxm", 2), ("l4", 1), ("l4", 2),
    ]  # fmt: skip
    assert [point["context"] for point in found["plans"][0]["points"]] == [64, 1024, 64, 1024]
    out = tmp_path / "plan.md"
    args = ["llm", path, "--hardware", "l4", "--precision", "fp16", "--batch", "2", "--context", "64"]
    assert CliRunner().invoke(app, [*args, "--out-md", str(out)]).exit_code == 0
    assert CliRunner().invoke(app, [*args, "--out-md", str(out)]).exit_code == 0  # ours: it may be replaced
    assert "| 2 | 64 |" in out.read_text()


def test_names_are_inert(tmp_path):
    from py_autodoc.render.llm_text import llm_lines, llm_markdown

    found = plan(saved(tmp_path), PlanOptions(["l4"], [1], [64], ["fp16"]))
    evil = msgspec.structs.replace(found, model="\x1b[31m<script>|[x](javascript:1)\u202e.onnx")
    assert "\x1b" not in "\n".join(llm_lines(evil))
    text = llm_markdown(evil)
    assert "<script>" not in text
    assert "[x](" not in text


def test_what_is_no_decoder(tmp_path):
    path = "tests/data/stripped/resnet50.stripped.onnx"
    run = CliRunner().invoke(app, ["llm", path, "--hardware", "l4"])
    assert run.exit_code == 1
    assert "is not a decoder with a KV cache" in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [(["--hardware", "h999"], "Unknown hardware profile"),
     (["--hardware", "l4", "--context", "x"], "--context"),
     (["--hardware", "l4", "--link", "rope"], "Unknown link"),
     (["--hardware", "l4", "--cloud", "moon"], "Unknown provider"),
     (["--hardware", "l4", "--pipeline-parallel", "4"], "too few for 4 stages"),
     (["--hardware", "l4", "--price", "-1"], "--price")],
)  # fmt: skip
def test_options_that_are_refused(tmp_path, args, words):
    run = CliRunner().invoke(app, ["llm", saved(tmp_path), *args])
    assert run.exit_code == 1
    assert words in run.stderr


def test_a_device_without_the_rate_is_told(tmp_path):
    run = CliRunner().invoke(app, ["llm", saved(tmp_path), "--hardware", "t4", "--precision", "fp8"])
    assert run.exit_code == 2
    found = json.loads(run.stdout)["plans"][0]
    assert found["precision"] is None
    assert "no published fp8 rate" in found["reason"]
    assert "no published fp8 rate" in run.stderr


@pytest.mark.parametrize("runtime", ["", "tensorrt", "torch-compile", "ort-cuda", "pytorch-eager"])
def test_prefill_is_the_estimate_of_an_analysis_in_the_same_runtime(model, runtime):
    found = plan(model, PlanOptions(["h100-sxm"], [3], [40], ["fp16"], runtime=runtime))
    sizes = {"batch": 3, "seq": 40, "past": 0, "total_sequence_length": 40}
    report = analyze(model, bindings=sizes, hardware="h100-sxm", precision="fp16", runtime=runtime)
    point = found.plans[0].points[0]
    assert found.runtime == report.hardware_estimates.runtime
    assert point.prefill_ms == pytest.approx(report.hardware_estimates.estimated_latency_ms)
    assert point.prefill_label == report.hardware_estimates.label


def test_a_step_starts_the_kernels_of_the_runtime(model):
    device = find_profile("a100-sxm4-80gb")
    read = (PARAMS - TABLE) * 2 + 100 * 2 * LAYERS * KV * HEAD * 2
    moving = read / (device.memory_bandwidth_bytes_per_s * 0.85)
    sizes = {"batch": 1, "seq": 1, "past": 99, "total_sequence_length": 100}
    found = {}
    for runtime in ("tensorrt", "torch-compile", "ort-cuda", "pytorch-eager"):
        one = plan(model, PlanOptions([device.id], [1], [100], ["fp16"], runtime=runtime))
        found[runtime] = one.plans[0].points[0]
        report = analyze(model, bindings=sizes, hardware=device.id, runtime=runtime)
        kernels = report.hardware_estimates.kernels
        starts = {
            "pytorch-eager": kernels * 59e-6,
        }.get(runtime, moving + kernels * 7445 / device.boost_clock_hz)
        assert found[runtime].decode_ms == pytest.approx(starts * 1e3)
    assert found["pytorch-eager"].decode_bottleneck == "kernel_overhead"
    labels = [found[name].decode_label for name in ("tensorrt", "torch-compile", "ort-cuda", "pytorch-eager")]
    assert labels == ["estimate", "estimate", "rough", "rough"]


def test_long_prompts_in_eager_mode_take_what_the_device_takes(model):
    options = PlanOptions(["a100-sxm4-80gb"], [1], [600, 500_000], ["fp16"], runtime="pytorch-eager")
    short, long = plan(model, options).plans[0].points
    sizes = {"batch": 1, "seq": 600, "past": 0, "total_sequence_length": 600}
    report = analyze(model, bindings=sizes, hardware="a100-sxm4-80gb", runtime="pytorch-eager")
    host = report.hardware_estimates.kernels * 59e-6 * 1e3
    assert short.prefill_ms == pytest.approx(host)
    attention = LAYERS * 2 * 500_000**2 * HIDDEN / (find_profile("a100-sxm4-80gb").peak("fp16") * 0.5)
    assert long.prefill_ms > attention * 1e3 > 10 * host
    assert {short.prefill_label, long.prefill_label} == {"rough"}


def test_unfused_runtimes_need_no_less_memory(model):
    def alive(runtime):
        found = plan(model, PlanOptions(["h100-sxm"], [4], [512], ["fp16"], runtime=runtime))
        return found.plans[0].points[0].activation_bytes

    assert alive("ort-cuda") >= alive("tensorrt")


def test_a_configuration_has_no_operators(big):
    for runtime in ("ort-cuda", "pytorch-eager"):
        with pytest.raises(InputError, match="does not list the operators") as fault:
            plan(big, PlanOptions(["h100-sxm"], runtime=runtime))
        assert fault.value.code == "no-operators"
    one, other = (
        plan(big, PlanOptions(["h100-sxm"], [1], [4096], runtime=name)) for name in ("", "torch-compile")
    )
    assert one.plans[0].points == other.plans[0].points
    with pytest.raises(InputError, match="Unknown runtime 'tesnorrt'"):
        plan(big, PlanOptions(["h100-sxm"], runtime="tesnorrt"))


def test_the_command_takes_a_runtime(model, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(model)
    args = ["llm", str(path), "--hardware", "h100-sxm", "--batch", "1", "--context", "64"]
    done = CliRunner().invoke(app, [*args, "--runtime", "ort-cuda", "--out-md", "-"])
    assert done.exit_code == 0
    assert "Assumed: the model runs in ONNX Runtime" in done.stdout
    done = CliRunner().invoke(app, [*args, "--runtime", "ORT"])
    assert (done.exit_code, "Choose one of tensorrt, ort-cuda" in done.stderr) == (1, True)
