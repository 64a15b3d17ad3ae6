"""A package of one's own with metrics, installed and found by its entry point."""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.runner import metrics
from py_autodoc.runner.metrics import MetricsCalculator, calculator, figures_of

pytest.importorskip("onnxruntime")
PLUGIN = Path(__file__).parent / "example_metrics_plugin"
DIGITS, DATA = "tests/data/quant/digits_cnn.onnx", "tests/data/quant/digits.npz"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that pip installs the package into; nothing is downloaded."""
    pytest.importorskip("hatchling")
    source, target = tmp_path_factory.mktemp("plugin") / "source", tmp_path_factory.mktemp("site")
    shutil.copytree(PLUGIN, source, ignore=shutil.ignore_patterns("__pycache__"))
    words = ["install", "--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--target", str(target)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *words, str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def plugin(installed, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))
    yield
    sys.modules.pop("glue_metrics", None)


def scores(*classes, count=2):
    """A row of scores for each sample, the largest at its class."""
    return [[np.eye(count)[[one]]] for one in classes]


@pytest.mark.slow
def test_the_command_finds_an_installed_package(installed, tmp_path):
    known = [str(installed), os.environ.get("PYTHONPATH", "")]
    words = ["--data", DATA, "--metrics", "glue", "--runs", "1", "--warmup", "0", "--samples", "20"]
    done = subprocess.run(
        [sys.executable, "-m", "py_autodoc", "run", DIGITS, *words, "--out-json", str(tmp_path / "r.json")],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, known))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "accuracy 1, f1 1, mcc 1" in done.stdout
    found = json.loads((tmp_path / "r.json").read_text())["variants"][0]["metrics"]
    assert found == {"accuracy": 1.0, "f1": 1.0, "mcc": 1.0}


@pytest.mark.slow
def test_the_package_says_what_it_is(plugin):
    found = distribution("example-glue-metrics")
    assert [(one.group, one.name) for one in found.entry_points] == [(metrics.GROUP, "glue")]
    assert calculator("glue").name == "glue"
    with pytest.raises(AutodocError) as unknown:
        calculator("glu")
    assert "glue" in unknown.value.hint


@pytest.mark.slow
def test_scores_of_two_classes(plugin):
    labels = [np.array([one]) for one in (1, 1, 1, 0, 0, 1)]
    found = calculator("glue").calculate(scores(1, 1, 0, 0, 1, 1), labels, None)
    # 3 true and 1 false positives, 1 false and 1 true negatives.
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["f1"] == pytest.approx(3 / 4)
    assert found["mcc"] == pytest.approx((3 * 1 - 1 * 1) / np.sqrt(4 * 4 * 2 * 2))


@pytest.mark.slow
def test_scores_of_more_classes(plugin):
    labels = [np.array([one]) for one in (0, 1, 2, 2)]
    found = calculator("glue").calculate(scores(0, 2, 2, 2, count=4), labels, None)
    assert found["accuracy"] == 0.75
    # Class 1 is never found; class 3 is neither there nor found, so it has no part in the mean.
    assert found["f1"] == pytest.approx((1 + 0 + 4 / 5) / 3)
    assert found["mcc"] == pytest.approx((4 * 3 - 7) / np.sqrt((16 - 10) * (16 - 6)))
    same = calculator("glue").calculate(scores(1, 1), [np.array([1]), np.array([0])], None)
    assert same["mcc"] == 0.0
    none = calculator("glue").calculate(scores(0, 0), [np.array([0])] * 2, None)
    assert none == {"accuracy": 1.0, "f1": 0.0, "mcc": 0.0}


@pytest.mark.slow
def test_what_the_package_refuses_is_an_error_of_one_line(plugin, tmp_path):
    np.savez(tmp_path / "d.npz", image=np.load(DATA)["image"][:2])
    words = ["--data", str(tmp_path / "d.npz"), "--metrics", "glue", "--runs", "1", "--warmup", "0"]
    told = CliRunner().invoke(app, ["run", DIGITS, *words])
    assert told.exit_code == 1
    assert told.stderr == "error: The scores of GLUE need labels. Give a 'label' beside each text.\n"
    np.savez(tmp_path / "d.npz", image=np.load(DATA)["image"][:2], labels=np.array([3, 17]))
    told = CliRunner().invoke(app, ["run", DIGITS, *words])
    assert told.stderr == "error: The labels are not all classes from 0 to 9.\n"


class Broken(MetricsCalculator):
    """Gives whatever it is told to."""

    name = "broken"

    def __init__(self, given=None):
        self.given = given

    def calculate(self, outputs, labels, reference):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (ZeroDivisionError("division by zero"), "The metrics broken failed: division by zero"),
        (KeyError(), "The metrics broken failed: KeyError"),
        (0.5, "The metrics broken returned a float instead of figures by name."),
        ({"f1": "high"}, "The metrics broken returned f1 as a str instead of a number."),
        ({1: 0.5}, "The metrics broken returned figures whose names are not text."),
    ],
)
def test_metrics_that_fail(given, says):
    with pytest.raises(AutodocError) as found:
        figures_of(Broken(given), [], [], None)
    assert found.value.message.startswith(says)
    assert "\n" not in str(found.value)


def test_figures_become_plain_numbers():
    found = figures_of(Broken({"a": np.float32(0.5), "b": np.int64(2), "c": True}), [], [], None)
    assert found == {"a": 0.5, "b": 2.0, "c": 1.0}
    assert {type(one) for one in found.values()} == {float}


@pytest.mark.parametrize(
    ("load", "says"),
    [
        (
            ImportError("No module named 'sklearn'"),
            "The metrics mine cannot be loaded: No module named 'sklearn'",
        ),
        (lambda: dict, "mine is not a MetricsCalculator."),
        (lambda: lambda: 1 / 0, "The metrics mine cannot be loaded: division by zero"),
    ],
)
def test_packages_that_cannot_be_loaded(monkeypatch, load, says):
    class Entry:
        name = "mine"

        def load(self):
            if isinstance(load, Exception):
                raise load
            return load()

    monkeypatch.setattr(metrics, "entry_points", lambda group: [Entry()])
    with pytest.raises(AutodocError) as found:
        calculator("mine")
    assert found.value.message.startswith(says)
