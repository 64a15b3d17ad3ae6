"""Search for a known part among other nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph, signature


def find_isomorphic_part(
    canonical: CanonicalGraph, template: Sequence[int], nodes: Sequence[int]
) -> list[int] | None:
    """Return the nodes among ``nodes`` that correspond to ``template``; None if not isomorphic.

    Linear: gives up if nodes cannot be distinguished without a search.
    """
    left = Counter(canonical.label[node] for node in nodes)
    left.subtract(canonical.label[node] for node in template)
    if min(left.values(), default=0) < 0:
        return None  # the operators already differ
    match = _TemplateMatch(canonical, template, nodes)
    while len(match.mapping) < len(template):
        seeds = match.seeds()
        if not seeds or not match.spread(seeds):
            return None
    part = [match.mapping[node] for node in template]
    return part if signature(canonical, part) == signature(canonical, template) else None


class _TemplateMatch:
    def __init__(self, canonical: CanonicalGraph, template: Sequence[int], nodes: Sequence[int]) -> None:
        self.canonical = canonical
        self.template = template
        self.nodes = nodes
        self.ours, self.theirs = set(template), set(nodes)
        self.mapping: dict[int, int] = {}
        self.used: set[int] = set()

    def seeds(self) -> list[tuple[int, int]]:
        """Return pairs of nodes that are unique by label among the unmatched nodes."""
        label = self.canonical.label
        ours = [node for node in self.template if node not in self.mapping]
        theirs = [node for node in self.nodes if node not in self.used]
        count, other = Counter(label[node] for node in ours), Counter(label[node] for node in theirs)
        only = {label[node]: node for node in theirs if other[label[node]] == 1}
        return [(node, only[label[node]]) for node in ours if count[label[node]] == 1 and label[node] in only]

    def spread(self, pairs: list[tuple[int, int]]) -> bool:
        """Propagate matches along edges from known pairs; return False on a contradiction."""
        while pairs:
            node, other = pairs.pop()
            if node in self.mapping:
                if self.mapping[node] != other:
                    return False
                continue
            if other in self.used or other not in self.theirs:
                return False
            if self.canonical.label[node] != self.canonical.label[other]:
                return False
            self.mapping[node] = other
            self.used.add(other)
            pairs.extend(self._neighbour_pairs(node, other))
        return True

    def _neighbour_pairs(self, node: int, other: int) -> Iterator[tuple[int, int]]:
        canonical, stride = self.canonical, self.canonical.stride
        for code, theirs in zip(canonical.input_codes[node], canonical.input_codes[other], strict=True):
            if code >= 0 and code // stride in self.ours:
                yield code // stride, theirs // stride if theirs >= 0 else -1
        for key, reader in canonical.readers_by_slot[node].items():
            if reader in self.ours:
                counterpart = canonical.readers_by_slot[other].get(key, -1)
                if counterpart >= 0:
                    yield reader, counterpart
