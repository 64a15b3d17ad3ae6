"""What an exported model takes along, through every exporter and the command line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import transformers as hf
from click.testing import CliRunner

import py_autodoc.torch
from py_autodoc.cli.app import app
from py_autodoc.compare.topology import same_topology
from py_autodoc.errors import OptionError
from py_autodoc.hf import keys, metadata_of, read_metadata
from py_autodoc.hf.write import gather_metadata, timestamp
from py_autodoc.packed import special_floats

pytestmark = pytest.mark.slow

sys.path.insert(0, str(Path(__file__).parent.parent / "torch"))
try:
    import export_folders
finally:
    del sys.path[0]

LOCAL = re.compile(r"(^|[\"\s])(/|[A-Za-z]:\\)\w+[/\\]")


@pytest.fixture(autouse=True)
def build_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return export_folders.bert(tmp_path_factory.mktemp("models") / "bert")


def props(path):
    model = onnx.load(path, load_external_data=False)
    assert len({p.key for p in model.metadata_props}) == len(model.metadata_props)
    return {p.key: p.value for p in model.metadata_props if p.key.startswith("hf_")}


def inputs(model):
    return dict.fromkeys(("input_ids", "attention_mask"), model.dummy_inputs["input_ids"][:2, :4] % 10)


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript", "hf"])
def test_every_exporter(exporter, bert, tmp_path):
    model = hf.AutoModelForSequenceClassification.from_pretrained(bert)
    result = py_autodoc.torch.export(model, inputs(model), tmp_path / "a.onnx", exporter=exporter)
    onnx.checker.check_model(str(result.path))
    found = read_metadata(result.path)
    assert found.warnings == ()
    assert (found.schema, found.task, found.task_source) == ("2.0", "text-classification", "registry")
    assert found.created == "2023-11-14T22:13:20Z"
    assert found.config["architectures"] == ["BertForSequenceClassification"]
    assert hf.BertConfig.from_dict(found.config).hidden_size == 8
    assert {"onnx-autodoc", "transformers", "torch", "onnx"} <= set(found.exporter)
    for name, data in found.files.items():
        assert data == (bert / name).read_bytes()
    assert set(found.files) == {"tokenizer.json", "tokenizer_config.json"}
    assert result.carried.task == "text-classification"
    plain = py_autodoc.torch.export(
        model, inputs(model), tmp_path / "b.onnx", exporter=exporter, embed_metadata=False
    )
    assert props(plain.path) == {}
    assert plain.carried is None
    assert same_topology(result.path, plain.path) == []


def test_a_build_can_be_repeated(bert, tmp_path, monkeypatch):
    first = metadata_of(hf.AutoModel.from_pretrained(bert), source_folder=bert)
    assert metadata_of(hf.AutoModel.from_pretrained(bert), source_folder=bert) == first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000001")
    again = metadata_of(hf.AutoModel.from_pretrained(bert), source_folder=bert)
    assert {key for key in first if first[key] != again[key]} == {keys.TIMESTAMP, keys.CHECKSUMS}
    for odd in ("soon", "1e99", "9" * 40):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", odd)
        with pytest.raises(OptionError, match="SOURCE_DATE_EPOCH"):
            timestamp()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", timestamp())


def test_a_processor_in_memory(bert):
    model, tokenizer = hf.AutoModel.from_pretrained(bert), hf.AutoTokenizer.from_pretrained(bert)
    found = read_metadata(metadata_of(model.config, tokenizer))
    assert json.loads(found.files["tokenizer.json"])["model"]["vocab"]["cat"] == 6
    assert found.processor_config["tokenizer"]["model_max_length"] == 16
    image = hf.ViTImageProcessorPil()
    both = read_metadata(metadata_of(model.config, [tokenizer, image]))
    assert set(both.processor_config) == {"tokenizer", "image_processor"}
    with pytest.raises(OptionError, match="dict"):
        metadata_of(model.config, {})


def test_a_vocabulary_that_is_no_json(tmp_path):
    """A folder of before fast tokenizers: its words are in files that the tokenizer's class names."""
    words = "\n".join(export_folders.WORDS).encode()
    (tmp_path / "vocab.txt").write_bytes(words)
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": true}'
    )
    config = {"architectures": ["BertForMaskedLM"], "model_type": "bert"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = read_metadata(metadata_of(config, source_folder=tmp_path))
    assert found.files["vocab.txt"] == words
    assert found.task == "fill-mask"


def test_settings_that_name_a_place_are_left_out(tmp_path):
    config = hf.BertConfig(_name_or_path="/home/me/secret")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_file": "/home/me/secret/tokenizer.json", "name_or_path": "C:\\Users\\me\\x",
        "special_tokens_map_file": None, "tokenizer_class": "X", "pad_token": "/",
    }))  # fmt: skip
    (tmp_path / "tokenizer.json").write_text("{}")
    entries = metadata_of(config, source_folder=tmp_path)
    assert not any("secret" in value or "Users" in value for value in entries.values())
    kept = json.loads(read_metadata(entries).files["tokenizer_config.json"])
    assert kept == {"special_tokens_map_file": None, "tokenizer_class": "X", "pad_token": "/"}


