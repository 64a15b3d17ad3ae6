"""Rows of different lengths as two columns, which the wire has them in, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise


def to_csr(rows: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Offsets, one more than there are rows, and the items of all rows one after the other."""
    offsets, flat = [0], list[int]()
    for row in rows:
        flat.extend(row)
        offsets.append(len(flat))
    return offsets, flat


def from_csr(offsets: list[int], flat: list[int]) -> list[list[int]]:
    """The rows that ``to_csr`` was given."""
    return [flat[start:end] for start, end in pairwise(offsets)]
