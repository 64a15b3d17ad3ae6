"""Sliding windows and chunks, as exporters write them; masks of every type and in external files."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from written_out import F32, HEADS, I32, WIDTH, Builder

from py_autodoc import analyze

LENGTH = 40


def visible(kind: str, size: int, length: int = LENGTH) -> np.ndarray[Any, Any]:
    """Which keys a query sees."""
    query, key = np.arange(length)[:, None], np.arange(length)[None]
    return {
        "window": (key <= query) & (key > query - size),
        "band": abs(query - key) <= (size - 1) // 2,
        "chunk": (key <= query) & (key // max(1, size) == query // max(1, size)),
        "causal": key <= query,
        "all": key >= 0 * query,
    }[kind]


def found(model: bytes | str) -> tuple[bool | None, int | None]:
    attention = analyze(model).metrics.attention
    assert {group.attention_window for group in attention.groups} == {attention.attention_window}
    assert attention.window_layers == (attention.attention_window is not None) * attention.num_layers
    (causal,) = {group.causal for group in attention.groups}
    return causal, attention.attention_window


def stored(kind: str, size: int, dtype: Any, low: float = -1e4) -> Builder:
    made = Builder()
    x = made.given("x", ["batch", LENGTH, WIDTH], F32)
    seen = visible(kind, size)
    if dtype is bool:
        mask = made.op("Where", made.fixed(seen, bool), *(made.fixed(n, np.float32) for n in (0, low)))
    else:
        mask = made.op("Cast", made.fixed(np.where(seen, 0, low).astype(dtype)[None, None], dtype), to=F32)
    made.out = made.attention(made.attention(x, mask), mask)
    return made


EXPECTED = {
    ("window", 16): (True, 16),
    ("window", 5): (True, 5),
    ("band", 17): (False, 17),
    ("chunk", 10): (True, 10),
    ("causal", 0): (True, None),
    ("all", 0): (False, None),
}


@pytest.mark.parametrize("dtype", [bool, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("case", EXPECTED)
def test_stored_masks(case, dtype):
    made = stored(*case, dtype)
    assert found(made.model(made.out)) == EXPECTED[case]


@pytest.mark.parametrize("dtype", [bool, np.float32, ml_dtypes.bfloat16])
def test_masks_in_external_files(tmp_path, dtype):
    """Otherwise a decoder without names is of an unknown kind."""
    made = stored("window", 16, dtype)
    model = onnx.load_from_string(made.model(made.out))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    assert found(str(tmp_path / "m.onnx")) == (True, 16)
    assert analyze(str(tmp_path / "m.onnx")).architecture.family == "transformer-decoder"


def written(kind: str, size: int, how: str, cached: bool) -> bytes:
    """A mask from positions, as exporters write it; with a cache, queries begin after its keys."""
    made = Builder()
    x = made.given("x", ["batch", "seq", WIDTH], F32)
    zero, one = made.fixed(0), made.fixed(1)
    length = made.op("Gather", made.op("Shape", x), made.fixed(1))
    keys = made.op("Range", zero, length, one)
    queries = keys
    if cached:
        queries = made.op("Add", keys, made.op("Gather", made.op("Shape", made.given("past", ["p"])), zero))
    query, key = made.op("Unsqueeze", queries, made.fixed([1])), made.op("Unsqueeze", keys, made.fixed([0]))
    causal = made.op("LessOrEqual", key, query)
    if kind == "window" and how == "compared":
        near = made.op("Greater", key, made.op("Sub", query, made.fixed(size)))
    elif kind == "window" and how == "mirrored":
        near = made.op("Less", made.op("Sub", query, made.fixed(size)), key)
    elif kind == "window" and how == "difference":
        near = made.op("Less", made.op("Sub", query, key), made.fixed(size))
    elif kind == "window":
        near = made.op("Not", made.op("GreaterOrEqual", made.op("Sub", query, key), made.fixed(size)))
    elif kind == "band":
        near = made.op("LessOrEqual", made.op("Abs", made.op("Sub", query, key)), made.fixed((size - 1) // 2))
        causal = near
    else:
        near = made.op("Equal", *(made.op("Div", side, made.fixed(size)) for side in (query, key)))
    seen = made.op("Unsqueeze", made.op("And", causal, near), made.fixed([0, 1]))
    mask = made.op("Where", seen, made.fixed(0, np.float32), made.fixed(-1e9, np.float32))
    return made.model(made.attention(x, mask))


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(
    ("kind", "size", "how"),
    [
        ("window", 16, "compared"),
        ("window", 16, "mirrored"),
        ("window", 16, "difference"),
        ("window", 7, "hidden"),
        ("band", 17, ""),
        ("chunk", 10, ""),
    ],
)
def test_masks_from_positions(kind, size, how, cached):
    assert found(written(kind, size, how, cached))[1] == size


@pytest.mark.parametrize(("attribute", "expected"), [(16, 16), (-1, None)])
def test_windows_of_grouped_queries(attribute, expected):
    made = Builder()
    x = made.given("x", ["batch", "seq", WIDTH], F32)
    lengths, total = made.given("lengths", ["batch"], I32), made.given("total", [1], I32)
    q, k, v = (made.op("MatMul", x, made.table(WIDTH, WIDTH)) for _ in range(3))
    out = made.op("GroupQueryAttention", q, k, v, "", "", lengths, total, domain="com.microsoft",
                  num_heads=HEADS, kv_num_heads=HEADS, local_window_size=attribute)  # fmt: skip
    assert found(made.model(made.op("MatMul", out, made.table(WIDTH, WIDTH)))) == (True, expected)


def test_windows_in_some_layers():
    """Layers with a window are a group of their own, and the line says how many."""
    made = Builder()
    x = made.given("x", ["batch", LENGTH, WIDTH], F32)
    masks = [
        made.fixed(np.where(visible(kind, 16), 0, -1e4)[None, None], np.float32)
        for kind in ("window", "causal")
    ]
    for mask in (masks[0], masks[0], masks[1]):
        x = made.attention(x, mask)
    attention = analyze(made.model(x)).metrics.attention
    assert [(group.count, group.attention_window) for group in attention.groups] == [(2, 16), (1, None)]
    assert (attention.attention_window, attention.window_layers) == (16, 2)


@pytest.mark.parametrize(("kind", "size"), [("window", 16), ("band", 17), ("causal", 0)])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32])
def test_masks_from_stored_distances(kind, size, dtype):
    """A fixed length: the distances are stored, and compared when the model runs."""
    made = Builder()
    x = made.given("x", ["batch", LENGTH, WIDTH], F32)
    distance = made.fixed((np.arange(LENGTH)[:, None] - np.arange(LENGTH))[None, None], dtype)
    if kind == "band":
        seen = made.op("LessOrEqual", made.op("Abs", distance), made.fixed((size - 1) // 2, dtype))
    else:
        seen = made.op("GreaterOrEqual", distance, made.fixed(0, dtype))
        if kind == "window":
            seen = made.op("And", seen, made.op("Less", distance, made.fixed(size, dtype)))
    seen = made.op("And", made.op("Cast", seen, to=9), made.fixed(np.ones((1, 1, 1, LENGTH)), bool))
    mask = made.op("Where", seen, made.fixed(0, np.float32), made.fixed(-1e9, np.float32))
    assert found(made.model(made.attention(x, mask))) == EXPECTED[kind, size]


@pytest.mark.parametrize("size", [0, 12])
def test_positions_that_are_looked_up_by_position(size):
    """Masks of packed sequences: positions gathered by position, and equal numbers of the sequences."""
    made = Builder()
    x = made.given("x", [1, "seq", WIDTH], F32)
    length = made.op("Gather", made.op("Shape", x), made.fixed(1))
    counted = made.op("Range", made.fixed(0), length, made.fixed(1))
    positions = made.op("Unsqueeze", counted, made.fixed([0]))
    sides = []
    for axes in ([0, 1, 3], [0, 1, 2]):
        at = made.op("Unsqueeze", made.op("Unsqueeze", counted, made.fixed(axes)), made.fixed([4]))
        index = made.op("Concat", made.op("Sub", at, at), at, axis=-1)
        sides.append(made.op("GatherND", positions, index))
    query, key = sides
    seen = made.op("LessOrEqual", key, query)
    if size:
        seen = made.op("And", seen, made.op("Greater", key, made.op("Sub", query, made.fixed(size))))
    mask = made.op("Where", seen, made.fixed(0, np.float32), made.fixed(-1e9, np.float32))
    assert found(made.model(made.attention(x, mask))) == (True, size or None)
