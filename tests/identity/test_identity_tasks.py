"""What the rules of tasks read from small networks, each beside one that lacks the evidence."""

import numpy as np
import pytest
from identity_nets import FLOAT, Net
from onnx import TensorProto, helper


@pytest.mark.parametrize("last", [False, True], ids=["channels first", "channels last"])
def test_image_out_in_the_order_of_tensorflow(last):
    net = Net()
    x = net.feed("x", [1, 3, 64, 96])
    y = net.conv(net.op("Relu", net.conv(x, 3, 8)), 8, 3)
    if last:
        y = net.op("Transpose", y, perm=[0, 2, 3, 1])
    net.give(y, "y", [1, 64, 96, 3] if last else [1, 3, 64, 96])
    assert net.task() == ("image-to-image", "likely")


def test_what_is_interpolated_at_last_is_no_image():
    def last(resized):
        net = Net()
        y = net.stem(net.feed("x", [1, 3, 64, 64]))
        if resized:
            y = net.larger(net.conv(y, 8, 3), 4)
        else:
            y = net.conv(net.larger(y, 4), 8, 3)
        net.give(y, "y", [1, 3, 64, 64])
        return net.task()

    assert last(True) == ("image-segmentation", "likely")
    assert last(False) == ("image-to-image", "likely")


def test_several_maps_in_one_are_not_named():
    net = Net()
    x = net.op("Relu", net.conv(net.feed("x", [1, 3, 32, 32]), 3, 8))
    y = net.op("Concat", net.conv(x, 8, 3), net.conv(x, 8, 3), net.conv(x, 8, 4), axis=1)
    net.give(y, "y", [1, 10, 32, 32])
    assert net.task() == ("unknown", "unknown")


@pytest.mark.parametrize(
    ("ending", "task"), [("", "edge-detection"), ("Sigmoid", "image-segmentation")], ids=["plain", "bounded"]
)
def test_maps_of_every_stage(ending, task):
    net = Net()
    x, sides = net.feed("x", [1, 3, 64, 64]), []
    for step in range(4):
        x = net.op("Relu", net.conv(x, 8 if step else 3, 8, stride=2))
        sides.append(net.larger(net.conv(x, 8, 1, kernel=1), 2 ** (step + 1)))
    sides.append(net.conv(net.op("Concat", *sides, axis=1), 4, 1, kernel=1))
    for number, side in enumerate(sides):
        net.give(net.op(ending, side) if ending else side, f"y{number}", [1, 1, 64, 64])
    assert net.task() == (task, "likely")


def test_the_decoder_of_depth_alone():
    def named(name):
        net = Net()
        small, large = net.feed("f1", [1, 8, 12, 40]), net.feed("f2", [1, 8, 24, 80])
        x = net.op("Relu", net.op("Add", net.larger(net.conv(small, 8, 8), 2), net.conv(large, 8, 8)))
        net.give(net.op("Sigmoid", net.conv(x, 8, 1)), name, [1, 1, 24, 80])
        return net.task()

    assert named("depth") == ("depth-estimation", "likely")
    assert named("y")[0] != "depth-estimation"


@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize(("maps", "task"), [(65, "keypoint-detection"), (64, "unknown")])
def test_places_of_a_cell(grey, maps, task):
    net = Net()
    x, channels = net.feed("input", [1, 3, 64, 64]), 3
    if grey:
        x, channels = net.op("ReduceMean", x, axes=[1], keepdims=1), 1
    x = net.stem(x, channels, times=3)
    net.give(net.conv(x, 8, maps), "a", [1, maps, 8, 8])
    net.give(net.conv(x, 8, 64), "b", [1, 64, 8, 8])
    found, known = net.task()
    assert known != "structure"
    assert (found == "keypoint-detection") == (task == "keypoint-detection")


def test_tables_without_a_batch():
    def rows(*widths):
        net = Net()
        x = net.stem(net.feed("x", [1, 3, 96, 96]), times=2)
        for number, width in enumerate(widths):
            y = net.op("Transpose", net.conv(x, 8, width), perm=[0, 2, 3, 1])
            shape = net.const(np.array([576, width], np.int64))
            net.give(net.op("Reshape", y, shape), f"y{number}", [576, width])
        return net.task()

    assert rows(14, 2, 1) == ("object-detection", "likely")
    assert rows(7, 3)[0] not in ("object-detection", "image-classification")


