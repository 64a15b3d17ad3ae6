"""Boundary between the parts of a chain.

Growth may cut a chain of layers in the middle of a layer. The best cut crosses the fewest tensors and, among
equal cuts, those with the most consumers: the residual stream between two layers. Rotating a chain moves
the first nodes of every part to the end of the part before. The missing nodes of the last part are searched
after the chain, or those of the first part before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph, boundary_links, signature

Usable = Callable[[int], bool]
_CUTS = 8
"""Maximum number of cuts tried."""
_PASSES = 4
"""Passes over the edges, forward and backward, to find the counterparts of all nodes."""


def rotate_to_best_cut(canonical: CanonicalGraph, parts: list[list[int]], usable: Usable) -> list[list[int]]:
    """Return the chain cut at its best boundary, or ``parts`` itself if there is none better.

    ``usable`` says whether a node outside the chain may join it. Linear in the length of the chain.
    """
    for cut in _better_cuts(canonical, parts):
        for rotation in _rotations(canonical, parts, cut, usable):
            if _isomorphic(canonical, rotation):
                return rotation
    return parts


def _rotations(
    canonical: CanonicalGraph, parts: list[list[int]], cut: int, usable: Usable
) -> Iterator[list[list[int]]]:
    """Yield the chain with the first ``cut`` nodes of each part moved to the part before, and the reverse."""
    behind = _counterparts(canonical, parts[1][:cut], dict(zip(parts[0], parts[-1], strict=True)), usable)
    if behind is not None:
        ends = [*(part[:cut] for part in parts[1:]), behind]
        yield [part[cut:] + end for part, end in zip(parts, ends, strict=True)]
    before = _counterparts(canonical, parts[0][cut:], dict(zip(parts[1], parts[0], strict=True)), usable)
    if before is not None:
        starts = [before, *(part[cut:] for part in parts[:-1])]
        yield [start + part[:cut] for part, start in zip(parts, starts, strict=True)]


def _isomorphic(canonical: CanonicalGraph, parts: Sequence[Sequence[int]]) -> bool:
    if len({signature(canonical, part) for part in parts}) > 1:
        return False
    wires = {
        boundary_links(canonical, {node: position for position, node in enumerate(before)}, part)
        for before, part in pairwise(parts)
    }
    return len(wires) == 1 and wires != {()}


def _better_cuts(canonical: CanonicalGraph, parts: list[list[int]]) -> list[int]:
    """Return positions in a part with a better boundary than the current one, best and nearest first."""
    first, second = parts[0], parts[1]
    size = len(first)
    position = {node: number for number, node in enumerate(first)}
    last: dict[int, int] = {}
    readers: dict[int, int] = {}
    for offset, part in ((0, first), (size, second)):
        for number, node in enumerate(part):
            for code in canonical.input_codes[node]:
                if code >= 0 and code // canonical.stride in position:
                    last[code] = offset + number
                    readers[code] = readers.get(code, 0) + 1
    # Steps at which a tensor starts and stops crossing a cut, over two parts of the chain.
    width, stream = [0] * (2 * size + 1), [0] * (2 * size + 1)
    for code, end in last.items():
        start = position[code // canonical.stride]
        for row, value in ((width, 1), (stream, readers[code])):
            row[start + 1] += value
            row[end + 1] -= value
    for row in (width, stream):
        for cut in range(1, 2 * size + 1):
            row[cut] += row[cut - 1]
    costs = [(width[cut] + width[cut + size], -(stream[cut] + stream[cut + size])) for cut in range(size)]
    # Parts that feed each other have at least one tensor across their boundary.
    better = [cut for cut in range(size) if costs[cut] < costs[0] and costs[cut][0]]
    better.sort(key=lambda cut: (costs[cut], min(cut, size - cut), cut))
    return better[:_CUTS]


def _counterparts(
    canonical: CanonicalGraph, template: Sequence[int], pairs: dict[int, int], usable: Usable
) -> list[int] | None:
    """Return the counterparts of the nodes of ``template``, starting from ``pairs``."""
    producers_of, stride, label, expected = (
        canonical.producers,
        canonical.stride,
        canonical.label,
        set(template),
    )
    order = sorted(expected.union(pairs))
    for _ in range(_PASSES):
        for node in reversed(order):  # from consumer to producer
            counterpart = pairs.get(node, -1)
            if counterpart < 0 or expected.isdisjoint(producers_of(node)):
                continue
            for code, counterpart_code in zip(
                canonical.input_codes[node], canonical.input_codes[counterpart], strict=False
            ):
                if code >= 0 and counterpart_code >= 0 and code // stride in expected:
                    pairs.setdefault(code // stride, counterpart_code // stride)
        for node in template:  # from producer to consumer
            if node not in pairs:
                reader = _reader(canonical, node, pairs)
                if reader >= 0:
                    pairs[node] = reader
        if expected <= pairs.keys():
            break
    counterparts = [pairs.get(node, -1) for node in template]
    if len(set(counterparts)) < len(counterparts):
        return None
    fits = all(
        counterpart >= 0 and label[counterpart] == label[node] and usable(counterpart)
        for node, counterpart in zip(template, counterparts, strict=True)
    )
    return counterparts if fits else None


def _reader(canonical: CanonicalGraph, node: int, pairs: Mapping[int, int]) -> int:
    """Return the counterpart of ``node``: the consumer of the same inputs; -1 unless it is unique."""
    stride = canonical.stride
    for slot, code in enumerate(canonical.input_codes[node]):
        if code >= 0 and code // stride in pairs:
            reader = canonical.readers_by_slot[pairs[code // stride]].get(
                (code % stride, slot, canonical.label[node]), -1
            )
            if reader >= 0:
                return reader
    return -1
