"""Cut long levels into stages: runs of boxes whose outputs have the same spatial size.

A run that is contiguous in an execution order is convex, so a stage never depends on itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from py_autodoc.graph.ir.model import Model, Shape, TypeTable
from py_autodoc.graph.ir.topological_order import execution_order
from py_autodoc.report.module_tree.scope_tree import ScopeTree

STAGE_NAME, PART_NAME = "Stage ", "Part "
"""Prefixes of stage titles: with and without a spatial size."""
_SPATIAL = frozenset({
    "Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "FusedConv", "NhwcConv", "DeformConv", "MaxPool",
    "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "Resize", "Upsample", "DepthToSpace",
    "SpaceToDepth", "GridSample", "MaxUnpool",
})  # fmt: skip
"""Operators over height and width."""
MIN_ENTITIES, MIN_SPLIT_ENTITIES = 22, 40
"""Boxes from which a level is cut: if spatial sizes distinguish stages, and in any case."""
MIN_RUN = 3
"""Shorter runs join the preceding run."""
READABLE = 24
"""Maximum number of characters of a size in a title."""
MAX_STAGES = 16
"""Maximum number of stages per level; beyond it, the level is cut into equal parts."""


def stages(model: Model, types: TypeTable, tree: ScopeTree, level: int) -> list[tuple[str, list[int]]]:
    """Return (title, entities) of the stages of a level of the main graph; empty if the level is short.

    An entity is a node id, or the number of nodes plus a scope id. ``level`` is -1 at the top.
    """
    entities, members = _entities(model, tree, level)
    if len(entities) <= MIN_ENTITIES:
        return []
    order = _in_execution_order(model, entities, members)
    if not order:
        return []
    maps = _map_sizes(model, types)
    sizes = [_spatial(model, types, members[entity], maps) for entity in order]
    runs = _runs(sizes)
    if not 1 < len(runs) <= MAX_STAGES:
        if len(entities) <= MIN_SPLIT_ENTITIES:
            return []
        step = -(-len(order) // max(2, min(MAX_STAGES, len(order) // 8)))
        runs = [(start, min(start + step, len(order))) for start in range(0, len(order), step)]
        return [(f"{PART_NAME}{n + 1}", order[a:b]) for n, (a, b) in enumerate(runs)]
    titled: list[tuple[str, list[int]]] = []
    for number, (a, b) in enumerate(runs):
        title = _title(sizes[a:b] if maps else (), number)
        if titled and titled[-1][0] == title:
            titled[-1][1].extend(order[a:b])
        else:
            titled.append((title, order[a:b]))
    return titled if len(titled) > 1 else []


def _entities(model: Model, tree: ScopeTree, level: int) -> tuple[list[int], dict[int, list[int]]]:
    """Return the boxes of a level in order of their first node, and the nodes in each."""
    members: dict[int, list[int]] = {}
    below: dict[int, int] = {}
    for number in model.graphs[0].nodes:
        node = model.nodes[number]
        if node.is_constant:
            continue
        scope = tree.node[number]
        if scope not in below:
            below[scope] = tree.child(level, scope)
        child = below[scope]
        if child == -2:
            continue
        entity = number if child == level else len(model.nodes) + child
        members.setdefault(entity, []).append(number)
    return list(members), members


def _in_execution_order(model: Model, entities: Sequence[int], members: dict[int, list[int]]) -> list[int]:
    """Return the boxes in execution order; empty if modules depend on each other."""
    index_of = {entity: index for index, entity in enumerate(entities)}
    entity_index = {number: index_of[entity] for entity, numbers in members.items() for number in numbers}
    needs: list[list[int]] = [[] for _ in entities]
    for number, index in entity_index.items():
        for tensor in model.nodes[number].inputs:
            producer = entity_index.get(model.tensors[tensor].producer, index) if tensor >= 0 else index
            if producer != index:
                needs[index].append(producer)
    order, cyclic = execution_order(needs)
    return [] if cyclic else [entities[index] for index in order]


def _map_sizes(model: Model, types: TypeTable) -> set[Shape] | None:
    """Return the sizes of feature maps; heads × positions or boxes × coordinates are none.

    None if the model has no operator over height and width.
    """
    nodes = [model.nodes[number] for number in model.graphs[0].nodes]
    spatial = [node for node in nodes if node.op_type in _SPATIAL and node.outputs]
    if not spatial:
        return None
    if not any("Conv" in node.op_type for node in spatial):
        return set()  # pools over the positions of a text
    shapes = [types.shapes[node.outputs[0]] for node in spatial if node.outputs[0] >= 0]
    return {shape[2:] for shape in shapes if shape is not None and len(shape) >= 4}


def _spatial(model: Model, types: TypeTable, numbers: Sequence[int], maps: set[Shape] | None) -> Shape | None:
    """Return height and width (or length) of a box's output: of its last node that gives a feature map.

    Where ``maps`` is None, the last dimensions of any tensor with heads count: they cut the attention of all
    layers in the same places.
    """
    for number in reversed(numbers):
        if all(t < 0 or model.tensors[t].is_constant for t in model.nodes[number].inputs):
            continue  # produces a weight
        for tensor in model.nodes[number].outputs[:1]:
            shape = types.shapes[tensor] if tensor >= 0 else None
            if shape is not None and len(shape) >= 4 and (maps is None or shape[2:] in maps):
                return shape[2:]
    return None


def _runs(sizes: Sequence[Shape | None]) -> list[tuple[int, int]]:
    """Return runs of equal size; boxes without a size and short runs join the preceding run.

    Boxes without a size at the end, such as dense layers after a pool, are a run of their own.
    """
    runs: list[list[int]] = []
    current: Shape | None = None
    last = max((index for index, size in enumerate(sizes) if size is not None), default=len(sizes))
    for index, size in enumerate(sizes):
        if index == last + 1:
            runs.append([index, index + 1])
        elif not runs or (size is not None and size != current):
            runs.append([index, index + 1])
            current = size if size is not None else current
        else:
            runs[-1][1] = index + 1
    joined: list[list[int]] = []
    for run in runs:
        if joined and (run[1] - run[0] < MIN_RUN or joined[-1][1] - joined[-1][0] < MIN_RUN):
            joined[-1][1] = run[1]
        else:
            joined.append(run)
    return [(a, b) for a, b in joined]


def _title(sizes: Sequence[Shape | None], number: int) -> str:
    known_sizes = [size for size in sizes if size is not None]
    common, count = Counter(known_sizes).most_common(1)[0] if known_sizes else ((), 0)
    # Boxes of many sizes, such as the heads of a detector, are no stage.
    if not count or 2 * count < len(known_sizes):
        return f"{PART_NAME}{number + 1}"
    size = "×".join("?" if d is None else str(d) for d in common)
    # A symbolic size is too long for a name.
    return STAGE_NAME + (size if len(size) <= READABLE else str(number + 1))
