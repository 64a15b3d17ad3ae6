"""Text as data: files, tokens, and the inputs that they become."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from onnx import TensorProto

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

import text_models

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.runner import InferenceRunner, TextLoader, compare_precisions, text_loader
from py_autodoc.runner import texts as texts_module
from py_autodoc.runner.texts import Text, is_texts, read_texts
from py_autodoc.runner.tokens import TextTokenizer, find_tokenizer
from py_autodoc.samples import InputSpec

ALL = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


@pytest.fixture(scope="module")
def words():
    return text_models.words()


@pytest.fixture
def place(tmp_path, words):
    """A folder with a model, its tokenizer and three texts of 4, 8 and 6 tokens."""
    text_models.reader(tmp_path / "m.onnx")
    text_models.saved(words, tmp_path)
    (tmp_path / "t.txt").write_text("the cat\n\na dog ran over the hill\r\ngood bad fine awful", newline="")
    return tmp_path


def ids(tokenizer, text):
    return tokenizer.encode(text).ids


# Files


def test_lines_and_objects(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\n\n  \n two \r\nthree\x0b\xe2\x80\xa8four")
    assert [one.text for one in read_texts(tmp_path / "a.txt")] == ["one", " two ", "three\x0b\u2028four"]
    rows = [
        {"text": "a", "label": 1, "more": []},
        {"text": "", "text_pair": "b"},
        {"text": "é", "labels": "x"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(one) for one in rows) + "\n")
    assert read_texts(tmp_path / "a.jsonl") == [Text("a", None, 1), Text("", "b"), Text("é", None, "x")]
    assert len(read_texts(tmp_path / "a.jsonl", most=2)) == 2


def test_another_field(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"sentence": "a b", "label": 0.5}\n')
    assert read_texts(tmp_path / "a.jsonl", "sentence") == [Text("a b", None, 0.5)]
    with pytest.raises(AutodocError, match=r"a\.jsonl, line 1 has no text in 'text'") as found:
        read_texts(tmp_path / "a.jsonl")
    assert found.value.hint == "Choose another field with --text-field: sentence."


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"", "a.txt contains no text"),
        ("a.txt", b" \n\n", "a.txt contains no text"),
        ("a.txt", b"\xff\xfeo\x00", "cannot be read as text in UTF-8"),
        ("a.jsonl", b'{"text": "a"}\nhello\n', "a.jsonl, line 2 is not a JSON object"),
        ("a.jsonl", b"[1]\n", "line 1 is not a JSON object"),
        ("a.jsonl", b'{"text": 3}\n', "line 1 has no text in 'text'"),
        ("a.jsonl", b'{"text": "a", "text_pair": 3}\n', "line 1 has no text in 'text_pair'"),
        ("a.jsonl", b'\n{"text": "\\ud83d"}\n', "line 2 contains an unpaired surrogate"),
        ("a.jsonl", b"[" * 5000, "line 1 is nested deeper"),
        ("a.jsonl", b"[" + b"1," * 20_000 + b"1]", "line 1 has more than 10,000 values"),
    ],
)
def test_files_that_hold_no_texts(tmp_path, name, data, says):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(AutodocError) as found:
        read_texts(tmp_path / name)
    assert says in found.value.message
    assert "\n" not in str(found.value)


def test_a_line_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(texts_module, "MAX_LINE", 10)
    (tmp_path / "a.txt").write_text("short\n" + "x" * 11)
    with pytest.raises(AutodocError, match=r"a\.txt, line 2 has more than 10 characters"):
        read_texts(tmp_path / "a.txt")
    with pytest.raises(AutodocError, match="no such file"):
        read_texts(tmp_path / "none.txt")


def test_which_paths_are_texts(tmp_path):
    (tmp_path / "folder.txt").mkdir()
    given = ("a.txt", tmp_path / "a.JSONL", "a.npz", tmp_path / "folder.txt", None, {"a": 1})
    assert [is_texts(one) for one in given] == [True, True, False, False, False, False]


# Inputs


def test_inputs_by_name(place, words):
    text_models.reader(place / "m.onnx", ALL)
    loader = text_loader(place / "m.onnx", place / "t.txt")
    assert (len(loader), loader.batch, loader.length) == (3, 1, 8)
    first, label = next(iter(loader))
    assert label is None
    assert list(first) == list(ALL)
    assert first["input_ids"].tolist() == [[*ids(words, "the cat"), 0, 0, 0, 0]]
    assert first["attention_mask"].tolist() == [[1, 1, 1, 1, 0, 0, 0, 0]]
    assert first["token_type_ids"].tolist() == [[0] * 8]
    assert first["position_ids"].tolist() == [list(range(8))]
    assert loader.notes == []


def test_pairs_have_token_types(place, words):
    text_models.reader(place / "m.onnx", ("input_ids", "token_type_ids", "attention_mask"))
    (place / "p.jsonl").write_text('{"text": "the cat", "text_pair": "a dog"}\n')
    sample, _ = next(iter(text_loader(place / "m.onnx", place / "p.jsonl")))
    encoded = words.encode("the cat", "a dog")
    assert sample["input_ids"].tolist() == [encoded.ids]
    assert sample["token_type_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 1]]


@pytest.mark.parametrize(
    "names",
    [("input_ids:0", "input_mask:0", "segment_ids:0"), ("input_ids", "position_ids"), ("input_ids",)],
)
def test_names_of_other_exporters(place, names):
    text_models.reader(place / "m.onnx", names)
    sample, _ = next(iter(text_loader(place / "m.onnx", place / "t.txt")))
    assert tuple(sample) == names


@pytest.mark.parametrize("kind", [TensorProto.INT32, TensorProto.INT64])
def test_types_of_inputs(place, kind):
    text_models.reader(place / "m.onnx", ALL, kind=kind)
    loader = text_loader(place / "m.onnx", place / "t.txt")
    wanted = {TensorProto.INT32: np.int32, TensorProto.INT64: np.int64}[kind]
    assert {one.dtype for sample, _ in loader for one in sample.values()} == {np.dtype(wanted)}
    assert len(InferenceRunner(place / "m.onnx", data=loader).run(loader, 0, 1).outputs) == 3


def test_masks_of_other_types(place):
    specs = [
        InputSpec("input_ids", np.dtype(np.int64), (1, 4)),
        InputSpec("attention_mask", np.dtype(np.float32), (1, 4)),
        InputSpec("token_type_ids", np.dtype(bool), (1, 4)),
    ]
    sample, _ = next(iter(TextLoader(place / "t.txt", specs, place / "tokenizer.json")))
    assert sample["attention_mask"].dtype == np.float32
    assert sample["token_type_ids"].dtype == bool


def test_a_fixed_length(place, words):
    text_models.reader(place / "m.onnx", shape=("batch", 6))
    loader = text_loader(place / "m.onnx", place / "t.txt")
    rows = [sample["input_ids"][0].tolist() for sample, _ in loader]
    assert [len(one) for one in rows] == [6, 6, 6]
    # What the tokenizer puts at the end stays there.
    assert rows[1] == [*ids(words, "a dog ran over the hill")[:5], 3]
    assert loader.notes == ["1 of 3 texts is longer than 6 tokens and was truncated."]
    assert loader.source == "t.txt (tokenizer.json, 1 truncated to 6 tokens)"


def test_batches(place):
    text_models.reader(place / "m.onnx", shape=("n", "s"))
    loader = text_loader(place / "m.onnx", place / "t.txt", bindings={"n": 2, "s": 5})
    ((sample, _),) = loader
    assert sample["input_ids"].shape == (2, 5)
    assert loader.notes[-1] == "1 text is not used, because a batch needs 2."
    text_models.reader(place / "m.onnx", shape=(3, "s"))
    ((sample, _),) = text_loader(place / "m.onnx", place / "t.txt", samples=1)
    assert sample["input_ids"].shape == (3, 8)
    with pytest.raises(AutodocError, match="contains 3 texts, but a batch needs 4"):
        text_loader(
            place / "m.onnx", place / "t.txt", input_shapes={"input_ids": (4, 8), "attention_mask": (4, 8)}
        )


def test_results_are_those_of_the_tokens(place, words):
    found = InferenceRunner(place / "m.onnx", data=place / "t.txt").run(place / "t.txt", 0, 1)
    texts = [one.text for one in read_texts(place / "t.txt")]
    sums = [sum(ids(words, one)) + len(ids(words, one)) for one in texts]
    assert [int(one[0][0, 0]) for one in found.outputs] == sums


def test_labels(place):
    rows = [{"text": "good", "label": 1}, {"text": "bad", "label": 0}, {"text": "fine", "label": 1}]
    (place / "l.jsonl").write_text("\n".join(map(json.dumps, rows)))
    labels = [label for _, label in text_loader(place / "m.onnx", place / "l.jsonl")]
    assert [one.tolist() for one in labels] == [[1], [0], [1]]
    rows[0]["label"], rows[2]["label"] = ["word", "other"], None
    (place / "l.jsonl").write_text("\n".join(map(json.dumps, rows)))
    labels = [label for _, label in text_loader(place / "m.onnx", place / "l.jsonl")]
    assert labels[0] == [["word", "other"]]
    assert labels[2] is None


def test_decoders_fill_up_on_the_left(place):
    tokenizer = text_models.pairs_of_bytes()
    file = text_models.saved(
        tokenizer, place / "bpe", padding_side="left", pad_token={"content": "<|endoftext|>"}
    )
    text_models.reader(place / "m.onnx", ALL)
    loader = text_loader(place / "m.onnx", place / "t.txt", file)
    first, _ = next(iter(loader))
    own = ids(tokenizer, "the cat")
    rest = loader.length - len(own)
    assert rest > 0
    assert first["input_ids"].tolist() == [[0] * rest + own]
    assert first["attention_mask"].tolist() == [[0] * rest + [1] * len(own)]
    assert first["position_ids"].tolist() == [[0] * rest + list(range(len(own)))]


def test_what_the_tokenizer_says_of_length_and_padding(place, words):
    held = text_models.words()
    held.enable_truncation(5)
    held.enable_padding(pad_id=1, pad_type_id=7, pad_token="[UNK]")
    file = text_models.saved(held, place / "own", model_max_length=1e30)
    text_models.reader(place / "m.onnx", ("input_ids", "token_type_ids"))
    loader = text_loader(place / "m.onnx", place / "t.txt", file.parent)
    first, _ = next(iter(loader))
    assert loader.length == 5
    assert first["input_ids"].tolist() == [[*ids(words, "the cat"), 1]]
    assert first["token_type_ids"].tolist() == [[0, 0, 0, 0, 7]]
    assert "no attention_mask" in loader.notes[1]
    text_models.saved(words, place / "own", model_max_length=6)
    assert text_loader(place / "m.onnx", place / "t.txt", file).length == 6
    # A length that is asked for goes before.
    assert text_loader(place / "m.onnx", place / "t.txt", file, bindings={"sequence": 7}).length == 7


# Refusals


def test_models_that_take_no_text(place):
    for names in (("input_ids", "pixel_values"), ("tokens",), ("attention_mask",)):
        text_models.reader(place / "m.onnx", names)
        with pytest.raises(AutodocError) as found:
            text_loader(place / "m.onnx", place / "t.txt")
        assert found.value.code == "no-text-input"
        assert "input_ids" in str(found.value)
    with pytest.raises(
        AutodocError, match=r"resnet_tiny\.onnx takes xs_0, which cannot be created from text"
    ):
        text_loader("tests/data/models/resnet_tiny.onnx", place / "t.txt")


@pytest.mark.parametrize(
    ("specs", "says"),
    [
        ([InputSpec("input_ids", np.dtype(np.float32), (1, 4))], "integers"),
        ([InputSpec("input_ids", np.dtype(np.int64), (4,))], "batch × length"),
        ([InputSpec("input_ids", np.dtype(np.int64), (1, 4)),
          InputSpec("attention_mask", np.dtype(np.int64), (1, 5))], "different shapes"),
        ([InputSpec("input_ids", np.dtype(np.int64), (1, 2))], "adds 2 special tokens to a text"),
        ([InputSpec("input_ids", np.dtype(np.int64), (1, 4), rows=5)], "tokens below 5"),
        ([InputSpec("input_ids", np.dtype(np.int64), (1, 4), "tokens", 8)], "returns the token"),
    ],
)  # fmt: skip
def test_inputs_that_text_does_not_fit(place, specs, says):
    with pytest.raises(AutodocError) as found:
        TextLoader(place / "t.txt", specs, place / "tokenizer.json")
    assert says in found.value.message


def test_a_tokenizer_of_another_model(place):
    text_models.reader(place / "m.onnx", rows=100)
    file = text_models.saved(text_models.pairs_of_bytes(), place / "bpe")
    with pytest.raises(AutodocError, match="the model has tokens below 100") as found:
        text_loader(place / "m.onnx", place / "t.txt", file)
    assert found.value.code == "tokens-beyond-table"


def test_a_tokenizer_is_looked_for_beside_the_model(place):
    assert find_tokenizer(place / "m.onnx") == place / "tokenizer.json"
    assert find_tokenizer("elsewhere/m.onnx", place) == place / "tokenizer.json"
    (place / "tokenizer.json").unlink()
    with pytest.raises(AutodocError, match=r"no tokenizer\.json next to m\.onnx") as found:
        text_loader(place / "m.onnx", place / "t.txt")
    assert "--tokenizer" in found.value.hint


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "no JSON", '{"model": {"type": "WordLevel"}}', '{"model": {"type": "x"}}', "[" * 50_000,
     '{"model": {"type": "WordLevel", "vocab": {"a": -1}, "unk_token": "a"}}'],
)  # fmt: skip
def test_what_is_no_tokenizer(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(AutodocError, match=r"x\.json (is|has)") as found:
        TextTokenizer(tmp_path / "x.json")
    assert found.value.code == "bad-tokenizer"
    assert "\n" not in str(found.value)


def test_a_tokenizer_that_contradicts_itself(place):
    """The library panics on a mark that it was told to put and does not know."""
    held = json.loads((place / "tokenizer.json").read_text())
    del held["post_processor"]["special_tokens"]["[SEP]"]
    (place / "tokenizer.json").write_text(json.dumps(held))
    with pytest.raises(AutodocError, match=r"tokenizer\.json is not a working tokenizer: ") as found:
        text_loader(place / "m.onnx", place / "t.txt")
    assert found.value.code == "bad-tokenizer"


def test_tokenizers_that_are_not_there(place, monkeypatch):
    with pytest.raises(AutodocError, match=r"none\.json: no such file"):
        TextTokenizer(place / "none.json")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(AutodocError, match="which is not installed") as found:
        text_loader(place / "m.onnx", place / "t.txt")
    assert found.value.hint == "pip install tokenizers"


def test_a_broken_configuration_says_nothing(place, words):
    (place / "tokenizer_config.json").write_text("{")
    assert TextTokenizer(place / "tokenizer.json").longest is None
    (place / "tokenizer_config.json").write_text('["a"]')
    assert not TextTokenizer(place / "tokenizer.json").pads_left


# Runs


def test_models_beside_each_other(place):
    (place / "other").mkdir()
    text_models.reader(place / "other" / "m.onnx", shape=("n", "length"))
    models = {"a": place / "m.onnx", "b": place / "other" / "m.onnx"}
    found = compare_precisions(models, place / "t.txt", runs=1, warmup=0, memory=False)
    assert (found.samples, found.data) == (3, "t.txt (tokenizer.json)")
    assert found.variants[1].metrics["cosine"] == pytest.approx(1.0)


def test_the_command(place):
    def ask(*args):
        few = ("--runs", "1", "--warmup", "0")
        return CliRunner().invoke(app, ["run", str(place / "m.onnx"), *few, *map(str, args)])

    told = ask("--data", place / "t.txt", "--layers", "--bind", "sequence=6")
    assert told.exit_code == 0
    assert "3 samples, t.txt (tokenizer.json, 1 truncated to 6 tokens)" in told.stdout
    assert "100.0% of it attributed" in told.stdout
    assert told.stderr == "warning: 1 of 3 texts is longer than 6 tokens and was truncated.\n"
    (place / "l.jsonl").write_text('{"sentence": "good", "label": 0}\n')
    assert ask("--data", place / "l.jsonl").exit_code == 1
    named = ask("--data", place / "l.jsonl", "--text-field", "sentence", "--metrics", "topk")
    assert named.exit_code == 0
    assert "top1 1" in named.stdout
    assert "--text-field" in ask("--text-field", "sentence").stderr
    missing = ask("--data", place / "t.txt", "--tokenizer", place / "none.json")
    assert missing.exit_code == 1
    assert missing.stderr == "error: none.json: no such file.\n"
