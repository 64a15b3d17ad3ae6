"""End to end with a real pretrained model: exported by the command line, run where nothing else is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime.quantization as quantization
import pipeline_models as pm
import pytest
import transformers as tf
from click.testing import CliRunner

from py_autodoc.cli.app import app

pytestmark = pytest.mark.slow

ALONE = """
import json, sys, warnings
from pathlib import Path

forbidden, texts, *models = sys.argv[1:]

def watch(event, args):
    if event.startswith("socket.connect") or event == "socket.getaddrinfo":
        raise AssertionError(f"network: {event} {args}")
    if event == "open" and str(args[0]).startswith(forbidden):
        raise AssertionError(f"not the file: {args[0]}")

sys.addaudithook(watch)
warnings.simplefilter("error", UserWarning)
import py_autodoc

texts = json.loads(Path(texts).read_text())
for model in models:
    pipe = py_autodoc.pipeline(model=model)
    many = pipe(texts, batch_size=3, truncation=True)
    print(json.dumps({"task": pipe.task, "one": pipe(texts[0]), "many": many}))
"""
TEXTS = [*pm.TEXTS, "A longer text. " * 300]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The exported file and its quantized copy, alone; the folder that they came from is gone."""
    folder = tmp_path_factory.mktemp("minilm")
    shutil.copytree(pm.MINILM, folder / "model")
    arguments = [str(folder / "model"), str(folder / "m.onnx"), "--dynamic", "batch,seq", "--no-sidecar"]
    done = CliRunner().invoke(app, ["export", *arguments])
    assert done.exit_code == 0, done.stderr
    shutil.rmtree(folder / "model")
    (folder / "alone").mkdir()
    exported = shutil.move(folder / "m.onnx", folder / "alone" / "m.onnx")
    quantization.quantize_dynamic(exported, folder / "alone" / "int8.onnx")
    return exported, folder / "alone" / "int8.onnx"


@pytest.fixture(scope="module")
def answers(files, tmp_path_factory):
    """The results of both files in a new process, without network, cache or the pretrained folder."""
    folder = tmp_path_factory.mktemp("process")
    (folder / "texts.json").write_text(json.dumps(TEXTS))
    (folder / "home").mkdir()
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(pm.MINILM), str(folder / "texts.json"), *map(str, files)],
        env={**clean, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()[-2:]]


@pytest.fixture(scope="module")
def reference():
    model, tokenizer = tf.AutoModel.from_pretrained(pm.MINILM), tf.AutoTokenizer.from_pretrained(pm.MINILM)
    return tf.pipeline("feature-extraction", model=model.eval(), tokenizer=tokenizer, device="cpu")


def embedding(tokens):
    """Sentence embedding: the mean of the tokens, of length 1."""
    mean = np.asarray(tokens)[0].mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_equal_to_torch_in_a_process_of_its_own(answers, reference):
    found, tokenizer = answers[0], reference.tokenizer
    assert found["task"] == "feature-extraction"
    pm.same(found["one"], reference(TEXTS[0]))
    wanted = reference(TEXTS, batch_size=3, truncation=True)
    for ours, theirs, text in zip(found["many"], wanted, TEXTS, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        # Behind the text stands padding, whose vectors are noise: torch itself is 3e-4 away from what it
        # computes in double precision there.
        count = len(tokenizer(text, truncation=True)["input_ids"])
        pm.same(ours[0][:count], theirs[0][:count])
    similarity = embedding(found["one"]) @ embedding(found["many"][1])
    assert abs(similarity - embedding(reference(TEXTS[0])) @ embedding(wanted[1])) < pm.TOLERANCE


def test_a_quantized_file_still_needs_nothing(files, answers, reference):
    exported, small = files
    found = answers[1]
    assert os.path.getsize(small) < os.path.getsize(exported) / 2
    assert embedding(found["one"]) @ embedding(reference(TEXTS[0])) > 0.9
