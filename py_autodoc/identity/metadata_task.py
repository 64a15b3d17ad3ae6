"""What the file itself says of its task and its make: metadata, classes and scopes its exporter recorded.

Names come from an untrusted file and are claims: each comes with where it stands. The file's own name is
not read.
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
"""Keys of the metadata, as ``hf/keys.py`` has them."""
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HEAD = re.compile(
    r"([A-Z][A-Za-z0-9]{1,30}?)(?:For[A-Z][A-Za-z0-9]*|(?:LMHead|DoubleHeads|WithLMHead)?Model)"
)
_CLASS = re.compile(r"[A-Z][A-Za-z0-9]{2,30}")
_YOLO = re.compile(r"Ultralytics (YOLO[\w.-]{1,20})")
_SHELL = re.compile(r"onnx|wrap|export|trace|script", re.IGNORECASE)
"""Classes around a model that only prepare it for an exporter."""
_LOOKED_AT = 4000
_DEEP = 3
_MOST = 0.8
"""Share of the nodes that a module around all of them holds."""
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
"""Makes of networks by what modules and graphs are called after them. Words that mean more are left out."""
_MAKE = re.compile(r"([a-z]+(?:v\d)?)[-_ ]?\d*(?:[-_]\w+)?")


def task_in_metadata(model: Model) -> MetadataTask | None:
    """The task that the file names; None where it names none that is known."""
    metadata = model.metadata
    aliases = _aliases()
    given = metadata.get(TASK, "")
    if _PLAIN.fullmatch(given) and not (given.endswith("feature-extraction")):
        source = metadata.get(SOURCE, "")
        words = aliases.get(given)
        id, text = words if words else (given, given.replace("-", " "))
        known = LIKELY if source == "fallback" else FILE
        return MetadataTask(id, text, known, (f"the metadata names the task: {given}",))
    told = metadata.get("task", "").strip().lower()
    if told in aliases:
        return MetadataTask(*aliases[told], FILE, (f"the metadata names the task: {told}",))
    for kind in _outer(model):
        for ending, words in _endings().items():
            if kind.endswith(ending) and len(kind) > len(ending):
                return MetadataTask(*words, FILE, (f"the exporter recorded the class {kind}",))
    return None


def named_make(model: Model) -> tuple[str, str] | None:
    """The make of the network, as ``MobileViT``, and where the file says it."""
    described = _YOLO.search(model.metadata.get("description", "")[:400])
    if described:
        return described[1], "the metadata describes it so"
    kinds = _outer(model)
    for kind in kinds:
        made = _HEAD.fullmatch(kind)
        if made and kind not in _PLAIN_CLASSES:
            return made[1], f"the exporter recorded the class {kind}"
    for kind in kinds:
        if _CLASS.fullmatch(kind) and kind not in _PLAIN_CLASSES and not _SHELL.search(kind):
            return kind, f"the exporter recorded the class {kind}"
    for scope in _scopes(model):
        made_of = _MAKES.get(scope.lower())
        if made_of:
            return made_of, f"its modules are called {scope}"
    graph = model.graphs[0].name[:60]
    name = _MAKE.fullmatch(graph.lower())
    made_of = _MAKES.get(name[1]) if name else None
    return (made_of, f"the graph is called {graph}") if made_of else None


@cache
def _aliases() -> Mapping[str, tuple[str, str]]:
    """Name in metadata → id and words of the task."""
    return {name: (one.id, one.words) for one in tasks().values() for name in (one.id, *one.pipelines)}


@cache
def _endings() -> Mapping[str, tuple[str, str]]:
    """End of a class → id and words, the longest first."""
    found = {ending: (one.id, one.words) for one in tasks().values() for ending in one.classes}
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _outer(model: Model) -> list[str]:
    """Classes of the modules around nearly all nodes, the outermost first."""
    return _around([_classes(node) for node in model.nodes[:_LOOKED_AT]])


def _scopes(model: Model) -> list[str]:
    """Names of the modules around nearly all nodes that are in any, the outermost first."""
    return _around([node.scope for node in model.nodes[:_LOOKED_AT] if node.scope])


def _classes(node: Node) -> tuple[str, ...]:
    tag = node.record.tag if node.record is not None else node.tag
    if tag:
        return tuple(part.partition(".")[0] for part in tag.strip("/").split("/")[:_DEEP])
    return tuple(kind.rpartition(".")[2] for kind in node.classes[:_DEEP])


def _around(paths: list[tuple[str, ...]]) -> list[str]:
    paths = [path for path in paths if path]
    found: list[str] = []
    for depth in range(_DEEP):
        counted = Counter(path[depth] for path in paths if len(path) > depth)
        name, count = counted.most_common(1)[0] if counted else ("", 0)
        if not name or count < _MOST * len(paths):
            break
        found.append(name[:60])
    return found
