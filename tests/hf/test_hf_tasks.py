"""Tasks from transformers' registries, over every architecture in them."""

from __future__ import annotations

import warnings

import pytest
import transformers
from task_truth import accepted
from transformers.models.auto import modeling_auto

from py_autodoc.errors import OptionError
from py_autodoc.hf.tasks import TASKS, checked_task, detect_task, known_tasks

pytestmark = pytest.mark.slow


def architectures():
    """Architecture → kind of configuration, of all registries of model classes."""
    found = {}
    for name, registry in vars(modeling_auto).items():
        if name.startswith("MODEL_") and name.endswith("_MAPPING_NAMES"):
            for kind, listed in registry.items():
                for one in listed if isinstance(listed, (tuple, list)) else [listed]:
                    found.setdefault(one, kind)
    return found


def judged():
    """(architecture, its task, accepted tasks; None where the class cannot be loaded here)."""
    for name, kind in architectures().items():
        guess = detect_task({"architectures": [name], "model_type": kind})
        try:
            right = accepted(name, getattr(transformers, name))
        except (ImportError, AttributeError):  # a library is missing, or listed and not there
            right = None
        yield name, guess, right


def test_every_architecture_of_the_registries():
    """At least 99 % right; where several tasks are, one of them. Those without a truth: at most 1 %."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = list(judged())
    assert len(rows) > 1000
    assert [name for name, guess, _ in rows if guess.task is None or guess.source != "registry"] == []
    told = [(name, guess.task, right) for name, guess, right in rows if right]
    wrong = [row for row in told if row[1] not in row[2]]
    assert len(told) >= 0.99 * len(rows)
    assert len(wrong) <= 0.01 * len(told), wrong
    strict = [row for row in told if len(row[2]) == 1]
    assert len(strict) >= 0.7 * len(rows)
    assert sum(task not in right for _, task, right in strict) <= 0.01 * len(strict)


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("BertForMaskedLM", "fill-mask"),
        ("BartForConditionalGeneration", "text2text-generation"),  # listed under fill-mask too
        ("Wav2Vec2ForSequenceClassification", "audio-classification"),
        ("LayoutLMv3ForQuestionAnswering", "document-question-answering"),
        ("ViTModel", "image-feature-extraction"),
        ("BertModel", "feature-extraction"),
        ("MaskFormerForInstanceSegmentation", "image-segmentation"),
    ],
)
def test_the_most_specific_registry_counts(name, task):
    guess = detect_task({"architectures": [name]})
    assert (guess.task, guess.source, guess.model_class) == (task, "registry", name)
    assert task in guess.candidates


def test_a_class_of_somebody_else():
    guess = detect_task({"architectures": ["OurNetForTokenClassification"]})
    assert (guess.task, guess.source) == ("token-classification", "architecture")
    assert detect_task({"architectures": ["OurNet"]}).task is None


def test_a_class_somebody_registered(monkeypatch):
    class OurConfig(transformers.PretrainedConfig):
        model_type = "our-net"

    class OurNet(transformers.PreTrainedModel):
        config_class = OurConfig

    registry = transformers.AutoModelForImageClassification._model_mapping
    monkeypatch.setitem(registry._extra_content, OurConfig, OurNet)
    assert detect_task({"architectures": ["OurNet"]}).task == "image-classification"


def test_without_an_architecture_the_kind_of_configuration_counts():
    assert detect_task({"model_type": "vit"}).task == "image-feature-extraction"
    guess = detect_task(transformers.BertConfig())
    assert (guess.task, guess.source, guess.model_class) == ("feature-extraction", "fallback", "BertModel")
    for odd in (
        {},
        {"architectures": []},
        {"architectures": "BertModel"},
        {"architectures": [None]},
        {"model_type": 7},
    ):
        assert detect_task(odd).task is None


def test_the_class_of_a_model_counts_not_its_configuration():
    config = transformers.BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=10,
        architectures=["BertModel"],
    )  # fmt: skip
    assert detect_task(transformers.BertForMultipleChoice(config)).task == "multiple-choice"


def test_settings_for_one_task_refine_text_to_text():
    base = {"architectures": ["T5ForConditionalGeneration"]}
    for given, task in (
        ({"summarization": {}}, "summarization"),
        ({"translation_en_to_de": {}, "translation_en_to_fr": {}}, "translation"),
        ({"summarization": {}, "translation_en_to_de": {}}, "text2text-generation"),
        ({"something": {}}, "text2text-generation"),
        ("summarization", "text2text-generation"),
    ):
        assert detect_task({**base, "task_specific_params": given}).task == task


def test_tasks_that_somebody_gives():
    assert checked_task("ner") == "token-classification"
    assert {"question-answering", "summarization", "feature-extraction"} <= set(known_tasks())
    with pytest.raises(OptionError, match="text-classification"):
        checked_task("text-clasification")


def test_the_table_is_only_what_transformers_does_not_say():
    from transformers.pipelines import PIPELINE_REGISTRY

    listed = {auto.__name__ for facts in PIPELINE_REGISTRY.supported_tasks.values() for auto in facts["pt"]}
    assert not listed & set(TASKS)
    registries = {name for name in vars(modeling_auto) if name.startswith("MODEL_FOR_")}
    for auto in TASKS:
        assert auto.startswith("AutoModelFor")
        assert hasattr(transformers, auto) or f"MODEL_FOR_{auto[12:].upper()}_MAPPING_NAMES" in registries
