"""The longest sequence of a model: what its tables and caches hold, and what is no such table."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from written_out import F32, HEADS, I8, I32, SIZE, U8, WIDTH, Builder

from py_autodoc import analyze


def longest(model: bytes, **sizes: int) -> tuple[int | None, str]:
    found = analyze(model, bindings=sizes or None).metrics.attention
    return found.max_sequence_length, found.max_sequence_length_reason


def positions(made: Builder, how: str) -> str:
    """Positions of the tokens of ``ids``, counted from 0."""
    if how == "mask":
        mask = made.given("mask", ["batch", "seq"])
        counted = made.op("Mul", made.op("CumSum", mask, made.fixed(1)), mask)
        return made.op("Sub", counted, made.fixed(1))
    length = made.op("Gather", made.op("Shape", "ids"), made.fixed(1))
    counted = made.op("Range", made.fixed(0), length, made.fixed(1))
    return made.op("Unsqueeze", counted, made.fixed([0]))


@pytest.mark.parametrize("how", ["mask", "range"])
@pytest.mark.parametrize("offset", [0, 1, 2, 5])
@pytest.mark.parametrize("left", [True, False])
def test_rows_before_the_first_position_are_not_counted(how, offset, left):
    made = Builder()
    ids = made.given("ids", ["batch", "seq"])
    counted = positions(made, how)
    if offset:
        pair = (counted, made.fixed(offset))
        counted = made.op("Add", *(pair if left else pair[::-1]))
    x = made.op("Gather", made.table(300, WIDTH), ids)
    x = made.op("Add", x, made.op("Gather", made.table(128 + offset, WIDTH), counted))
    assert longest(made.model(made.attention(made.attention(x))))[0] == 128


@pytest.mark.parametrize("offset", [0, 2])
def test_cached_tokens_do_not_shorten_a_table(offset):
    """Positions go on after the cache, whose length may be bound."""
    made = Builder()
    ids, cache = made.given("ids", ["batch", "seq"]), made.given("cache", ["batch", "past", WIDTH], F32)
    past = made.op("Gather", made.op("Shape", cache), made.fixed(1))
    end = made.op("Add", past, made.op("Gather", made.op("Shape", ids), made.fixed(1)))
    counted = made.op("Range", past, end, made.fixed(1))
    counted = made.op("Unsqueeze", made.op("Add", counted, made.fixed(offset)), made.fixed([0]))
    x = made.op("Gather", made.table(300, WIDTH), ids)
    x = made.op("Add", x, made.op("Gather", made.table(128 + offset, WIDTH), counted))
    model = made.model(made.attention(x))
    for sizes in ({}, {"past": 7, "seq": 3}, {"past": 0, "seq": 1}, {"batch": 2, "past": 40, "seq": 2}):
        assert longest(model, **sizes)[0] == 128


@pytest.mark.parametrize("rotary", ["RotaryEmbedding", "written out", ""])
def test_a_mask_of_chunks_is_no_table_of_positions(rotary):
    """Rows of a mask of 64 × 64 are looked up by position, beside a table as wide."""
    made = Builder()
    ids = made.given("ids", ["batch", "seq"])
    counted = positions(made, "range")
    x = made.op("Gather", made.table(300, WIDTH), ids)
    mask = made.op(
        "Gather", made.op("Identity", made.table(64, 64)), made.op("Squeeze", counted, made.fixed([0]))
    )
    mask = made.op("Unsqueeze", mask, made.fixed([0, 1]))
    cos, sin = made.table(512, SIZE), made.table(512, SIZE)

    def rotate(t: str) -> str:
        if rotary == "RotaryEmbedding":
            half = made.table(512, SIZE // 2)
            return made.op("RotaryEmbedding", t, counted, half, half, domain="com.microsoft")
        if not rotary:
            return t
        one, two = (made.op("Unsqueeze", made.op("Gather", c, counted), made.fixed([1])) for c in (cos, sin))
        low = made.op("Slice", t, made.fixed([0]), made.fixed([SIZE // 2]), made.fixed([3]))
        high = made.op("Slice", t, made.fixed([SIZE // 2]), made.fixed([SIZE]), made.fixed([3]))
        turned = made.op("Concat", made.op("Neg", high), low, axis=-1)
        return made.op("Add", made.op("Mul", t, one), made.op("Mul", turned, two))

    found = longest(made.model(made.attention(made.attention(x, mask, rotate), mask, rotate)))
    assert found[0] == (512 if rotary else None), found


@pytest.mark.parametrize(("rows", "queries", "expected"), [(25, 30, None), (30, 30, 30)])
def test_a_table_shorter_than_the_sequence_is_no_limit(rows, queries, expected):
    made = Builder()
    x = made.given("x", ["batch", queries, WIDTH], F32)
    table = made.op("Add", made.given("y", ["batch", rows, WIDTH], F32), made.table(1, rows, WIDTH))
    if rows == queries:
        x = made.op("Add", x, table)
    else:
        x = made.op("Add", x, made.op("ReduceMean", table, axes=[1], keepdims=1))
    assert longest(made.model(made.attention(x)))[0] == expected


def grouped(rotary: bool = True, past: Any = "past", bits: int = 0, empty: bool = False) -> bytes:
    """Grouped queries as a runtime writes them, with tables of 96 positions."""
    made = Builder()
    x = made.given("x", ["batch", "seq", WIDTH], F32)
    lengths, total = made.given("lengths", ["batch"], I32), made.given("total", [1], I32)
    kept = {0: (F32, SIZE), 8: (I8, SIZE), 4: (U8, SIZE // 2)}[bits]
    pasts = (
        ["", ""] if empty else [made.given(name, ["batch", 2, past, kept[1]], kept[0]) for name in ("k", "v")]
    )
    q, k, v = (made.op("MatMul", x, made.table(WIDTH, n)) for n in (WIDTH, 2 * SIZE, 2 * SIZE))
    tables = [made.table(96, SIZE // 2), made.table(96, SIZE // 2)] if rotary else []
    quantized = {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": bits}
    quantized = quantized if bits else {}
    scales = [made.fixed([0.1], np.float32)] * 2 if bits else []
    ins = [q, k, v, *pasts, lengths, total, *(tables or ["", ""])]
    ins += ["", "", "", *scales] if bits else []
    out = made.op("GroupQueryAttention", *ins, domain="com.microsoft", outs=("present_k", "present_v"),
                  num_heads=HEADS, kv_num_heads=2, do_rotary=int(rotary), **quantized)  # fmt: skip
    return made.model(made.op("MatMul", out, made.table(WIDTH, WIDTH)))


def test_rotary_tables_of_grouped_queries():
    assert longest(grouped()) == (96, "rows of the rotary table")
    assert longest(grouped(rotary=False))[0] is None


def test_a_bound_size_is_no_limit():
    """A cache of any length stays one when a size is tried; a length in the file is a limit."""
    for sizes in ({}, {"past": 40, "seq": 1}, {"past": 7, "seq": 3, "batch": 2}):
        assert longest(grouped(rotary=False), **sizes)[0] is None
        assert longest(grouped(), **sizes)[0] == 96


@pytest.mark.parametrize(
    ("bits", "dtype", "size"), [(0, "float32", SIZE), (8, "int8", SIZE), (4, "uint8", SIZE // 2)]
)
def test_a_cache_of_integers_stays_one(bits, dtype, size):
    """Two values of 4 bits share a byte, in past and so in present."""
    model = onnx.load_from_string(grouped(bits=bits))
    kinds = {"float32": F32, "int8": I8, "uint8": U8}
    for name in ("present_k", "present_v"):
        model.graph.output.append(helper.make_tensor_value_info(name, kinds[dtype], None))
    found = {port.name: port for port in analyze(model.SerializeToString()).graph.outputs}
    for name in ("present_k", "present_v"):
        assert (found[name].shape[-1], found[name].elem_type) == (size, dtype)


def streaming(kept: int | None, past: int = 24, chunk: int = 16) -> bytes:
    """Chunks attend to a cache; of both the last ``kept`` positions are the next cache (None: all)."""
    made, outputs = Builder(), []
    x = made.given("x", ["batch", chunk, WIDTH], F32)
    for n in range(2):
        parts = [made.op("MatMul", x, made.table(WIDTH, WIDTH)) for _ in range(3)]
        parts = [made.op("Reshape", t, made.fixed([0, 0, HEADS, SIZE])) for t in parts]
        q, k, v = (made.op("Transpose", t, perm=[0, 2, 1, 3]) for t in parts)
        for at, name in ((0, "k"), (1, "v")):
            cache = made.given(f"past_{name}{n}", ["batch", HEADS, past, SIZE], F32)
            grown = made.op("Concat", cache, (k, v)[at], axis=2)
            k, v = (grown, v) if at == 0 else (k, grown)
            part = (made.fixed([-kept]), made.fixed([1 << 31]), made.fixed([2])) if kept else ()
            outputs.append(made.op("Slice", grown, *part) if part else made.op("Identity", grown))
        scores = made.op("MatMul", q, made.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = made.op("Mul", scores, made.fixed(SIZE**-0.5, np.float32))
        mixed = made.op(
            "Transpose", made.op("MatMul", made.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3]
        )
        mixed = made.op("Reshape", mixed, made.fixed([0, 0, WIDTH]))
        x = made.op("Add", x, made.op("MatMul", mixed, made.table(WIDTH, WIDTH)))
    model = onnx.load_from_string(made.model(x))
    model.graph.output.extend(helper.make_tensor_value_info(name, F32, None) for name in outputs)
    return model.SerializeToString()


@pytest.mark.parametrize(("kept", "expected"), [(24, 24), (None, 40), (16, 40)])
def test_a_streaming_cache_is_as_long_as_what_it_keeps(kept, expected):
    """All 40 keys of a step are the context only if the file, or its caller, keeps them."""
    report = analyze(streaming(kept))
    assert report.metrics.attention.max_sequence_length == expected
    assert report.memory.kv_cache.context_length == expected


@pytest.mark.parametrize("length", ["seq", 12])
@pytest.mark.parametrize("first", [True, False])
def test_a_sink_is_no_key(length, first):
    """A learned score beside those of the keys takes a part of the Softmax and has no value."""
    made = Builder()
    x = made.given("x", ["batch", length, WIDTH], F32)
    parts = [made.op("MatMul", x, made.table(WIDTH, WIDTH)) for _ in range(3)]
    parts = [made.op("Reshape", t, made.fixed([0, 0, HEADS, SIZE])) for t in parts]
    q, k, v = (made.op("Transpose", t, perm=[0, 2, 1, 3]) for t in parts)
    scores = made.op("MatMul", q, made.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = made.op("Mul", scores, made.fixed(SIZE**-0.5, np.float32))
    sizes = made.op("Slice", made.op("Shape", scores), made.fixed([0]), made.fixed([3]))
    sink = made.op("Expand", made.table(1, HEADS, 1, 1), made.op("Concat", sizes, made.fixed([1]), axis=0))
    joined = made.op("Concat", *((sink, scores) if first else (scores, sink)), axis=3)
    weights = made.op("Softmax", joined, axis=-1)
    ends = ([1], [1 << 31]) if first else ([0], [-1])
    weights = made.op("Slice", weights, *map(made.fixed, ends), made.fixed([3]))
    mixed = made.op("Transpose", made.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    mixed = made.op("Reshape", mixed, made.fixed([0, 0, WIDTH]))
    out = made.op("Add", x, made.op("MatMul", mixed, made.table(WIDTH, WIDTH)))
    (group,) = analyze(made.model(out)).metrics.attention.groups
    assert (group.queries, group.keys) == (length, length)


def stack(made: Builder, x: str, rows: int, how: str) -> str:
    """A layer with a position table of its own: looked up by counted positions, or added as a whole."""
    if how == "added":
        return made.attention(made.op("Add", x, made.table(1, rows, WIDTH)))
    counted = made.fixed(np.arange(rows))
    return made.attention(made.op("Add", x, made.op("Gather", made.table(rows + 50, WIDTH), counted)))


@pytest.mark.parametrize("how", ["added", "looked up"])
@pytest.mark.parametrize("first", [40, 7])
def test_each_stack_has_a_table_of_its_own(how, first):
    """Encoder and decoder, or the towers for text and images, may be equally wide."""
    made, second = Builder(), 47 - first
    one = stack(made, made.given("x", ["batch", first, WIDTH], F32), first, how)
    other = stack(made, made.given("y", ["batch", second, WIDTH], F32), second, how)
    model = made.model(
        made.op("Add", *(made.op("ReduceMean", t, axes=[1], keepdims=1) for t in (one, other)))
    )
    found = {group.queries: group for group in analyze(model).metrics.attention.groups}
    extra = 0 if how == "added" else 50
    assert {n: group.max_sequence_length for n, group in found.items()} == {
        first: first + extra, second: second + extra
    }  # fmt: skip


def test_cross_attention_does_not_hide_the_limit():
    """BART: encoder and decoder have 128 positions; what cross-attention reads is another sequence."""
    made = Builder()
    table = made.table(1, 32, WIDTH)
    memory = made.attention(made.op("Add", made.given("x", ["batch", 32, WIDTH], F32), table))
    y = made.attention(made.op("Add", made.given("y", ["batch", 32, WIDTH], F32), table))
    q, k, v = (made.op("MatMul", t, made.table(WIDTH, WIDTH)) for t in (y, memory, memory))
    out = made.op("MultiHeadAttention", q, k, v, domain="com.microsoft", num_heads=HEADS)
    found = analyze(made.model(made.op("Add", y, made.op("MatMul", out, made.table(WIDTH, WIDTH)))))
    attention = found.metrics.attention
    assert (attention.cross_layers, attention.max_sequence_length) == (1, 32)


@pytest.mark.parametrize("pattern", ["identity", "mask"])
def test_what_is_added_to_chunks_is_no_table_of_positions(pattern):
    """A delta rule adds an identity to its 64 × 64 products, in a model as wide."""
    made = Builder()
    x = made.given("x", ["batch", 64, WIDTH], F32)
    inner = made.op("MatMul", x, made.op("Transpose", x, perm=[0, 2, 1]))
    value = np.eye(64) if pattern == "identity" else np.where(np.tri(64), 0, -1e4)
    inner = made.op("Add", inner, made.fixed(value, np.float32))
    x = made.op("Add", x, made.op("MatMul", inner, x))
    assert longest(made.model(made.attention(x)))[0] is None


@pytest.mark.parametrize("given", ["constants", "initializers"])
def test_rotary_tables_that_an_if_chooses(given):
    """Long texts have scaled tables: short ones up to 96 positions, long ones up to 256."""
    model = onnx.load_from_string(grouped())
    node = next(n for n in model.graph.node if n.op_type == "GroupQueryAttention")
    branches = []
    for rows in (256, 96):
        tables = {
            f"{part}_{rows}": numpy_helper.from_array(
                np.ones((rows, SIZE // 2), np.float32), f"{part}_{rows}"
            )
            for part in ("cos", "sin")
        }
        outputs = [helper.make_tensor_value_info(name, F32, [rows, SIZE // 2]) for name in tables]
        nodes = [helper.make_node("Constant", [], [name], value=table) for name, table in tables.items()]
        stored: list[onnx.TensorProto] = []
        if given == "initializers":
            stored = [numpy_helper.from_array(numpy_helper.to_array(t), f"{n}_w") for n, t in tables.items()]
            nodes = [helper.make_node("Identity", [f"{name}_w"], [name]) for name in tables]
        branches.append(helper.make_graph(nodes, f"rows_{rows}", [], outputs, stored))
    model.graph.initializer.append(numpy_helper.from_array(np.asarray([96], np.int32), "limit"))
    model.graph.node.insert(0, helper.make_node("Greater", ["total", "limit"], ["is_long"]))
    chosen = helper.make_node(
        "If", ["is_long"], ["cos", "sin"], then_branch=branches[0], else_branch=branches[1]
    )
    model.graph.node.insert(1, chosen)
    node.input[7], node.input[8] = "cos", "sin"
    assert longest(model.SerializeToString()) == (256, "rows of the rotary table")
