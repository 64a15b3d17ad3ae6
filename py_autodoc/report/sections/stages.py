"""The stages of a model: few boxes and the data flow between them, as a simple diagram."""

from __future__ import annotations

import heapq
import itertools
from bisect import bisect_left
from collections.abc import Sequence

from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import Block, Layer
from py_autodoc.report.sections.section_model import Diagram, Stage
from py_autodoc.units import count, plural

MAX_STAGES = 20
"""Maximum number of boxes."""
MIN_STAGES = 6
"""With fewer boxes, the largest module is expanded."""


def diagram(report: Report) -> Diagram | None:
    """Return the boxes in execution order; None for a model with only one."""
    layers = [layer for layer in report.layers if not layer.subgraph]
    position = {layer.id: index for index, layer in enumerate(layers)}
    boxes = _merge_neighbours(_boxes(report, layers, position), report)
    if len(boxes) < 2:
        return None
    box_of = {layer: index for index, (_, members) in enumerate(boxes) for layer in members}
    stages = [Stage(title, _detail([layers[position[node]] for node in members])) for title, members in boxes]
    inputs = {value.name for value in report.graph.inputs}
    outputs = {value.name for value in report.graph.outputs}
    first, last = len(stages), len(stages) + 1
    stages += [
        Stage("Inputs", plural(len(inputs), "input")),
        Stage("Outputs", plural(len(outputs), "output")),
    ]
    producer: dict[str, int] = dict.fromkeys(inputs, first)
    edges: dict[tuple[int, int], None] = {}
    for layer in layers:
        index = box_of[layer.id]
        for name in layer.inputs:
            if name in producer and producer[name] != index:
                edges[producer[name], index] = None
        producer.update((name, index) for name in layer.outputs if name)
    edges.update(((producer[name], last), None) for name in outputs if name in producer)
    order = [first, *range(first), last]
    chain = set(edges) <= set(itertools.pairwise(order))
    caption = "Stages in execution order"
    if not chain:
        caption += "; data also flows between other stages"
    return Diagram(tuple(stages), tuple(edges), caption)


Box = tuple[str, list[int]]


def _boxes(report: Report, layers: Sequence[Layer], position: dict[int, int]) -> list[Box]:
    """Return modules if the model names some, else structures, plus loose nodes, in execution order."""
    modules = [block for block in report.blocks if block.kind == "module"]
    blocks = modules or [block for block in report.blocks if block.parent is None]
    below: dict[int | None, list[Block]] = {}
    for block in blocks:
        below.setdefault(block.parent if modules else None, []).append(block)
    visible = below.get(None, [])
    while True:
        opened = max(
            (block for block in visible if below.get(block.id)), key=lambda b: len(b.nodes), default=None
        )
        if opened is None or (len(visible) >= MIN_STAGES and len(opened.nodes) * 2 < len(layers)):
            break
        replaced = [block for block in visible if block is not opened] + below[opened.id]
        if len(replaced) > 8 * MAX_STAGES:
            break
        visible = replaced
    block_of: dict[int, Block] = {}
    for block in sorted(visible, key=lambda block: len(block.nodes)):
        for node in block.nodes:
            block_of.setdefault(node, block)
    boxes: dict[int, Box] = {}
    for layer in layers:
        containing = block_of.get(layer.id)
        if containing is not None:
            key = containing.id
            boxes.setdefault(key, (_title(containing), []))[1].append(layer.id)
    ordered = sorted(boxes.values(), key=lambda box: position[box[1][0]])
    loose = [layer.id for layer in layers if layer.id not in block_of]
    return _with_loose(ordered, loose, position)


def _title(block: Block) -> str:
    return block.type or (block.name.rsplit("/", 1)[-1] if block.kind == "module" else block.kind)


def _with_loose(boxes: list[Box], loose: list[int], position: dict[int, int]) -> list[Box]:
    """Put loose nodes into boxes of their own, split where a box begins."""
    if not loose:
        return boxes
    starts = sorted(position[box[1][0]] for box in boxes)
    groups: dict[int, list[int]] = {}
    for node in loose:
        groups.setdefault(bisect_left(starts, position[node]), []).append(node)
    return sorted([*boxes, *(("", nodes) for nodes in groups.values())], key=lambda box: position[box[1][0]])


def _merge_neighbours(boxes: list[Box], report: Report) -> list[Box]:
    """Merge neighbours with equal titles; if there are still too many boxes, also the smallest neighbours."""
    kinds = {layer.id: layer.type for layer in report.layers}
    runs: list[tuple[str, int, list[int]]] = []
    for title, nodes in boxes:
        if runs and title and runs[-1][0] == title:
            runs[-1][2].extend(nodes)
            runs[-1] = (title, runs[-1][1] + 1, runs[-1][2])
        else:
            runs.append((title, 1, list(nodes)))
    named = [(_box_title(title, times, nodes, kinds), nodes) for title, times, nodes in runs]
    return _merge_smallest(named)


def _merge_smallest(boxes: list[Box]) -> list[Box]:
    """Merge the smallest pair of neighbours, the first of equals, until there are few boxes."""
    merged: dict[int, Box] = dict(enumerate(boxes))
    after = {index: index + 1 for index in range(len(boxes) - 1)}
    before = {index + 1: index for index in range(len(boxes) - 1)}
    pairs = [(len(boxes[index][1]) + len(boxes[index + 1][1]), index, index + 1) for index in after]
    heapq.heapify(pairs)
    while len(merged) > MAX_STAGES:
        size, index, following = heapq.heappop(pairs)
        if after.get(index) != following or size != len(merged[index][1]) + len(merged[following][1]):
            continue  # one of them was merged since
        (title_before, first), (title_after, second) = merged[index], merged.pop(following)
        begin, end = title_before.split(" … ")[0], title_after.split(" … ")[-1]
        first.extend(second)
        merged[index] = (begin if begin == end else f"{begin} … {end}", first)
        del after[index]
        if (next_one := after.pop(following, None)) is not None:
            after[index], before[next_one] = next_one, index
            heapq.heappush(pairs, (len(first) + len(merged[next_one][1]), index, next_one))
        if (previous := before.get(index)) is not None:
            heapq.heappush(pairs, (len(merged[previous][1]) + len(first), previous, index))
    return list(merged.values())


def _box_title(title: str, times: int, nodes: list[int], kinds: dict[int, str]) -> str:
    if title:
        return f"{title} ×{times:,}" if times > 1 else title
    types = list(dict.fromkeys(kinds[node] for node in nodes))
    return ", ".join(types[:3]) + (" …" if len(types) > 3 else "")


def _detail(members: list[Layer]) -> str:
    """Return what is known about the content of a stage."""
    params = [layer.params for layer in members]
    parts = [plural(len(members), "node")]
    if None not in params and any(params):
        parts.append(f"{count(sum(number or 0 for number in params))} parameters")
    return ", ".join(parts)
