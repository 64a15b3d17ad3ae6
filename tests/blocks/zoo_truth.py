"""What the models of ``tests/data/zoo.zip`` are, by the configurations that they were made from.

A row: family; attention layers by (kind, heads, key heads); residual joins; mixtures of experts; scheme of
quantization. ``None`` where the configuration does not say it plainly (joins of a detector's neck).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

ENCODER, DECODER, BOTH = "transformer-encoder", "transformer-decoder", "encoder-decoder"
Heads = tuple[str, int, int]


class Truth(NamedTuple):
    """What one model is."""

    family: str
    attention: Mapping[Heads, int] = MappingProxyType({})
    residuals: int | None = None
    mixtures: int = 0
    scheme: str = ""


def _self(heads: int = 4, kv: int = 4, layers: int = 2) -> dict[Heads, int]:
    return {("self", heads, kv): layers}


_CROSS = {("self", 4, 4): 4, ("cross", 4, 4): 2}
_ENCODER = Truth(ENCODER, _self(), 4)
_DECODER = Truth(DECODER, _self(), 4)
_GROUPED = Truth(DECODER, _self(4, 2), 4)
_PARALLEL = Truth(DECODER, _self(), 2)
_SEQUENCES = Truth(BOTH, _CROSS, 10)
_MIXTURE = Truth(DECODER, _self(4, 2), 4, 2)
_HIERA = Truth(ENCODER, {("self", 1, 1): 1, ("self", 2, 2): 1, ("self", 4, 4): 2, ("self", 8, 8): 1})
_CNN = "cnn"

TRUTH: dict[str, Truth] = {
    # relative scores, in every layout and from every kind of mask
    "deberta_v3.ts": _ENCODER,
    "deberta_v3.dy": _ENCODER,
    "deberta_v3.tsd": _ENCODER,
    "deberta_v1.ts": _ENCODER,
    "wav2vec2_mask.ts": Truth(ENCODER, _self(), 5),
    "wav2vec2_mask.tsd": Truth(ENCODER, _self(), 5),
    "wav2vec2.dy": Truth(ENCODER, _self(), 5),
    "hubert_mask.dy": Truth(ENCODER, _self(), 5),
    "wavlm_mask.tsd": Truth(ENCODER, _self(), 5),
    "w2v2_bert.dy": Truth(ENCODER, _self(), 8),
    "w2v2_conformer_mask.ts": Truth(ENCODER, _self(), 8),
    "xlnet.ts": _ENCODER,
    "trxl.ts": _DECODER,
    "t5_full.tsd": _SEQUENCES,
    "t5_dec.ts": Truth(DECODER, {("self", 4, 4): 2, ("cross", 4, 4): 2}, 6),
    "bloom.dyd": _DECODER,
    "mpt.ts": _DECODER,
    "reldec_alibi.tsd": _DECODER,
    "reldec_music.ts": _DECODER,
    "reldec_shaw_clip.dy": _DECODER,
    "beit.ts": _ENCODER,
    "swinv2.dy": Truth(ENCODER, {("self", 2, 2): 2, ("self", 4, 4): 2}, 8),
    "swin.ts": Truth(ENCODER, {("self", 2, 2): 2, ("self", 4, 4): 2}, 8),
    # one product for queries, keys and values
    "falcon_mq.ts": Truth(DECODER, _self(4, 1), 2),
    "falcon_mq.dy": Truth(DECODER, _self(4, 1), 2),
    "falcon_new.dyd": Truth(DECODER, _self(4, 2), 2),
    "falcon_alibi.tsd": _DECODER,
    "starcoder.ts": Truth(DECODER, _self(4, 1), 4),
    "starcoder2.dy": _GROUPED,
    "bigcode_mh.ts": _DECODER,
    "gpt2.ts": _DECODER,
    "gptj.dy": _PARALLEL,
    "gptneox.ts": _PARALLEL,
    "llama.tsd": _GROUPED,
    "phi3.ts": _GROUPED,
    "qwen3.dy": _GROUPED,
    "gemma3.ts": _GROUPED,
    "modernbert.dy": Truth(ENCODER, _self(layers=3), 6),
    # mixtures of experts
    "deepseek_v3_batched_mm.ts": Truth(DECODER, _self(), 4, 1),
    "deepseek_v3_eager.tsd": Truth(DECODER, _self(), 4, 1),
    "phimoe_eager.ts": _MIXTURE,
    "phimoe_batched_mm.dy": _MIXTURE,
    "switch.ts": Truth(ENCODER, _self(), 4, 1),
    # weights of a convolution that a dense layer makes, beside the attention; heads beside windows
    "convbert.ts": Truth(ENCODER, _self(2, 2), 4),
    "convbert.dy": Truth(ENCODER, _self(2, 2), 4),
    "hiera.ts": _HIERA,
    "hiera.dy": _HIERA,
    "mixtral_batched_mm.ts": _MIXTURE,
    "mixtral_batched_mm.dy": _MIXTURE,
    "mixtral_eager.ts": _MIXTURE,
    "qwen2moe_eager.tsd": _MIXTURE,
    "olmoe_batched_mm.dy": _MIXTURE,
    "gptoss_batched_mm.ts": _MIXTURE,
    "granitemoe_eager.ts": _MIXTURE,
    "jamba_batched_mm.ts": Truth("hybrid", _self(4, 2), 8, 2),
    "moe_mixtral.dy": _MIXTURE,
    "moe_deepseek3.dy": _MIXTURE,
    "moe_stacked.dy": _MIXTURE,
    "moe_soft.dy": _MIXTURE,
    # quantized, and fused by ONNX Runtime
    "bert.tsd": _ENCODER,
    "bert.q8dyn": _ENCODER._replace(scheme="dynamic"),
    "bert.qdq": _ENCODER._replace(scheme="QDQ"),
    "bert.qop": _ENCODER._replace(scheme="QOperator"),
    "bert.nbits": _ENCODER._replace(scheme="weight-only"),
    "bertd.fused": _ENCODER,
    "bertd.ortqdq": _ENCODER._replace(scheme="QDQ+QOperator"),
    "gpt2.q8dyn": _DECODER._replace(scheme="dynamic"),
    "gpt2.ortqdq": _DECODER._replace(scheme="QOperator"),
    "llama.q8dyn": _GROUPED._replace(scheme="dynamic"),
    "llama.qop": _GROUPED._replace(scheme="QOperator"),
    "llama.nbits": _GROUPED._replace(scheme="weight-only"),
    "llamad.ortx": _GROUPED,
    "llamad.fused": _GROUPED,
    "vit.q8dyn": _ENCODER._replace(scheme="dynamic"),
    "vit.fused": _ENCODER,
    "falcon_mq.q8dyn": Truth(DECODER, _self(4, 1), 2, scheme="dynamic"),
    "t5_full.q8dyn": _SEQUENCES._replace(scheme="dynamic"),
    "whisper.q8dyn": _SEQUENCES._replace(scheme="dynamic"),
    "bart.ts": _SEQUENCES,
    "whisper.dy": _SEQUENCES,
    "clip.ts": Truth(ENCODER, _self(layers=4), 8),
    "vit.ts": _ENCODER,
    # convolutions: shortcuts, computed kernels
    "resnet.q8dyn": Truth(_CNN, {}, 8, scheme="dynamic"),
    "resnet.qop": Truth(_CNN, {}, 8, scheme="QOperator"),
    "resnet.qdq": Truth(_CNN, {}, 8, scheme="QDQ"),
    "resnet.ortx": Truth(_CNN, {}, 8),
    "densenet.qop": Truth(_CNN, {}, 6, scheme="QOperator"),
    "densenet.ts": Truth(_CNN, {}, 6),
    "shufflenet.ts": Truth(_CNN, {}, 3),
    "conv_shortcuts.dy": Truth(_CNN, {}, 4),
    "pad_shortcuts.ts": Truth(_CNN, {}, 3),
    "inception_resnet.ts": Truth(_CNN, {}, 3),
    "hifigan_wn.tsd": Truth(_CNN, {}, 6),
    "hifigan_wn_old.tsd": Truth(_CNN, {}, 6),
    "tcn_wn.tsd": Truth(_CNN, {}, 3),
    "ws_resnet.ts": Truth(_CNN, {}, 3),
    "ws_resnet.tsd": Truth(_CNN, {}, 3),
    "bit.ts": Truth(_CNN, {}, 5),
    "mobilenetv2.ts": Truth(_CNN, {}, 10),
    "convnext.dy": Truth(_CNN, {}, 5),
    # detectors
    "yolov3_raw.ts": Truth("detector", {}, 5),
    "yolov5.ts": Truth("detector", {}, 5),
    "yolov5_raw.dy": Truth("detector", {}, 5),
    "yolov8.ts": Truth("detector"),
    "yolov8_raw.ts": Truth("detector"),
    "yolov8.qdq": Truth("detector", scheme="QDQ"),
    "yolov8.q8dyn": Truth("detector", scheme="dynamic"),
    "yolov8.ortqdq": Truth("detector", scheme="QDQ+QOperator"),
    "yolov10.dy": Truth("detector"),
    "retinanet.ts": Truth("detector", {}, 4),
    "retinanet_maps.ts": Truth("detector", {}, 4),
    "retinanet_one.dy": Truth("detector", {}, 4),
    "ssd.ts": Truth("detector", {}, 4),
    "fcos.ts": Truth("detector", {}, 4),
    "centernet.ts": Truth("detector", {}, 4),
    "detr.ts": Truth("detector", {("self", 4, 4): 4, ("cross", 4, 4): 2}),
    "rtdetr.dy": Truth("detector", _self(layers=3)),
    # others
    "unet.ts": Truth("segmenter", {}, 0),
    "segformer.ts": Truth("segmenter", {("self", n, n): 1 for n in (1, 2, 3, 4)}, 8),
    "mixer.ts": Truth("mlp", {}, 6),
    "lstm_cls.q8dyn": Truth("recurrent", {}, 0, scheme="dynamic"),
    "crnn.ts": Truth("hybrid", {}, 0),
    "mamba.ts": Truth("state-space"),
}
