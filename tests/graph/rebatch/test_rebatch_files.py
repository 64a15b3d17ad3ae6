"""Another batch for the files of the corpus: every one is proved by running it, or refused for a reason."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from narrowed_models import NARROWED, narrow
from rebatch_proof import prove

from py_autodoc.errors import AutodocError
from py_autodoc.extract.rebatch import rebatch

pytestmark = pytest.mark.slow

DATA = Path("tests/data")
EXACT = 1e-4
LEAST = 1e-7
"""Made-up weights may leave little of what goes in; most of these results are equal in every bit."""
QUICK = (
    "models/basic_pitch_nmp", "models/bert_tiny", "models/mnist_cntk", "models/resnet_tiny",
    "models/resnet_tiny_ext", "models/resnet_tiny_qdq_int8", "models/trt_residual_block",
    "models/mamba_tiny", "models/light_squeezenet", "models/magika_standard_v3_3",
    "stripped/bert_tiny.stripped",
    "stripped/mobilenet_v2.stripped",
)  # fmt: skip
SLOW = (
    "models/ddddocr_det.stripped", "models/dnsmos_sig_bak_ovr", "models/light_bvlc_alexnet",
    "models/light_resnet50", "models/light_vgg19", "models/ppocr_cls_v2", "models/ppocr_v4_det",
    "stripped/bert_base.stripped", "stripped/convnext_tiny.stripped", "stripped/detr_r50.stripped",
    "stripped/distilbert.stripped", "stripped/gpt2.stripped", "stripped/llama32_narrow.stripped",
    "stripped/llama_gqa_small.stripped", "stripped/mamba_tiny.stripped", "stripped/resnet50.stripped",
    "stripped/resnet50_dyn.stripped", "stripped/resnet_tiny.stripped", "stripped/swin_t.stripped",
    "stripped/segformer_b0.stripped",
    "stripped/t5_small_encoder.stripped", "stripped/vit_b16.stripped",
    "stripped/whisper_tiny_encoder.stripped",
)  # fmt: skip
REFUSED = {
    "stripped/clip_b32.stripped": "MatMul",  # every text meets every picture
    "models/trt_loop": "Squeeze",  # each item ends the loop itself
    "models/trt_qdq_conv": "no inputs",
    "models/swift_f0": "Conv",  # frames are folded with the batch and convolved
    "models/silero_vad_half": "If",  # its branches hold the batch on different axes
    "stripped/bert_base_dyn.stripped": "Range",  # its batch is free already
}
FREE = {"models/trt_qdq_conv", "models/silero_vad_half", "stripped/bert_base_dyn.stripped"}
"""Without an input, or with a batch that is free: not what this is for."""


def test_every_file_is_listed():
    found = [path for folder in ("models", "stripped") for path in (DATA / folder).glob("*.onnx")]
    files = {str(path.relative_to(DATA).with_suffix("")) for path in found}
    assert files == {*QUICK, *SLOW, *REFUSED}


def test_nine_of_ten_files_with_a_fixed_batch_are_proved():
    proved, refused = len(QUICK) + len(SLOW), len(REFUSED.keys() - FREE)
    assert proved / (proved + refused) >= 0.9


def _structure(path):
    return onnx.load(path, load_external_data=False)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_items_are_computed_as_alone(name, tmp_path):
    path = DATA / f"{name}.onnx"
    narrowed = NARROWED.get(name)
    proof = prove(path if narrowed is None else narrow(_structure(path), narrowed), tmp_path)
    assert proof.worst < EXACT
    assert proof.apart > max(10 * proof.worst, LEAST), "items do not differ, so that nothing is proved"
    rewritten = _structure(tmp_path / "rebatched.onnx")
    onnx.checker.check_model(rewritten)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_reason(name, tmp_path):
    with pytest.raises(AutodocError) as refused:
        rebatch(DATA / f"{name}.onnx", tmp_path / "out.onnx", "items")
    assert REFUSED[name] in refused.value.message
