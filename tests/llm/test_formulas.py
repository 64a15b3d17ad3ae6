"""Formulas of text generation against published counts and rates."""

from __future__ import annotations

import pytest

from py_autodoc.hardware.latency_estimate import start_seconds
from py_autodoc.hardware.latency_model import MODEL, device
from py_autodoc.hardware.profile import find_profile
from py_autodoc.llm import formulas
from py_autodoc.llm.links import link_of

GIB = 1 << 30
LLAMAS = {
    # vocabulary, hidden, layers, heads of keys, head size, feed-forward: published parameters
    "Llama-2-7B": ((32000, 4096, 32, 32, 128, 11008), 6_738_415_616),
    "Llama-2-13B": ((32000, 5120, 40, 40, 128, 13824), 13_015_864_320),
    "Llama-2-70B": ((32000, 8192, 80, 8, 128, 28672), 68_976_648_192),
    "Llama-3-8B": ((128256, 4096, 32, 8, 128, 14336), 8_030_261_248),
    "Llama-3-70B": ((128256, 8192, 80, 8, 128, 28672), 70_553_706_496),
    "Mistral-7B": ((32000, 4096, 32, 8, 128, 14336), 7_241_732_096),
}
CACHES = {
    "Llama-2-7B": 524_288, "Llama-2-13B": 800 * 1024, "Llama-3-8B": 131_072, "Llama-2-70B": 327_680,
    "Llama-3-70B": 327_680, "Mistral-7B": 128 * 1024,
}  # fmt: skip


def params(name: str) -> int:
    vocabulary, hidden, layers, kv, size, ff = LLAMAS[name][0]
    return formulas.llama_params(vocabulary, hidden, layers, kv * size, ff)


@pytest.mark.parametrize("name", LLAMAS)
def test_parameters_are_the_published_ones(name):
    assert params(name) == LLAMAS[name][1]


def test_a_tied_head_is_counted_once():
    tied = formulas.llama_params(32000, 4096, 32, 4096, 11008, tied=True)
    assert params("Llama-2-7B") - tied == 32000 * 4096


@pytest.mark.parametrize("name", CACHES)
def test_cache_bytes_of_a_token(name):
    _, _, layers, kv, size, _ = LLAMAS[name][0]
    assert formulas.cache_bytes_per_token(layers, kv, size, 2) == CACHES[name]


def test_caches_of_whole_contexts():
    assert CACHES["Llama-2-7B"] * 4096 == 2 * GIB
    assert CACHES["Llama-3-8B"] * 8192 == GIB
    assert formulas.latent_cache_bytes_per_token(61, 512, 64, 2) == 70_272  # DeepSeek-V3


@pytest.mark.parametrize(
    ("device", "wish", "shares"),
    [("h100-sxm", "auto", (13, 29, 49)), ("a100-sxm4-80gb", "auto", (17, 37, 58)),
     ("a100-sxm4-80gb", "pcie", (68, 86, 94))],
)  # fmt: skip
def test_share_of_all_reduces_in_a_prefill(device, wish, shares):
    """Llama-3-8B, 2048 tokens in bf16 at 0.6 of an H100's peak: NVLink 4, NVLink 3, PCIe 4."""
    active = params("Llama-3-8B") - 2 * 128256 * 4096
    one = 2 * active * 2048 / (find_profile("h100-sxm").peak("bf16") * 0.6)
    size = 2048 * 4096 * 2
    for count, share in zip((2, 4, 8), shares, strict=True):
        link = link_of(find_profile(device), count, wish)
        both = formulas.tensor_parallel_seconds(one, count, 32, size, link.bandwidth, link.start)
        assert 100 * (1 - one / count / both) == pytest.approx(share, abs=1)


@pytest.mark.parametrize(
    ("name", "width", "count", "rate"),
    [("Llama-2-7B", 2, 1, 105.5), ("Llama-2-7B", 2, 2, 161.8), ("Llama-2-7B", 2, 4, 233.9),
     ("Llama-2-7B", 2, 8, 300.9), ("Llama-2-7B", 1, 1, 176.4), ("Llama-2-70B", 2, 2, 21.9),
     ("Llama-2-70B", 2, 4, 38.8), ("Llama-2-70B", 2, 8, 63.2), ("Llama-2-70B", 1, 1, 22.6),
     ("Llama-2-70B", 1, 8, 92)],
)  # fmt: skip
def test_decode_rates_of_the_comparison_with_gpt_fast(name, width, count, rate):
    """What docs/llm.md compares with measured rates of Llama-2 on A100s."""
    vocabulary, hidden, layers = LLAMAS[name][0][:3]
    one = find_profile("a100-sxm4-80gb")
    weights = (params(name) - vocabulary * hidden) * width
    seconds = weights / count / (one.memory_bandwidth_bytes_per_s * formulas.DECODE_BANDWIDTH)
    seconds += layers * formulas.LAYER_KERNELS * start_seconds(device(one), MODEL)
    if count > 1:
        seconds += formulas.ALL_REDUCES * layers * link_of(one, count).start
    assert 1 / seconds == pytest.approx(rate, rel=0.006)


def test_links():
    assert link_of(find_profile("rtx-4090"), 2).pcie
    assert link_of(find_profile("rtx-4090"), 2, "nvlink") is None
    two, eight = link_of(find_profile("mi300x"), 2), link_of(find_profile("mi300x"), 8)
    assert two.bandwidth * 7 == pytest.approx(eight.bandwidth)
    assert eight.bandwidth == pytest.approx(0.7 * 448e9)
    bridged = [
        one
        for one in ("a100-pcie-80gb", "h100-nvl")
        if "bridge" in (find_profile(one).interconnect.link or "")
    ]
    assert bridged
    for name in bridged:
        assert not link_of(find_profile(name), 2).pcie
        assert link_of(find_profile(name), 4).pcie


def test_pipelines():
    assert formulas.pipeline_seconds(1.0, 1, 1, 0.5) == 1.0
    assert formulas.pipeline_seconds(1 / 4, 4, 1, 0.0) == pytest.approx(1.0)  # one request gains nothing
    assert formulas.pipeline_seconds(1.0, 4, 12, 0.0) == pytest.approx(15 / 12)
    assert formulas.stage_share(80, 4) == 0.25
    assert formulas.stage_share(3, 2) == pytest.approx(2 / 3)
    assert formulas.prefill_flops(10, 2, 8, 3, 4) == 2 * 10 * 16 + 4 * 3 * 2 * 64 * 4 // 2
    assert formulas.usd_per_million(3.6, 1000) == pytest.approx(1.0)
