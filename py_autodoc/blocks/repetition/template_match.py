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
    label_surplus = Counter(canonical.label[node] for node in nodes)
    label_surplus.subtract(canonical.label[node] for node in template)
    if min(label_surplus.values(), default=0) < 0:
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
        self.template_nodes, self.candidate_nodes = set(template), set(nodes)
        self.mapping: dict[int, int] = {}
        self.used: set[int] = set()

    def seeds(self) -> list[tuple[int, int]]:
        """Return pairs of nodes that are unique by label among the unmatched nodes."""
        label = self.canonical.label
        unmatched = [node for node in self.template if node not in self.mapping]
        candidates = [node for node in self.nodes if node not in self.used]
        template_counts, candidate_counts = (
            Counter(label[node] for node in unmatched),
            Counter(label[node] for node in candidates),
        )
        unique = {label[node]: node for node in candidates if candidate_counts[label[node]] == 1}
        return [
            (node, unique[label[node]])
            for node in unmatched
            if template_counts[label[node]] == 1 and label[node] in unique
        ]

    def spread(self, pairs: list[tuple[int, int]]) -> bool:
        """Propagate matches along edges from known pairs; return False on a contradiction."""
        while pairs:
            node, candidate = pairs.pop()
            if node in self.mapping:
                if self.mapping[node] != candidate:
                    return False
                continue
            if candidate in self.used or candidate not in self.candidate_nodes:
                return False
            if self.canonical.label[node] != self.canonical.label[candidate]:
                return False
            self.mapping[node] = candidate
            self.used.add(candidate)
            pairs.extend(self._neighbour_pairs(node, candidate))
        return True

    def _neighbour_pairs(self, node: int, candidate: int) -> Iterator[tuple[int, int]]:
        canonical, stride = self.canonical, self.canonical.stride
        for code, candidate_code in zip(
            canonical.input_codes[node], canonical.input_codes[candidate], strict=True
        ):
            if code >= 0 and code // stride in self.template_nodes:
                yield code // stride, candidate_code // stride if candidate_code >= 0 else -1
        for key, reader in canonical.readers_by_slot[node].items():
            if reader in self.template_nodes:
                counterpart = canonical.readers_by_slot[candidate].get(key, -1)
                if counterpart >= 0:
                    yield reader, counterpart
