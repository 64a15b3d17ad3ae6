"""The right altitude: what the viewer's first picture holds, for every model of the corpus."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
MODELS = sorted([*DATA.glob("models/*.onnx"), *DATA.glob("stripped/*.onnx")])
BUDGET = 40
"""Boxes of a new view."""
PANE = 1800
"""Length of a picture that can be read in a usual pane: 900 pixels at half size."""
CARDS = {
    "models-basic_pitch_nmp": (34, 17),
    "models-bert_tiny": (37, 8),
    "models-ddddocr_det.stripped": (12, 12),
    "models-dnsmos_sig_bak_ovr": (39, 6),
    "models-light_bvlc_alexnet": (24, 24),
    "models-light_resnet50": (36, 16),
    "models-light_squeezenet": (36, 21),
    "models-light_vgg19": (29, 18),
    "models-magika_standard_v3_3": (30, 13),
    "models-mamba_tiny": (10, 4),
    "models-mnist_cntk": (8, 8),
    "models-ppocr_cls_v2": (39, 22),
    "models-ppocr_v4_det": (40, 19),
    "models-resnet_tiny": (38, 8),
    "models-resnet_tiny_ext": (38, 8),
    "models-resnet_tiny_qdq_int8": (39, 8),
    "models-silero_vad_half": (39, 7),
    "models-swift_f0": (29, 4),
    "models-trt_loop": (10, 7),
    "models-trt_qdq_conv": (3, 3),
    "models-trt_residual_block": (15, 15),
    "stripped-bert_base.stripped": (37, 8),
    "stripped-bert_base_dyn.stripped": (10, 4),
    "stripped-bert_tiny.stripped": (37, 8),
    "stripped-clip_b32.stripped": (38, 16),
    "stripped-convnext_tiny.stripped": (23, 8),
    "stripped-detr_r50.stripped": (40, 12),
    "stripped-distilbert.stripped": (35, 6),
    "stripped-gpt2.stripped": (9, 9),
    "stripped-llama32_narrow.stripped": (10, 4),
    "stripped-llama_gqa_small.stripped": (11, 5),
    "stripped-mamba_tiny.stripped": (10, 4),
    "stripped-mobilenet_v2.stripped": (34, 16),
    "stripped-resnet50.stripped": (34, 8),
    "stripped-resnet50_dyn.stripped": (34, 8),
    "stripped-resnet_tiny.stripped": (38, 8),
    "stripped-segformer_b0.stripped": (40, 24),
    "stripped-swin_t.stripped": (23, 7),
    "stripped-t5_small_encoder.stripped": (36, 6),
    "stripped-vit_b16.stripped": (10, 6),
    "stripped-whisper_tiny_encoder.stripped": (9, 9),
}
"""Boxes of the first picture, at most and in the pane. Change them when the picture has become better."""
READY = shutil.which("node") and (ROOT / "node_modules" / "esbuild").is_dir()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not READY, reason="needs Node and the packages of the viewer"),
]


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    """Name of the model → what its first picture holds."""
    folder = tmp_path_factory.mktemp("payloads")
    files = []
    for model in MODELS:
        files.append(folder / f"{model.parent.name}-{model.stem}.json")
        files[-1].write_bytes(msgspec.json.encode(build_payload(run_analysis(model, Options(assume=True)))))
    script = Path(__file__).with_suffix(".mjs").with_name("first_view.mjs")
    done = subprocess.run(
        ["node", script, str(BUDGET), str(PANE), *files],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {f.stem: json.loads(line) for f, line in zip(files, done.stdout.splitlines(), strict=True)}


def test_every_model_is_pinned(views):
    found = {name: (view["most"]["cards"], view["pane"]["cards"]) for name, view in views.items()}
    assert found == CARDS


@pytest.mark.parametrize("model", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_is_no_hairball_and_not_one_box(views, model):
    view = views[f"{model.parent.name}-{model.stem}"]
    assert 3 <= view["pane"]["cards"] <= view["most"]["cards"] <= BUDGET
    assert 3 <= view["rows"]["cards"] <= BUDGET  # may look into a repeat where the pane is large


@pytest.mark.parametrize("model", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_repeats_stay_folded_and_no_open_box_holds_just_one(views, model):
    for view in views[f"{model.parent.name}-{model.stem}"].values():
        assert set(view["repeats"]) <= {1}
        assert view["single"] == []
