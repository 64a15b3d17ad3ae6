"""File types other than ONNX, identified by their first bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileKind:
    """A file type: ``kind`` for programs, ``description`` and ``hint`` for users."""

    kind: str
    description: str
    hint: str = ""


_DOWNLOAD = "Download the file again; the server answered with something else."
_UNPACK = "Unpack it first."
_EXPORT_TORCH = "Export it to ONNX, for example with torch.onnx.export."

_EMPTY = FileKind("empty", "is empty", "The download or the export did not finish.")
_UNKNOWN = FileKind("unknown", "is not an ONNX model")
_LFS = FileKind("git-lfs", "is a Git LFS pointer, not the model itself", "Run: git lfs pull")
_HTML = FileKind("html", "is an HTML page", _DOWNLOAD)
_XML = FileKind("xml", "is an XML document", "An OpenVINO model cannot be read.")
_TEXT_MODEL = FileKind(
    "text-format",
    "is an ONNX model in text format",
    "Commands of onnx-autodoc read it. Elsewhere, convert it: "
    "onnx.save(onnx.load('model.textproto'), 'model.onnx').",
)
_TEXT = FileKind("text", "is a text file")
_JSON = FileKind("json", "is a JSON document")
_SAFETENSORS = FileKind("safetensors", "is a safetensors file: weights without a graph", _EXPORT_TORCH)
_PYTORCH = FileKind("pytorch", "is a PyTorch checkpoint", _EXPORT_TORCH)
_ULTRALYTICS = FileKind(
    "ultralytics",
    "is a PyTorch checkpoint of Ultralytics",
    "Export it with its own tool: `yolo export model=FILE format=onnx` (pip install ultralytics).",
)
_TAR = FileKind("tar", "is a tar archive", _UNPACK)
_KERAS = "`onnx-autodoc export FILE OUT.onnx` converts it."
_ORT = (
    'Use the .onnx file it was made from, or convert it: python -c "import onnxruntime as o; s = '
    "o.SessionOptions(); s.optimized_model_filepath = 'model.onnx'; "
    "s.add_session_config_entry('session.save_model_format', 'ONNX'); o.InferenceSession('FILE.ort', s)\""
)
_TENSORFLOW = FileKind("tensorflow", "looks like a TensorFlow graph", "Convert it with tf2onnx.")

_SIGNATURES: tuple[tuple[int, bytes, FileKind], ...] = (
    (0, b"version https://git-lfs", _LFS),
    (0, b"\x1f\x8b", FileKind("gzip", "is gzip-compressed", _UNPACK)),
    (0, b"BZh", FileKind("bzip2", "is bzip2-compressed", _UNPACK)),
    (0, b"\xfd7zXZ\0", FileKind("xz", "is xz-compressed", _UNPACK)),
    (0, b"\x28\xb5\x2f\xfd", FileKind("zstd", "is zstd-compressed", _UNPACK)),
    (0, b"7z\xbc\xaf\x27\x1c", FileKind("7z", "is a 7-Zip archive", _UNPACK)),
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        FileKind("hdf5", "is an HDF5 file, such as Keras writes", _KERAS),
    ),
    (4, b"TFL3", FileKind("tflite", "is a TensorFlow Lite model", "Convert it with tf2onnx --tflite.")),
    (
        4,
        b"ORTM",
        FileKind("ort", "is an ORT-format model", _ORT),
    ),
    (0, b"GGUF", FileKind("gguf", "is a GGUF file", "llama.cpp's format holds no graph.")),
    (0, b"\x93NUMPY", FileKind("numpy", "is a NumPy array")),
    (0, b"ptrt", FileKind("tensorrt", "is a TensorRT engine", "Use the .onnx file it was built from.")),
    (0, b"ftrt", FileKind("tensorrt", "is a TensorRT engine", "Use the .onnx file it was built from.")),
    (0, b"%PDF-", FileKind("pdf", "is a PDF document")),
    (0, b"\x89PNG\r\n", FileKind("png", "is a PNG image")),
    (0, b"\xff\xd8\xff", FileKind("jpeg", "is a JPEG image")),
    (0, b"\x7fELF", FileKind("elf", "is an ELF program or library")),
    (0, b"Rar!\x1a\x07", FileKind("rar", "is a RAR archive", _UNPACK)),
    (257, b"ustar", _TAR),
)
_HEAD_BYTES = 4096


def identify(head: bytes, size: int) -> FileKind | None:
    """Return the type of a file from its first bytes; None if it may be an ONNX model."""
    head = head[:_HEAD_BYTES]
    if not size:
        return _EMPTY
    for offset, signature, kind in _SIGNATURES:
        if head[offset : offset + len(signature)] == signature:
            return kind
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zip(head)
    if head[0] == 0x80 and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return FileKind("pickle", "is a Python pickle, such as torch.save writes", _EXPORT_TORCH)
    if head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= size - 8:
        return _SAFETENSORS
    return _text(head)


def unknown(head: bytes) -> FileKind:
    """Return the type for bytes that are not an ONNX model and have no known signature."""
    if (head[:1] == b"\x0a" and b"Placeholder" in head) or (head[:2] == b"\x08\x01" and b"serve" in head):
        return _TENSORFLOW
    return _UNKNOWN


def _zip(head: bytes) -> FileKind:
    if b"cultralytics." in head:  # the first class that the pickle names
        return _ULTRALYTICS
    if b"data.pkl" in head or b"/version" in head or b"byteorder" in head:
        return _PYTORCH
    if b"config.json" in head and b"metadata.json" in head:
        return FileKind("keras", "is a Keras model", _KERAS)
    if b".npy" in head:
        return FileKind("numpy", "is a NumPy archive")
    return FileKind("zip", "is a zip archive", "Unpack it; a PyTorch checkpoint must be exported to ONNX.")


def _text(head: bytes) -> FileKind | None:
    """Identify text files. The first kilobytes of an ONNX model contain control characters."""
    if head[:3] == b"\xef\xbb\xbf":
        head = head[3:]
    if re.search(rb"[\x00-\x08\x0e-\x1a]", head):
        return None
    start = head.lstrip()[:512].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head")):
        return _HTML
    if start.startswith(b"<"):
        return _HTML if b"<html" in head.lower() else _XML
    if start.startswith((b"{", b"[")):
        return _JSON
    if re.match(rb"(ir_version|producer_name|graph|opset_import|model_version)\s*[:{]", start) or (
        start.startswith(b"<") is False and re.match(rb"[\w.]+\s*\(.*\)\s*=>\s*\(", start)
    ):
        return _TEXT_MODEL
    return _TEXT if len(start) > 3 and start.isascii() else None
