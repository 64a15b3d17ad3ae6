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

pytestmark = pytest.mark.slow

ALONE = """
import json, socket, sys, warnings
from pathlib import Path

FORBIDDEN = sys.argv[3]

def watch(event, args):
    if event.startswith("socket.connect") or event == "socket.getaddrinfo":
        raise AssertionError(f"network: {event} {args}")
    if event == "open" and str(args[0]).startswith(FORBIDDEN):
        raise AssertionError(f"not the file: {args[0]}")

sys.addaudithook(watch)
warnings.simplefilter("error", UserWarning)
import py_autodoc

pipe = py_autodoc.pipeline(model=sys.argv[1])
texts = json.loads(Path(sys.argv[2]).read_text())
found = {"task": pipe.task, "one": pipe(texts[0]), "many": pipe(texts, batch_size=3, truncation=True)}
print(json.dumps(found))
"""
TEXTS = [*pm.TEXTS, "A longer text. " * 300]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The file alone; the folder it came from is gone."""
    folder = tmp_path_factory.mktemp("minilm")
    shutil.copytree(pm.MINILM, folder / "model")
    files = [str(folder / "model"), str(folder / "m.onnx")]
    done = subprocess.run(
        [sys.executable, "-m", "py_autodoc", "export", *files, "--dynamic", "batch,seq", "--no-sidecar"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "model")
    (folder / "alone").mkdir()
    return shutil.move(folder / "m.onnx", folder / "alone" / "m.onnx")


def alone(model, tmp_path):
    """What a fresh process makes of the file, without network, cache or the pretrained folder."""
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    (tmp_path / "home").mkdir()
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(model), str(tmp_path / "texts.json"), str(pm.MINILM)],
        env={**clean, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def reference():
    return tf.pipeline(
        "feature-extraction", model=tf.AutoModel.from_pretrained(pm.MINILM).eval(), tokenizer=pm.tokenizer(),
        device="cpu",
    )  # fmt: skip


def embedding(tokens):
    """Sentence embedding: the mean of the tokens, of length 1."""
    mean = np.asarray(tokens)[0].mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_equal_to_torch_in_a_process_of_its_own(exported, reference, tmp_path):
    found, tokenizer = alone(exported, tmp_path), pm.tokenizer()
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


def test_a_quantized_file_still_needs_nothing(exported, reference, tmp_path):
    small = tmp_path / "int8.onnx"
    quantization.quantize_dynamic(exported, small)
    found = alone(small, tmp_path)
    assert os.path.getsize(small) < os.path.getsize(exported) / 2
    assert embedding(found["one"]) @ embedding(reference(TEXTS[0])) > 0.9
