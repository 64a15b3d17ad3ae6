"""Images as samples: prepared as transformers and Ultralytics do it, and clear faults."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.hf.keys import PROCESSOR_CONFIG
from py_autodoc.packed import pack_json
from py_autodoc.samples import Images, InputSpec, analysis_at_sizes, choose_samples, input_specs, read_image
from py_autodoc.samples import images as images_module
from py_autodoc.samples.preprocessing import (
    LETTERBOX,
    NAMED,
    SHORTEST,
    Preprocessing,
    given_preprocessing,
    preprocessing_of,
)

image = pytest.importorskip("PIL.Image")
FLOAT = np.dtype(np.float32)


def picture(path, size=(53, 41), seed=0, mode="RGB"):
    """Smooth colours, so that filters that differ in one pixel are seen and noise is not."""
    random = np.random.default_rng(seed)
    small = random.integers(0, 255, (5, 7, 3), dtype=np.uint8)
    image.fromarray(small).resize(size, image.Resampling.BICUBIC).convert(mode).save(path)
    return path


def photos(folder, count=6, **options):
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(count):
        picture(folder / f"{at}.png", seed=at, **options)
    return folder


def spec(height, width, channels=3, dtype=FLOAT, preprocessing=None):
    return InputSpec("x", dtype, (1, channels, height, width), "image", None, preprocessing)


def net(path, metadata=None, shape=("batch", 3, "height", "width"), elem=TensorProto.FLOAT):
    """One convolution, for images of any size."""
    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    made = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[3, 3]),
            helper.make_node("GlobalAveragePool", ["c"], ["p"], name="pool"),
            helper.make_node("Flatten", ["p"], ["y"], name="flat"),
        ],
        "g",
        [helper.make_tensor_value_info("x", elem, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (shape[0], 4))],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    for key, value in (metadata or {}).items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, path)
    return path


PROCESSORS = {
    "ViTImageProcessor": {"size": {"height": 32, "width": 32}},
    "CLIPImageProcessor": {
        "size": {"shortest_edge": 36}, "crop_size": {"height": 32, "width": 32},
    },
    "ConvNextImageProcessor": {"size": {"shortest_edge": 32}, "crop_pct": 0.875},
    "MobileViTImageProcessor": {
        "size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32},
        "do_flip_channel_order": True,
    },
    "BitImageProcessor": {"size": {"shortest_edge": 30}, "crop_size": {"height": 48, "width": 28}},
    "DetrImageProcessor": {"size": {"shortest_edge": 40, "longest_edge": 60}, "do_pad": False},
    "SegformerImageProcessor": {"size": {"height": 24, "width": 40}, "resample": 3},
}  # fmt: skip


@pytest.mark.parametrize("size", [(53, 41), (30, 64), (24, 24)])
@pytest.mark.parametrize("kind", PROCESSORS)
def test_as_transformers_does_it(kind, size, tmp_path):
    transformers = pytest.importorskip("transformers")
    theirs = getattr(transformers, kind)(**PROCESSORS[kind])
    file = picture(tmp_path / "a.png", size)
    wanted = theirs(image.open(file), return_tensors="np")["pixel_values"]
    settings = {**theirs.to_dict(), "image_processor_type": kind}
    found = preprocessing_of({PROCESSOR_CONFIG: pack_json({"image_processor": settings})})
    ours = read_image(file, spec(*wanted.shape[2:]), found)
    assert np.allclose(ours, wanted, atol=1e-3)


def test_as_ultralytics_frames_it(tmp_path):
    found = preprocessing_of({"imgsz": "[64, 64]", "stride": "32", "task": "detect"})
    image.new("RGB", (40, 20), (255, 0, 0)).save(tmp_path / "wide.png")
    made = read_image(tmp_path / "wide.png", spec(64, 64), found)
    grey = 114 / 255
    assert np.allclose(made[0, :, :16], grey)
    assert np.allclose(made[0, :, 48:], grey)
    assert np.allclose(made[0, 0, 16:48], 1)
    assert np.allclose(made[0, 1:, 16:48], 0)
    classes = preprocessing_of({"imgsz": "[16, 16]", "task": "classify"})
    assert read_image(tmp_path / "wide.png", spec(16, 16), classes)[0, :, 0, 0].tolist() == [1, 0, 0]
    assert preprocessing_of({"imgsz": "__import__('os')", "stride": "32"}) is None


def test_other_metadata(tmp_path):
    image.new("RGB", (8, 8), (255, 0, 51)).save(tmp_path / "a.png")
    keys = {"Image.NominalPixelRange": "NominalRange_0_255", "Image.BitmapPixelFormat": "Bgr8"}
    assert read_image(tmp_path / "a.png", spec(4, 4), preprocessing_of(keys))[0, :, 0, 0].tolist() == [
        51,
        0,
        255,
    ]
    timm = {"mean": [0.5] * 3, "std": [0.5] * 3, "input_size": [3, 4, 4], "crop_pct": 0.8}
    config = {"hf_model_config": pack_json({"pretrained_cfg": timm})}
    made = read_image(tmp_path / "a.png", spec(4, 4), preprocessing_of(config))
    assert np.allclose(made[0, :, 0, 0], [1, -1, -0.6])
    assert preprocessing_of({}) is None
    assert preprocessing_of({PROCESSOR_CONFIG: "broken"}) is None
    for std in ([0, 0, 0], ["x"], {}):
        broken = {"image_mean": [0.5], "image_std": std, "size": 8, "do_normalize": True}
        assert preprocessing_of({PROCESSOR_CONFIG: pack_json({"image_processor": broken})}) is None


def test_grey_integer_and_turned_images(tmp_path):
    picture(tmp_path / "a.png")
    grey = read_image(tmp_path / "a.png", spec(8, 8, 1), given_preprocessing("imagenet"))
    assert grey.shape == (1, 1, 8, 8)
    whole = spec(8, 8, 3, np.dtype(np.uint8))
    values = read_image(tmp_path / "a.png", whole, Images(tmp_path).preprocessing_for(whole))
    assert values.dtype == np.uint8
    assert values.max() > 100
    with pytest.raises(AutodocError, match="do not fit uint8"):
        read_image(tmp_path / "a.png", whole, given_preprocessing("imagenet"))
    turned = image.new("RGB", (10, 20))
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(tmp_path / "turned.jpg", exif=exif)
    (tmp_path / "as_is.json").write_text(json.dumps({"do_resize": False, "do_rescale": True}))
    assert read_image(
        tmp_path / "turned.jpg", spec(10, 20), given_preprocessing(tmp_path / "as_is.json")
    ).shape


def test_samples_are_spread_over_classes(tmp_path):
    for name in ("a", "b", "c", "d"):
        photos(tmp_path / name, 5, size=(8, 8))
    chosen = list(Images(tmp_path, "0..1").samples(spec(8, 8), 4))
    assert len(chosen) == 4
    firsts = [read_image(tmp_path / one / "0.png", spec(8, 8), given_preprocessing("0..1")) for one in "abcd"]
    assert all(np.array_equal(one["x"], other) for one, other in zip(chosen, firsts, strict=True))
    batches = InputSpec("x", FLOAT, (8, 3, 8, 8), "image")
    assert [one["x"].shape[0] for one in Images(tmp_path, "0..1").samples(batches, 9)] == [8, 8]


def test_free_sizes_are_those_of_the_preprocessing(tmp_path):
    model = net(tmp_path / "yolo.onnx", {"imgsz": "[64, 48]", "stride": "16", "task": "detect"})
    folder = photos(tmp_path / "photos")
    specs = input_specs(analysis_at_sizes(model, folder))
    assert specs[0].shape == (1, 3, 64, 48)
    samples, said = choose_samples(folder, specs, None, 0, (4, 1))
    assert len(samples) == 4
    assert said == "images of photos, imgsz of Ultralytics"


def test_quantize_from_images(tmp_path):
    pytest.importorskip("onnxruntime")
    model = net(tmp_path / "net.onnx", shape=("batch", 3, 24, 24))
    folder = photos(tmp_path / "photos")
    data, out = ["--data", str(folder)], tmp_path / "q.onnx"
    arguments = ["quantize", str(model), str(out), *data, "--target", "cpu-vnni"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "has no preprocessing for x float32 1×3×24×24" in done.stderr
    assert not out.exists()
    done = CliRunner().invoke(app, [*arguments, "--preprocessing", "imagenet"])
    assert done.exit_code == 0, done.stderr
    assert "6 samples (images of photos, imagenet)" in done.stdout
    done = CliRunner().invoke(
        app, ["run", str(model), "--data", str(folder), "--preprocessing", "0..1", "--runs", "2"]
    )
    assert done.exit_code == 0, done.stderr
    assert "images of photos, 0..1" in done.stdout


@pytest.mark.parametrize(
    ("files", "preprocessing", "said"),
    [
        ({"a.png": b"\x89PNG broken"}, "0..1", "a.png cannot be read as an image"),
        ({"a.jpg": b""}, "0..1", "a.jpg cannot be read as an image"),
        ({"a.txt": b"text"}, "0..1", "the folder contains no image"),
        ({"a.png": None}, "magic", "magic is neither a known preprocessing nor a readable file"),
        ({"a.png": None, "p.json": b"{}"}, "p.json", "does not define how images are scaled"),
        ({"a.png": None, "p.json": b"[1"}, "p.json", "p.json is not valid JSON"),
        ({"a.png": None, "p.json": b'{"size": 16, "image_mean": [0.5], "image_std": [0.5]}'}, "p.json",
         "a.png is 16×16 after p.json; the model takes x float32 1×3×24×24"),
    ],
)  # fmt: skip
def test_faults_are_one_line(files, preprocessing, said, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, content in files.items():
        picture(folder / name) if content is None else (folder / name).write_bytes(content)
    if preprocessing.endswith(".json"):
        preprocessing = folder / preprocessing
    with pytest.raises(AutodocError, match=said):
        list(Images(folder, preprocessing).samples(spec(24, 24), 4))


def test_images_of_many_bits_and_models_of_several_inputs(tmp_path):
    image.fromarray(np.full((4, 4), 60_000, np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(AutodocError, match="more than 8 bits"):
        read_image(tmp_path / "deep.png", spec(4, 4), given_preprocessing("0..1"))
    with pytest.raises(AutodocError, match="model with one input"):
        choose_samples(Images(tmp_path, "0..1"), [spec(4, 4), spec(4, 4)], None, 0, (4, 1))
    with pytest.raises(AutodocError, match="not an input for images"):
        choose_samples(Images(tmp_path, "0..1"), [InputSpec("x", FLOAT, (1, 8))], None, 0, (4, 1))


def test_what_iterables_yield():
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    one = InputSpec("x", FLOAT, (1, 3))
    rows = torch.arange(18, dtype=torch.float32).reshape(6, 3).requires_grad_()
    batches = DataLoader(TensorDataset(rows.detach(), torch.arange(6)), batch_size=4)
    samples, _ = choose_samples(batches, [one], None, 0, (5, 1))
    assert [sample["x"].tolist() for sample in samples[3:]] == [[[9, 10, 11]], [[12, 13, 14]]]
    assert len(choose_samples(iter([rows]), [one], None, 0, (9, 1))[0]) == 6
    assert len(choose_samples([{"x": rows}, {"x": rows}], [one], None, 0, (9, 1))[0]) == 9
    assert len(choose_samples([({"x": rows}, 3)], [one], None, 0, (9, 1))[0]) == 6
    two = [one, InputSpec("y", FLOAT, (1, 2))]
    assert choose_samples([(np.zeros((2, 3)), np.ones((2, 2)), "label")], two, None, 0, (9, 1))[0][1][
        "y"
    ].tolist() == [[1, 1]]
    with pytest.raises(AutodocError, match="yields 1 arrays; the model takes x, y"):
        choose_samples([(np.zeros((2, 3)),)], two, None, 0, (9, 1))
    with pytest.raises(AutodocError, match="the model takes x float32 1×3"):
        choose_samples([np.zeros((2, 5))], [one], None, 0, (9, 1))


def test_sizes_from_the_first_of_an_iterable(tmp_path):
    model = net(tmp_path / "net.onnx")
    batches = [(np.zeros((2, 3, 20, 30), np.float32), 1)]
    assert input_specs(analysis_at_sizes(model, batches))[0].shape == (1, 3, 20, 30)
    assert Path(model).exists()


@pytest.mark.parametrize(
    ("size", "preprocessing"),
    [
        ((1, 1 << 25), NAMED["imagenet"]),
        ((1, 1 << 25), Preprocessing("shortest", SHORTEST, edge=224, crop=(64, 64))),
        ((1 << 25, 1), Preprocessing("unchanged", "")),
        ((1 << 25, 1), Preprocessing("letterbox", LETTERBOX, size=(64, 64))),
    ],
    ids=["stretch", "shortest", "unchanged", "letterbox"],
)
def test_thin_images_are_refused_before_they_are_resized(tmp_path, size, preprocessing):
    image.new("L", size).save(tmp_path / "thin.png")
    with pytest.raises(AutodocError) as found:
        read_image(tmp_path / "thin.png", spec(64, 64), preprocessing)
    assert found.value.code == "image-too-large"
    assert "thin.png" in found.value.message


def test_the_rows_of_an_image_take_memory_too(tmp_path, monkeypatch):
    image.new("L", (1, 1 << 16)).save(tmp_path / "thin.png")
    # The pixels take 65 kB, and 262 kB in colours; the pointers to their rows 524 kB, twice.
    monkeypatch.setattr(images_module, "MAX_IMAGE_BYTES", 1_000_000)
    with pytest.raises(AutodocError, match=r"1×65536 pixels take 1\.38 MB"):
        read_image(tmp_path / "thin.png", spec(64, 64), NAMED["0..1"])
