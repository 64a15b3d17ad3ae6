"""Files that fix the number of rows or tokens: the same results, or one line that says why not."""

from __future__ import annotations

import warnings

import onnx
import pipeline_models as pm
import pytest
import torch
import transformers as tf

import py_autodoc
from py_autodoc.errors import InputError, OptionError

pytestmark = pytest.mark.slow

LABELS = pm.labelled("neg", "neu", "pos")
# As many labels as tokens, a head a token: nothing may be told by a size alone.
KINDS = {
    "text-classification": ("BertForSequenceClassification", pm.labelled(*[f"l{i}" for i in range(24)])),
    "token-classification": ("BertForTokenClassification", pm.labelled(*[f"l{i}" for i in range(24)])),
    "feature-extraction": ("BertModel", {}),
    "fill-mask": ("BertForMaskedLM", {}),
}
LENGTH = 24


def pipeline(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return py_autodoc.pipeline(path, **options)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("task", KINDS)
def test_fixed_rows_and_tokens(task, batch, tmp_path):
    kind, settings = KINDS[task]
    tokenizer, model = pm.tokenizer(), pm.bert(kind, **settings)
    inputs = pm.fixed_inputs(tokenizer, batch, LENGTH)
    path = pm.export(model, tmp_path / "m.onnx", tokenizer, inputs=inputs, dynamic=False)
    ours = pipeline(path)
    theirs = tf.pipeline(task, model=model, tokenizer=tokenizer, device="cpu")
    texts = [f"{text} [MASK]" for text in pm.TEXTS] if task == "fill-mask" else pm.TEXTS
    pm.same(ours(texts[0]), theirs(texts[0]))
    for size in (1, 2, 4):
        pm.same(ours(texts, batch_size=size), theirs(texts, batch_size=size))


@pytest.mark.parametrize("size", [1, 3])
def test_answers_in_windows_of_the_file(size, tmp_path):
    """A file of 48 tokens reads a long context in windows of 48."""
    model, tokenizer = pm.bert("BertForQuestionAnswering"), pm.tokenizer()
    inputs = pm.fixed_inputs(tokenizer, 2, 48)
    fixed = pipeline(pm.export(model, tmp_path / "fixed.onnx", tokenizer, inputs=inputs, dynamic=False))
    free = pipeline(pm.export(model, tmp_path / "free.onnx", tokenizer))
    call = {"question": "Who ate?", "context": pm.long_context(200), "top_k": 5}
    pm.same(fixed(**call, batch_size=size), free(**call, max_seq_len=48))


def test_images_one_by_one(tmp_path):
    model, processor = pm.vit()
    inputs = dict(processor(images=[pm.image(), pm.image(1)], return_tensors="pt"))
    path = pm.export(model, tmp_path / "m.onnx", processor, inputs=inputs, dynamic=False)
    theirs = tf.pipeline("image-classification", model=model, image_processor=processor, device="cpu")
    pictures = [pm.image(i) for i in range(5)]
    for size in (1, 2, 3):
        pm.same(pipeline(path)(pictures, batch_size=size), theirs(pictures))
    with pytest.raises(OptionError, match="takes 2×3×32×32, given 1×3×30×32"):
        pipeline(path).model(pixel_values=torch.zeros(1, 3, 30, 32))


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    model, tokenizer = pm.bert("BertForSequenceClassification", **LABELS), pm.tokenizer()
    path = tmp_path_factory.mktemp("short") / "short.onnx"
    inputs = pm.fixed_inputs(tokenizer, 1, LENGTH)
    return model, pm.export(model, path, tokenizer, inputs=inputs, dynamic=False)


def test_a_file_says_that_it_is_short(short):
    with pytest.warns(UserWarning, match="exactly 24 tokens"):
        py_autodoc.pipeline(short[1])


def test_a_text_that_is_too_long(short):
    model, path = short
    with pytest.raises(OptionError, match=r"takes exactly 24 tokens, the text has 102\. Let the tokenizer"):
        pipeline(path)("word " * 100)
    theirs = tf.pipeline("text-classification", model=model, tokenizer=pm.tokenizer(), device="cpu")
    cut = theirs("word " * 100, truncation=True, max_length=LENGTH)
    pm.same(pipeline(path)("word " * 100, truncation=True), cut)


def test_a_given_tokenizer_is_left_as_it_was(short):
    tokenizer = pm.tokenizer()
    pipe = pipeline(short[1], tokenizer=tokenizer)
    assert (tokenizer.model_max_length, pipe.tokenizer.model_max_length) == (512, LENGTH)


def without_mask(model, path, **options):
    """The same model exported without attention_mask."""
    tokenizer = pm.tokenizer()
    inputs = dict(tokenizer(["hello there my friend"], return_tensors="pt"))
    del inputs["attention_mask"]
    return pm.export(model, path, tokenizer, inputs=inputs, **options)


def test_padding_is_never_read_as_text(short, tmp_path):
    model = short[0]
    pipe = pipeline(without_mask(model, tmp_path / "m.onnx"))
    theirs = tf.pipeline("text-classification", model=model, tokenizer=pm.tokenizer(), device="cpu")
    pm.same(pipe(pm.TEXTS), theirs(pm.TEXTS))
    with pytest.raises(InputError, match="no attention_mask"):
        pipe(pm.TEXTS, batch_size=2)
    pipe = pipeline(without_mask(model, tmp_path / "f.onnx", dynamic=False))
    with pytest.raises(OptionError, match="exactly 6 tokens and no attention_mask"):
        pipe("hello")
    pm.same(pipe("hello there my friend"), theirs("hello there my friend"))


def test_no_padding_token(short):
    tokenizer = pm.tokenizer()
    tokenizer.pad_token = None
    config = short[0].config.to_dict()
    config["pad_token_id"] = None
    with pytest.raises(OptionError, match="no padding token"):
        pipeline(short[1], tokenizer=tokenizer, config=config)("hello")


def test_what_is_left_out_is_said(short, tmp_path):
    tokenizer, model = pm.tokenizer(), short[0]
    inputs = dict(tokenizer(["hello there"], return_tensors="pt"))
    del inputs["token_type_ids"]
    pipe = pipeline(pm.export(model, tmp_path / "m.onnx", tokenizer, inputs=inputs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe("hello")  # the second kind of token does not occur: nothing is lost
    with pytest.warns(UserWarning, match="no input token_type_ids"):
        pipe({"text": "hello", "text_pair": "you"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe({"text": "hello", "text_pair": "you"})  # said once


def test_an_output_without_rows(short, tmp_path):
    """A fixed batch can be filled up only where every output can be divided again."""
    proto = onnx.load(short[1])
    two = onnx.helper.make_tensor("two", 1, [2], [1.0, 2.0])
    proto.graph.node.append(onnx.helper.make_node("Constant", [], ["extra"], value=two))
    proto.graph.output.append(onnx.helper.make_tensor_value_info("extra", 1, [2]))
    onnx.save(proto, tmp_path / "m.onnx")
    pipe = pipeline(tmp_path / "m.onnx")
    with pytest.raises(py_autodoc.AutodocError, match="output extra"):
        pipe(pm.TEXTS, batch_size=2)