def test_numbers_that_json_has_not(tmp_path):
    found = read_metadata(metadata_of(hf.BertConfig(layer_norm_eps=float("inf"))))
    (tmp_path / "config.json").write_text(json.dumps(found.config))
    again = hf.BertConfig.from_pretrained(tmp_path)
    assert again.layer_norm_eps == float("inf")
    assert special_floats(found.config)["layer_norm_eps"] == float("inf")


def test_left_out_and_small():
    labels = {i: f"label number {i} – é" for i in range(3000)}
    config = hf.BertConfig(id2label=labels, label2id={name: i for i, name in labels.items()})
    found = gather_metadata(config, None)
    assert found.entries[keys.CONFIG].startswith("gz:")
    assert found.characters < keys.TYPICAL
    assert found.warnings == []
    assert read_metadata(found.entries).config["id2label"] == {str(i): name for i, name in labels.items()}


def test_metadata_beyond_the_usual_is_told():
    rng = np.random.default_rng(0)
    labels = {i: rng.bytes(30).hex() for i in range(4000)}
    found = gather_metadata(hf.BertConfig(id2label=labels, label2id={}), None)
    assert "large" in found.warnings[0]


def test_what_the_caller_writes_stands(bert, tmp_path):
    model = hf.AutoModelForSequenceClassification.from_pretrained(bert)
    own = metadata_of(model, task="zero-shot-classification")
    result = py_autodoc.torch.export(model, inputs(model), tmp_path / "a.onnx", metadata={**own, "mine": "1"})
    assert props(result.path) == own
    assert read_metadata(result.path).task_source == "given"
    with pytest.raises(OptionError, match="text-classification"):
        py_autodoc.torch.export(model, inputs(model), tmp_path / "b.onnx", task="text-clasification")
    with pytest.raises(OptionError, match="Linear"):
        py_autodoc.torch.export(
            py_autodoc_linear(), np_ones(), tmp_path / "b.onnx", task="text-classification"
        )
    assert not (tmp_path / "b.onnx").exists()


def py_autodoc_linear():
    import torch

    return torch.nn.Linear(2, 2)


def np_ones():
    import torch

    return torch.ones(1, 2)


