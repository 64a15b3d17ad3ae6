"""What can be exported, which inputs it gets, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile

import export_folders
import numpy as np
import pytest
import torch
from export_folders import config_only

from py_autodoc.errors import AutodocError, InputError, OptionError, RequirementError
from py_autodoc.torch import input_options, program_files, sources
from py_autodoc.torch.adjust_inputs import adjust_inputs
from py_autodoc.torch.input_options import InputOptions, dynamic_axes_of, parse_dynamic, parse_shapes
from py_autodoc.torch.sources import load_source

pytestmark = pytest.mark.slow


def shapes(loaded):
    return {name: tuple(value.shape) for name, value in loaded.example.items()}


def load(folder, **options):
    return load_source(str(folder), InputOptions(**options))


def code_of(call):
    with pytest.raises(AutodocError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return caught.value.code


@pytest.fixture
def bert(tmp_path):
    return export_folders.bert(tmp_path / "bert")


def test_a_text_folder(bert):
    loaded = load(bert)
    assert shapes(loaded) == dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), (1, 12))
    assert loaded.output_names == ["logits"]
    assert loaded.facts["class"] == "BertForSequenceClassification"
    assert loaded.facts["name"] == "bert"
    assert loaded.facts["parameters"] == sum(p.numel() for p in loaded.model.parameters())
    assert loaded.warnings == loaded.notes == []
    again = load(bert)
    assert torch.equal(loaded.example["input_ids"], again.example["input_ids"])
    assert not torch.equal(loaded.example["input_ids"], load(bert, seed=1).example["input_ids"])


def test_experts_are_batched_products_where_nothing_else_was_chosen(tmp_path):
    """Grouped products, which transformers computes experts with, have no operator of ONNX."""
    sizes = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 4, "pad_token_id": 0}
    folder = export_folders.config_only("MixtralForCausalLM", **sizes)(tmp_path / "m")
    loaded = load(folder, random_weights=True)
    assert set(loaded.model.get_experts_implementation().values()) == {"batched_mm"}
    assert any("batched products" in note for note in loaded.notes)
    cached = load(folder, random_weights=True, cache=True)
    assert set(cached.model.get_experts_implementation().values()) != {"batched_mm"}


def test_sizes_and_shapes_go_together(bert):
    assert set(shapes(load(bert, batch=3, sequence=5)).values()) == {(3, 5)}
    assert set(shapes(load(bert, shapes={"input_ids": (2, 7)})).values()) == {(2, 7)}
    assert set(shapes(load(bert, dynamic=("batch",))).values()) == {(2, 12)}
    assert code_of(lambda: load(bert, shapes={"input_idz": (2, 7)})) == "unknown-input"


def test_a_text_of_the_user(bert, tmp_path):
    loaded = load(bert, text="a cat sat there", batch=2)
    assert loaded.example["input_ids"].tolist() == [[5, 6, 7, 9]] * 2
    padded = load(bert, text="a cat", sequence=4).example
    assert padded["input_ids"].tolist() == [[5, 6, 0, 0]]
    assert padded["attention_mask"].tolist() == [[1, 1, 0, 0]]
    bare = export_folders.bert(tmp_path / "bare", words=False)
    assert code_of(lambda: load(bare, text="a cat")) == "no-tokenizer"


def test_weights_are_those_of_the_folder_or_random(bert):
    one, two = load(bert).model, load(bert, random_weights=True).model
    name = "bert.embeddings.word_embeddings.weight"
    stored = torch.nn.Parameter(one.state_dict()[name])
    assert not torch.equal(stored, two.state_dict()[name])
    assert torch.equal(two.state_dict()[name], load(bert, random_weights=True).model.state_dict()[name])
    next(bert.glob("*.safetensors")).unlink()
    assert code_of(lambda: load(bert)) == "no-weights"
    assert load(bert, random_weights=True).facts["weights"] == "random"


def test_weights_that_are_missing_are_told(bert):
    from safetensors.torch import load_file, save_file

    path = next(bert.glob("*.safetensors"))
    weights = load_file(path)
    del weights["classifier.weight"]
    save_file(weights, path, {"format": "pt"})
    (warning,) = load(bert).warnings
    assert warning == "1 weights are not in the checkpoint and were initialized randomly: classifier.weight."


def test_images_and_two_stages(tmp_path):
    assert shapes(load(export_folders.vit(tmp_path / "vit"), batch=2)) == {"pixel_values": (2, 2, 8, 12)}
    loaded = load(export_folders.t5(tmp_path / "t5"), sequence=5)
    assert shapes(loaded) == dict.fromkeys(("input_ids", "attention_mask", "decoder_input_ids"), (1, 5))
    assert loaded.example["decoder_input_ids"][0, 0] == 0
    assert "without the key-value cache" in loaded.notes[0]
    axes = dynamic_axes_of(("batch", "seq"), loaded.example)
    assert axes["input_ids"] == axes["attention_mask"] == {0: "batch", 1: "seq"}
    assert axes["decoder_input_ids"] == {0: "batch", 1: "decoder_seq"}


SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
WHISPER = {
    "vocab_size": 40, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "num_mel_bins": 20,
    "max_source_positions": 12, "max_target_positions": 10, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 3,
}  # fmt: skip
CLIP = {
    "text_config": {**SMALL, "vocab_size": 40, "max_position_embeddings": 9, "eos_token_id": 2},
    "vision_config": {**SMALL, "image_size": 8, "patch_size": 4},
    "projection_dim": 8,
}
OTHERS = {
    "WhisperForConditionalGeneration": (
        WHISPER,
        {"input_features": (1, 20, 24), "decoder_input_ids": (1, 10)},
    ),
    "CLIPModel": (CLIP, {"input_ids": (1, 9), "pixel_values": (1, 3, 8, 8), "attention_mask": (1, 9)}),
    "ASTModel": ({**SMALL, "num_mel_bins": 32, "max_length": 32}, {"input_values": (1, 32, 32)}),
    "VideoMAEModel": (
        {**SMALL, "image_size": 16, "patch_size": 8, "num_frames": 2},
        {"pixel_values": (1, 2, 3, 16, 16)},
    ),
    "Wav2Vec2Model": (
        {**SMALL, "conv_dim": [8, 8], "conv_stride": [40, 40], "conv_kernel": [40, 40], "vocab_size": 8,
         "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2},
        {"input_values": (1, 16000)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_other_modalities(kind, tmp_path):
    settings, expected = OTHERS[kind]
    loaded = load(config_only(kind, **settings)(tmp_path / "m"), random_weights=True)
    assert shapes(loaded) == expected
    assert loaded.warnings == []


def test_an_input_that_cannot_be_worked_out(tmp_path):
    settings = {"context_length": 8, "patch_length": 4, "d_model": 8, "num_attention_heads": 2, "ffn_dim": 8}
    folder = config_only("PatchTSTModel", **settings, num_hidden_layers=1)(tmp_path / "m")
    assert code_of(lambda: load(folder, random_weights=True)) == "input-unknown"
    loaded = load(folder, random_weights=True, shapes={"past_values": (1, 8, 1)})
    assert shapes(loaded) == {"past_values": (1, 8, 1)}


def test_arrays(bert, tmp_path):
    path = tmp_path / "in.npz"
    np.savez(path, input_ids=np.ones((2, 3), np.int64))
    assert shapes(load(bert, arrays=path)) == {"input_ids": (2, 3)}
    np.savez(path, input_idz=np.ones((2, 3), np.int64))
    assert code_of(lambda: load(bert, arrays=path)) == "unknown-input"
    np.savez(path, input_ids=np.ones((2, 30), np.int64))
    assert code_of(lambda: load(bert, arrays=path)) == "export-forward"


@pytest.mark.parametrize("content", [b"", b"PK\3\4 no archive", b"text"])
def test_arrays_that_are_none(content, tmp_path):
    path = tmp_path / "in.npz"
    path.write_bytes(content)
    assert code_of(lambda: input_options.read_arrays(path)) == "bad-arrays"


def test_arrays_are_never_unpickled(tmp_path, monkeypatch):
    path = tmp_path / "in.npz"
    np.savez(path, x=np.array([{"a": 1}], dtype=object))
    assert code_of(lambda: input_options.read_arrays(path)) == "bad-arrays"
    np.savez(path, x=np.array(["a"]))
    assert code_of(lambda: input_options.read_arrays(path)) == "bad-arrays"
    np.savez(path, x=np.zeros(100))
    monkeypatch.setattr(input_options, "MAX_ARRAYS", 500)
    assert code_of(lambda: input_options.read_arrays(path)) == "bad-arrays"
    assert code_of(lambda: input_options.read_arrays(tmp_path / "none.npz")) == "path-missing"


@pytest.mark.parametrize(
    ("write", "code"),
    [
        ({}, "no-config"),
        ({"config.json": "{"}, "bad-config"),
        ({"config.json": "[]"}, "bad-config"),
        ({"config.json": "{}"}, "bad-config"),
        ({"config.json": '{"model_type": "bert", "architectures": ["NoSuchModel"]}'}, "architecture-unknown"),
        ({"config.json": '{"model_type": "bert", "architectures": 1}'}, "bad-config"),
        ({"config.json": '{"model_type": "bert", "num_hidden_layers": 1' + "0" * 30 + "}"}, "limit-layers"),
        ({"config.json": '{"model_type": "swin", "depths": [1, 100000]}'}, "limit-layers"),
        (
            {"config.json": '{"model_type": "bert", "architectures": ["BertTokenizer"]}'},
            "architecture-unknown",
        ),
        (
            {"config.json": '{"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}', "own.py": "boom"},
            "remote-code",
        ),
    ],
)
def test_folders_that_are_no_models(write, code, tmp_path):
    for name, text in write.items():
        (tmp_path / name).write_text(text)
    assert code_of(lambda: load(tmp_path)) == code


def test_damaged_weights(bert):
    next(bert.glob("*.safetensors")).write_bytes(b"nothing of the kind")
    assert code_of(lambda: load(bert)) == "bad-config"


@pytest.fixture
def nets(tmp_path, monkeypatch):
    export_folders.factory(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_nets", raising=False)


def test_a_factory(nets, tmp_path, capsys):
    before = list(sys.path)
    loaded = load("my_nets:pair")
    assert sys.path == before
    assert capsys.readouterr().out == ""
    assert [tuple(one.shape) for one in loaded.example] == [(2, 4), (3,)]
    example = adjust_inputs(loaded.model, loaded.example, InputOptions(shapes={"x": (5, 4), "scale": (1,)}))
    assert [tuple(one.shape) for one in example[:2]] == [(5, 4), (1,)]
    assert example[1].item() == 2.0
    single = load("my_nets:single")
    example = adjust_inputs(single.model, single.example, InputOptions(shapes={"": (2, 3, 9, 9)}))
    assert tuple(example[0].shape) == (2, 3, 9, 9)
    np.savez(tmp_path / "in.npz", x=np.ones((1, 4), np.float32), scale=np.ones(3, np.float32))
    example = adjust_inputs(loaded.model, loaded.example, InputOptions(arrays=tmp_path / "in.npz"))
    assert set(example) == {"x", "scale"}
    for options in ({"shapes": {"": (5, 4)}}, {"shapes": {"y": (5, 4)}}):
        with pytest.raises(OptionError):
            adjust_inputs(loaded.model, loaded.example, InputOptions(**options))


def test_libraries_that_a_factory_imports_do_not_log(tmp_path, monkeypatch, caplog):
    """As transformers makes torchao and pytree do when it is imported; what the user logs stays."""
    (tmp_path / "talking_nets.py").write_text(
        "import logging, torch\n"
        "for name in ('torch.utils._pytree', 'torchao', 'mine'):\n"
        "    logging.getLogger(name).warning('from %s', name)\n"
        "def make():\n"
        "    logging.getLogger('torchao.sub').warning('from torchao')\n"
        "    return torch.nn.Linear(2, 2), (torch.ones(1, 2),)\n"
    )
    monkeypatch.chdir(tmp_path)
    load_source("talking_nets:make", InputOptions())
    assert [record.name for record in caplog.records if "from " in record.message] == ["mine"]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("my_nets:nope", "source-factory"),
        ("my_nets:alone", "source-factory"),
        ("my_nets:broken", "source-factory"),
        ("my_nets:NET", "source-factory"),
        ("no_nets:pair", "source-module"),
        ("bad_nets:pair", "source-module"),
        ("my_nets.py", "source-unknown"),
        ("my_nets.pt2", "path-missing"),
        ("a/b/c", "path-missing"),
        ("nobody/nothing", "path-missing"),
    ],
)
def test_sources_that_are_none(nets, source, code):
    assert code_of(lambda: load(source)) == code


def test_a_mistyped_path_in_a_folder_is_not_asked_of_the_hub(tmp_path, monkeypatch):
    from py_autodoc.torch import pretrained

    def hub(*_args, **_options):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(pretrained, "from_pretrained", hub)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for source in ("models/nothing", "./nothing", "/nowhere/nothing", "a/b/c", "../nothing"):
        assert code_of(lambda source=source: load(source)) == "path-missing"
    with pytest.raises(AssertionError, match="the hub was asked"):
        load("nobody/nothing")


def test_options_of_other_sources(nets):
    for option in ({"batch": 2}, {"sequence": 2}, {"text": "a"}, {"random_weights": True}):
        assert code_of(lambda option=option: load("my_nets:pair", **option)) == "option-for-transformers"


@pytest.mark.parametrize("name", ["m.pt", "m.PTH", "m.bin", "m.ckpt", "m.pkl", "m.safetensors", "m.onnx"])
def test_files_that_are_refused(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"")
    assert code_of(lambda: load(path)) == "source-refused"


def test_a_checkpoint_of_ultralytics_names_its_own_exporter(tmp_path):
    path = tmp_path / "best.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("best/data.pkl", b"\x80\x02}q\0cultralytics.nn.tasks\nDetectionModel\nq\x01.")
    with pytest.raises(InputError) as found:
        load(path)
    assert "yolo export model=FILE format=onnx" in found.value.hint


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("code of a file was run",))


def test_a_program(tmp_path):
    module = torch.nn.Linear(2, 2)
    path = tmp_path / "m.pt2"
    torch.export.save(torch.export.export(module, (torch.ones(1, 2),)), path)
    loaded = load(path)
    assert loaded.facts["parameters"] == 6
    assert tuple(loaded.example[0].shape) == (1, 2)
    assert code_of(lambda: load(path, dynamic=("batch",))) == "export-program"
    evil = tmp_path / "evil.pt2"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(evil, "w") as target:
        for entry in source.infolist():
            inner = "sample_inputs" in entry.filename
            target.writestr(entry.filename, pickle.dumps(Evil()) if inner else source.read(entry))
    assert code_of(lambda: load(evil)) == "source-program"
    evil.write_bytes(b"PK")
    assert code_of(lambda: load(evil)) == "source-program"


def test_what_is_not_installed(tmp_path, monkeypatch):
    path = tmp_path / "m.keras"
    path.write_bytes(b"")
    monkeypatch.setattr(program_files.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(RequirementError) as caught:
        load(path)
    assert caught.value.hint == "pip install keras"

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(sources, "import_module", missing)
    with pytest.raises(RequirementError) as caught:
        load(path)
    assert caught.value.hint == 'pip install "onnx-autodoc[export]"'


def test_shapes_and_axes_as_text():
    assert parse_shapes(["a=1x2", "b=3×4,5"]) == {"a": (1, 2), "b": (3, 4, 5)}
    assert parse_shapes(["1x3x8x8"]) == {"": (1, 3, 8, 8)}
    for bad in (["a=1xtwo"], ["a="], ["1x2", "a=1"], ["a=1", "a=2"], ["a=-1x2"]):
        assert code_of(lambda bad=bad: parse_shapes(bad)) == "bad-input-shape"
    assert parse_dynamic(["batch,seq", "x:2=w"]) == ("batch", "seq", "x:2=w")
    for bad in ("width", "x:2", "x:a=b", "x:2=3"):
        assert code_of(lambda bad=bad: parse_dynamic([bad])) == "bad-dynamic"
    named = {"x": torch.ones(1, 3, 4), "flag": True}
    assert dynamic_axes_of(("batch", "x:2=w"), named) == {"x": {0: "batch", 2: "w"}}
    assert dynamic_axes_of((), named) is None
    assert code_of(lambda: dynamic_axes_of(("seq",), named)) == "bad-dynamic"
    assert code_of(lambda: dynamic_axes_of(("y:0=b",), named)) == "dynamic-input"


@pytest.mark.slow
def test_what_libraries_log_when_they_are_imported_is_not_for_users(tmp_path):
    """In a process of its own: a library logs only the first time that it is imported."""
    from transformers import Qwen3Config

    Qwen3Config(architectures=["Qwen3ForCausalLM"]).save_pretrained(tmp_path / "plain")
    command = [
        sys.executable,
        "-m",
        "py_autodoc",
        "export",
        str(tmp_path / "plain"),
        str(tmp_path / "o.onnx"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: plain: the folder has no weights. Add --random-weights to export without weights."
    ]
