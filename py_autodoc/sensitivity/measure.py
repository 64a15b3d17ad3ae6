"""Measure single layers and mixtures in sessions of model pieces with switches."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from py_autodoc.errors import AnalysisError, InputError, ModelRefused
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import LARGEST, weight_bytes
from py_autodoc.samples import Sample
from py_autodoc.sensitivity.layers import Array, QuantizableLayer, Scheme, weights_of
from py_autodoc.sensitivity.pieces import FloatPiece, Values, cut, declared
from py_autodoc.sensitivity.scores import FloatResults, Score
from py_autodoc.sensitivity.switches import SwitchedModel

Progress = Callable[[int, int], None]
MEMORY = 3 << 30
"""Maximum bytes of all sessions together; above, only one piece is kept at a time."""
_MAX_PIECES, _MIN_LAYERS_PER_PIECE = 12, 4
"""Maximum number of pieces, and minimum number of layers in each, if all fit into memory."""
_COPIES = 6
"""Copies of a layer's weight while its switch is built: model, both branches, serialized, packed."""


@dataclass(slots=True)
class LayerScores:
    """Scores of a measurement."""

    alone: list[Score | None]
    """Score of each layer quantized alone; None if the time budget was exhausted."""
    nothing: Score
    """Score with no layer quantized."""
    everything: Score | None
    """Score with all layers quantized; None if they do not fit into memory, or were not all measured."""


