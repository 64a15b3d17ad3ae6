"""Files that are damaged, or made to do harm: one line, and nothing is written."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from py_autodoc.errors import AutodocError, InputError, LimitError, OutputError, PathError, RequirementError
from py_autodoc.keras import convert, hdf_reader
from py_autodoc.keras.config import parse
from py_autodoc.keras.model_runner import escaped

pytestmark = pytest.mark.slow

h5py = pytest.importorskip("h5py")
DATA = Path("tests/data/keras")
HERE = Path(__file__).parent
NESTED = (DATA / "tf2_nested.keras").read_bytes()
OLD = (DATA / "tf2_nested.h5").read_bytes()


def fault(path, **options):
    """The error of a conversion; nothing of a result is left."""
    out = Path(path).parent / "out" / "m.onnx"
    out.parent.mkdir(exist_ok=True)
    with pytest.raises(AutodocError) as caught:
        convert(path, out, **options)
    assert not list(out.parent.iterdir())
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 1500
    assert str(path.parent) not in caught.value.message
    return caught.value


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, parts, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def layer(kind, name, before, **config):
    calls = [
        {
            "args": [{"class_name": "__keras_tensor__", "config": {"keras_history": [before, 0, 0]}}],
            "kwargs": {},
        }
    ]
    return {"module": "keras.layers", "class_name": kind,
            "config": {"name": name, "dtype": "float32", **config},
            "registered_name": None, "name": name, "inbound_nodes": calls if before else []}  # fmt: skip


def functional(*layers, last=None):
    entry = layer("InputLayer", "in", None, batch_shape=[None, 4])
    return {"module": "keras", "class_name": "Functional", "registered_name": None, "config": {
        "name": "m", "layers": [entry, *layers], "input_layers": [["in", 0, 0]],
        "output_layers": [[last or (layers[-1]["name"] if layers else "in"), 0, 0]]}}  # fmt: skip


def keras_file(path, config, weights=None):
    """A ``.keras`` with these weights: place → array."""
    data = io.BytesIO()
    with h5py.File(data, "w") as file:
        for place, array in (weights or {}).items():
            file[place] = array
    return packed(path, {"config.json": json.dumps(config), "metadata.json": '{"keras_version": "3.1"}',
                         "model.weights.h5": data.getvalue()})  # fmt: skip


DENSE = {"layers/dense/vars/0": np.ones((4, 2), "f4"), "layers/dense/vars/1": np.ones(2, "f4")}


def test_the_files_of_these_tests_are_read(tmp_path):
    path = keras_file(tmp_path / "m.keras", functional(layer("Dense", "d", "in", units=2)), DENSE)
    assert convert(path, tmp_path / "m.onnx").coverage.nodes == 1


# -- not this kind of file -------------------------------------------------------------------------------


def test_what_is_no_file_of_keras(tmp_path):
    empty, other = tmp_path / "e.h5", tmp_path / "o.h5"
    empty.write_bytes(b"")
    other.write_bytes(b"\x89PNG" * 100)
    for path in (empty, other):
        assert "neither HDF5 nor a .keras archive" in fault(path).message
    with pytest.raises(PathError):
        convert(tmp_path / "none.h5", tmp_path / "m.onnx")
    with pytest.raises(PathError):
        convert(tmp_path, tmp_path / "m.onnx")
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        file.attrs["layer_names"] = ["a"]
    assert "contains only weights" in fault(tmp_path / "weights.h5").message
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["x"] = np.ones(3)
    assert "no model_config" in fault(tmp_path / "plain.h5").message
    path = packed(tmp_path / "a.keras", {"x": b"y"})
    assert "without config.json" in fault(path).message
    parts = members(NESTED)
    del parts["model.weights.h5"]
    assert "without model.weights.h5" in fault(packed(tmp_path / "b.keras", parts)).message


def test_h5py_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(hdf_reader, "find_spec", lambda name: None)
    with pytest.raises(RequirementError) as caught:
        convert(DATA / "ad01.h5", tmp_path / "m.onnx")
    assert caught.value.hint == 'pip install "onnx-autodoc[keras]"'


def test_a_place_that_cannot_be_written_is_told_first(tmp_path):
    with pytest.raises(OutputError):
        convert(DATA / "ad01.h5", tmp_path / "none" / "m.onnx")
    (tmp_path / "m.onnx").write_bytes(b"old")
    (tmp_path / "bad.h5").write_bytes(OLD[:-4000])
    with pytest.raises(InputError):
        convert(tmp_path / "bad.h5", tmp_path / "m.onnx", force=True)
    with pytest.raises(OutputError, match=r"m\.onnx exists"):
        convert(DATA / "ad01.h5", tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == b"old"


# -- damaged ---------------------------------------------------------------------------------------------

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def survives(path, out):
    """Whatever is in the file: converted, or one of our errors."""
    try:
        convert(path, out)
    except AutodocError as found:
        lines = found.message.count("\n") + len(list(out.parent.glob("*.onnx*")))
        assert lines == 0
    else:
        out.unlink()
        Path(f"{out}.json").unlink()


@QUICK
@given(st.data())
def changed_bytes(data):
    import tempfile

    whole, suffix = data.draw(st.sampled_from([(OLD, ".h5"), (NESTED, ".keras")]))
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole)
    for _ in range(data.draw(st.integers(0, 4))):
        if changed:
            changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{suffix}"
        path.write_bytes(bytes(changed))
        survives(path, Path(folder) / "m.onnx")


def test_cut_and_changed_bytes():
    """In a process of its own: what libhdf5 makes of changed bytes depends on the memory it finds."""
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import test_keras_hostile as t; t.changed_bytes()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


JUNK = st.sampled_from([None, True, -1, 0, 3, 10**12, 1.5, float("nan"), "", "x", "same", [], [0],
                        [1, "a"], [[[1]]], {}, {"a": 1},
                        {"class_name": "Dense", "config": {}}, ["in", 0, 0], [None, 4]])  # fmt: skip


def leaves_of(value):
    """Every place in JSON: the holder and the key."""
    pending, found = [value], []
    while pending:
        at = pending.pop()
        for key in list(at) if isinstance(at, dict) else range(len(at)):
            found.append((at, key))
            if isinstance(at[key], (dict, list)):
                pending.append(at[key])
    return found


@pytest.mark.parametrize("name", ["tf2_nested", "tf2_recurrent", "tf2_windows"])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_settings_that_make_no_sense(name, data):
    """Anything at any place of the description: converted, or one of our errors. The weights are intact."""
    import tempfile

    parts = members((DATA / f"{name}.keras").read_bytes())
    config = json.loads(parts["config.json"])
    places = [
        one
        for one in leaves_of(config)
        if "initializer" not in str(one[1]) and "regularizer" not in str(one[1])
    ]
    holder, key = data.draw(st.sampled_from(places))
    if data.draw(st.booleans()) or not isinstance(holder, dict):
        holder[key] = data.draw(JUNK)
    else:
        del holder[key]
    with tempfile.TemporaryDirectory() as folder:
        path = packed(
            Path(folder) / "m.keras", {**parts, "config.json": json.dumps(config)}, zipfile.ZIP_STORED
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hdf_reader, "in_process", hdf_reader.in_thread)
            survives(path, Path(folder) / "m.onnx")


# -- made to do harm -------------------------------------------------------------------------------------


def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    parts = members(NESTED)
    assert isinstance(
        fault(packed(tmp_path / "a.keras", {**parts, "config.json": b" " * (1 << 28) + b" "})), LimitError
    )
    huge = b"\x89HDF\r\n\x1a\n" + bytes((1 << 28) + 1)
    assert isinstance(fault(packed(tmp_path / "b.keras", {**parts, "model.weights.h5": huge})), LimitError)
    many = {**parts, **{f"x{at}": b"" for at in range(10_001)}}
    assert isinstance(fault(packed(tmp_path / "c.keras", many)), LimitError)


def test_an_archive_that_lies_about_a_size(tmp_path):
    path = packed(tmp_path / "m.keras", members(NESTED))
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("model.weights.h5").file_size.to_bytes(4, "little")
    at = data.find(size)
    while at >= 0:
        data[at : at + 4] = (100).to_bytes(4, "little")
        at = data.find(size, at + 4)
    path.write_bytes(bytes(data))
    assert fault(path).code == "keras-file"


def test_links_are_not_followed(tmp_path):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["vars/0"], file["vars/1"] = np.ones((4, 2), "f4"), np.ones(2, "f4")
    config = functional(layer("Dense", "d", "in", units=2))
    for link in (
        h5py.ExternalLink(str(secret), "/"),
        h5py.SoftLink("/elsewhere"),
        h5py.ExternalLink("secret.h5", "/"),
    ):
        data = io.BytesIO()
        with h5py.File(data, "w") as file:
            file["elsewhere/vars/0"], file["elsewhere/vars/1"] = np.ones((4, 2), "f4"), np.ones(2, "f4")
            file["layers/dense"] = link
        path = packed(
            tmp_path / "m.keras", {"config.json": json.dumps(config), "model.weights.h5": data.getvalue()}
        )
        assert "a link to somewhere else" in fault(path).message
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file["model_weights"] = h5py.ExternalLink(str(secret), "/")
    assert "a link to somewhere else" in fault(tmp_path / "m.h5").message


def test_values_in_other_files_are_not_read(tmp_path):
    config = functional(layer("Dense", "d", "in", units=2))
    raw = tmp_path / "raw.bin"
    raw.write_bytes(bytes(32))
    layout = h5py.VirtualLayout((4, 2), "f4")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", (4, 2))
    for kind in ("external", "virtual"):
        data = tmp_path / f"{kind}.weights"
        with h5py.File(data, "w") as file:
            group = file.create_group("layers/dense/vars")
            group["1"] = np.ones(2, "f4")
            if kind == "external":
                group.create_dataset("0", (4, 2), "f4", external=[(str(raw), 0, 32)])
            else:
                group.create_virtual_dataset("0", layout)
        path = packed(
            tmp_path / "m.keras", {"config.json": json.dumps(config), "model.weights.h5": data.read_bytes()}
        )
        assert "in another file" in fault(path).message


def test_a_dataset_that_claims_to_be_huge(tmp_path):
    config = functional(layer("Dense", "d", "in", units=2))
    for options in ({"chunks": (1 << 10, 1 << 10)}, {"chunks": (1 << 10, 1 << 10), "compression": "gzip"}):
        data = tmp_path / "w.h5"
        with h5py.File(data, "w") as file:
            file.create_dataset("layers/dense/vars/0", (1 << 20, 1 << 20), "f4", **options)
            file["layers/dense/vars/1"] = np.ones(2, "f4")
        path = packed(
            tmp_path / "m.keras", {"config.json": json.dumps(config), "model.weights.h5": data.read_bytes()}
        )
        assert isinstance(fault(path), LimitError)


def test_weights_that_are_missing_or_of_another_shape(tmp_path):
    config = functional(layer("Dense", "d", "in", units=2))
    path = keras_file(tmp_path / "m.keras", config, {**DENSE, "layers/dense/vars/0": np.ones((4, 3), "f4")})
    assert fault(path).message == "m.keras: d: kernel has the shape 4×3, its layer needs 4×2."
    path = keras_file(tmp_path / "m.keras", config, {"layers/dense/vars/0": np.ones((4, 2), "f4")})
    assert fault(path).message == "m.keras: d: the file has no bias for it."
    path = keras_file(tmp_path / "m.keras", config, {**DENSE, "layers/dense/vars/0": np.array([b"ab"] * 4)})
    assert "is not numeric" in fault(path).message
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs["model_config"], file.attrs["keras_version"] = json.dumps(config), "2.9"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = ["d"]
        group.create_group("d").attrs["weight_names"] = ["d/gamma:0", "d/bias:0"]
    assert (
        "has the weights d/gamma:0, d/bias:0, its layer needs kernel, bias"
        in fault(tmp_path / "m.h5").message
    )
    with h5py.File(tmp_path / "m.h5", "a") as file:
        file["model_weights/d"].attrs["weight_names"] = ["../../x/kernel", "d/bias:0"]
    assert "lists ../../x/kernel and does not have it" in fault(tmp_path / "m.h5").message


# -- what is not converted -------------------------------------------------------------------------------


def test_all_unsupported_layers_in_one_line(tmp_path):
    config = functional(
        layer("Lambda", "code", "in", function={"class_name": "__lambda__", "config": {"code": "4wEAAAA"}}),
        layer("ConvLSTM2D", "film", "code"),
        layer(
            "Dense",
            "mine",
            "film",
            units=2,
            activation={"module": "builtins", "class_name": "function", "config": "f"},
        ),
        {**layer("Dense", "other", "mine", units=2), "module": "my.layers", "registered_name": "my>Dense"},
        layer("Bidirectional", "around", "other", layer=layer("MyRNN", "inner", None)),
    )
    found = fault(keras_file(tmp_path / "m.keras", config))
    assert found.code == "keras-unsupported"
    for part in (
        "code (Lambda), which is Python code",
        "film (ConvLSTM2D)",
        "mine (Dense) with the activation 'f'",
        "other (Dense), a custom class",
        "inner (MyRNN)",
    ):
        assert part in found.message
    assert "--exporter dynamo" in found.hint


def test_settings_that_are_not_converted_name_their_layer(tmp_path):
    config = functional(
        layer("Dense", "d", "in", units=2), layer("BatchNormalization", "b", "d", renorm=True)
    )
    weights = {**DENSE, **{f"layers/batch_normalization/vars/{at}": np.ones(2, "f4") for at in range(4)}}
    found = fault(keras_file(tmp_path / "m.keras", config, weights))
    assert found.message == "m.keras: cannot be read directly because of b (BatchNormalization) with renorm."


@pytest.mark.parametrize("kind", ["Concatenate", "GroupNormalization"])
def test_several_axes_where_one_is_meant(tmp_path, kind):
    entry = layer(kind, "l", "in", axis=[1, 1], groups=2, scale=False, center=False)
    if kind == "Concatenate":
        call = entry["inbound_nodes"][0]
        call["args"] = [call["args"] * 2]
    found = fault(keras_file(tmp_path / "m.keras", functional(entry), {}))
    assert found.message == f"m.keras: l ({kind}): axis is [1, 1], it needs one axis."


def test_models_of_other_classes_and_versions(tmp_path):
    for config in (
        {"class_name": "MyModel", "config": {"name": "x"}},
        {"class_name": "Functional", "config": {"name": "x"}},
        {"class_name": None},
        {**functional(), "registered_name": "my>Functional"},
    ):
        assert fault(keras_file(tmp_path / "m.keras", config)).code == "keras-file"
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs["model_config"], file.attrs["keras_version"] = json.dumps(functional()), "1.2.2"
        file.create_group("model_weights")
    assert "written by Keras 1.2.2" in fault(tmp_path / "m.h5").message


def test_graphs_that_make_no_sense(tmp_path):
    circle = functional(layer("ReLU", "a", "b"), layer("ReLU", "b", "a"))
    assert "form a cycle" in fault(keras_file(tmp_path / "m.keras", circle)).message
    assert (
        "is used but missing in the file"
        in fault(keras_file(tmp_path / "m.keras", functional(last="gone"))).message
    )
    twice = functional(layer("ReLU", "a", "in"), layer("ReLU", "a", "in"))
    assert "two of its layers are called 'a'" in fault(keras_file(tmp_path / "m.keras", twice)).message


def test_nesting_is_bounded(tmp_path):
    inner = layer("ReLU", "r", None)
    for at in range(60):
        inner = {
            "module": "keras",
            "class_name": "Sequential",
            "config": {"name": f"s{at}", "layers": [inner]},
        }
    assert isinstance(fault(keras_file(tmp_path / "m.keras", inner)), LimitError)
    deep = layer("TimeDistributed", "t", "in")
    at = deep
    for _ in range(60):
        at["config"]["layer"] = at = layer("TimeDistributed", "t", None)
    assert isinstance(fault(keras_file(tmp_path / "m.keras", functional(deep))), LimitError)
    path = packed(tmp_path / "m.keras", {**members(NESTED), "config.json": "[" * 200_000})
    assert "nested deeper than 200 levels" in fault(path).message
    lists = []
    for _ in range(50):
        lists = [lists]
    config = functional(layer("ReLU", "r", "in"))
    config["config"]["layers"][1]["inbound_nodes"] = [{"args": [lists], "kwargs": {}}]
    assert isinstance(fault(keras_file(tmp_path / "m.keras", config)), LimitError)


def test_a_long_chain_of_layers(tmp_path):
    """A deep chain needs no deep calls, and each layer is looked at once."""
    layers = [layer("ReLU", f"r{at}", f"r{at - 1}" if at else "in") for at in range(2000)]
    path = keras_file(tmp_path / "m.keras", functional(*layers))
    assert convert(path, tmp_path / "m.onnx").coverage.nodes == 2000


def test_names_become_parts_of_paths():
    assert [escaped(name) for name in ("a", "a.b", "a%2Eb", "a b", "ä")] == [
        "a",
        "a%2Eb",
        "a%252Eb",
        "a%20b",
        "ä",
    ]
    model = parse(functional(layer("ReLU", "a.b", "in")), "m")
    assert list(model.layers) == ["in", "a.b"]


def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "m.h5")
    with pytest.raises(PathError):
        convert(tmp_path / "m.h5", tmp_path / "m.onnx")
