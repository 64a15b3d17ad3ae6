"""Kinds of models beyond images and text, each beside one that lacks the evidence."""

import numpy as np
import pytest
from identity_nets import FLOAT, INT64, Net
from onnx import helper

from py_autodoc import analyze

INTS = np.int64


def series(steps, channels, ending="", pooled=False, classes=6):
    net = Net()
    x = net.feed("x", [1, channels, steps])
    x = net.op("Relu", net.op("Conv", x, net.weight(8, channels, 5)))
    if pooled:
        x = net.op("Squeeze", net.op("GlobalAveragePool", x), net.const(np.array([2], INTS)))
    else:
        x = net.op("Gather", x, net.const(np.array(-1, INTS)), axis=2)
    y = net.op("Gemm", net.op("Relu", x), net.weight(8, classes), net.weight(classes))
    net.give(net.op(ending, y) if ending else y, "y", [1, classes])
    return net.task()


def test_series():
    assert series(96, 7) == ("time-series-forecasting", "likely")
    assert series(96, 7, pooled=True) == ("time-series-classification", "likely")
    assert series(96, 7, "Softmax") == ("time-series-classification", "likely")
    assert series(96, 100)[0] == "unknown"


@pytest.mark.parametrize(("after", "task"), [(24, "time-series-forecasting"), (96, "unknown")])
def test_other_steps_of_the_same_measurements(after, task):
    net = Net()
    x = net.op("Transpose", net.feed("past_values", [1, 96, 7]), perm=[0, 2, 1])
    x = net.dense(net.op("Relu", net.dense(x, 96, 32)), 32, after)
    net.give(net.op("Transpose", x, perm=[0, 2, 1]), "y", [1, after, 7])
    assert net.task()[0] == task
    assert net.identified().inputs[0].role == "features"


