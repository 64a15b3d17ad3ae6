"""Every task gives what transformers' own pipeline gives on torch, from the file alone."""

from __future__ import annotations

import warnings

import numpy as np
import pipeline_models as pm
import pytest
import torch
import transformers as tf

import py_autodoc

pytestmark = pytest.mark.slow

LABELS = pm.labelled("neg", "neu", "pos")
ENTITIES = pm.labelled("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
NLI = pm.labelled("contradiction", "neutral", "entailment")
PAIR = {"text": pm.TEXTS[0], "text_pair": pm.TEXTS[1]}
CASES = {
    "text-classification": (
        "BertForSequenceClassification",
        LABELS,
        [
            ((pm.TEXTS[0],), {}),
            ((pm.TEXTS,), {}),
            ((pm.TEXTS,), {"batch_size": 3, "top_k": None}),
            ((pm.TEXTS,), {"batch_size": 4, "top_k": 2, "function_to_apply": "sigmoid"}),
            ((PAIR,), {}),
            (([PAIR, PAIR],), {"batch_size": 2}),
            (("many words " * 600,), {"truncation": True}),
        ],
    ),
    "feature-extraction": (
        "BertModel",
        {},
        [
            ((pm.TEXTS[1],), {}),
            ((pm.TEXTS,), {"batch_size": 2}),
            (("word " * 700,), {"truncation": True}),
            ((pm.TEXTS[2],), {"return_tensors": True}),
        ],
    ),
    "token-classification": (
        "BertForTokenClassification",
        ENTITIES,
        [
            ((pm.TEXTS[2],), {}),
            ((pm.TEXTS,), {"batch_size": 3}),
            ((pm.TEXTS,), {"aggregation_strategy": "max"}),
            ((pm.TEXTS[2],), {"aggregation_strategy": "average", "ignore_labels": []}),
            ((pm.long_context(700),), {"aggregation_strategy": "simple", "stride": 32}),
        ],
    ),
    "fill-mask": (
        "BertForMaskedLM",
        {},
        [
            (("the [MASK] is blue",), {}),
            ((["a [MASK] here", "the sky is [MASK] and wide"],), {"batch_size": 2}),
            (("x [MASK] y [MASK]",), {"top_k": 3}),
            (("the [MASK] is blue",), {"targets": ["sky", "sea"]}),
            (("the [MASK] is " + "blue " * 600,), {"tokenizer_kwargs": {"truncation": True}}),
        ],
    ),
    "zero-shot-classification": (
        "BertForSequenceClassification",
        NLI,
        [
            ((pm.TEXTS[0],), {"candidate_labels": ["food", "space"]}),
            ((pm.TEXTS,), {"candidate_labels": "food, space", "multi_label": True, "batch_size": 2}),
        ],
    ),
}


def ours_of(path, **options):
    """A pipeline that needs nothing but the file, and says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return py_autodoc.pipeline(path, **options)


@pytest.mark.parametrize("task", CASES)
def test_as_transformers_on_torch(task, tmp_path):
    kind, settings, calls = CASES[task]
    tokenizer, model = pm.tokenizer(), pm.bert(kind, **settings)
    path = pm.export(model, tmp_path / "m.onnx", tokenizer, task=task)
    ours = ours_of(path)
    theirs = tf.pipeline(task, model=model, tokenizer=tokenizer, device="cpu")
    assert type(ours) is type(theirs)
    assert ours.task == task
    for args, options in calls:
        pm.same(ours(*args, **options), theirs(*args, **options))


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A text classifier as (model, file)."""
    model = pm.bert("BertForSequenceClassification", **LABELS)
    path = tmp_path_factory.mktemp("classifier") / "m.onnx"
    return model, pm.export(model, path, pm.tokenizer())


def test_the_task_is_the_architectures(classifier):
    assert ours_of(classifier[1]).task == "text-classification"


def test_generators_are_read_as_results_are_taken(classifier):
    model, path = classifier
    read = []

    def texts():
        for text in pm.TEXTS:
            read.append(text)
            yield text

    ours = ours_of(path, batch_size=2)
    results = ours(texts())
    assert len(read) <= 1
    found = list(results)
    assert read == pm.TEXTS
    theirs = tf.pipeline("text-classification", model=model, tokenizer=pm.tokenizer(), device="cpu")
    pm.same(found, theirs(pm.TEXTS))


def test_what_a_pipeline_says_of_itself(classifier):
    ours = ours_of(classifier[1])
    assert isinstance(ours, tf.Pipeline)
    assert type(ours.model).__name__ == "BertForSequenceClassification"
    assert ours.model.device == torch.device("cpu") == ours.device
    assert ours.dtype == torch.float32
    assert ours.model.config.id2label == LABELS["id2label"]
    assert "BertForSequenceClassification" in repr(ours)


def test_the_model_alone(classifier):
    model, path = classifier
    ours = ours_of(path).model
    inputs = dict(pm.tokenizer()(pm.TEXTS, padding=True, return_tensors="pt"))
    output = ours(**inputs, output_attentions=False)
    assert type(output).__name__ == "SequenceClassifierOutput"
    with torch.no_grad():
        assert torch.allclose(output.logits, model(**inputs).logits, atol=pm.TOLERANCE)
    # Other types of whole numbers are cast, arrays are taken, what is not given is what transformers takes.
    few = {"input_ids": inputs["input_ids"][:1].to(torch.int32).numpy()}
    with torch.no_grad():
        alone = model(inputs["input_ids"][:1]).logits
    assert torch.allclose(ours(**few).logits, alone, atol=pm.TOLERANCE)


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_images(exporter, tmp_path):
    model, processor = pm.vit()
    inputs = dict(processor(images=[pm.image(), pm.image(1)], return_tensors="pt"))
    axes = {"pixel_values": {0: "batch"}}
    path = pm.export(
        model, tmp_path / "m.onnx", processor, inputs=inputs, dynamic=axes, exporter=exporter,
        names=exporter == "torchscript",
    )  # fmt: skip
    ours = ours_of(path)
    theirs = tf.pipeline("image-classification", model=model, image_processor=processor, device="cpu")
    assert type(ours) is type(theirs)
    pictures = [pm.image(i, (30 + 7 * i, 50)) for i in range(5)]
    pm.same(ours(pictures[0]), theirs(pictures[0]))
    pm.same(ours(pictures, batch_size=2, top_k=2), theirs(pictures, top_k=2))
    array = np.asarray(pictures[1])
    pm.same(ours(array), theirs(array))
    scores = [one["score"] for one in ours(pictures[0])]
    assert max(scores) - min(scores) > 0.01


def test_image_features(tmp_path):
    _, processor = pm.vit()
    config = tf.ViTConfig(
        hidden_size=48, num_hidden_layers=1, num_attention_heads=3, intermediate_size=64, image_size=32,
        patch_size=8,
    )  # fmt: skip
    model = tf.ViTModel(config).eval()
    inputs = dict(processor(images=[pm.image()], return_tensors="pt"))
    path = pm.export(model, tmp_path / "m.onnx", processor, inputs=inputs, dynamic={"pixel_values": {0: "n"}})
    ours = ours_of(path)
    theirs = tf.pipeline("image-feature-extraction", model=model, image_processor=processor, device="cpu")
    assert ours.task == "image-feature-extraction"
    pm.same(ours([pm.image(2), pm.image(3)]), theirs([pm.image(2), pm.image(3)]))


def test_outputs_that_have_no_names(tmp_path):
    """The order is the model's, and says what they are."""
    model = pm.bert("BertModel")
    path = pm.export(model, tmp_path / "m.onnx", pm.tokenizer(), names=False)
    ours = ours_of(path)
    assert "last_hidden_state" not in {one.name for one in ours.model.session.get_outputs()}
    theirs = tf.pipeline("feature-extraction", model=model, tokenizer=pm.tokenizer(), device="cpu")
    pm.same(ours(pm.TEXTS[0]), theirs(pm.TEXTS[0]))
    output = ours.model(**pm.tokenizer()(pm.TEXTS[0], return_tensors="pt"))
    assert list(output) == ["last_hidden_state", "pooler_output"]


def test_half_precision(tmp_path):
    model = pm.vit()[0].half()
    processor = pm.vit()[1]
    inputs = {"pixel_values": torch.zeros(1, 3, 32, 32, dtype=torch.float16)}
    path = pm.export(model, tmp_path / "m.onnx", processor, inputs=inputs, dynamic={"pixel_values": {0: "n"}})
    ours = ours_of(path)
    assert ours.dtype == torch.float16
    theirs = tf.pipeline("image-classification", model=model, image_processor=processor, device="cpu")
    pm.same(ours(pm.image()), theirs(pm.image()), 5e-3)


def test_a_processor_may_be_given(classifier, tmp_path):
    path = classifier[1]
    wanted = ours_of(path)(pm.TEXTS)
    pm.tokenizer().save_pretrained(tmp_path / "folder")
    for processor in (pm.tokenizer(), tmp_path / "folder", str(tmp_path / "folder")):
        pm.same(ours_of(path, processor=processor, task="text-classification")(pm.TEXTS), wanted)
    pm.same(ours_of(path, tokenizer=pm.tokenizer(), device="cpu")(pm.TEXTS), wanted)
