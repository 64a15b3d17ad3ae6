"""What the models of ``tests/data`` are for, by their makers' papers and the configurations they come from.

The zoo's models are made from configurations with vocabularies of 100 and two layers, and most of their
heads have two classes: what a real model would say plainly they can only suggest.
"""

from __future__ import annotations

CLASSES, BOXES, SEGMENTS = "image-classification", "object-detection", "image-segmentation"
WRITING, TEXT, REWRITING = "text-generation", "text-encoding", "text-to-text"
SOUND = "audio-encoding"
NONE = "unknown"
"""A part of a model, or a task that nothing in a graph tells."""

FILES: dict[str, str] = {
    "models/basic_pitch_nmp": "music-transcription",
    "models/bert_tiny": TEXT,
    "models/ddddocr_det.stripped": BOXES,
    "models/dnsmos_sig_bak_ovr": "speech-quality",
    "models/light_bvlc_alexnet": CLASSES,
    "models/light_resnet50": CLASSES,
    "models/light_squeezenet": CLASSES,
    "models/light_vgg19": CLASSES,
    "models/magika_standard_v3_3": "byte-classification",
    "models/mamba_tiny": WRITING,
    "models/mnist_cntk": CLASSES,
    "models/ppocr_cls_v2": CLASSES,
    "models/ppocr_v4_det": "text-detection",
    "models/resnet_tiny": CLASSES,
    "models/resnet_tiny_ext": CLASSES,
    "models/resnet_tiny_qdq_int8": CLASSES,
    "models/silero_vad_half": "voice-activity",
    "models/swift_f0": "pitch-estimation",
    "models/trt_loop": NONE,
    "models/trt_qdq_conv": NONE,
    "models/trt_residual_block": NONE,
    "stripped/bert_base.stripped": TEXT,
    "stripped/bert_base_dyn.stripped": TEXT,
    "stripped/bert_tiny.stripped": TEXT,
    "stripped/clip_b32.stripped": "image-text-matching",
    "stripped/convnext_tiny.stripped": CLASSES,
    "stripped/detr_r50.stripped": BOXES,
    "stripped/distilbert.stripped": TEXT,
    "stripped/gpt2.stripped": WRITING,
    "stripped/llama32_narrow.stripped": WRITING,
    "stripped/llama_gqa_small.stripped": WRITING,
    "stripped/mamba_tiny.stripped": WRITING,
    "stripped/mobilenet_v2.stripped": CLASSES,
    "stripped/resnet50.stripped": CLASSES,
    "stripped/resnet50_dyn.stripped": CLASSES,
    "stripped/resnet_tiny.stripped": CLASSES,
    "stripped/segformer_b0.stripped": SEGMENTS,
    "stripped/swin_t.stripped": CLASSES,
    "stripped/t5_small_encoder.stripped": TEXT,
    "stripped/vit_b16.stripped": CLASSES,
    "stripped/whisper_tiny_encoder.stripped": SOUND,
}

_ZOO = {
    CLASSES: "beit bit conv_shortcuts convnext densenet hiera inception_resnet mixer mobilenetv2 "
    "pad_shortcuts resnet shufflenet swin swinv2 vit ws_resnet",
    BOXES: "centernet detr fcos retinanet retinanet_maps retinanet_one rtdetr ssd yolov10 yolov3_raw "
    "yolov5 yolov5_raw yolov8 yolov8_raw",
    SEGMENTS: "segformer unet",
    TEXT: "bert bertd convbert deberta_v1 deberta_v3 modernbert phimoe_batched_mm phimoe_eager switch",
    "masked-language-modelling": "xlnet",
    WRITING: "bigcode_mh bloom deepseek_v3_batched_mm deepseek_v3_eager falcon_alibi falcon_mq falcon_new "
    "gemma3 gpt2 gptj gptneox gptoss_batched_mm granitemoe_eager jamba_batched_mm llama llamad "
    "mamba mixtral_batched_mm mixtral_eager moe_deepseek3 moe_mixtral moe_soft moe_stacked mpt "
    "olmoe_batched_mm phi3 qwen2moe_eager qwen3 reldec_alibi reldec_music reldec_shaw_clip "
    "starcoder starcoder2 t5_dec trxl",
    REWRITING: "bart t5_full",
    SOUND: "hubert_mask w2v2_bert w2v2_conformer_mask wav2vec2 wav2vec2_mask wavlm_mask",
    "speech-recognition": "whisper",
    "speech-synthesis": "hifigan_wn hifigan_wn_old",
    "text-recognition": "crnn",
    "text-classification": "lstm_cls",
    "image-text-matching": "clip",
    NONE: "tcn_wn",
}  # fmt: skip
ZOO = {name: task for task, names in _ZOO.items() for name in names.split()}
"""Model of the zoo, its ending left out, to its task."""