class LayerBench:
    """Measures mixtures of quantized and float layers of a model on fixed samples.

    The model is cut into pieces (``pieces``). A layer is measured from its own piece on, with the float
    results of the pieces before it.

    Args:
        path: the model's file.
        model: the model with its weights.
        layers: the layers that can be quantized.
        samples: values of the inputs, which also give the ranges of quantized inputs.
        scheme: the quantization.
        output: the output that is compared.
        classes: whether its last axis holds class scores.
        memory: maximum bytes of all sessions together.

    Raises:
        InputError: the model has more than 2 GB of weights.
        ModelRefused, AnalysisError: ONNX Runtime refuses the model, or fails on a sample.
    """

    def __init__(
        self,
        path: PathLike,
        model: onnx.ModelProto,
        layers: Sequence[QuantizableLayer],
        samples: Sequence[Sample],
        scheme: Scheme,
        output: str,
        classes: bool,
        memory: int = MEMORY,
    ) -> None:
        self.layers, self._samples, self._scheme = list(layers), list(samples), scheme
        self._path, self._model, self._output, self._memory = path, model, output, memory
        self._weights = weights_of(model, self.layers, base_name(path))
        stored = weight_bytes(model.graph)
        if stored > LARGEST:  # Sessions and their packed weights would take a multiple of this memory.
            raise InputError(
                "model-too-large",
                f"{base_name(path)} has more than 2 GB of weights, too much to measure layer by layer.",
                "Quantize it, then compare the layers of both files with `verify`.",
            )
        fixed = 2 * stored
        switched = _COPIES * 4 * sum(layer.size for layer in self.layers)
        self._fits = fixed + switched <= memory
        count = min(_MAX_PIECES, -(-len(self.layers) // _MIN_LAYERS_PER_PIECE))
        if not self._fits:
            count = max(count, -(-switched // max(1, memory - fixed)))
        # A session is created from a protobuf, which contains the weights of switches twice.
        count = min(len(self.layers), max(count, -(-4 * stored // LARGEST)))
        try:
            results = self._run_float(count)
        except (AnalysisError, ModelRefused):
            if count == 1:
                raise
            results = self._run_float(1)
        if not any(np.size(result) for result in results):
            raise InputError(
                "empty-result",
                f"{base_name(path)}: {output[:80]} has no values at these dimensions.",
                "Choose dimensions above 0 with --bind or --input-shape.",
            )
        self.float_results = FloatResults(results, classes)
        self._equal = self.float_results.score(results)

    def _run_float(self, count: int) -> list[Array]:
        """Cut the model into ``count`` pieces and run it in float for the results and ranges of layers."""
        pieces = cut(self._model, self.layers, self._output, count)
        self._pieces = [piece for piece in pieces if piece.nodes]
        self._float_pieces: list[FloatPiece] = []
        self._inputs: list[list[onnx.ValueInfoProto]] = []
        self._switched: dict[int, SwitchedModel] = {}
        self._limits: dict[str, tuple[float, float]] = {}
        values: list[Values] = [dict(sample) for sample in self._samples]
        for piece in self._pieces:
            missing = [name for name in piece.reads if any(name not in sample for sample in values)]
            if missing:
                raise InputError(
                    "undefined-input", f"{base_name(self._path)}: nothing produces {missing[0][:80]!r}."
                )
            self._inputs.append([declared(name, [sample[name] for sample in values]) for name in piece.reads])
            data = dict.fromkeys(self.layers[number].data for number in piece.layers)
            produced = [name for name in data if name not in piece.reads]
            float_piece = FloatPiece(self._path, self._model, piece, self._inputs[-1], produced)
            self._float_pieces.append(float_piece)
            for index, sample in enumerate(values):
                for name in data:
                    if name in piece.reads and sample[name].size:
                        self._extend_range(name, float(sample[name].min()), float(sample[name].max()))
                values[index], ends = float_piece.run_with_ranges(sample)
                for name, (low, high) in ends.items():
                    self._extend_range(name, low, high)
            live = sum(getattr(value, "nbytes", 0) for sample in values for value in sample.values())
            if count > 1 and live > self._memory // 2:
                raise AnalysisError(
                    "pieces-too-large", "The tensors between the pieces do not fit into memory."
                )
        return [sample[self._output] for sample in values]

    def _extend_range(self, name: str, low: float, high: float) -> None:
        bounds = self._limits.get(name, (0.0, 0.0))
        self._limits[name] = (min(bounds[0], low), max(bounds[1], high))

    def alone(self, budget: float | None, progress: Progress) -> LayerScores:
        """Measure each layer quantized alone, in the file's order, until ``budget`` seconds have passed."""
        deadline = None if budget is None else time.monotonic() + budget
        scores: list[Score | None] = [None] * len(self.layers)
        values: list[Values] = [dict(sample) for sample in self._samples]
        unquantized = values
        """Values with switches in place and nothing quantized."""
        reached = {number for piece in self._pieces for number in piece.layers}
        measured, total = 0, len(self.layers)
        for number in range(total):
            if number not in reached:  # the result does not depend on it
                scores[number] = self._equal
                measured += 1
                progress(measured, total)
        for index, piece in enumerate(self._pieces):
            expired = deadline is not None and time.monotonic() > deadline
            if piece.layers and not expired:
                session = self._session(index)
                for number in piece.layers:
                    if deadline is not None and time.monotonic() > deadline:
                        break
                    results = (self._result_after(index, session.run(sample, (number,))) for sample in values)
                    scores[number] = self.float_results.score(list(results))
                    measured += 1
                    progress(measured, total)
                if not self._fits:
                    unquantized = [session.run(sample, ()) for sample in unquantized]
            elif not self._fits:
                unquantized = [self._float_pieces[index].run(sample) for sample in unquantized]
            if index + 1 < len(self._pieces):
                values = [self._float_pieces[index].run(sample) for sample in values]
        if self._fits and measured == total:
            return LayerScores(scores, self.mixture(()), self.mixture(range(total)))
        if self._fits:
            return LayerScores(scores, self._score_mixture(()), None)
        return LayerScores(
            scores, self.float_results.score([sample[self._output] for sample in unquantized]), None
        )

    def fits_memory(self) -> bool:
        """True if sessions of all pieces fit into memory, so that mixtures can be measured."""
        if self._fits:
            for index in range(len(self._pieces)):
                self._session(index)
        return self._fits

    def mixture(self, quantized: Collection[int]) -> Score:
        """Return the score with these layers quantized. Requires ``fits_memory``."""
        if not self.fits_memory():
            raise ValueError("the layers do not fit into memory")
        return self._score_mixture(set(quantized))

    def _score_mixture(self, chosen: Collection[int]) -> Score:
        """Return the score of a mixture; with nothing quantized, that of the switches in place."""
        results = []
        for sample in self._samples:
            values: Values = dict(sample)
            for index, piece in enumerate(self._pieces):
                switched = chosen and not set(piece.layers).isdisjoint(chosen)
                if switched or (not chosen and index in self._switched):
                    values = self._session(index).run(values, chosen)
                else:
                    values = self._float_pieces[index].run(values)
            results.append(values[self._output])
        return self.float_results.score(results)

    def _result_after(self, index: int, values: Values) -> Array:
        """Return the result, computed from the tensors available after a piece."""
        for float_piece in self._float_pieces[index + 1 :]:
            values = float_piece.run(values)
        return values[self._output]

    def _session(self, index: int) -> SwitchedModel:
        """Return the switches of a piece; sessions are kept if all fit into memory."""
        if index not in self._switched:
            session = SwitchedModel(
                self._path,
                self._model,
                self._pieces[index],
                self._inputs[index],
                self.layers,
                self._limits,
                self._scheme,
                self._weights,
            )
            if not self._fits:
                return session
            self._switched[index] = session
        return self._switched[index]
