"""The stages of a generative model with free batch and cache: a greedy loop equals ``generate``."""

from __future__ import annotations

import functools

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from py_autodoc.torch import export

pytestmark = pytest.mark.slow

SMALL = {"vocab_size": 97, "hidden_size": 32, "num_attention_heads": 4}
MODELS = {
    # Two layers: their caches come in an order.
    "llama": lambda: LlamaForCausalLM(
        LlamaConfig(**SMALL, num_hidden_layers=2, intermediate_size=64, num_key_value_heads=2)
    ),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=97, n_layer=1, n_embd=32, n_head=4)),
}


def made(name: str):
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def prompt(batch: int, length: int, seed: int = 0) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    ids = torch.randint(1, 97, (batch, length))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def session(path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def greedy(folder, ids: np.ndarray, count: int) -> np.ndarray:
    """``count`` tokens after a prompt, by the two files alone."""
    prefill, decode = (session(folder / f"{name}.onnx") for name in ("prefill", "decode"))

    def step(model, tokens: np.ndarray, at: int, cache: list[np.ndarray]):
        length = tokens.shape[1]
        feeds = {}
        held = iter(cache)
        for one in model.get_inputs():
            if one.name == "input_ids":
                feeds[one.name] = tokens
            elif one.name == "position_ids":
                feeds[one.name] = np.broadcast_to(np.arange(at, at + length), tokens.shape).copy()
            elif one.name == "attention_mask":
                feeds[one.name] = np.ones((tokens.shape[0], at + length), np.int64)
            else:
                feeds[one.name] = next(held)
        logits, *cache = model.run(None, feeds)
        return logits[:, -1].argmax(-1)[:, None], cache

    token, cache = step(prefill, ids, 0, [])
    found = [token]
    for number in range(count - 1):
        token, cache = step(decode, token, ids.shape[1] + number, cache)
        found.append(token)
    return np.concatenate(found, 1)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Name → (model, result, folder) of an export with free axes, made once."""

    @functools.cache
    def get(name):
        model, folder = made(name), tmp_path_factory.mktemp(name) / "out"
        free = {"input_ids": {0: "batch", 1: "seq"}}
        result = export(model, prompt(2, 11), folder, exporter="hf", generation=True, dynamic=free)
        return model, result, folder

    return get


@pytest.mark.parametrize("name", MODELS)
def test_a_greedy_loop_equals_generate(name, exported):
    model, result, folder = exported(name)
    assert result.warnings == []
    # Another batch and another length than those of the export, and one that outgrows both.
    for batch, length in ((1, 7), (3, 30)):
        given = prompt(batch, length, seed=length)
        with torch.no_grad():
            wanted = model.generate(**given, max_new_tokens=20, do_sample=False)[:, length:]
        found = greedy(folder, given["input_ids"].numpy(), 20)
        assert found.tolist() == wanted.tolist()


def test_free_axes_have_names(exported):
    _, _, folder = exported("llama")

    def shapes(values):
        return [[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values]

    prefill, decode = (
        onnx.load(folder / f"{name}.onnx", load_external_data=False).graph for name in ("prefill", "decode")
    )
    assert shapes(prefill.input)[0] == ["batch", "seq"]
    assert shapes(prefill.output)[1] == ["batch", 2, "seq", 8]
    assert shapes(decode.input)[0] == ["batch", 1]
    assert shapes(decode.input)[2] == ["batch", 2, "past", 8]
    assert shapes(decode.output)[1] == ["batch", 2, "past + 1", 8]


def test_without_free_axes_it_is_said(tmp_path):
    result = export(made("gpt2"), prompt(1, 11), tmp_path / "out", exporter="hf", generation=True)
    assert result.warnings == [
        "prefill: Batch and sequence are fixed. Add --dynamic batch,seq to make them dynamic.",
        "decode: Batch and sequence are fixed, the cache to 11 tokens. "
        "Add --dynamic batch,seq to make them dynamic.",
    ]
