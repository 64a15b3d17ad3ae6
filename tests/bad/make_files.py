"""Files that are no models, broken models, and models around odd files."""

import gzip
import json
import os
import random
import zipfile
from pathlib import Path

from make_models import external, good, save, with_weight


def data(content):
    """A maker that writes fixed bytes."""

    def make(folder):
        return save(content, folder)

    return make


def random_bytes(folder):
    # An odd first byte that no field of a model has.
    return save(b"\xc7" + random.Random(7).randbytes(4095), folder)


def truncated(folder):
    content = good().SerializeToString()
    return save(content[: len(content) * 2 // 3], folder)


def gzipped(folder):
    return save(gzip.compress(good().SerializeToString()), folder)


def pytorch_zip(folder):
    path = Path(folder) / "model.onnx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02.")
        archive.writestr("model/version", "3")
    return path


def ultralytics_zip(folder):
    path = Path(folder) / "model.onnx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("best/data.pkl", b"\x80\x02}q\0cultralytics.nn.tasks\nDetectionModel\nq\x01.")
    return path


def plain_zip(folder):
    path = Path(folder) / "model.onnx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "nothing")
    return path


def safetensors(folder):
    head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return save(len(head).to_bytes(8, "little") + head + bytes(4), folder)


def directory(folder):
    path = Path(folder) / "model.onnx"
    path.mkdir()
    return path


def missing(folder):
    return Path(folder) / "model.onnx"


def fifo(folder):
    path = Path(folder) / "model.onnx"
    os.mkfifo(path)
    return path


def device(folder):
    path = Path(folder) / "model.onnx"
    path.symlink_to("/dev/zero")
    return path


def zeros(folder):
    path = Path(folder) / "model.onnx"
    with path.open("wb") as file:
        file.truncate(2_100_000_000)
    return path


# External data. Every maker puts the model in a folder of its own; ``outside`` lies beside it.


def _folders(folder):
    inside, outside = Path(folder) / "in", Path(folder) / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.bin").write_bytes(bytes(64))
    return inside, outside


def _weight(location, **entries):
    return external("w", [4, 4], location=location, **entries)


def absolute(folder):
    inside, outside = _folders(folder)
    return save(with_weight(_weight(outside / "secret.bin")), inside)


def parent(folder):
    inside, _ = _folders(folder)
    return save(with_weight(_weight("../out/secret.bin")), inside)


def link_out(folder):
    inside, outside = _folders(folder)
    (inside / "w.bin").symlink_to(outside / "secret.bin")
    return save(with_weight(_weight("w.bin")), inside)


def folder_link_out(folder):
    inside, outside = _folders(folder)
    (inside / "sub").symlink_to(outside)
    return save(with_weight(_weight("sub/secret.bin")), inside)


def hard_link(folder):
    inside, outside = _folders(folder)
    os.link(outside / "secret.bin", inside / "w.bin")
    return save(with_weight(_weight("w.bin")), inside)


def no_file(folder):
    return save(with_weight(_weight("w.bin")), folder)


def is_directory(folder):
    (Path(folder) / "w.bin").mkdir()
    return save(with_weight(_weight("w.bin")), folder)


def no_location(folder):
    return save(with_weight(external("w", [4, 4], offset=0)), folder)


def is_fifo(folder):
    os.mkfifo(Path(folder) / "w.bin")
    return save(with_weight(_weight("w.bin")), folder)


def ranged(size=64, **entries):
    """A data file of ``size`` bytes, and a tensor of 64 bytes in it at the given place."""

    def make(folder):
        (Path(folder) / "w.bin").write_bytes(bytes(size))
        return save(with_weight(_weight("w.bin", **entries)), folder)

    return make


def hub_cache(folder):
    """As the Hugging Face cache lays files out: model and data are links into one folder of blobs."""
    blobs, snapshot = Path(folder) / "blobs", Path(folder) / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    save(with_weight(_weight("model.onnx_data")), blobs, "1f00")
    (blobs / "2f00").write_bytes(bytes(64))
    (snapshot / "model.onnx").symlink_to("../../blobs/1f00")
    (snapshot / "model.onnx_data").symlink_to("../../blobs/2f00")
    return snapshot / "model.onnx"


def link_inside(folder):
    (Path(folder) / "real.bin").write_bytes(bytes(64))
    (Path(folder) / "w.bin").symlink_to("real.bin")
    return save(with_weight(_weight("w.bin")), folder)


def two_dots(folder):
    (Path(folder) / "weights..bin").write_bytes(bytes(64))
    return save(with_weight(_weight("weights..bin")), folder)


def itself(folder):
    return save(with_weight(_weight("model.onnx", offset=0, length=64)), folder)