def generator(channels, size, ending="Tanh"):
    net = Net()
    x = net.op(
        "Reshape", net.dense(net.feed("z", [1, 64]), 64, 8 * 64), net.const(np.array([1, 8, 8, 8], INTS))
    )
    x = net.conv(net.larger(x, size // 8), 8, channels)
    net.give(net.op(ending, x) if ending else x, "y", [1, channels, size, size])
    return net.task()


def test_a_picture_out_of_a_vector():
    assert generator(3, 32) == ("image-generation", "likely")
    assert generator(3, 32, "") == ("image-generation", "likely")
    assert generator(5, 32)[0] == "unknown"


@pytest.mark.parametrize(("channels", "task"), [(4, "image-decoding"), (2, "unknown")])
def test_a_picture_out_of_a_latent(channels, task):
    net = Net()
    x = net.larger(net.op("Relu", net.conv(net.feed("x", [1, channels, 16, 16]), channels, 8)), 8)
    net.give(net.conv(x, 8, 3), "y", [1, 3, 128, 128])
    assert net.task()[0] == task


def denoiser(step, waves=True, leave=3):
    net = Net()
    x, t = net.feed("x", [1, 3, 32, 32]), net.feed(step, [1])
    t = net.op("Mul", net.op("Unsqueeze", t, net.const(np.array([1], INTS))), net.weight(1, 8))
    t = net.op("Add", net.op("Sin", t), net.op("Cos", t)) if waves else t
    t = net.op("Unsqueeze", net.dense(t, 8, 8), net.const(np.array([2, 3], INTS)))
    x = net.op("Relu", net.op("Add", net.conv(x, 3, 8), t))
    net.give(net.conv(x, 8, leave), "y", [1, leave, 32, 32])
    return net.task()


def test_a_step_of_diffusion():
    assert denoiser("t") == ("image-diffusion", "structure")
    assert denoiser("timestep", waves=False) == ("image-diffusion", "likely")
    assert denoiser("t", waves=False)[0] != "image-diffusion"
    assert denoiser("t", leave=5)[0] != "image-diffusion"


@pytest.mark.parametrize(("classes", "known"), [(400, "structure"), (9, "likely")])
def test_videos(classes, known):
    net = Net()
    x = net.op("Relu", net.op("Conv", net.feed("x", [1, 3, 8, 32, 32]), net.weight(8, 3, 3, 3, 3)))
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.give(net.op("Gemm", x, net.weight(8, classes), net.weight(classes)), "y", [1, classes])
    assert net.task() == ("video-classification", known)


@pytest.mark.parametrize(("channels", "task"), [(4, "volume-segmentation"), (1, "unknown")])
def test_volumes(channels, task):
    net = Net()
    pads = [1] * 6
    x = net.op(
        "Relu", net.op("Conv", net.feed("x", [1, 1, 16, 16, 16]), net.weight(8, 1, 3, 3, 3), pads=pads)
    )
    net.give(net.op("Conv", x, net.weight(channels, 8, 1, 1, 1)), "y", [1, channels, 16, 16, 16])
    assert net.task()[0] == task


def cloud(kernel=1, parts=False):
    net = Net()
    x = net.feed("x", [1, 3, 256])
    pads = [kernel // 2] * 2
    x = net.op("Relu", net.op("Conv", x, net.weight(16, 3, kernel), pads=pads))
    x = net.op("Relu", net.op("Conv", x, net.weight(16, 16, 1)))
    best = net.op("ReduceMax", x, axes=[2], keepdims=1)
    if parts:
        x = net.op("Conv", net.op("Add", x, best), net.weight(5, 16, 1))
        net.give(x, "y", [1, 5, 256])
    else:
        net.give(net.dense(net.op("Squeeze", best, net.const(np.array([2], INTS))), 16, 40), "y", [1, 40])
    return net.identified()


def test_clouds_of_points():
    whole, parts = cloud(), cloud(parts=True)
    assert (whole.task.id, whole.task.known) == ("point-cloud-classification", "likely")
    assert (parts.task.id, parts.task.known) == ("point-cloud-segmentation", "likely")
    assert whole.family.id == "mlp"
    assert cloud(kernel=5).task.id != "point-cloud-classification"


def graph(*, scattered, reduced=True):
    net = Net()
    x = net.feed("x", [50, 16])
    if scattered:
        edges = net.feed("edges", [2, 120], INT64)
        sources = net.op("Gather", edges, net.const(np.array(0, INTS)), axis=0)
        targets = net.op("Gather", edges, net.const(np.array(1, INTS)), axis=0)
        heard = net.op("Gather", x, sources, axis=0)
        rows = net.op("Expand", net.op("Unsqueeze", targets, net.const(np.array([1], INTS))),
                      net.const(np.array([120, 16], INTS)))  # fmt: skip
        zeros = net.op("Mul", x, net.const(np.float32(0)))
        reduction = {"reduction": "add"} if reduced else {}
        x = net.op("ScatterElements", zeros, rows, heard, axis=0, **reduction)
        x = net.dense(net.op("Relu", net.dense(x, 16, 32)), 32, 7)
    else:
        near = net.feed("near", [50, 50])
        x = net.op("Relu", net.op("MatMul", near, net.dense(x, 16, 32)))
        x = net.op("MatMul", near, net.dense(x, 32, 7))
    net.give(x, "y", [50, 7])
    return net.identified()


@pytest.mark.parametrize("scattered", [False, True])
def test_graphs(scattered):
    found = graph(scattered=scattered)
    assert (found.task.id, found.task.known) == ("node-classification", "likely")
    assert (found.family.id, found.family.text) == ("graph", "graph neural network")
    if scattered:
        assert graph(scattered=True, reduced=False).family.id != "graph"


def liked(rows, width=1, shape=(8,)):
    net = Net()
    one, other = net.looked_up("a", shape, rows, 8), net.looked_up("b", shape, rows + 5, 8)
    x = net.op("Concat", one, other, axis=-1)
    if len(shape) > 1:
        x = net.op("Flatten", x, axis=1)
    y = net.dense(net.op("Relu", net.dense(x, 16 * shape[-1] if len(shape) > 1 else 16, 8)), 8, width)
    net.give(net.op("Sigmoid", y), "y", [8, width])
    return net.task()


def test_recommendation():
    assert liked(5000) == ("recommendation", "likely")
    assert liked(50)[0] == "unknown"
    assert liked(5000, width=3)[0] != "recommendation"
    assert liked(5000, shape=(8, 12))[0] != "recommendation"


@pytest.mark.parametrize(("narrow", "task"), [(8, "reconstruction"), (60, "unknown")])
def test_reconstruction(narrow, task):
    net = Net()
    x = net.op("Relu", net.dense(net.feed("x", [1, 64]), 64, narrow))
    net.give(net.dense(x, narrow, 64), "y", [1, 64])
    assert (net.task()[0] == "reconstruction") == (task == "reconstruction")


def pair(size, other, channels=2, name="y"):
    net = Net()
    one, two = net.feed("a", [1, 3, size, size]), net.feed("b", [1, 3, other, other])
    x = net.op("Relu", net.conv(one, 3, 8))
    if other == size:
        x = net.op("Mul", x, net.op("Relu", net.conv(two, 3, 8)))
    else:
        x = net.op("Mul", net.op("GlobalAveragePool", x), net.op("Relu", net.conv(two, 3, 8)))
    net.give(net.conv(x, 8, channels), name, [1, channels, other, other])
    return net.task()


def test_two_images():
    assert pair(64, 64) == ("optical-flow", "likely")
    assert pair(64, 64, name="flow") == ("optical-flow", "structure")
    assert pair(64, 64, channels=3) == ("frame-interpolation", "likely")
    assert pair(64, 64, channels=1) == ("depth-estimation", "likely")
    assert pair(32, 64) == ("object-tracking", "likely")
    assert pair(64, 64, channels=5)[0] == "unknown"


def test_class_scores_and_masks_of_queries():
    def queries(count):
        net = Net()
        x = net.stem(net.feed("x", [1, 3, 64, 64]))
        pixels = net.op("Reshape", x, net.const(np.array([1, 8, 256], INTS)))
        asked = net.op("Add", net.weight(1, 20, 8), net.op("ReduceMean", pixels, axes=[1, 2], keepdims=1))
        masks = net.op("MatMul", asked, pixels)
        net.give(net.dense(asked, 8, 81), "a", [1, 20, 81])
        if count != 20:
            masks = net.op("MatMul", net.weight(1, count, 20), masks)
        net.give(
            net.op("Reshape", masks, net.const(np.array([1, count, 16, 16], INTS))), "b", [1, count, 16, 16]
        )
        return net.task()

    assert queries(20) == ("image-segmentation", "structure")
    assert queries(7)[0] == "unknown"


def test_points_that_are_described():
    def points(width):
        net = Net()
        x = net.op("Reshape", net.stem(net.feed("x", [1, 3, 64, 64])), net.const(np.array([1, 8, 256], INTS)))
        x = net.op("Transpose", x, perm=[0, 2, 1])
        net.give(net.dense(x, 8, 2), "a", [1, 256, 2])
        net.give(net.op("Squeeze", net.dense(x, 8, 1), net.const(np.array([2], INTS))), "b", [1, 256])
        net.give(net.dense(x, 8, width), "c", [1, 256, width])
        return net.task()

    assert points(64) == ("keypoint-detection", "likely")
    assert points(63)[0] != "keypoint-detection"


def test_masks_of_what_is_pointed_at():
    def pointed(names):
        net = Net()
        seen = net.feed("seen", [1, 8, 16, 16])
        places, labels = net.feed(names[0], [1, 3, 2]), net.feed(names[1], [1, 3])
        tokens = net.op(
            "Add", net.dense(places, 2, 8), net.op("Unsqueeze", labels, net.const(np.array([2], INTS)))
        )
        pixels = net.op("Reshape", seen, net.const(np.array([1, 8, 256], INTS)))
        masks = net.op("Reshape", net.op("MatMul", tokens, pixels), net.const(np.array([1, 3, 16, 16], INTS)))
        net.give(masks, "masks", [1, 3, 16, 16])
        return net.task()

    assert pointed(("point_coords", "point_labels")) == ("mask-generation", "structure")
    assert pointed(("a", "b")) == ("mask-generation", "likely")


def tokens_out(width, longer=1, squeezed=False):
    net = Net()
    x = net.looked_up("input_ids", [1, 16], 20000, 32)
    x = net.op("Relu", net.dense(x, 32, 32))
    if longer > 1:
        x = net.op("Tile", x, net.const(np.array([1, longer, 1], INTS)))
    y = net.dense(x, 32, width)
    if squeezed:
        y = net.op("Squeeze", y, net.const(np.array([2], INTS)))
    net.give(y, "y", [1, 16 * longer] if squeezed else [1, 16 * longer, width])
    return net.task()


def test_what_comes_out_of_tokens():
    assert tokens_out(9)[0] == "token-classification"
    assert tokens_out(1, squeezed=True) == ("token-classification", "likely")
    assert tokens_out(80, longer=4) == ("speech-synthesis", "likely")
    assert tokens_out(9, longer=4)[0] == "unknown"


@pytest.mark.parametrize(("shape", "role"), [([1, 96, 7], "features"), ([1, 4, 16, 8], "key/value cache")])
def test_past_values_are_no_cache(shape, role):
    net = Net()
    x = net.op("Relu", net.dense(net.feed("past_values", shape), shape[-1], 8))
    net.give(x, "y", [*shape[:-1], 8])
    assert net.identified().inputs[0].role == role


@pytest.mark.parametrize(("shape", "role"), [([1, 3, 8, 32, 32], "video"), ([1, 1, 8, 8, 8], "volume")])
def test_five_axes(shape, role):
    net = Net()
    net.give(net.op("Conv", net.feed("x", shape), net.weight(4, shape[1], 1, 1, 1)), "y", [1, 4, *shape[2:]])
    assert net.identified().inputs[0].role == role


def page(words=16, image=False, tags=7):
    net = Net()
    x = net.looked_up("input_ids", [1, words], 30000, 32)
    places = net.feed("bbox", [1, words, 4], INT64)
    for at in range(2):
        side = net.op("Gather", places, net.const(np.array(at, INTS)), axis=2)
        x = net.op("Add", x, net.op("Gather", net.weight(1024, 32), side, axis=0))
    if image:
        seen = net.op("Relu", net.conv(net.feed("pixel_values", [1, 3, 32, 32]), 3, 32))
        x = net.op("Add", x, net.op("ReduceMean", seen, axes=[1, 2, 3], keepdims=0))
    net.give(net.dense(net.op("Relu", net.dense(x, 32, 32)), 32, tags), "logits", [1, words, tags])
    return net.identified()


@pytest.mark.parametrize("image", [False, True])
def test_words_with_places_on_a_page(image):
    found = page(image=image)
    assert found.task.id == "token-classification"
    assert {port.name: port.role for port in found.inputs}["bbox"] == "page positions"


def test_an_input_that_nothing_reads_says_nothing():
    net = Net()
    x = net.op("Flatten", net.op("GlobalAveragePool", net.stem(net.feed("x", [1, 3, 64, 64]))))
    net.feed("input_features", [1, 100, 80])
    net.give(net.op("Softmax", net.op("Gemm", x, net.weight(8, 10), net.weight(10))), "y", [1, 10])
    assert net.task() == ("image-classification", "structure")


def test_recurrent_layers_below_a_large_table():
    net = Net()
    x = net.op("Transpose", net.looked_up("x", [1, 16], 9000, 8), perm=[1, 0, 2])
    y, _, _ = net.op("LSTM", x, net.weight(1, 32, 8), net.weight(1, 32, 8), outputs=3, hidden_size=8)
    y = net.op("Squeeze", y, net.const(np.array([1], INTS)))
    net.give(net.op("Transpose", net.dense(y, 8, 9000), perm=[1, 0, 2]), "y", [1, 16, 9000])
    found = net.identified()
    assert (found.family.id, found.task.id) == ("recurrent", "text-generation")


def analysed(net):
    graph = helper.make_graph(net.nodes, "g", net.fed, net.given, net.weights)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return analyze(helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString())


def variants(report):
    return [block.variant for block in report.blocks if block.kind == "head"]


def agent(name="x", out="y", spread="Clip", value=False):
    """An actor: means of six actions and their spread, or scores of actions and a value."""
    net = Net()
    x = net.dense(net.dense(net.feed(name, [1, 24]), 24, 64, "Relu"), 64, 64, "Relu")
    if spread:
        limits = [net.const(np.array(n, np.float32)) for n in (-20, 2)] if spread == "Clip" else []
        net.give(net.op("Tanh", net.dense(x, 64, 6)), out, [1, 6])
        net.give(net.op(spread, net.dense(x, 64, 6), *limits), "spread", [1, 6])
    else:
        net.give(net.dense(x, 64, 6), out, [1, 6])
    if value:
        net.give(net.dense(x, 64, 1), "value", [1, 1])
    return analysed(net)


@pytest.mark.parametrize(
    ("settings", "task", "heads"),
    [
        ({}, "control", ["policy", "policy"]),
        ({"spread": "Exp"}, "control", ["policy", "policy"]),
        ({"name": "obs", "out": "actions", "spread": "", "value": True}, "control", ["policy", "value"]),
        ({"out": "action", "spread": ""}, "tabular-classification", ["policy"]),
        ({"spread": "Tanh"}, "unknown", ["dense", "dense"]),
    ],
)
def test_heads_of_agents_are_no_classifiers(settings, task, heads):
    report = agent(**settings)
    assert (report.identity.task_id, variants(report)) == (task, heads)


@pytest.mark.parametrize(("channels", "task"), [(4, "control"), (3, "image-classification")])
def test_frames_of_a_game(channels, task):
    net = Net()
    x = net.stem(net.feed("x", [1, channels, 84, 84]), channels)
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.give(net.dense(x, 8, 6), "y", [1, 6])
    report = analysed(net)
    assert report.identity.task_id == task
    assert variants(report) == ["policy" if channels == 4 else "classifier"]


@pytest.mark.parametrize("shape", [(1, 24, 1), (1, 24)])
def test_heads_of_forecasters_are_no_classifiers(shape):
    """A flattened or pooled series, then its next values."""
    net = Net()
    x = net.op("Transpose", net.feed("past_values", [1, 96, 1]), perm=[0, 2, 1])
    x = net.op("Relu", net.op("Conv", x, net.weight(8, 1, 8), strides=[8]))
    x = net.dense(net.op("Flatten", x), 96, 24)
    x = net.op("Reshape", x, net.const(np.array(shape, INTS)))
    net.give(x, "prediction", list(shape))
    report = analysed(net)
    assert report.identity.task_id == "time-series-forecasting"
    assert variants(report) in (["forecast"], [])


def detector(classes, first, names=("a", "b"), ends=("", "Sigmoid")):
    """Boxes and scores of 30 queries, in either order."""
    net = Net()
    x = net.stem(net.feed("image", [1, 3, 64, 64]))
    x = net.op("Transpose", net.op("Reshape", x, net.const(np.array([1, 8, 256], INTS))), perm=[0, 2, 1])
    x = net.op("MatMul", net.weight(1, 30, 256), x)
    scores = net.dense(x, 8, classes, ends[0])
    boxes = net.dense(net.dense(net.dense(x, 8, 8, "Relu"), 8, 8, "Relu"), 8, 4, ends[1])
    outputs = [(scores, names[0], classes), (boxes, names[1], 4)]
    for tensor, name, width in outputs if first == "scores" else outputs[::-1]:
        net.give(tensor, name, [1, 30, width])
    return analysed(net)


@pytest.mark.parametrize("classes", [4, 7, 91])
@pytest.mark.parametrize("first", ["scores", "boxes"])
@pytest.mark.parametrize(
    ("names", "ends"),
    [
        (("a", "b"), ("", "Sigmoid")),
        (("a", "b"), ("Softmax", "")),
        (("logits", "pred_boxes"), ("", "")),
        (("scores", "a"), ("Sigmoid", "")),
    ],
)
def test_boxes_and_classes_keep_their_roles(classes, first, names, ends):
    """Also with four classes, or three and none, which look like boxes."""
    report = detector(classes, first, names, ends)
    assert {port.name: port.role for port in report.identity.outputs} == {
        names[0]: "class scores",
        names[1]: "boxes",
    }
    (head,) = [block for block in report.blocks if block.kind == "head"]
    assert (head.variant, head.facts["classes"]) == ("detection", classes)


def towers(feed, shape, channels):
    """Vectors of text and of something else, divided by their lengths, and their products."""
    net = Net()
    x = net.stem(net.feed(feed, shape), channels, times=3)
    vectors = [net.dense(net.op("Flatten", net.op("GlobalAveragePool", x)), 8, 16)]
    text = net.op("ReduceMean", net.looked_up("ids", [1, 12], 30000, 8), axes=[1], keepdims=0)
    vectors.append(net.dense(text, 8, 16))
    vectors = [net.op("Div", v, net.op("ReduceL2", v, axes=[1], keepdims=1)) for v in vectors]
    net.give(net.op("MatMul", vectors[0], net.op("Transpose", vectors[1], perm=[1, 0])), "y", [1, 1])
    for number, vector in enumerate(vectors):
        net.give(vector, f"vector{number}", [1, 16])
    return net.identified().task.id


@pytest.mark.parametrize(
    ("feed", "shape", "task"),
    [
        ("input_features", [1, 1, 1001, 64], "audio-text-matching"),
        ("input_features", [1, 4, 1001, 64], "audio-text-matching"),
        ("x", [1, 1, 1001, 64], "audio-text-matching"),
        ("mel", [1, 1, 64, 500], "audio-text-matching"),
        ("x", [1, 3, 224, 224], "image-text-matching"),
    ],
)
def test_towers_of_text_and_sound(feed, shape, task):
    assert towers(feed, shape, shape[1]) == task


def compiled(count=2, **attributes):
    nodes, name = [], "x"
    for number in range(count):
        settings = {
            "main_context": int(number == 0), "embed_mode": 0, "ep_cache_context": "model_ctx.bin",
            "ep_sdk_version": "2.28", "source": "QNNExecutionProvider", "hardware_architecture": "73",
            "partition_name": f"part_{number}", **attributes,
        }  # fmt: skip
        nodes.append(
            helper.make_node("EPContext", [name], [f"y{number}"], domain="com.microsoft", **settings)
        )
        name = f"y{number}"
    net = Net()
    net.nodes = nodes
    net.fed = [helper.make_tensor_value_info("x", FLOAT, [1, 3, 32, 32])]
    net.given = [helper.make_tensor_value_info(name, FLOAT, [1, 10])]
    return analysed(net)


def test_compiled_parts_say_what_for():
    report = compiled()
    assert report.identity.family == "compiled for QNN"
    assert report.identity.known.family == "file"
    text = " ".join(line.text for line in report.identity.evidence)
    for word in ("2 parts", "SDK 2.28", "architecture 73", "part_0, part_1", "model_ctx.bin"):
        assert word in text
    assert report.metrics.total_params is None
    assert "QNN" in report.metrics.params_reason
    assert "QNN" in next(d.message for d in report.diagnostics if d.code == "unknown-op")


@pytest.mark.parametrize(
    ("attributes", "family"),
    [
        ({"source": "OpenVINOExecutionProvider", "ep_sdk_version": ""}, "compiled for OpenVINO"),
        ({"source": "", "partition_name": ""}, "compiled for an execution provider"),
        ({"source": "\x1b[31m::error::x"}, "compiled for an execution provider"),
        ({"embed_mode": 1, "ep_cache_context": b"\x00\x01" * 40}, "compiled for QNN"),
    ],
)
def test_compiled_parts_with_few_facts(attributes, family):
    report = compiled(1, **attributes)
    assert report.identity.family == family
    inside = any("inside the file" in line.text for line in report.identity.evidence)
    assert inside == (attributes.get("embed_mode") == 1)