def run(*args):
    done = CliRunner().invoke(app, [*map(str, args)], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_the_command(bert, tmp_path):
    out = tmp_path / "a.onnx"
    code, text, err = run("export", bert, out, "--report-json", "-", "--report-md", tmp_path / "a.md")
    assert code == 0, err
    (model,) = json.loads(text)["models"]
    told = model["metadata"]
    assert (told["task"], told["task_source"], told["left_out"]) == ("text-classification", "registry", [])
    stored = props(out)
    for one in told["processor_files"]:
        assert one["bytes"] == (bert / one["name"]).stat().st_size
        assert one["characters"] == len(stored[keys.FILE + one["name"]])
    assert "text-classification (registry)" in err
    assert "tokenizer.json" in err
    assert "tokenizer.json" in (tmp_path / "a.md").read_text()
    assert not any(LOCAL.search(value) for value in stored.values())

    code, _, err = run("export", bert, out, "--no-embed-processor", "--task", "sentiment-analysis")
    assert code == 0
    found = read_metadata(out)
    assert (found.task, found.task_source, dict(found.files)) == ("text-classification", "given", {})
    assert found.processor_config["tokenizer"]["model_max_length"] == 16
    assert "not included" in err

    code, _, _ = run("export", bert, out, "--no-embed-metadata")
    assert (code, props(out)) == (0, {})
    code, _, err = run("export", bert, out, "--task", "text-clasification")
    assert code == 1
    assert "text-classification" in err


def test_prefill_and_decode(tmp_path):
    folder = export_folders.llama(tmp_path / "llama")
    export_folders.tokenizer(folder)
    out = tmp_path / "out"
    code, _, err = run("export", folder, out, "--exporter", "hf", "--generation")
    assert code == 0, err
    files = sorted(out.glob("*.onnx"))
    assert len(files) >= 2
    for path in files:
        found = read_metadata(path)
        assert (found.task, found.warnings) == ("text-generation", ())
        assert found.generation_config["eos_token_id"] == 2
        assert found.files["tokenizer.json"] == (folder / "tokenizer.json").read_bytes()


def test_the_metadata_command(bert, tmp_path):
    out = tmp_path / "a.onnx"
    assert run("export", bert, out)[0] == 0
    code, text, err = run("metadata", out)
    assert (code, err) == (0, "")
    for shown in ("text-classification (registry)", "BertForSequenceClassification, bert", "tokenizer.json"):
        assert shown in text
    code, text, _ = run("metadata", out, "--json")
    told = json.loads(text)
    assert told["config"]["model_type"] == "bert"
    assert [one["name"] for one in told["files"]] == ["tokenizer.json", "tokenizer_config.json"]
    code, _, err = run("metadata", out, "--extract-processor", tmp_path / "processor")
    assert code == 0
    assert hf.AutoTokenizer.from_pretrained(tmp_path / "processor")("a cat").input_ids == [5, 6]
    assert hf.AutoConfig.from_pretrained(tmp_path / "processor").hidden_size == 8
    code, _, err = run("metadata", out, "--extract-processor", tmp_path / "processor")
    assert (code, "not empty" in err) == (3, True)


def test_the_metadata_command_on_what_is_not_ours(tmp_path, bert):
    code, text, err = run("metadata", Path(__file__).parent.parent / "data" / "models" / "bert_tiny.onnx")
    assert code == 0
    assert "no metadata" in err
    assert "schema" not in text
    code, _, err = run("metadata", tmp_path / "none.onnx")
    assert code == 1
    model = onnx.load(Path(__file__).parent.parent / "data" / "models" / "bert_tiny.onnx")
    hostile = {
        "hf_pipeline_task": "x\x1b[31m",
        "hf_file/../../evil": "x",
        "hf_file/a.json": "gz:AAAA",
        "o\x1b": "\x1b" * 9,
    }
    onnx.helper.set_model_props(model, hostile)
    onnx.save(model, tmp_path / "a.onnx")
    code, text, err = run("metadata", tmp_path / "a.onnx")
    assert code == 0
    assert "\x1b" not in text + err
    assert "damaged" in text
    code, _, err = run("metadata", tmp_path / "a.onnx", "--extract-processor", tmp_path / "p")
    assert code == 1
    assert not (tmp_path / "p").exists()
    assert not (tmp_path.parent / "evil").exists()


def test_half_a_megabyte_bloats_no_report(tmp_path):
    """Report, viewer's payload and page stay as small as without it."""
    from py_autodoc import analyze
    from py_autodoc.report.pipeline import analysis
    from py_autodoc.report.viewer_payload.bundle import build_bundle

    source = Path(__file__).parent.parent / "data" / "models" / "resnet_tiny.onnx"
    data = np.random.default_rng(0).bytes(380_000)
    model = onnx.load(source)
    before = {p.key: p.value for p in model.metadata_props}
    onnx.save(model, tmp_path / "a.onnx")
    onnx.helper.set_model_props(
        model, {**before, "hf_file/tokenizer.json": "xz:" + data.hex(), "other": data.hex()}
    )
    onnx.save(model, tmp_path / "b.onnx")
    sizes = []
    for name in ("a.onnx", "b.onnx"):
        report = analyze(tmp_path / name)
        bundle = build_bundle(analysis.run_analysis(str(tmp_path / name)))
        sizes.append((len(report.to_json()), len(bundle)))
    assert (tmp_path / "b.onnx").stat().st_size > 1_400_000
    assert all(long - short < 6000 for short, long in zip(*sizes, strict=True))
    shown = report.model.metadata["hf_file/tokenizer.json"]
    assert shown.endswith("(760,003 characters)")
    assert len(shown) < 200
