"""What runtimes run as one kernel, and what starting it costs."""

import json

import numpy as np
import pytest
from graphs import Graph, convnet, transformer

from py_autodoc import analyze
from py_autodoc.errors import OptionError
from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import MODEL, device
from py_autodoc.hardware.profile import find_profile
from py_autodoc.hardware.runtimes import IDS, RUNTIMES, TENSORRT, runtime
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs, kernels_in, on_device


def gelu():
    g = Graph(x=[4, 64])
    wide = g.linear("x", 64, 64)
    erf = g.op("Erf", g.op("Div", wide, g.scalar(1.4142135)))
    half = g.op("Mul", wide, g.op("Add", erf, g.scalar(1.0)))
    return g.model(g.op("Mul", half, g.scalar(0.5)))


def kinds(model, name):
    analysis = run_analysis(model)
    found = kernels_in(analysis, runtime(name))
    return [[analysis.model.nodes[n].op_type for n in members] for members in found.members]


def seconds(analysis, name, where="a100-sxm4-40gb", precision="fp32"):
    runs, one = runtime(name), device(find_profile(where))
    return estimate(kernels_in(analysis, runs), estimate_inputs(analysis), one, precision, runs.model)


def test_the_default_is_tensorrt_and_its_constants_are_those_of_before():
    assert runtime("") is runtime(None) is runtime(" TensorRT ") is TENSORRT
    assert TENSORRT.model == MODEL
    assert len(set(IDS)) == len(RUNTIMES) == 5


def test_an_unknown_runtime_is_told_with_those_that_there_are():
    with pytest.raises(OptionError, match="Unknown runtime 'onnx'") as caught:
        runtime("onnx")
    assert all(name in str(caught.value.hint) for name in IDS)


@pytest.mark.parametrize("model", [transformer(), convnet(), gelu()], ids=["transformer", "convnet", "gelu"])
def test_who_fuses_less_has_more_kernels_and_every_node_at_most_one(model):
    analysis = run_analysis(model)
    count = {}
    for one in RUNTIMES:
        found = kernels_in(analysis, one)
        placed = sorted(node for members in found.members for node in members)
        assert len(placed) == len(set(placed))
        assert all(found.node[node] == kernel for kernel, ms in enumerate(found.members) for node in ms)
        count[one.id] = len(found.kind)
    assert count["tensorrt"] <= count["torch-compile"] <= count["pytorch-eager"]
    assert count["tensorrt"] <= count["ort-cuda"]
    assert kernels_in(analysis, TENSORRT) == analysis.kernels


def test_a_convolution_takes_along_what_its_runtime_fuses():
    g = Graph(x=[1, 8, 16, 16])
    made = g.op("Conv", "x", g.weight(8, 8, 3, 3), pads=[1, 1, 1, 1])
    normal = g.op("BatchNormalization", made, *(g.weight(8) for _ in range(4)))
    model = g.model(g.op("Relu", g.op("Add", normal, "x")))
    whole = ["Conv", "BatchNormalization", "Add", "Relu"]
    assert kinds(model, "tensorrt") == kinds(model, "ort-cuda") == [whole]
    assert kinds(model, "torch-compile") == [whole[:1], whole[1:]]
    assert kinds(model, "pytorch-eager") == [[name] for name in whole]


def test_a_product_takes_its_bias_along_everywhere_but_gelu_only_where_it_is_fused():
    first = ["MatMul", "Add"]
    rest = ["Div", "Erf", "Add", "Mul", "Mul"]
    assert kinds(gelu(), "tensorrt") == [first + rest]
    for name in ("ort-cuda", "pytorch-eager", "torch-compile"):
        assert kinds(gelu(), name) == [first, rest]


def test_only_some_run_attention_as_one():
    def softmaxes(name):
        return [one for one in kinds(transformer(), name) if "Softmax" in one]

    for name in ("tensorrt", "pytorch-eager", "torch-compile"):
        assert all(one.count("MatMul") == 2 for one in softmaxes(name))
    assert all(one == ["Softmax"] for one in softmaxes("ort-cuda"))


def test_a_small_model_in_eager_takes_as_long_as_its_starts():
    analysis = run_analysis(convnet())
    found = seconds(analysis, "pytorch-eager")
    each = runtime("pytorch-eager").issue_s
    assert found.seconds == pytest.approx(each * len(found.kernels))
    assert {time.bound for time in found.kernels} == {"overhead"}
    assert found.bottleneck == "kernel_overhead"
    assert found.label == "rough"
    # On a CPU the operator runs where it was started.
    assert seconds(analysis, "pytorch-eager", "core-i7-12700h").seconds != pytest.approx(found.seconds)


def test_a_large_batch_hides_the_starts():
    small, large = (run_analysis(convnet(batch)) for batch in (1, 512))
    times = [seconds(one, "pytorch-eager") for one in (small, large)]
    assert times[0].bottleneck == "kernel_overhead"
    assert times[1].bottleneck != "kernel_overhead"
    assert times[1].seconds > times[0].seconds


def test_report_and_device_afterwards_agree():
    model = transformer()
    report = analyze(model, hardware="a100-sxm4-40gb", runtime="pytorch-eager")
    told = report.hardware_estimates
    assert told is not None
    assert told.runtime == "pytorch-eager"
    assert json.loads(report.to_json())["hardware_estimates"]["runtime"] == "pytorch-eager"
    asked = run_analysis(model, Options(hardware="a100-sxm4-40gb", runtime="pytorch-eager"))
    later = on_device(run_analysis(model), asked.hardware)
    assert later.kernels == asked.kernels
    assert told.kernels == len(later.kernels.kind)
    assert analyze(model, hardware="a100-sxm4-40gb").hardware_estimates.runtime == "tensorrt"


def test_a_runtime_needs_a_device():
    with pytest.raises(OptionError, match="A runtime needs a device"):
        analyze(transformer(), runtime="ort-cuda")


def test_random_chains_lose_no_node():
    random = np.random.default_rng(7)
    for _ in range(25):
        g = Graph(x=[2, 16])
        last = "x"
        for _ in range(int(random.integers(1, 12))):
            name = random.choice(["Relu", "Sigmoid", "Softmax", "linear", "Add"])
            if name == "linear":
                last = g.linear(last, 16, 16)
            else:
                last = g.op(str(name), *([last, "x"] if name == "Add" else [last]))
        analysis = run_analysis(g.model(last))
        for one in RUNTIMES:
            found = kernels_in(analysis, one)
            assert sorted(n for members in found.members for n in members) == [
                n for n, entry in enumerate(analysis.costs) if entry.counted and found.node[n] >= 0
            ]
            assert all(
                kernel >= 0 for kernel, entry in zip(found.node, analysis.costs, strict=True) if entry.counted
            )
