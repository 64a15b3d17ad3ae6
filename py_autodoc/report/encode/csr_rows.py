"""Rows of different lengths in CSR form, as in the wire format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise


def to_csr(rows: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the offsets (one more than there are rows) and the concatenated items of all rows."""
    offsets, flat = [0], list[int]()
    for row in rows:
        flat.extend(row)
        offsets.append(len(flat))
    return offsets, flat


def from_csr(offsets: list[int], flat: list[int]) -> list[list[int]]:
    """Return the rows passed to ``to_csr``."""
    return [flat[start:end] for start, end in pairwise(offsets)]
