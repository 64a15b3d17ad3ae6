"""Facts about a model that the task rules read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.results import RecognisedBlock, Structure
from py_autodoc.graph.ir.model import Model, Shape
from py_autodoc.identity.inputs import input_ports
from py_autodoc.identity.model import ModelPort
from py_autodoc.identity.output_ends import OutputEnd, end_of
from py_autodoc.identity.words import contains_word, words

_MAX_OUTPUTS = 64
_CACHES = frozenset({"present", "cache", "presents"})
_LARGE, _PADDING = 1000, 0.02
"""Tables of at least this many rows may have two percent of padding."""
_STATES = frozenset({"state", "staten", "hn", "cn"})


@dataclass(frozen=True)
class IdentityCase:
    """A model for the task rules: input roles, output ends, structure."""

    flow: DataflowGraph
    """Dataflow of the main graph."""
    structure: Structure
    flows: Sequence[DataflowGraph] = ()
    """Dataflow of all graphs, the main graph first; empty if it is the only one."""

    @property
    def model(self) -> Model:
        """The model."""
        return self.flow.model

    @cached_property
    def ports(self) -> list[ModelPort]:
        """The inputs in file order."""
        ports = input_ports(self.flow, self.structure)
        decoding = self.crossing and self.family == "transformer-decoder"
        stated = any(port.role == "state" for port in ports)
        for index, port in enumerate(ports):
            if decoding and port.role in ("spectrogram", "features") and port.rank == 3:
                # Cross-attention in a decoder without its encoder reads the encoder's hidden states.
                ports[index] = replace(port, role="hidden states")
            elif stated and port.role == "image":
                ports[index] = replace(port, sure=False)
        return ports

    def port(self, *roles: str) -> ModelPort | None:
        """Return the first input with one of these roles."""
        return next((port for port in self.ports if port.role in roles), None)

    def count(self, role: str) -> int:
        """Return the number of inputs with a role."""
        return sum(port.role == role for port in self.ports)

    @property
    def image(self) -> ModelPort | None:
        """The first image input."""
        return self.port("image")

    @property
    def tokens(self) -> ModelPort | None:
        """The first input of token ids."""
        return self.port("tokens")

    @property
    def wave(self) -> ModelPort | None:
        """The first audio input given as samples."""
        return self.port("waveform")

    @property
    def bands(self) -> ModelPort | None:
        """The first audio input given as frequency bands."""
        return self.port("spectrogram")

    @cached_property
    def only(self) -> str:
        """The common role of all data inputs, else empty; masks, states and scalars are not data."""
        data = {p.role for p in self.ports if p.role in DATA}
        return data.pop() if len(data) == 1 else ""

    @cached_property
    def ends(self) -> list[OutputEnd]:
        """The ends of the outputs that are results, states and caches excluded."""
        tensors = [t for t in self.model.graphs[0].outputs[:_MAX_OUTPUTS] if not self._kept(t)]
        return [end_of(self.flow, tensor, self._normalizing) for tensor in tensors]

    @cached_property
    def _normalizing(self) -> frozenset[int]:
        blocks = (block for block in self.structure.blocks if block.kind == "normalization")
        return frozenset(node for block in blocks for node in block.nodes)

    def _kept(self, tensor: int) -> bool:
        """True for a state or cache that the caller passes in again."""
        name, shape = self.model.tensors[tensor].name, self.flow.shapes[tensor]
        parts = words(name)
        if _CACHES.intersection(parts):
            return True
        states = [p for p in self.ports if p.role in ("state", "key/value cache")]
        has_same_shape = any(
            p.shape is not None
            and shape is not None
            and len(p.shape) == len(shape)
            and p.role == "state"
            and (p.shape == shape or _but_batch(p.shape, shape))
            for p in states
        )
        if has_same_shape or (states and contains_word(name, _STATES)):
            return True
        # Keys and values of every layer: (batch, heads, positions, head size).
        return (
            self.tokens is not None
            and bool(self.structure.attention)
            and shape is not None
            and len(shape) == 4
            and shape[-1] in {layer.head_dim for layer in self.structure.attention}
        )

    def kept(self, tensor: int) -> bool:
        """True for a state or cache that the caller passes in again."""
        return self._kept(tensor)

    @cached_property
    def end(self) -> OutputEnd | None:
        """The only result; None if there are several."""
        return self.ends[0] if len(self.ends) == 1 else None

    @property
    def first(self) -> OutputEnd | None:
        """The first result."""
        return self.ends[0] if self.ends else None

    def name(self, end: OutputEnd) -> tuple[str, ...]:
        """Return the words of an output's name."""
        return words(self.model.tensors[end.tensor].name)

    def named(self, *parts: str) -> bool:
        """True if an output's name has one of these words."""
        return any(set(parts).intersection(self.name(end)) for end in self.ends)

    @cached_property
    def heads(self) -> list[RecognisedBlock]:
        """The recognised heads."""
        return [block for block in self.structure.blocks if block.kind == "head"]

    def head(self, end: OutputEnd) -> RecognisedBlock | None:
        """Return the head that produces an output."""
        return next((head for head in self.heads if end.node in head.nodes), None)

    @property
    def family(self) -> str:
        """The network family of the verdict."""
        return self.structure.verdict.family

    @property
    def sure_family(self) -> bool:
        """True if the verdict is more than a guess."""
        return self.structure.verdict.confidence >= 0.75

    @cached_property
    def causal(self) -> bool | None:
        """True if every self-attention layer is causal; None if unknown or without self-attention."""
        known = {layer.causal for layer in self.structure.attention if layer.kind != "cross"}
        return known.pop() if len(known) == 1 else None

    @cached_property
    def crossing(self) -> bool:
        """True if a layer attends to another sequence."""
        return any(layer.kind == "cross" for layer in self.structure.attention)

    @cached_property
    def vocabulary(self) -> OutputEnd | None:
        """The output with one score per row of the token table for each position."""
        rows = [port.rows for port in self.ports if port.role == "tokens" and port.rows]
        return next((e for e in self.ends if e.rank in (2, 3) and _as_many(e.width or 0, rows)), None)

    @property
    def page(self) -> bool:
        """True if words come with their positions on a page, as for LayoutLM; an image may be included."""
        return self.tokens is not None and self.port("page positions") is not None

    @cached_property
    def positions(self) -> int:
        """Rows of the largest token table; 0 if there is none."""
        return max((port.rows or 0 for port in self.ports if port.role == "tokens"), default=0)


def _as_many(width: int, rows: list[int]) -> bool:
    """True for one score per row; in a large table some rows may be padding or start tokens."""
    return any(width == n or (n >= _LARGE and abs(width - n) <= n * _PADDING) for n in rows)


def _but_batch(one: Shape, other: Shape) -> bool:
    """True if two shapes are equal except for a batch that one of them leaves symbolic."""
    free = not isinstance(one[0], int) or not isinstance(other[0], int)
    return len(one) > 1 and free and one[1:] == other[1:] and all(isinstance(d, int) for d in one[1:])


DATA = (
    "image",
    "tokens",
    "bytes",
    "waveform",
    "signal",
    "spectrogram",
    "features",
    "hidden states",
    "video",
    "volume",
    "volume or video",
)
"""Roles of the data; other roles control the model."""
LANGUAGE = 5000
"""Minimum rows of a table of natural-language tokens; music, molecules and audio codes have fewer."""


def text_like(case: IdentityCase) -> bool:
    """True if the tokens certainly belong to a natural language."""
    return case.positions >= LANGUAGE
