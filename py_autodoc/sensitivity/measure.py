"""Measures layers one at a time, and mixtures of them, in sessions with switches."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import onnx

from py_autodoc.graph.probe import PathLike, base_name
from py_autodoc.ort import open_session, run_session
from py_autodoc.samples import Sample
from py_autodoc.sensitivity.layers import Layer, Scheme, weights_of
from py_autodoc.sensitivity.scores import Score, Truth
from py_autodoc.sensitivity.switches import WHAT, Switched, ranges

Progress = Callable[[int, int], None]
MEMORY = 3 << 30
"""Bytes that a session may take; above, layers are measured in groups."""
_COPIES = 6
"""Of a layer's weight while its switch is made and held: in the model, both branches, serialized, packed."""


@dataclass(slots=True)
class Measured:
    """What was found."""

    alone: list[Score | None]
    """By layer: it alone quantized; None where the time was over."""
    nothing: Score
    """No layer quantized."""
    everything: Score | None


class Bench:
    """A model with its samples, ready to be measured.

    Args:
        path: the model's file.
        model: the same with its weights.
        layers: what can be quantized.
        samples: values of the inputs; their ranges are those of the quantized inputs as well.
        scheme: how numbers are quantized.
        output: the result that is compared.
        classes: whether its last axis holds scores of classes.
        memory: bytes that a session may take.
    """

    def __init__(
        self,
        path: PathLike,
        model: onnx.ModelProto,
        layers: Sequence[Layer],
        samples: Sequence[Sample],
        scheme: Scheme,
        output: str,
        classes: bool,
        memory: int = MEMORY,
    ) -> None:
        self.layers, self._samples, self._scheme = list(layers), list(samples), scheme
        self._path, self._model, self._output, self._memory = path, model, output, memory
        self._weights = weights_of(model, self.layers)
        self._limits = ranges(path, model, self.layers, self._samples)
        session = open_session(path, WHAT, proto=model)
        name = base_name(path)
        self.truth = Truth([run_session(session, [output], one, name)[0] for one in self._samples], classes)
        self._whole: Switched | None = None

    def alone(self, budget: float | None, progress: Progress) -> Measured:
        """Each layer quantized alone, in the file's order, until ``budget`` seconds are over."""
        ends = None if budget is None else time.monotonic() + budget
        scores: list[Score | None] = [None] * len(self.layers)
        nothing: Score | None = None
        done, total = 0, len(self.layers)
        for group in self._groups():
            if ends is not None and time.monotonic() > ends and nothing is not None:
                break
            whole = len(group) == total
            session = self._whole if whole and self._whole is not None else self._switched(group)
            if whole:
                self._whole = session
            if nothing is None:
                nothing = self._score(session, ())
            for place, number in enumerate(group):
                if ends is not None and time.monotonic() > ends:
                    break
                scores[number] = self._score(session, (place,))
                done += 1
                progress(done, total)
        assert nothing is not None
        return Measured(scores, nothing, self.mixture(range(total)) if self.whole() else None)

    def whole(self) -> bool:
        """True when one session holds all layers, so that mixtures can be measured."""
        if self._whole is None and len(list(self._groups())) == 1:
            self._whole = self._switched(list(range(len(self.layers))))
        return self._whole is not None

    def mixture(self, quantized: Collection[int]) -> Score:
        """The score with these layers quantized. Needs ``whole``."""
        if not self.whole() or self._whole is None:
            raise ValueError("the layers do not fit into one session")
        return self._score(self._whole, set(quantized))

    def _score(self, session: Switched, quantized: Collection[int]) -> Score:
        return self.truth.score([session.run(one, quantized) for one in self._samples])

    def _switched(self, group: Sequence[int]) -> Switched:
        chosen = [self.layers[number] for number in group]
        return Switched(
            self._path, self._model, chosen, self._limits, self._scheme, self._weights, self._output
        )

    def _groups(self) -> Iterator[list[int]]:
        """Layers whose switches fit into memory together."""
        group: list[int] = []
        held = self._model.ByteSize() * 2
        base = held
        for number, layer in enumerate(self.layers):
            more = layer.size * 4 * _COPIES
            if group and held + more > self._memory:
                yield group
                group, held = [], base
            group.append(number)
            held += more
        yield group
