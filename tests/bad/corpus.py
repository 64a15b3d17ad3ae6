"""Bad, hostile and unusual models, each with what must come of it. Made here; no blobs.

``CASES`` is for every level of the product: loading checks the exceptions and the diagnostics of the
structure, the report the others (``level``). For all of them: no traceback, less than 512 MB, and no
file is opened but the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import make_files as f
import make_graphs as g
import make_models as m
import pytest

from py_autodoc.errors import AutodocError, CorruptModel, LimitError, NotAModel, PathError


@dataclass(frozen=True)
class Error:
    """Loading raises this class with this code."""

    cls: type[AutodocError]
    code: str


@dataclass(frozen=True)
class Diag:
    """There is a report, and all these diagnostics are in it."""

    codes: tuple[str, ...]

    def __init__(self, *codes: str) -> None:
        object.__setattr__(self, "codes", codes)


@dataclass(frozen=True)
class Ok:
    """There is a report without warnings or errors about the structure."""


@dataclass(frozen=True)
class Case:
    row: int
    name: str
    make: Callable[[Path], Path]
    expect: Error | Diag | Ok
    level: str = "load"
    """``load``: seen after loading and building; ``report``: only by shapes or costs."""

    @property
    def id(self) -> str:
        return f"{self.row:02}-{self.name}"


def model(build, *args) -> Callable[[Path], Path]:
    """A maker that saves what ``build`` returns."""
    return lambda folder: m.save(build(*args), folder)


def not_a(kind: str) -> Error:
    return Error(NotAModel, f"not-a-model-{kind}")


CORRUPT = Error(CorruptModel, "corrupt-model")
CODE = "__import__('os').system('touch pwned')"
DEPTH = Error(LimitError, "limit-depth")

_FILES = [
    Case(1, "empty", f.data(b""), not_a("empty")),
    Case(2, "random", f.random_bytes, not_a("unknown")),
    Case(3, "truncated", f.truncated, CORRUPT),
    Case(4, "git-lfs", f.data(b"version https://git-lfs.github.com/spec/v1\n"), not_a("git-lfs")),
    Case(5, "html", f.data(b"<!DOCTYPE html><html><body>404</body></html>"), not_a("html")),
    Case(6, "gzip", f.gzipped, not_a("gzip")),
    Case(7, "pytorch", f.pytorch_zip, not_a("pytorch")),
    Case(7, "ultralytics", f.ultralytics_zip, not_a("ultralytics")),
    Case(7, "zip", f.plain_zip, not_a("zip")),
    Case(7, "pickle", f.data(b"\x80\x04\x95\x10\0\0\0\0\0\0\0}."), not_a("pickle")),
    Case(7, "safetensors", f.safetensors, not_a("safetensors")),
    Case(7, "hdf5", f.data(b"\x89HDF\r\n\x1a\n" + bytes(64)), not_a("hdf5")),
    Case(7, "tflite", f.data(b"\x1c\0\0\0TFL3" + bytes(64)), not_a("tflite")),
    Case(7, "json", f.data(b'{"nodes": []}'), not_a("json")),
    Case(7, "text", f.data(b"Entry not found"), not_a("text")),
    Case(8, "directory", f.directory, Error(PathError, "path-not-a-file")),
    Case(8, "missing", f.missing, Error(PathError, "path-missing")),
    Case(9, "fifo", f.fifo, Error(PathError, "path-not-regular")),
    Case(10, "device", f.device, Error(PathError, "path-not-regular")),
    Case(11, "trailing-garbage", model(g.trailing), CORRUPT),
    Case(12, "zeros", f.zeros, CORRUPT),
]
_STRUCTURE = [
    Case(13, "if-20", model(m.nested_if, 20), Ok()),
    Case(13, "if-30", model(m.nested_if, 30), Ok()),
    Case(14, "if-200", model(m.nested_if, 200), DEPTH),
    Case(14, "if-2000", model(m.nested_if, 2000), DEPTH),
    Case(15, "type-1000", model(m.deep_type, 1000), DEPTH),
    Case(16, "bad-utf8", model(g.bad_utf8), Diag("non-utf8-name")),
    Case(17, "odd-names", model(g.odd_names), Diag("long-name")),
    Case(18, "unknown-dtype", model(g.unknown_dtype), Diag("unknown-dtype")),
    Case(19, "negative-dim", model(g.negative_dim), Diag("negative-dim")),
    Case(20, "dim-overflow", model(g.dim_overflow), Diag("dim-overflow")),
    Case(21, "no-data", model(g.no_data), Diag("data-size-mismatch")),
    Case(22, "short-data", model(g.short_data), Diag("data-size-mismatch")),
    Case(23, "empty-nodes", model(g.empty_nodes), Error(LimitError, "limit-nodes")),
    Case(24, "chain-300k", model(m.chain, 300_000), Ok()),
    Case(25, "huge-constantofshape", model(g.huge_fill), Diag("huge-output"), "report"),
    Case(25, "huge-expand", model(g.huge_expand), Diag("huge-output"), "report"),
    Case(25, "huge-range", model(g.huge_range), Diag("huge-output"), "report"),
    Case(25, "huge-tile", model(g.huge_tile), Diag("huge-output"), "report"),
    Case(25, "huge-pad", model(g.huge_pad), Diag("huge-output"), "report"),
    Case(25, "huge-onehot", model(g.huge_one_hot), Diag("huge-output"), "report"),
    Case(26, "endless-loop", model(g.endless_loop), Diag("unbounded-loop"), "report"),
    Case(26, "open-branch", model(g.open_branch), Diag("branch-unknown"), "report"),
    Case(27, "cycle", model(g.circle), Diag("cycle")),
    Case(28, "self-reader", model(g.self_reader), Diag("cycle")),
    Case(29, "same-node-names", model(g.same_node_names), Diag("duplicate-name")),
    Case(30, "same-output-names", model(g.same_output_names), Diag("duplicate-output")),
    Case(31, "undefined-input", model(g.undefined_input), Diag("undefined-input")),
    Case(32, "not-sorted", model(g.not_sorted), Diag("unsorted")),
    Case(33, "no-names", model(g.no_names), Ok()),
    Case(34, "empty-graph", model(g.empty_graph), Diag("empty-graph")),
    Case(34, "no-graph", model(g.no_graph), Diag("empty-graph")),
    Case(35, "no-opset", model(g.no_opset), Diag("opset-missing")),
    Case(35, "opset-9999", model(g.future_opset), Diag("opset-unknown")),
    Case(35, "opset-twice", model(g.double_opset), Diag("opset-duplicate")),
    Case(36, "unknown-op", model(g.unknown_op), Diag("unknown-op"), "report"),
    Case(37, "function-calls-itself", model(g.self_calling), Diag("function-cycle")),
    Case(38, "billion-laughs", model(m.laughs), Diag("expansion-too-large")),
]
_CONTENT = [
    Case(39, "conv-group-0", model(g.conv(group=0)), Diag("bad-attribute"), "report"),
    Case(40, "conv-stride-0", model(g.conv(strides=[0, 0])), Diag("bad-attribute"), "report"),
    Case(41, "kernel-negative", model(g.conv(kernel_shape=[-3, 10**12])), Diag("bad-attribute"), "report"),
    Case(42, "attribute-type", model(g.wrong_attribute_type), Diag("bad-attribute")),
    Case(42, "attribute-twice", model(g.attribute_twice), Diag("bad-attribute")),
    Case(43, "reshape-two-unknown", model(g.reshape_two_unknown), Diag("bad-shape"), "report"),
    Case(44, "matmul-mismatch", model(g.matmul_mismatch), Diag("shape-mismatch"), "report"),
    Case(
        45,
        "dim-code",
        model(g.symbol("__import__('os').system('touch pwned')")),
        Diag("opaque-dim"),
        "report",
    ),
    Case(46, "dim-power", model(g.symbol("9**9**9**9")), Diag("opaque-dim"), "report"),
    Case(46, "dim-parentheses", model(g.symbol("(" * 5000 + ")" * 5000)), Diag("opaque-dim"), "report"),
    Case(46, "dim-100k", model(g.symbol("a+" * 50_000 + "a")), Diag("opaque-dim"), "report"),
    Case(47, "script", model(g.script_names), Ok()),
    Case(48, "object-names", model(g.object_names), Ok()),
    Case(49, "formula", model(g.formula_name), Ok()),
    Case(50, "deep-names", model(g.deep_names), Diag("deep-hierarchy")),
    Case(51, "nan-and-zero-scale", model(g.nan_and_zero_scale), Diag("zero-scale")),
    Case(52, "shadowing", model(g.shadowing), Diag("shadowed-name")),
    Case(53, "concat-20000", model(g.wide_concat), Ok()),
    Case(54, "matmul-1e7", model(g.enormous_matmul), Ok()),
]
_EXTERNAL = [
    Case(55, "absolute", f.absolute, Diag("external-outside")),
    Case(55, "parent", f.parent, Diag("external-outside")),
    Case(55, "link-out", f.link_out, Diag("external-outside")),
    Case(55, "folder-link-out", f.folder_link_out, Diag("external-outside")),
    Case(55, "constant-absolute", model(g.constant_outside), Diag("external-outside")),
    Case(55, "sparse-parent", model(g.sparse_outside), Diag("external-outside")),
    Case(56, "hard-link", f.hard_link, Ok()),
    Case(57, "no-file", f.no_file, Diag("external-missing")),
    Case(57, "is-directory", f.is_directory, Diag("external-missing")),
    Case(57, "no-location", f.no_location, Diag("external-missing")),
    Case(57, "is-fifo", f.is_fifo, Diag("external-missing")),
    Case(58, "offset-past-end", f.ranged(offset=4096), Diag("external-range")),
    Case(58, "offset-negative", f.ranged(offset=-8), Diag("external-range")),
    Case(58, "length-1e15", f.ranged(offset=0, length=10**15), Diag("external-range")),
    Case(58, "short-file", f.ranged(size=16), Diag("external-range")),
    Case(59, "hub-cache", f.hub_cache, Ok()),
    Case(59, "link-inside", f.link_inside, Ok()),
    Case(59, "two-dots", f.two_dots, Ok()),
    Case(60, "itself", f.itself, Diag("external-self")),
]

CASES: list[Case] = [*_FILES, *_STRUCTURE, *_CONTENT, *_EXTERNAL]

LARGE = frozenset({"chain-300k", "concat-20000", "empty-nodes"})


def params(cases: list[Case]) -> list[Any]:
    """Cases for ``parametrize``; what is large waits for the whole run."""
    return [pytest.param(case, id=case.id, marks=[pytest.mark.slow] * (case.name in LARGE)) for case in cases]
