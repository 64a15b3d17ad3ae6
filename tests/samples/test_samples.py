"""Values for inputs: what a model declares, what is made up, what files hold."""

import tracemalloc
import zipfile

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc import free_memory
from py_autodoc.errors import AutodocError
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.runner.loaders import ArrayLoader
from py_autodoc.samples import (
    InputSpec,
    cast_to_inputs,
    check_memory,
    input_specs,
    read_samples,
    synthetic_samples,
)
from py_autodoc.samples.noise import most_samples


def model(*inputs):
    """Each input handed on."""
    ports = [helper.make_tensor_value_info(*one) for one in inputs]
    nodes = [helper.make_node("Identity", [one[0]], [f"{one[0]}_out"]) for one in inputs]
    outs = [helper.make_tensor_value_info(f"{one[0]}_out", *one[1:]) for one in inputs]
    return helper.make_model(helper.make_graph(nodes, "g", ports, outs))


def specs(*inputs, **options):
    return input_specs(run_analysis(model(*inputs), Options(**options)))


IMAGE = InputSpec("x", np.dtype(np.float32), (1, 3, 4, 4))
IDS = InputSpec("ids", np.dtype(np.int64), (2, 5), "tokens", 30)


def test_sizes_and_types_of_the_file():
    x, flags = specs(
        ("x", TensorProto.FLOAT16, ["n", 3]), ("flags", TensorProto.BOOL, [2]), bindings={"n": 7}
    )
    assert (x.name, x.dtype, x.shape) == ("x", np.float16, (7, 3))
    assert (flags.dtype, flags.shape) == (np.bool_, (2,))


@pytest.mark.parametrize(("shape", "way"), [(["n", 3], "--bind n=N"), (["2 * n", 3], "--input-shape x=")])
def test_a_free_size_names_the_way_out(shape, way):
    with pytest.raises(AutodocError, match="a dimension of the input x is unknown") as found:
        specs(("x", TensorProto.FLOAT, shape))
    assert way in found.value.hint


def test_inputs_larger_than_memory_are_refused():
    with pytest.raises(AutodocError, match="more than 2 GB"):
        specs(("x", TensorProto.FLOAT, [1 << 20, 1 << 10]))


def test_made_values_follow_the_roles():
    wanted = [
        IDS,
        InputSpec("mask", np.dtype(np.int64), (2, 5), "attention mask"),
        InputSpec("at", np.dtype(np.int32), (2, 5), "positions", 4),
        InputSpec("kinds", np.dtype(np.int64), (2, 5), "token types", 2),
        InputSpec("image", np.dtype(np.uint8), (8, 8, 3), "image"),
        InputSpec("wave", np.dtype(np.float32), (1, 4000), "waveform"),
        InputSpec("past", np.dtype(np.float16), (1, 2, 3), "key/value cache"),
        InputSpec("count", np.dtype(np.int64), (), ""),
    ]
    first, second = synthetic_samples(wanted, 2, seed=3)
    for sample in (first, second):
        for one in wanted:
            assert sample[one.name].dtype == one.dtype
            assert sample[one.name].shape == one.shape
    assert first["ids"].min() >= 0
    assert 20 < first["ids"].max() < 30 or second["ids"].max() < 30
    assert (first["mask"] == 1).all()
    assert first["at"][0].tolist() == [0, 1, 2, 3, 0]
    assert 0 < first["past"].std() < 1  # zeros would hide what reads them
    assert first["image"].max() > 127
    assert first["wave"].std() < 0.2
    assert not np.array_equal(first["ids"], second["ids"])
    again, _ = synthetic_samples(wanted, 2, seed=3)
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_real_models_run_with_made_values(request):
    runtime = pytest.importorskip("onnxruntime")
    folder = request.config.rootpath / "tests/data/models"
    for name, options in (
        ("bert_tiny", Options(assume=True)), ("resnet_tiny", Options(assume=True)),
        ("silero_vad_half", Options(assume=True)), ("swift_f0", Options(assume=True)),
    ):  # fmt: skip
        analysis = run_analysis(str(folder / f"{name}.onnx"), options)
        sample = next(synthetic_samples(input_specs(analysis)))
        runtime.InferenceSession(str(folder / f"{name}.onnx")).run(None, sample)


def saved(folder, **arrays):
    np.savez(folder / "s.npz", **arrays)
    return folder / "s.npz"