def agent(seen, done, width=6, ending=""):
    net = Net()
    x = net.op("Relu", net.op("Gemm", net.feed(seen, [1, 24]), net.weight(24, 32), net.weight(32)))
    y = net.op("Gemm", x, net.weight(32, width), net.weight(width))
    net.give(net.op(ending, y) if ending else y, done, [1, width])
    return net.task()


def test_choice_of_actions():
    assert agent("obs", "actions") == ("control", "structure")
    assert agent("obs", "actions", width=1) == ("control", "structure")
    assert agent("x", "actions")[0] != "control"


def test_as_many_probabilities_as_numbers_go_in_are_no_classes():
    assert agent("x", "y", width=5, ending="Softmax") == ("tabular-classification", "structure")
    assert agent("x", "y", width=24, ending="Softmax") == ("unknown", "unknown")


@pytest.mark.parametrize(("size", "task"), [(257, "audio-enhancement"), (260, "unknown")])
def test_a_mask_for_the_bins_of_a_spectrum(size, task):
    net = Net()
    x, h = net.feed("a", [1, 1, size]), net.feed("h", [1, 1, 16])
    y, last, _ = net.op(
        "LSTM", x, net.weight(1, 64, size), net.weight(1, 64, 16), "", "", h, net.weight(1, 1, 16),
        outputs=3, hidden_size=16,
    )  # fmt: skip
    y = net.op("Squeeze", y, net.const(np.array([1], np.int64)))
    y = net.op("Sigmoid", net.op("MatMul", y, net.weight(16, size)))
    net.give(y, "b", [1, 1, size])
    net.give(last, "hn", [1, 1, 16])
    assert net.task() == (task, "likely" if task != "unknown" else "unknown")


@pytest.mark.parametrize("batch", ["n", 1])
@pytest.mark.parametrize(("width", "task"), [(1, "voice-activity"), (3, "unknown")])
def test_probability_of_frames_and_a_state(batch, width, task):
    net = Net()
    x, h = net.feed("a", [4, batch, 41]), net.feed("state", [1, batch, 16])
    y, last, _ = net.op(
        "LSTM", x, net.weight(1, 64, 41), net.weight(1, 64, 16), "", "", h, h, outputs=3, hidden_size=16
    )
    y = net.op("Squeeze", y, net.const(np.array([1], np.int64)))
    y = net.op("Sigmoid", net.op("MatMul", y, net.weight(16, width)))
    net.give(y, "b", [4, batch, width])
    net.give(last, "c", [1, batch, 16])
    assert net.task() == (task, "likely" if task != "unknown" else "unknown")


def test_states_of_several_axes_are_no_grids():
    def two(anchors):
        net = Net()
        x = net.stem(net.feed("x", [1, 3, 64, 64]), times=2)
        for number, side in enumerate((16, 8)):
            count = (3, anchors)[number]
            x = x if number == 0 else net.op("Relu", net.conv(x, 8, 8, stride=2))
            y = net.conv(x, 8, count * 9)
            shape = net.const(np.array([1, count, 9, side, side], np.int64))
            y = net.op("Transpose", net.op("Reshape", y, shape), perm=[0, 1, 3, 4, 2])
            net.give(y, f"y{number}", [1, count, side, side, 9])
        return net.task()[0]

    assert two(3) == "object-detection"
    assert two(5) != "object-detection"


def test_points_beside_single_scores():
    def out(*widths):
        net = Net()
        x = net.op("GlobalAveragePool", net.stem(net.feed("x", [1, 3, 64, 64])))
        for number, width in enumerate(widths):
            net.give(net.conv(x, 8, width, kernel=1), f"y{number}", [1, width, 1, 1])
        return net.task()

    assert out(1404, 1) == ("keypoint-detection", "likely")
    assert out(63, 1, 1) == ("keypoint-detection", "likely")
    assert out(1403, 1)[0] != "keypoint-detection"
    assert out(63, 63)[0] != "keypoint-detection"


def grids(*maps, last=False):
    net = Net()
    x = net.stem(net.feed("x", [1, 3, 64, 64]), times=4)
    for name, width in maps:
        y = net.conv(x, 8, width)
        y = net.op("Transpose", y, perm=[0, 2, 3, 1]) if last else y
        net.give(y, name, [1, 4, 4, width] if last else [1, width, 4, 4])
    return net.task()


