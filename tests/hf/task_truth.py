"""What an architecture is for, told without the registries: by its name and by what its forward takes.

Classes of transformers are named ``<Model>For<Head>``, and the hub tags models of a head with one task.
Where a head is used for several (``ForConditionalGeneration``), the arguments of ``forward`` leave one or
more that are right. The detector under test reads neither names nor arguments of listed architectures.
"""

from __future__ import annotations

import inspect
import re

HEADS = {
    "ForAudioClassification": "audio-classification",
    "ForAudioFrameClassification": "audio-frame-classification",
    "ForCTC": "automatic-speech-recognition",
    "ForCausalImageModeling": "causal-image-modeling",
    "ForDecision": "decision",
    "ForDepthEstimation": "depth-estimation",
    "ForImageClassification": "image-classification",
    "ForImageClassificationConvProcessing": "image-classification",
    "ForImageClassificationFourier": "image-classification",
    "ForImageClassificationLearned": "image-classification",
    "ForImageClassificationWithTeacher": "image-classification",
    "ForImageMatting": "image-matting",
    "ForImageSuperResolution": "image-to-image",
    "ForInstanceSegmentation": "image-segmentation",
    "ForKeypointDetection": "keypoint-detection",
    "ForKeypointMatching": "keypoint-matching",
    "ForMaskedImageModeling": "masked-image-modeling",
    "ForMaskedLM": "fill-mask",
    "ForMultipleChoice": "multiple-choice",
    "ForNextSentencePrediction": "next-sentence-prediction",
    "ForNormalEstimation": "normal-estimation",
    "ForPointmapEstimation": "pointmap-estimation",
    "ForPoseEstimation": "pose-estimation",
    "ForPreTraining": "pre-training",
    "ForPrediction": "time-series-prediction",
    "ForRNNT": "automatic-speech-recognition",
    "ForRetrieval": "retrieval",
    "ForSceneTextRecognition": "text-recognition",
    "ForSegmentation": "image-segmentation",
    "ForSemanticSegmentation": "image-segmentation",
    "ForSpeechToText": "automatic-speech-recognition",
    "ForTDT": "automatic-speech-recognition",
    "ForTableRecognition": "table-recognition",
    "ForTextRecognition": "text-recognition",
    "ForTextToSpeech": "text-to-audio",
    "ForTextToText": "text2text-generation",
    "ForTimeSeriesClassification": "time-series-classification",
    "ForTokenClassification": "token-classification",
    "ForUniversalSegmentation": "image-segmentation",
    "ForVideoClassification": "video-classification",
    "ForVisionText2Text": "image-text-to-text",
    "ForXVector": "audio-xvector",
}
"""Heads that are for one task, whatever the model reads."""

SEVERAL = {"image-text-to-text", "any-to-any", "automatic-speech-recognition", "text-to-audio"}
"""What a generative model that reads more than text may be for; its name does not tell."""

DOCUMENTED = {
    "BarkModel": {"text-to-audio"},
    "BertGenerationDecoder": {"text-generation"},
    "DiaForConditionalGeneration": {"text-to-audio"},
    "EncoderDecoderModel": {"text2text-generation"},
    "FastSpeech2ConformerModel": {"text-to-audio"},
    "FastSpeech2ConformerWithHifiGan": {"text-to-audio"},
    "ImageGPTModel": {"image-feature-extraction"},
    "KyutaiSpeechToTextForConditionalGeneration": {"automatic-speech-recognition"},
    "MarianMTModel": {"text2text-generation", "translation"},
    "PerceiverModel": {"feature-extraction", "image-feature-extraction"},
    "Qwen2_5OmniForConditionalGeneration": {"any-to-any"},
    "Qwen3OmniMoeForConditionalGeneration": {"any-to-any"},
    "SpeechEncoderDecoderModel": {"automatic-speech-recognition"},
    "VisionEncoderDecoderModel": {"image-text-to-text"},
    "VitsModel": {"text-to-audio"},
}
"""Where name and arguments mislead: read from the documentation of each."""


def accepted(name: str, kind: type) -> set[str]:
    """Tasks that are right; several where the architecture can be used for several; none: cannot be told."""
    if name in DOCUMENTED:
        return DOCUMENTED[name]
    head = (re.findall(r"For[A-Z]\w*$", name) or [""])[0]
    if head in HEADS:
        return {HEADS[head]}
    args = set(inspect.signature(kind.forward).parameters)
    return (
        _headed(name, head, args) if head or name.endswith(("LMHeadModel", "LMHead")) else _bare(name, args)
    )


def _headed(name: str, head: str, args: set[str]) -> set[str]:
    image, text = (
        any(arg.startswith(("pixel_", "image_p", "flattened_")) for arg in args),
        "input_ids" in args,
    )
    audio = any(arg.startswith(("input_f", "input_v", "audio_")) for arg in args)
    if head == "ForSequenceClassification":
        return {"text-classification" if text else "audio-classification"}
    if head == "ForObjectDetection":
        asked = text or any("class" in arg or "task" in arg for arg in args)
        return {"zero-shot-object-detection" if asked else "object-detection"}
    if head.startswith("ForQuestionAnswering"):
        if "bbox" in args:
            return {"document-question-answering", *(() if image else ("question-answering",))}
        return {"visual-question-answering"} if image else {"question-answering", "table-question-answering"}
    if head == "ForConditionalGeneration":
        return SEVERAL if image or audio else {"text2text-generation", "text-to-audio"}
    if head == "ForCausalLM" or not head:
        if image or audio:
            return {"image-text-to-text", "any-to-any"}
        return {"text-generation", "fill-mask"} if "langs" in args else {"text-generation"}
    return set()


def _bare(name: str, args: set[str]) -> set[str]:
    """A model without a head."""
    if name.endswith("Backbone"):
        return {"backbone", "image-feature-extraction"}
    image = "pixel_values" in args
    if image and "input_points" in args:
        return {"mask-generation", "image-feature-extraction"}
    if image and args & {"input_ids", "input_values", "input_features"}:
        return {"feature-extraction", "zero-shot-image-classification", "image-text-to-text"}
    patches = "hidden_states" in args and not image  # the tower of a larger model: no pipeline feeds it
    if "Video" in name or "pixel_values_videos" in args or patches:
        return {"feature-extraction", "image-feature-extraction"}
    return {"image-feature-extraction" if image else "feature-extraction"}
