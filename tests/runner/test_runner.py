"""Runs: times, memory, data, figures, and models beside each other."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.runner import (
    ArrayLoader,
    DataLoader,
    ImageFolderLoader,
    InferenceRunner,
    MetricsCalculator,
    compare_precisions,
)
from py_autodoc.runner.latency import latency, time_in_turn
from py_autodoc.runner.lines import run_lines
from py_autodoc.runner.metrics import AgreementMetric, DistanceMetric, Raw, TopK, calculator, figures_of
from py_autodoc.samples import InputSpec

pytest.importorskip("onnxruntime")
DIGITS, DATA = Path("tests/data/quant/digits_cnn.onnx"), Path("tests/data/quant/digits.npz")
FLOAT, INT8 = "tests/data/models/resnet_tiny.onnx", "tests/data/models/resnet_tiny_qdq_int8.onnx"


def test_figures_of_times():
    found = latency([0.001 * at for at in range(1, 101)], batch=4)
    assert found.p50_ms == pytest.approx(50.5)
    assert found.p90_ms == pytest.approx(90.1)
    assert found.p99_ms == pytest.approx(99.01)
    assert (found.min_ms, found.max_ms, found.runs) == (1.0, 100.0, 100)
    assert found.throughput_per_s == pytest.approx(4e3 / 50.5)


def test_runs_take_turns_and_warm_up_is_not_timed():
    now, order = [0.0], []

    def run(name, seconds):
        def once(at):
            order.append((name, at))
            now[0] += seconds

        return once

    found = time_in_turn([run("a", 1.0), run("b", 3.0)], 3, 2, clock=lambda: now[0])
    assert found == [[1.0] * 3, [3.0] * 3]
    assert order[:4] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert order[4:] == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_a_runner_as_it_is_documented():
    runner = InferenceRunner(DIGITS)
    runner.register_metrics(TopK())
    found = runner.run(DATA, warmup=1, iterations=5, samples=20)
    assert found.metrics == {"top1": 1.0, "top5": 1.0, "rows": 20.0}
    assert len(found.outputs) == 20
    assert found.outputs[0][0].shape == (1, 10)
    assert found.latency_p50_ms == found.latency.p50_ms > 0
    assert found.throughput_per_sec == found.latency.throughput_per_s
    with pytest.raises(AttributeError):
        _ = found.latency_p12_ms


def test_results_are_those_of_the_runtime():
    import onnxruntime

    images = np.load(DATA)["image"][:3, None]
    found = InferenceRunner(DIGITS).run({"image": images}, warmup=0, iterations=1)
    session = onnxruntime.InferenceSession(DIGITS)
    for at in range(3):
        assert np.allclose(found.outputs[at][0], session.run(None, {"image": images[at]})[0], atol=1e-5)


@pytest.mark.slow
def test_precisions_beside_each_other():
    seen = []
    found = compare_precisions(
        {"fp32": FLOAT, "int8": INT8}, runs=4, warmup=1, progress=lambda *at: seen.append(at)
    )
    first, second = found.variants
    assert (first.name, first.ratio, first.metrics) == ("fp32", 1.0, {})
    assert second.ratio == pytest.approx(first.latency.low_ms / second.latency.low_ms)
    assert first.cpu_ms is second.cpu_ms is None
    assert set(second.metrics) == {"agreement", "sqnr_db", "cosine"}
    assert second.file_bytes < first.file_bytes
    assert seen[-1] == (4, 4)
    if sys.platform != "win32":
        assert 1 << 20 < first.memory.peak_bytes < 1 << 28
        assert first.memory.loaded_bytes <= first.memory.peak_bytes
    assert found.machine.cpu
    assert json.loads(found.to_json())["schema"] == "autodoc.run/1"


def _clocks(monkeypatch, wall, cpu):
    """Let the clocks return the times of runs: of the first model, of the second, and so on."""
    for name, seconds in (("perf_counter", wall), ("thread_time", cpu)):
        steps = [step for pair in zip(*seconds, strict=True) for one in pair for step in (0.0, one)]
        values = iter(np.cumsum(steps).tolist())
        monkeypatch.setattr(f"py_autodoc.runner.compare.time.{name}", lambda values=values: next(values))


@pytest.mark.parametrize("threads", [1, 2])
def test_ratios_on_a_busy_machine_are_those_of_undisturbed_runs(threads, monkeypatch):
    """Most runs of the second model are interrupted for 20 times their length."""
    monkeypatch.setattr("py_autodoc.runner.compare.usable_threads", lambda threads: threads)
    models, runs = {"a": str(DIGITS), "b": str(DIGITS)}, 10
    second = [0.002] * 4 + [0.04] * 6
    _clocks(monkeypatch, ([0.001] * runs, second), ([0.001] * runs, [0.0025] * 3 + [0.003] * 7))
    found = compare_precisions(models, runs=runs, warmup=0, memory=False, threads=threads)
    assert found.variants[1].latency.p50_ms == pytest.approx(40)
    assert found.variants[1].ratio == pytest.approx(0.4 if threads == 1 else 0.5)
    assert found.variants[1].cpu_ms == (pytest.approx(2.5) if threads == 1 else None)
    text = "\n".join(run_lines(found))
    assert ("CPU time 2.5 ms, 0.40 times as fast as a" if threads == 1 else "0.50 times as fast as a") in text


def test_models_with_other_inputs_are_refused():
    with pytest.raises(AutodocError, match="The inputs differ"):
        compare_precisions({"a": FLOAT, "b": str(DIGITS)}, runs=1, warmup=0, memory=False)


SPEC = InputSpec("x", np.dtype(np.float32), (1, 3, 4, 6), "image")


def test_arrays_with_labels():
    x = np.arange(4 * 72, dtype=np.float32).reshape(4, 1, 3, 4, 6)
    pairs = list(ArrayLoader({"x": x, "labels": np.arange(4)}, [SPEC]))
    assert [int(label[0]) for _, label in pairs] == [0, 1, 2, 3]
    assert np.array_equal(pairs[2][0]["x"], x[2])
    assert len(ArrayLoader({"x": x}, [SPEC])) == 4
    with pytest.raises(AutodocError, match="3 labels for 4 samples"):
        ArrayLoader({"x": x, "labels": np.arange(3)}, [SPEC])
    with pytest.raises(AutodocError, match="no array truth"):
        ArrayLoader({"x": x}, [SPEC], labels="truth")


def test_images_of_a_folder(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name, colour in (("cat", (255, 0, 0)), ("dog", (0, 0, 255))):
        (tmp_path / name).mkdir()
        image.new("RGB", (30, 20), colour).save(tmp_path / name / "one.png")
    (tmp_path / "dog" / "notes.txt").write_text("no image")
    loader = ImageFolderLoader(tmp_path, SPEC, mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.5])
    (cat, first), (dog, second) = loader
    assert (len(loader), int(first[0]), int(second[0])) == (2, 0, 1)
    assert cat["x"].shape == (1, 3, 4, 6)
    assert cat["x"][0, :, 0, 0].tolist() == [1.0, -1.0, -1.0]
    assert dog["x"].dtype == np.float32
    last = InputSpec("x", np.dtype(np.uint8), (1, 4, 6, 3), "image")
    assert next(iter(ImageFolderLoader(tmp_path, last)))[0]["x"][0, 0, 0].tolist() == [255, 0, 0]
    (tmp_path / "cat" / "broken.jpg").write_bytes(b"\xff\xd8\xff broken")
    with pytest.raises(AutodocError, match=r"broken\.jpg cannot be read"):
        list(ImageFolderLoader(tmp_path, SPEC))
    with pytest.raises(AutodocError, match="not an input for images"):
        ImageFolderLoader(tmp_path, InputSpec("x", np.dtype(np.float32), (1, 128)))
    with pytest.raises(AutodocError, match="contains no image"):
        ImageFolderLoader(Path("tests/data/stripped"), SPEC)


def test_a_loader_of_ones_own():
    class Two(DataLoader):
        def __iter__(self):
            return iter([({"image": np.zeros((1, 1, 8, 8), np.float32)}, None)] * 2)

        def __len__(self):
            return 2

    found = InferenceRunner(DIGITS).run(Two(), warmup=0, iterations=2)
    assert len(found.outputs) == 2


def test_figures_against_a_reference():
    a, b = [np.array([[1.0, 2.0], [4.0, 3.0]])], [np.array([[1.0, 2.0], [3.0, 4.0]])]
    assert AgreementMetric().calculate([b], [None], [a]) == {"agreement": 0.5}
    figures = DistanceMetric().calculate([b], [None], [a])
    assert figures["sqnr_db"] == pytest.approx(10 * np.log10(30 / 2))
    assert DistanceMetric().calculate([b], [None], None) == {}
    with pytest.raises(AutodocError, match="Top-k needs labels"):
        TopK().calculate([a], [None], None)


def test_results_that_are_no_tensor_of_one_size(tmp_path):
    """A sequence of tensors of different sizes, beside a model that gives another output."""
    value = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
    give = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    split = helper.make_node("SplitToSequence", ["x", "parts"], ["y"], axis=1)
    parts = numpy_helper.from_array(np.array([1, 2]), "parts")
    graph = helper.make_graph([split], "g", [give], [value], [parts])
    twice = helper.make_graph(
        [helper.make_node("Concat", ["x", "x"], ["y"], axis=1)], "g", [give],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6])],
    )  # fmt: skip
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for made, path in zip((graph, twice), paths, strict=True):
        onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    found = InferenceRunner(paths[0]).run({"x": np.array([[1.0, 2.0, 3.0]], np.float32)}, 0, 1)
    assert [one.tolist() for one in found.outputs[0][0]] == [[[1.0]], [[2.0, 3.0]]]
    both = compare_precisions({"a": paths[0], "b": paths[1]}, runs=1, warmup=0, memory=False)
    assert both.variants[1].metrics == {}


def test_plugins_come_by_entry_point(monkeypatch):
    from py_autodoc.runner import metrics

    class Mine(MetricsCalculator):
        name = "mine"

        def calculate(self, outputs, labels, reference):
            return {"samples": float(len(outputs))}

    class Entry:
        name = "mine"

        def load(self):
            return Mine

    monkeypatch.setattr(metrics, "entry_points", lambda group: [Entry()])
    assert calculator("mine").calculate([1, 2], [], None) == {"samples": 2.0}
    with pytest.raises(AutodocError, match="Unknown metrics 'other'") as found:
        calculator("other")
    assert "mine" in found.value.hint


def test_the_command(tmp_path):
    from py_autodoc.cli.app import app

    def run(*args):
        return CliRunner().invoke(app, ["run", *map(str, args)])

    few = ("--runs", 2, "--warmup", 0, "--samples", 3)
    told = run(DIGITS, "--data", DATA, "--metrics", "topk", "--layers", *few)
    assert told.exit_code == 0
    assert "top1 1" in told.stdout
    assert "100.0% of it attributed" in told.stdout
    outs = (
        "--out-json",
        tmp_path / "r.json",
        "--out-layers",
        tmp_path / "l.json",
        "--out-html",
        tmp_path / "p.html",
    )
    assert run(DIGITS, DIGITS, *few, *outs).exit_code == 0
    names = [one["name"] for one in json.loads((tmp_path / "r.json").read_text())["variants"]]
    assert names == ["digits_cnn.onnx", "digits_cnn.onnx (2)"]
    assert "Measured latency" in (tmp_path / "p.html").read_text()
    assert run(DIGITS, *few, "--providers", "NoSuchProvider").exit_code == 1
    assert run(DIGITS, *few, "--metrics", "none").exit_code == 1
    assert run(tmp_path / "none.onnx").exit_code == 1
    assert run(DIGITS, "--profile", tmp_path / "l.json", "--out-json", "-").exit_code == 1


@pytest.mark.parametrize("takes", ["two", "three", "any", "default"])
def test_a_calculator_may_take_two_arguments(takes):
    """A calculator without a reference model needs no third argument."""

    class Two(Raw):
        def calculate(self, outputs, labels):
            return {"given": 2.0}

    class Three(Raw):
        def calculate(self, outputs, labels, reference):
            return {"given": 3.0 if reference == [1] else 0.0}

    class AnyCount(Raw):
        def calculate(self, *given):
            return {"given": float(len(given))}

    class Default(Raw):
        def calculate(self, outputs, labels, reference=None):
            return {"given": 3.0 if reference == [1] else 0.0}

    kind = {"two": Two, "three": Three, "any": AnyCount, "default": Default}[takes]
    assert figures_of(kind(), [], [], [1]) == {"given": 2.0 if takes == "two" else 3.0}


def test_built_in_metrics_take_two_arguments():
    scores = [[np.array([[0.1, 0.9]])]]
    assert TopK().calculate(scores, [np.array([1])])["top1"] == 1.0
    assert AgreementMetric().calculate(scores, [None]) == {}