@pytest.mark.parametrize("last", [False, True], ids=["channels first", "channels last"])
def test_heat_maps_and_offsets(last):
    assert grids(("a", 17), ("b", 34), ("c", 32), last=last) == ("keypoint-detection", "likely")
    assert grids(("a", 17), ("b", 33), last=last)[0] != "keypoint-detection"


def test_a_map_that_is_called_segments():
    assert grids(("segments", 1), ("a", 17), ("b", 34)) == ("image-segmentation", "likely")


def test_a_score_and_points_for_each_candidate():
    def rows(width):
        net = Net()
        x = net.stem(net.feed("x", [1, 3, 64, 64]), times=2)
        for wide in (1, width):
            y = net.op("Transpose", net.conv(x, 8, wide), perm=[0, 2, 3, 1])
            y = net.op("Reshape", y, net.const(np.array([1, 256, wide], np.int64)))
            net.give(y, f"y{wide}", [1, 256, wide])
        return net.task()

    assert rows(16) == ("object-detection", "likely")
    assert rows(3)[0] != "object-detection"


def test_two_lists_of_candidates():
    def rows(width):
        net = Net()
        x = net.stem(net.feed("x", [1, 3, 128, 128]), times=3)
        for level, (side, anchors) in enumerate(((16, 2), (8, 6))):
            x = net.op("Relu", net.conv(x, 8, 8, stride=2)) if level else x
            for wide in (1, width):
                y = net.op("Transpose", net.conv(x, 8, wide * anchors), perm=[0, 2, 3, 1])
                count = side * side * anchors
                y = net.op("Reshape", y, net.const(np.array([1, count, wide], np.int64)))
                net.give(y, f"y{level}_{wide}", [1, count, wide])
        return net.task()

    assert rows(16) == ("object-detection", "likely")
    assert rows(5)[0] != "object-detection"


def trees(ending=""):
    """One comparison a tree, a value for each side."""
    net = Net()
    x, values = net.feed("x", ["n", 4]), []
    for _ in range(3):
        column = net.op("Gather", x, net.const(np.array(1, np.int64)), axis=1)
        side = net.op("Cast", net.op("Less", column, net.const(np.float32(0.5))), to=TensorProto.INT64)
        values.append(net.op("Gather", net.weight(2, 3 if ending else 1), side, axis=0))
    y = net.op("Add", net.op("Add", *values[:2]), values[2])
    if ending:
        y = net.op(ending, y, axis=1, keepdims=0)
    net.nodes.append(helper.make_node("Identity", [y], ["y"]))
    kind = TensorProto.INT64 if ending else FLOAT
    net.given.append(helper.make_tensor_value_info("y", kind, ["n"] if ending else ["n", 1]))
    return net.task()


def test_trees_written_as_operators_on_tensors():
    assert trees("ArgMax") == ("tabular-classification", "likely")
    assert trees() == ("tabular-regression", "likely")


def test_observations_alone_make_a_choice_of_actions_likely():
    assert agent("obs", "output") == ("control", "likely")
    assert agent("x", "output") == ("tabular-classification", "likely")


def row(width, classes=10):
    net = Net()
    x = net.op("Relu", net.op("Gemm", net.feed("x", [1, width]), net.weight(width, 32), net.weight(32)))
    net.give(net.op("Gemm", x, net.weight(32, classes), net.weight(classes)), "y", [1, classes])
    return net.task()


def test_pixels_in_a_row():
    assert row(784) == ("image-classification", "likely")
    assert row(783) == ("tabular-classification", "likely")


def number(name, ending=""):
    net = Net()
    x = net.op("Flatten", net.op("GlobalAveragePool", net.stem(net.feed("x", [1, 3, 64, 64]))))
    y = net.op("Gemm", x, net.weight(8, 1), net.weight(1))
    net.give(net.op(ending, y) if ending else y, name, [1, 1])
    return net.task()


def test_one_number_for_an_image():
    assert number("y") == ("image-regression", "likely")
    assert number("age", "Relu") == ("image-regression", "likely")
    assert number("y", "Sigmoid") == ("image-classification", "likely")


def test_points_beside_a_map_of_features():
    net = Net()
    x = net.stem(net.feed("x", [1, 3, 64, 64]))
    net.give(net.op("Flatten", net.conv(net.op("GlobalAveragePool", x), 8, 212, kernel=1)), "y", [1, 212])
    net.give(x, "m", [1, 8, 16, 16])
    assert net.task()[0] == "keypoint-detection"


