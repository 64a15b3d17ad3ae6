"""Task and model name as stated in the file: metadata, classes and scopes recorded by the exporter.

The names come from an untrusted file and are claims, so each is returned with its source. The file name
is not used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.identity.model import FILE, LIKELY, MetadataTask
from py_autodoc.identity.registry import tasks

TASK, SOURCE = "hf_pipeline_task", "hf_pipeline_task_source"
"""Metadata keys, as in ``hf/keys.py``."""
_SIMPLE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HEAD = re.compile(
    r"([A-Z][A-Za-z0-9]{1,30}?)(?:For[A-Z][A-Za-z0-9]*|(?:LMHead|DoubleHeads|WithLMHead)?Model)"
)
_CLASS = re.compile(r"[A-Z][A-Za-z0-9]{2,30}")
_YOLO = re.compile(r"Ultralytics (YOLO[\w.-]{1,20})")
_SHELL = re.compile(r"onnx|wrap|export|trace|script", re.IGNORECASE)
"""Wrapper classes that only prepare a model for an exporter."""
_BY_CLASS = "class recorded by the exporter: "
_LOOKED_AT = 4000
_DEEP = 3
_MAJORITY = 0.8
"""Minimum share of the nodes in a module that encloses the model."""
_PLAIN_CLASSES = frozenset({
    "Model", "Module", "Net", "Network", "Wrapper", "Sequential", "ModuleList", "Encoder", "Decoder",
    "Backbone", "Head", "Classifier", "Main", "Pick", "GraphModule", "Wrapped", "ModelWrapper",
    "Functional",
})  # fmt: skip
_MAKES = {
    "albert": "ALBERT", "alexnet": "AlexNet", "bart": "BART", "beit": "BEiT", "bert": "BERT",
    "bigbird": "BigBird", "bloom": "BLOOM", "clip": "CLIP", "convnext": "ConvNeXt",
    "convnextv2": "ConvNeXt V2", "cvt": "CvT", "deberta": "DeBERTa", "deit": "DeiT", "densenet": "DenseNet",
    "detr": "DETR", "dinov2": "DINOv2", "distilbert": "DistilBERT", "efficientnet": "EfficientNet",
    "electra": "ELECTRA", "esm": "ESM", "googlenet": "GoogLeNet", "gpt2": "GPT-2", "gptneox": "GPT-NeoX",
    "gpt_neox": "GPT-NeoX", "hubert": "HuBERT", "inception": "Inception", "layoutlm": "LayoutLM",
    "levit": "LeViT", "llama": "LLaMA", "mamba": "Mamba", "mobilebert": "MobileBERT",
    "mobilenet": "MobileNet", "mobilenetv2": "MobileNetV2", "mobilenet_v2": "MobileNetV2",
    "mobilenetv3": "MobileNetV3", "mobilevit": "MobileViT", "mobilevitv2": "MobileViTV2", "mpnet": "MPNet",
    "poolformer": "PoolFormer", "pvt": "PVT", "regnet": "RegNet", "resnet": "ResNet", "roberta": "RoBERTa",
    "segformer": "SegFormer", "shufflenet": "ShuffleNet", "squeezenet": "SqueezeNet", "swin": "Swin",
    "swinv2": "Swin V2", "unet": "U-Net", "vgg": "VGG", "vit": "ViT", "wav2vec2": "wav2vec 2.0",
    "wavlm": "WavLM", "whisper": "Whisper", "xception": "Xception", "xlmroberta": "XLM-RoBERTa",
    "yolo": "YOLO", "yolov5": "YOLOv5", "yolov8": "YOLOv8", "yolox": "YOLOX",
}  # fmt: skip
"""Model names by the names of modules and graphs. Ambiguous words are excluded."""
_MAKE = re.compile(r"([a-z]+(?:v\d)?)[-_ ]?\d*(?:[-_]\w+)?")


def task_in_metadata(model: Model) -> MetadataTask | None:
    """Return the task stated in the file; None if there is none or it is unknown."""
    metadata = model.metadata
    aliases = _aliases()
    stored = metadata.get(TASK, "")
    if _SIMPLE_NAME.fullmatch(stored) and not (stored.endswith("feature-extraction")):
        source = metadata.get(SOURCE, "")
        task = aliases.get(stored)
        id, text = task if task else (stored, stored.replace("-", " "))
        known = LIKELY if source == "fallback" else FILE
        return MetadataTask(id, text, known, (f"task in the metadata: {stored}",))
    declared = metadata.get("task", "").strip().lower()
    if declared in aliases:
        return MetadataTask(*aliases[declared], FILE, (f"task in the metadata: {declared}",))
    for kind in _outer_classes(model):
        for ending, task in _endings().items():
            if kind.endswith(ending) and len(kind) > len(ending):
                return MetadataTask(*task, FILE, (f"{_BY_CLASS}{kind}",))
    return None


def is_class_name(task: MetadataTask) -> bool:
    """True if the task follows from the name of a class, not from an entry in the metadata."""
    return any(line.startswith(_BY_CLASS) for line in task.why)


def named_make(model: Model) -> tuple[str, str] | None:
    """Return the model name, such as ``MobileViT``, and its source in the file."""
    described = _YOLO.search(model.metadata.get("description", "")[:400])
    if described:
        return described[1], "stated in the metadata description"
    kinds = _outer_classes(model)
    for kind in kinds:
        match = _HEAD.fullmatch(kind)
        if match and kind not in _PLAIN_CLASSES:
            return match[1], f"class {kind} recorded by the exporter"
    for kind in kinds:
        if _CLASS.fullmatch(kind) and kind not in _PLAIN_CLASSES and not _SHELL.search(kind):
            return kind, f"class {kind} recorded by the exporter"
    for scope in _scopes(model):
        made_of = _MAKES.get(scope.lower())
        if made_of:
            return made_of, f"modules named {scope}"
    graph = model.graphs[0].name[:60]
    name = _MAKE.fullmatch(graph.lower())
    made_of = _MAKES.get(name[1]) if name else None
    return (made_of, f"graph named {graph}") if made_of else None


@cache
def _aliases() -> Mapping[str, tuple[str, str]]:
    """Return metadata name → id and words of the task."""
    return {name: (one.id, one.words) for one in tasks().values() for name in (one.id, *one.pipelines)}


@cache
def _endings() -> Mapping[str, tuple[str, str]]:
    """Return class suffix → id and words, longest first."""
    tasks_by_ending = {ending: (one.id, one.words) for one in tasks().values() for ending in one.classes}
    return dict(sorted(tasks_by_ending.items(), key=lambda item: -len(item[0])))


def _outer_classes(model: Model) -> list[str]:
    """Return the classes of modules that enclose nearly all nodes, outermost first."""
    return _common_prefix([_classes(node) for node in model.nodes[:_LOOKED_AT]])


def _scopes(model: Model) -> list[str]:
    """Return the names of modules that enclose nearly all nodes with a module, outermost first."""
    return _common_prefix([node.scope for node in model.nodes[:_LOOKED_AT] if node.scope])


def _classes(node: Node) -> tuple[str, ...]:
    tag = node.record.tag if node.record is not None else node.tag
    if tag:
        return tuple(part.partition(".")[0] for part in tag.strip("/").split("/")[:_DEEP])
    return tuple(kind.rpartition(".")[2] for kind in node.classes[:_DEEP])


def _common_prefix(paths: list[tuple[str, ...]]) -> list[str]:
    paths = [path for path in paths if path]
    common: list[str] = []
    for depth in range(_DEEP):
        counted = Counter(path[depth] for path in paths if len(path) > depth)
        name, count = counted.most_common(1)[0] if counted else ("", 0)
        if not name or count < _MAJORITY * len(paths):
            break
        common.append(name[:60])
    return common
