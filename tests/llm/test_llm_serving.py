"""Text generation as the viewer shows it: the grid, devices by id alone, what a page carries."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace

import pytest
from llm.decoders import SHAPE, decoder

from py_autodoc.errors import InputError
from py_autodoc.limits import LIBRARY
from py_autodoc.llm import PlanOptions, plan, sizes
from py_autodoc.llm import serving as module
from py_autodoc.llm.serving import (
    BATCHES,
    CONTEXTS,
    SOME_BATCHES,
    SOME_CONTEXTS,
    ServingGrid,
    decodes,
    packaged,
)
from py_autodoc.llm.sizes import SizedModel
from py_autodoc.render.html import html_page
from py_autodoc.render.serving import serving_of
from py_autodoc.report.pipeline.analysis import Options, run_analysis

RESNET = "tests/data/models/resnet_tiny.onnx"
GPT2 = "tests/data/stripped/gpt2.stripped.onnx"


@pytest.fixture(scope="module")
def model() -> bytes:
    return decoder().SerializeToString()


@pytest.fixture(scope="module")
def analysis(model):
    return run_analysis(model, Options(assume=True))


@pytest.mark.parametrize("runtime", ["", "pytorch-eager"])
def test_numbers_are_those_of_the_command(model, analysis, runtime):
    found = ServingGrid(analysis).on(packaged("h100-sxm", "fp16", runtime))
    expected = plan(model, PlanOptions(["h100-sxm"], BATCHES, CONTEXTS, ["fp16"], runtime=runtime))
    assert found.plans == expected.plans
    assert (found.runtime, found.decoder) == (expected.runtime, expected.decoder)
    assert found.model == analysis.model.file.name


def test_one_analysis_serves_devices_and_precisions(analysis, monkeypatch):
    one = ServingGrid(analysis)
    one.on(packaged("h100-sxm", "fp16"))
    calls = []
    monkeypatch.setattr("py_autodoc.llm.sizes.run_analysis", lambda *args: calls.append(args))
    for device, precision in (("l4", "fp16"), ("l4", "fp32"), ("h100-sxm", "")):
        found = one.on(packaged(device, precision)).plans[0]
        assert found.hardware == device
        assert len(found.points) == len(BATCHES) * len(CONTEXTS)
    assert calls == []


def test_sizes_that_were_given_are_kept_but_batch_and_tokens(model):
    given = run_analysis(model, Options({"batch": 3, "seq": 5, "past": 2}, assume=True))
    free = run_analysis(model, Options(assume=True))
    chosen = packaged("h100-sxm", "fp16")
    assert ServingGrid(given).on(chosen).plans == ServingGrid(free).on(chosen).plans


def test_large_and_slow_models_get_fewer_points(analysis, monkeypatch):
    def points():
        found = ServingGrid(analysis).on(packaged("h100-sxm", "fp16")).plans[0].points
        return {one.batch for one in found}, {one.context for one in found}

    monkeypatch.setattr(module, "MANY_NODES", 10)
    assert points() == (set(SOME_BATCHES), set(SOME_CONTEXTS))
    monkeypatch.setattr(SizedModel, "quick", False)
    assert points() == ({1, 8, 32}, {1024, 4096})
    monkeypatch.setattr(module, "MANY_NODES", 1000)
    assert points() == (set(SOME_BATCHES), set(SOME_CONTEXTS))


def test_contexts_end_where_the_model_does():
    found = ServingGrid(run_analysis(GPT2, Options(assume=True))).on(packaged("l4"))
    assert [one.context for one in found.plans[0].largest_batch] == [256, 512, 1024]
    assert found.plans[0].longest_context[0].limited_by == "model"
    assert module._up_to((512, 2048), 700) == (512, 700)
    assert module._up_to((512, 2048), 100) == (100,)
    assert module._up_to((512, 2048), None) == (512, 2048)


@pytest.mark.parametrize("device", ["", "no-such", "/etc/passwd", "board.json", "../l4", "l40s\n"])
def test_devices_are_ids_and_never_files(device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "board.json").write_text('{"name": "board"}', encoding="utf-8")
    with pytest.raises(InputError) as fault:
        packaged(device)
    assert fault.value.code == "unknown-device"


def test_who_decodes(analysis):
    assert decodes(analysis)
    other = run_analysis(RESNET, Options(assume=True))
    assert not decodes(other)
    with pytest.raises(InputError) as fault:
        ServingGrid(other).on(packaged("l4"))
    assert fault.value.code == "no-decoder"


def carried(page: str) -> object:
    (packed,) = re.findall(r'id="autodoc-model">([^<]+)<', page)
    return json.loads(gzip.decompress(base64.b64decode(packed))).get("serving")


@pytest.mark.slow
def test_a_page_carries_the_numbers_of_its_device(model):
    made = run_analysis(
        model, Options(assume=True, hardware="h100-sxm", precision="fp16", runtime="ort-cuda")
    )
    found = carried(html_page(made))
    assert found == json.loads(serving_of(made).to_json())
    assert (found["runtime"], found["plans"][0]["hardware"]) == ("ort-cuda", "h100-sxm")
    assert found["decoder"]["layers"] == SHAPE["num_hidden_layers"]
    assert carried(html_page(run_analysis(model, Options(assume=True)))) is None
    assert carried(html_page(run_analysis(RESNET, Options(hardware="l4")))) is None


def test_a_profile_of_ones_own(model, tmp_path):
    path = tmp_path / "board.json"
    told = {
        "name": "our board", "vendor": "acme", "type": "gpu", "vram_bytes": 24 << 30,
        "peak_fp16_flops": 1.6e14, "peak_fp32_flops": 8e13, "memory_bandwidth_bytes_per_s": 1e12,
    }  # fmt: skip
    path.write_text(json.dumps(told), encoding="utf-8")
    found = serving_of(run_analysis(model, Options(assume=True, hardware=str(path))))
    assert found is not None
    assert found.plans[0].device_name == "our board"


def test_a_grid_takes_few_analyses(model, monkeypatch):
    counted = []
    real = sizes.run_analysis

    def counting(*args):
        counted.append(args)
        return real(*args)

    monkeypatch.setattr(sizes, "run_analysis", counting)
    for source in (model, GPT2):
        counted.clear()
        found = ServingGrid(run_analysis(source, Options(assume=True))).on(packaged("l4"))
        assert len(found.plans[0].points) > 20
        assert len(counted) <= 5


def test_prompts_are_evaluated_only_where_that_is_proved(model, monkeypatch):
    """An expression that gives something else than an analysis is not used."""
    real = sizes.Evaluator.evaluate

    def wrong(self, at):
        found = real(self, at)
        return found if found is None else replace(found, flops=found.flops + 1)

    expected = plan(model, PlanOptions(["l4"], [1, 3], [7, 600], ["fp16"]))
    assert sizes.SizedModel(model, LIBRARY, {}).quick
    monkeypatch.setattr(sizes.Evaluator, "evaluate", wrong)
    assert not sizes.SizedModel(model, LIBRARY, {}).quick
    assert plan(model, PlanOptions(["l4"], [1, 3], [7, 600], ["fp16"])).plans == expected.plans


def test_the_new_cache_is_as_long_as_the_tokens_or_its_buffer(analysis):
    tensor = next(one.id for one in analysis.model.tensors if one.name == "present_k0")
    assert analysis.symbolic.shapes[tensor] == ("batch", 2, "max(past, total_sequence_length)", 16)


def test_formulas_are_for_every_point_of_a_large_file(monkeypatch):
    monkeypatch.setattr(module, "MANY_NODES", 10)
    found = ServingGrid(run_analysis(GPT2, Options(assume=True))).on(packaged("l4")).plans[0]
    assert len(found.points) == len(BATCHES) * 3
    assert {one.prefill_method for one in found.points} == {"formula"}


def test_a_state_space_model_is_said_to_be_one():
    """Not that it is no language model: it generates text, without a cache that grows."""
    from types import SimpleNamespace

    from py_autodoc.llm.decoder import decoder_of

    structure = SimpleNamespace(blocks=(), verdict=SimpleNamespace(family="state-space"))
    model = SimpleNamespace(file=SimpleNamespace(name="m.onnx"))
    other = SimpleNamespace(model=model, kv_cache=None, structure=structure)
    with pytest.raises(InputError) as fault:
        decoder_of(other)
    assert fault.value.code == "no-decoder"
    assert "m.onnx is a state-space model" in str(fault.value)