def test_samples_of_an_archive(tmp_path):
    x = np.arange(5 * 48, dtype=np.float32).reshape(5, 1, 3, 4, 4)
    found = list(read_samples(saved(tmp_path, x=x), [IMAGE]))
    assert len(found) == 5
    assert np.array_equal(found[3]["x"], x[3])
    joined = list(read_samples(saved(tmp_path, anything=x[:, 0]), [IMAGE]))
    assert np.array_equal(joined[4]["x"], x[4])
    assert len(list(read_samples(saved(tmp_path, x=x), [IMAGE], limit=2))) == 2
    assert len(list(read_samples(saved(tmp_path, x=x[0]), [IMAGE]))) == 1


def test_several_inputs_stay_together(tmp_path):
    ids = np.arange(20).reshape(4, 5)
    mask = InputSpec("mask", np.dtype(np.int64), (2, 5))
    found = list(read_samples(saved(tmp_path, ids=ids, mask=ids % 2, labels=ids), [IDS, mask]))
    assert [one["ids"][0, 0] for one in found] == [0, 10]
    assert set(found[0]) == {"ids", "mask"}
    with pytest.raises(AutodocError, match="different numbers of samples: ids 2, mask 1"):
        list(read_samples(saved(tmp_path, ids=ids, mask=ids[:2]), [IDS, mask]))


def test_a_folder_in_the_order_of_names(tmp_path):
    for name in "ba":
        np.save(tmp_path / f"{name}.npy", np.full(IMAGE.shape, ord(name), np.float32))
    (tmp_path / "notes.txt").write_text("no sample")
    assert [one["x"].flat[0] for one in read_samples(tmp_path, [IMAGE])] == [97, 98]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (
            {"x": np.zeros((1, 3, 4, 5), np.float32)},
            "x has the shape 1×3×4×5; the model takes x float32 1×3×4×4",
        ),
        ({"x": np.full(IMAGE.shape, np.nan)}, "NaN or infinity"),
        ({"x": np.full(IMAGE.shape, "a")}, "instead of numbers"),
        ({"y": np.zeros(2), "z": np.zeros(2)}, r"no values for x float32 .*"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, arrays, said):
    with pytest.raises(AutodocError, match=said):
        list(read_samples(saved(tmp_path, **arrays), [IMAGE]))


