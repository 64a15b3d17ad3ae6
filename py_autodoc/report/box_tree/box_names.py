"""Names for the boxes of a finished tree: roles for modules without a class, and unique titles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from py_autodoc.graph.ir.model import Model, Shape, TypeTable
from py_autodoc.report.box_tree.box_roles import Roles
from py_autodoc.report.box_tree.mask_boxes import TITLE
from py_autodoc.report.box_tree.preparation_nodes import Readers
from py_autodoc.report.box_tree.spatial_stages import PART_NAME, STAGE_NAME
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.module_tree.scope_tree import SUBGRAPH, ScopeTree

FOLD, STRUCTURE = "repeat", "structure"
_NAMED = frozenset({"name", "function", SUBGRAPH, FOLD})
"""Origins of boxes that may have no class."""
_CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict"})
"""Classes of torch that say nothing about the modules in them."""


class BoxNames:
    """Names the boxes of one tree. ``position`` is the position of each node in its graph."""

    def __init__(
        self,
        model: Model,
        types: TypeTable,
        tree: ScopeTree,
        roles: Roles,
        readers: Readers,
        position: Sequence[int],
    ) -> None:
        self.model = model
        self.types = types
        self.tree = tree
        self.roles = roles
        self.readers = readers
        self.position = position
        self.members: list[list[int]] = [[] for _ in tree.parent]
        """Per scope: the nodes in it and below it, ascending."""
        for node, innermost in enumerate(tree.node):
            scope = innermost
            while scope >= 0:
                self.members[scope].append(node)
                scope = tree.parent[scope]

    def run(self) -> None:
        """Write labels and roles into the tree."""
        self._stages()
        self._roles()
        self._distinguish_convolutions()
        self._distinguish_titles()

    def _stages(self) -> None:
        """Name stages by spatial size if they contain convolutions or pools, otherwise by their role."""
        tree, roles = self.tree, self.roles
        for scope, label in enumerate(tree.label):
            is_size = label.startswith(STAGE_NAME)
            if tree.origin[scope] != STRUCTURE or not (is_size or label.startswith(PART_NAME)):
                continue
            nodes = self.members[scope]
            if not is_size or not roles.convolves(nodes):
                role = roles.of(nodes) or roles.operators(nodes) or roles.prepares(nodes)
                tree.label[scope] = shorten_middle(role) or label

    def _roles(self) -> None:
        """Set the role of modules and parts of repeats whose class is unknown or only a container."""
        tree = self.tree
        first: dict[int, int] = {}
        for scope, parent in enumerate(tree.parent):
            first.setdefault(parent, scope)
        for scope, nodes in enumerate(self.members):
            contained = tree.type[scope] in _CONTAINERS
            if not contained and (tree.type[scope] or tree.origin[scope] not in _NAMED):
                continue
            if tree.origin[scope] != FOLD:
                role = self.roles.of_container(nodes) if contained else self.roles.of(nodes)
            else:
                instance = first[scope]
                classed = tree.type[instance] and tree.type[instance] not in _CONTAINERS
                role = "" if classed else self.roles.of_part(self.members[instance])
            if not tree.label[scope].casefold().startswith(role.casefold()):
                tree.role[scope] = shorten_middle(role)

    def _distinguish_convolutions(self) -> None:
        """Set the role of numbered siblings of one class with one convolution each, where these differ."""
        tree = self.tree
        first: dict[int, int] = {}
        same_name: dict[tuple[int, str, str], list[int]] = {}
        for scope, parent in enumerate(tree.parent):
            first.setdefault(parent, scope)
        for scope, parent in enumerate(tree.parent):
            instance = first[scope] if tree.origin[scope] == FOLD else scope
            if not tree.type[instance] or tree.role[scope] or tree.origin[parent] == FOLD:
                continue
            name = tree.label[instance].rstrip("0123456789")
            same_name.setdefault((parent, tree.type[instance], name), []).append(scope)
        for scopes in same_name.values():
            instances = [first[s] if tree.origin[s] == FOLD else s for s in scopes]
            texts = [self._convolution(self.members[instance]) for instance in instances]
            if "" in texts or len(set(texts)) < 2:
                continue
            for scope, text in zip(scopes, texts, strict=True):
                tree.role[scope] = text

    def _convolution(self, nodes: Sequence[int]) -> str:
        """Return ``Conv 3×3, stride 2`` if a convolution is the only layer with weights, else nothing."""
        layers = self.roles.layers(nodes)
        node = self.model.nodes[layers[0]] if len(layers) == 1 else None
        if node is None or node.op_type not in ("Conv", "ConvTranspose") or len(node.inputs) < 2:
            return ""
        weight = self.types.shapes[node.inputs[1]]
        if weight is None or len(weight) < 3:
            return ""
        strides = node.attributes.get("strides") or ()
        kernel = ("kernel " if len(weight) == 3 else "") + "×".join(map(str, weight[2:]))
        stride = "×".join(dict.fromkeys(map(str, strides)))
        return f"{node.op_type} {kernel}" + (f", stride {stride}" if stride not in ("", "1") else "")

    def _distinguish_titles(self) -> None:
        """Distinguish boxes with equal titles by their output shape and their position in execution order."""
        tree = self.tree
        by_title: dict[str, list[int]] = {}
        for scope, label in enumerate(tree.label):
            if tree.origin[scope] == STRUCTURE and self.members[scope] and label != TITLE:
                by_title.setdefault(label, []).append(scope)
        for label, scopes in by_title.items():
            if len(scopes) < 2:
                continue
            # Ordered by the last node: nodes that a box needs only itself may come first in the file.
            scopes.sort(key=lambda scope: max(self.position[node] for node in self.members[scope]))
            is_size = label.startswith(STAGE_NAME)
            shapes = [self._output_shape(self.members[scope], all_sizes=not is_size) for scope in scopes]
            for number, (scope, shape) in enumerate(zip(scopes, shapes, strict=True)):
                if not is_size:
                    # ``Transformer, 2 layers (1)``: two numbers in a row would be ambiguous.
                    position_text = f"({number + 1})" if any(map(str.isdigit, label)) else number + 1
                    named = f"{label} {position_text}{shape}"
                elif shapes.count(shape) == 1:
                    named = f"{label}{shape}"
                else:
                    named = f"{label}{shape} ({shapes[: number + 1].count(shape)})"
                tree.label[scope] = shorten_middle(named)

    def _output_shape(self, nodes: Sequence[int], *, all_sizes: bool) -> str:
        """Return the largest output shape without its batch: only the channels unless ``all_sizes``."""
        inside, largest = set(nodes), (0, 0)
        text = ""
        for node in nodes:
            read = set(self.readers(node))
            if read and read <= inside:
                continue
            for tensor in self.model.nodes[node].outputs:
                sizes = _sizes(self.types.shapes[tensor]) if tensor >= 0 else []
                if len(sizes) > 1 and (len(sizes), prod(sizes)) >= largest:
                    largest = len(sizes), prod(sizes)
                    text = " · " + ("×".join(map(str, sizes)) if all_sizes else f"{sizes[0]} channels")
        return text


def _sizes(shape: Shape | None) -> list[int]:
    """Return the dimensions after the batch; empty if one of them is unknown."""
    sizes = [dim for dim in shape[1:] if isinstance(dim, int)] if shape else []
    return sizes if shape and len(sizes) + 1 == len(shape) else []