def small(channels, size, ending="Softmax"):
    net = Net()
    x = net.op("GlobalAveragePool", net.stem(net.feed("x", [1, channels, size, size]), channels, times=1))
    x = net.op("Gemm", net.op("Flatten", x), net.weight(8, 10), net.weight(10))
    net.give(net.op(ending, x), "y", [1, 10])
    return net.task()


def test_small_images_are_likely_only():
    assert small(3, 16) == ("image-classification", "structure")
    assert small(3, 14) == ("image-classification", "likely")
    assert small(1, 14) == ("image-classification", "likely")
    assert small(3, 8) == ("unknown", "unknown")


def test_an_image_without_its_batch():
    def shown(channels):
        net = Net()
        y = net.conv(net.op("Relu", net.conv(net.feed("x", [1, 3, 64, 96]), 3, 8)), 8, channels)
        y = net.op("Transpose", y, perm=[0, 2, 3, 1])
        net.give(net.op("Squeeze", y, net.const(np.array([0], np.int64))), "y", [64, 96, channels])
        return net.task()

    assert shown(3) == ("image-to-image", "likely")
    assert shown(4) == ("unknown", "unknown")


@pytest.mark.parametrize("of_it", [True, False])
def test_a_map_and_its_maxima(of_it):
    net = Net()
    x = net.stem(net.feed("x", [1, 3, 64, 64]))
    y = net.op("Sigmoid", net.conv(x, 8, 2))
    net.nodes.append(helper.make_node("Identity", [y], ["y"]))
    net.given.append(helper.make_tensor_value_info("y", FLOAT, [1, 2, 16, 16]))
    other = "y" if of_it else net.op("Sigmoid", net.conv(x, 8, 2))
    net.nodes.append(helper.make_node("MaxPool", [other], ["m"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    net.given.append(helper.make_tensor_value_info("m", FLOAT, [1, 2, 16, 16]))
    assert (net.task()[0] == "object-detection") == of_it


@pytest.mark.parametrize("name", ["logit_box", "bbox", "y"])
def test_numbers_that_are_called_a_box(name):
    net = Net()
    x = net.op("Flatten", net.op("GlobalAveragePool", net.stem(net.feed("x", [1, 3, 64, 64]))))
    net.give(net.op("Gemm", x, net.weight(8, 5), net.weight(5)), name, [1, 5])
    found, known = net.task()
    assert found == ("image-classification" if name == "y" else "object-detection")
    assert known == "likely"


CLASSES_KEY, SCOPES_KEY = "pkg.torch.onnx.class_hierarchy", "pkg.torch.onnx.name_scopes"


def of_class(net, name):
    """Records that the whole network is one module of a class."""
    for node in net.nodes:
        helper.set_model_props(node, {CLASSES_KEY: f"['models.{name}', 'op']", SCOPES_KEY: "['', 'op']"})
    return net.task()


@pytest.mark.parametrize(
    ("length", "task"), [(16000, ("audio-classification", "file")), (None, ("text-classification", "file"))]
)
def test_a_class_for_sequences_classifies_what_comes_in(length, task):
    net = Net()
    if length:
        x = net.op("Unsqueeze", net.feed("input_values", [1, length]), net.const(np.array([1])))
        x = net.op("Relu", net.op("Conv", x, net.weight(8, 1, 400), strides=[320]))
    else:
        x = net.op("Transpose", net.looked_up("input_ids", [1, 12], 500, 8), perm=[0, 2, 1])
    net.give(net.dense(net.op("ReduceMean", x, axes=[2], keepdims=0), 8, 5), "y", [1, 5])
    assert of_class(net, "AnyForSequenceClassification") == task


@pytest.mark.parametrize("image", [False, True])
def test_answers_about_an_image_are_no_answers_from_a_text(image):
    net = Net()
    x = net.looked_up("input_ids", [1, 12], 500, 8)
    if image:
        pixels = net.stem(net.feed("pixel_values", [1, 3, 32, 32]))
        pixels = net.op("ReduceMean", pixels, axes=[2, 3], keepdims=0)
        x = net.op("Add", x, net.op("Unsqueeze", pixels, net.const(np.array([1]))))
    net.give(net.dense(net.op("ReduceMean", x, axes=[1], keepdims=0), 8, 40), "y", [1, 40])
    named = of_class(net, "AnyForQuestionAnswering") == ("question-answering", "file")
    assert named is not image