def test_values_are_not_bent():
    with pytest.raises(AutodocError, match="do not fit int64"):
        cast_to_inputs({"ids": np.full((2, 5), 0.5)}, [IDS], "a.npz")
    assert cast_to_inputs({"ids": np.full((2, 5), 3, np.uint8)}, [IDS], "a.npz")["ids"].dtype == np.int64
    assert cast_to_inputs({"x": np.zeros(IMAGE.shape)}, [IMAGE], "a.npz")["x"].dtype == np.float32


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"text"])
def test_broken_files_are_one_line(tmp_path, content):
    for name in ("a.npz", "a.npy"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(AutodocError, match="cannot be read as a NumPy file") as found:
            list(read_samples(tmp_path / name, [IMAGE]))
        assert "\n" not in str(found.value)


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(AutodocError, match="cannot be read as a NumPy file"):
        list(read_samples(tmp_path / "a.npy", [IMAGE]))


def test_missing_and_empty(tmp_path):
    with pytest.raises(AutodocError, match="no such file"):
        list(read_samples(tmp_path / "none.npz", [IMAGE]))
    with pytest.raises(AutodocError, match="contains no"):
        list(read_samples(tmp_path, [IMAGE]))


def test_a_model_made_of_nothing_needs_nothing():
    graph = helper.make_graph(
        [helper.make_node("Constant", [], ["y"], value_float=1.0)], "g", [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    )  # fmt: skip
    assert input_specs(run_analysis(onnx.helper.make_model(graph))) == []


def header(shape, kind="<f4"):
    """The bytes of a .npy file without its values."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (header("(1180591620717411303424, 4)"), "an array that no machine can hold"),
        (header("(1000, 1000)"), "declares 4,000,000 bytes, but only 0 follow"),
        (header("(2,)", "|O") + bytes(16), "other than numeric arrays"),
        (header("(0, 99999999999999999999)"), "an array that no machine can hold"),
        (header("(-1, 4)"), ""),
        (header("(2,)", "('<f4', (9, 9))") + bytes(9), ""),
    ],
)
def test_headers_are_checked_before_values(tmp_path, content, said):
    (tmp_path / "a.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", content)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(AutodocError, match=said) as found:
            list(read_samples(tmp_path / name, [IMAGE]))
        assert found.value.code == "sample-unreadable"


def peak_bytes(call):
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_is_refused_by_its_shape(tmp_path):
    np.savez_compressed(tmp_path / "b.npz", x=np.zeros(200_000_000, np.uint8))

    def refused():
        with pytest.raises(AutodocError, match="has the shape 200000000; the model takes x"):
            list(read_samples(tmp_path / "b.npz", [IMAGE]))

    assert peak_bytes(refused)[1] < 20_000_000


def test_only_the_rows_of_the_samples_are_read(tmp_path):
    np.savez_compressed(tmp_path / "b.npz", x=np.zeros((50_000_000, 4), np.uint8))
    row = InputSpec("x", np.dtype(np.uint8), (4,))
    found, most = peak_bytes(lambda: list(read_samples(tmp_path / "b.npz", [row], limit=3)))
    assert (len(found), most < 20_000_000) == (3, True)
    from py_autodoc.runner.loaders import ArrayLoader

    found, most = peak_bytes(lambda: list(ArrayLoader(tmp_path / "b.npz", [row], most=3)))
    assert (len(found), most < 20_000_000) == (3, True)


def test_labels_are_read_with_their_samples(tmp_path):
    from py_autodoc.runner.loaders import ArrayLoader

    x = np.arange(5 * 48, dtype=np.float32).reshape(5, 1, 3, 4, 4)
    found = list(ArrayLoader(saved(tmp_path, x=x, labels=np.arange(10)), [IMAGE], most=2))
    assert [label.tolist() for _, label in found] == [[0, 1], [2, 3]]
    assert np.array_equal(found[1][0]["x"], x[1])
    with pytest.raises(AutodocError, match="6 labels for 5 samples"):
        ArrayLoader(saved(tmp_path, x=x, labels=np.arange(6)), [IMAGE], most=2)


def test_transposed_arrays_keep_their_values(tmp_path):
    x = np.asfortranarray(np.arange(5 * 48, dtype=np.float32).reshape(5, 1, 3, 4, 4))
    assert np.array_equal(list(read_samples(saved(tmp_path, x=x), [IMAGE], limit=3))[2]["x"], x[2])


def test_methods_that_need_memory_to_unpack_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.npy", header("(1,)") + bytes(4))
    with pytest.raises(AutodocError, match="compressed in a way"):
        list(read_samples(tmp_path / "a.npz", [IMAGE]))


def test_generated_values_are_bounded():
    huge = InputSpec("x", np.dtype(np.float32), (1, 3, 11_600, 11_600))
    said = r"Synthetic inputs would take 1\.61 GB .*x float32 1×3×11600×11600"
    with pytest.raises(AutodocError, match=said) as found:
        synthetic_samples([huge])
    assert "--bind" in found.value.hint
    small = InputSpec("x", np.dtype(np.float32), (1, 3, 2000, 2000))
    assert most_samples([small], 16) == 11
    assert most_samples([IMAGE], 16) == 16
    with pytest.raises(AutodocError, match="20 synthetic samples"):
        synthetic_samples([small], 20)
    with free_memory.allowing(1000), pytest.raises(AutodocError, match=r"1\S* kB is allowed"):
        synthetic_samples([small])


def test_a_model_that_needs_more_memory_than_there_is_is_refused():
    analysis = run_analysis(model(("x", TensorProto.FLOAT, [1000])))
    check_memory(analysis)
    with free_memory.allowing(3000), pytest.raises(AutodocError, match=r"4\S* kB of activations at the peak"):
        check_memory(analysis)


def test_an_input_that_is_no_tensor_names_the_way_out():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2]))
    made = model(("x", TensorProto.FLOAT, [2]))
    made.graph.input[0].type.CopyFrom(kind)
    analysis = run_analysis(made, Options())
    with pytest.raises(AutodocError, match="the input x is an optional; only tensors can be fed") as found:
        input_specs(analysis)
    assert "Export the model with tensors" in found.value.hint


@pytest.mark.parametrize("reader", [read_samples, ArrayLoader], ids=["samples", "with labels"])
@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"foo": np.zeros((2, 3), np.float32)}, True),
        ({"x": np.zeros((2, 3), np.float32)}, False),
        ({"x": np.zeros((2, 3), np.float32), "foo": np.zeros(2)}, False),
    ],
)
def test_an_array_with_another_name_is_told_once(reader, arrays, told, tmp_path, caplog):
    for number in range(2):
        np.savez(tmp_path / f"{number}.npz", **arrays)
    assert len(list(reader(tmp_path, specs(("x", TensorProto.FLOAT, [1, 3]))))) == 4
    assert caplog.messages == (["0.npz: foo is taken as x, the only input."] if told else [])


def test_a_file_of_one_array_has_no_name_to_tell(tmp_path, caplog):
    np.save(tmp_path / "foo.npy", np.zeros((2, 3), np.float32))
    assert len(list(read_samples(tmp_path / "foo.npy", specs(("x", TensorProto.FLOAT, [1, 3]))))) == 2
    assert caplog.messages == []
