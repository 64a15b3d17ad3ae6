"""Protobuf's wire format."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc.graph.protobuf.protobuf_wire import (
    TruncatedMessage,
    WireError,
    WireSource,
    encode_bytes,
    encode_varint,
    fields,
    varint,
)


@given(st.integers(0, (1 << 64) - 1))
def test_varint_round_trip(value):
    encoded = encode_varint(value)
    assert varint(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\x00\x00", "field number 0"),
        (b"\x0b\0", "wire type 3"),
        (b"\x0c\0", "wire type 4"),
        (b"\x0e\0", "wire type 6"),
        (b"\x0f\0", "wire type 7"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "more than ten bytes"),
        (b"\xff\xff\xff\xff\x7f\x00", "field number"),
    ],
)
def test_refused(data, fault):
    with pytest.raises(WireError, match=fault):
        list(fields(WireSource.of_bytes(data), 0, len(data)))


@pytest.mark.parametrize("data", [b"\x0a\x05abc", b"\x0a", b"\x0d\0\0", b"\x09\0", b"\x08", b"\x08\x80"])
def test_too_short(data):
    with pytest.raises(TruncatedMessage):
        list(fields(WireSource.of_bytes(data), 0, len(data)))


def test_inner_length_ends_at_its_message_not_at_the_file():
    data = encode_bytes(1, b"\x0a\x7fxy") + bytes(200)
    with pytest.raises(WireError, match="longer than its message"):
        list(fields(WireSource.of_bytes(data), 2, 6))


def test_fields_of_every_wire_type():
    data = b"\x08\x96\x01" + encode_bytes(2, b"text") + b"\x1d\x00\x00\x80\x3f" + b"\x21" + bytes(8)
    found = [(n, w, data[a:b]) for n, w, _, a, b in fields(WireSource.of_bytes(data), 0, len(data))]
    assert found == [(1, 0, b"\x96\x01"), (2, 2, b"text"), (3, 5, b"\x00\x00\x80\x3f"), (4, 1, bytes(8))]


def test_windows_give_what_memory_gives(tmp_path):
    payload = os.urandom(300_000)
    data = b"".join(encode_bytes(1 + i % 5, payload[: (i * 7919) % 60_000]) for i in range(60))
    path = tmp_path / "data"
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    try:
        source = WireSource(len(data), fd)
        assert list(fields(source, 0, len(data))) == list(fields(WireSource.of_bytes(data), 0, len(data)))
        assert source.bytes_read < len(data)
        assert source.read(5, 90_000) == data[5:90_000]
    finally:
        os.close(fd)


def test_a_file_that_shrinks_is_noticed(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(100))
    fd = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(TruncatedMessage, match="shorter while it was read"):
            WireSource(5000, fd).need(0, 4000)
    finally:
        os.close(fd)


def test_jumping_reads_little(tmp_path):
    path = tmp_path / "data"
    head = encode_varint(1 << 3 | 2) + encode_varint(1 << 20)
    with path.open("wb") as file:
        for i in range(64):
            file.seek(i * (len(head) + (1 << 20)))
            file.write(head)
        size = 64 * (len(head) + (1 << 20))
        file.truncate(size)
    fd = os.open(path, os.O_RDONLY)
    try:
        source = WireSource(size, fd)
        assert len(list(fields(source, 0, size))) == 64
        assert source.bytes_read < size // 100
    finally:
        os.close(fd)
