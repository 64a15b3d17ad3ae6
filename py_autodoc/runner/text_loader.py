"""Text as the inputs of a language model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, OptionError
from py_autodoc.free_memory import need
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.runner.loaders import DataLoader
from py_autodoc.runner.texts import FIELD, Text, read_texts
from py_autodoc.runner.tokens import TextTokenizer, TokenizedText, find_tokenizer
from py_autodoc.samples import InputSpec, Sample, analysis_at_sizes, input_specs
from py_autodoc.units import plural

IDS, MASK, TYPES, POSITIONS = "input_ids", "attention_mask", "token_type_ids", "position_ids"
NAMES = {
    IDS: IDS,
    MASK: MASK,
    TYPES: TYPES,
    POSITIONS: POSITIONS,
    "input_mask": MASK,
    "segment_ids": TYPES,
}
"""Input → its content. The last two are BERT's original names."""
_ARRAYS = 5
"""Arrays of a sample that are in memory together while it is made."""


def kind_of(name: str) -> str | None:
    """Return the content of an input by name, without TensorFlow's ``:0``; None unless it is for text."""
    return NAMES.get(name.removesuffix(":0"))


class TextLoader(DataLoader):
    """Texts of a ``.txt`` (one per line) or ``.jsonl`` file as token ids, mask, token types and positions.

    Each text is truncated or padded to the length of the input. If the batch is larger than 1, a sample holds
    several texts, and an incomplete last batch is omitted. Labels are those of the file.

    Args:
        file: the texts.
        specs: the inputs of the model.
        tokenizer: a ``tokenizer.json``, or a loaded tokenizer.
        field: field of an object that contains the text.
        most: maximum number of samples; None uses all.

    Raises: PathError, InputError, RequirementError.
    """

    def __init__(
        self,
        file: PathLike,
        specs: Sequence[InputSpec],
        tokenizer: PathLike | TextTokenizer,
        field: str = FIELD,
        most: int | None = None,
    ) -> None:
        self.file = base_name(file)[:200]
        self._specs, (self.batch, self.length) = list(specs), _common(specs)
        need(
            _ARRAYS * 8 * self.batch * self.length,
            f"A sample of {self.batch} × {self.length:,} tokens",
            "Set a smaller length or batch with --bind or --input-shape.",
        )
        loaded = tokenizer if isinstance(tokenizer, TextTokenizer) else TextTokenizer(tokenizer)
        texts = read_texts(file, field, None if most is None else most * self.batch)
        used = len(texts) // self.batch * self.batch
        if not used:
            raise InputError(
                "no-samples",
                f"{self.file} contains {plural(len(texts), 'text')}, but a batch needs {self.batch}.",
                "Pass more texts, or set a smaller batch with --bind.",
            )
        self._unused = len(texts) - used
        self._texts, self._tokenizer = texts[:used], loaded
        self._tokens = loaded.encode(self._texts, self.length)
        self._check()

    @property
    def notes(self) -> list[str]:
        """Changes to the texts that affect the results, one sentence each."""
        kinds, notes = {kind_of(spec.name) for spec in self._specs}, []
        cut = sum(tokens.cut for tokens in self._tokens)
        if cut:
            notes.append(
                f"{cut} of {plural(len(self._tokens), 'text')} {'is' if cut == 1 else 'are'} longer than "
                f"{plural(self.length, 'token')} and {'was' if cut == 1 else 'were'} truncated."
            )
        if MASK not in kinds and any(len(tokens.ids) < self.length for tokens in self._tokens):
            notes.append(
                "the model has no attention_mask, so the padding of shorter texts affects its results."
            )
        if self._unused:
            verb = "is" if self._unused == 1 else "are"
            notes.append(
                f"{plural(self._unused, 'text')} {verb} not used, because a batch needs {self.batch}."
            )
        return notes

    @property
    def source(self) -> str:
        """File, tokenizer, and the number of truncated texts."""
        cut = sum(tokens.cut for tokens in self._tokens)
        short = f", {cut} truncated to {self.length} tokens" if cut else ""
        return f"{self.file} ({self._tokenizer.name}{short})"

    def sizes(self) -> Mapping[str, Any]:
        """Arrays with the shapes of a sample."""
        shape = (self.batch, self.length)
        return {spec.name: np.broadcast_to(np.zeros((), spec.dtype), shape) for spec in self._specs}

    def __iter__(self) -> Iterator[tuple[Sample, Any]]:
        """Yield the samples in the order of the file."""
        for start in range(0, len(self._tokens), self.batch):
            rows = self._tokens[start : start + self.batch]
            yield self._sample(rows), _labels(self._texts[start : start + self.batch])

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._tokens) // self.batch

    def _sample(self, rows: Sequence[TokenizedText]) -> Sample:
        shape = (self.batch, self.length)
        content = {
            IDS: np.full(shape, self._tokenizer.pad, np.int64),
            MASK: np.zeros(shape, np.int64),
            TYPES: np.full(shape, self._tokenizer.pad_type, np.int64),
        }
        for index, tokens in enumerate(rows):
            begin = self.length - len(tokens.ids) if self._tokenizer.pads_left else 0
            columns = slice(begin, begin + len(tokens.ids))
            content[IDS][index, columns] = tokens.ids
            content[TYPES][index, columns] = tokens.types
            content[MASK][index, columns] = 1
        if self._tokenizer.pads_left:
            # The first token has position 0, after any padding.
            content[POSITIONS] = np.maximum(np.cumsum(content[MASK], axis=1) - 1, 0)
        else:
            content[POSITIONS] = np.broadcast_to(np.arange(self.length), shape)
        sample = {}
        for spec in self._specs:
            kind = kind_of(spec.name)
            assert kind is not None
            sample[spec.name] = np.ascontiguousarray(content[kind].astype(spec.dtype))
        return sample

    def _check(self) -> None:
        """Reject tokens outside the model's embedding table, before a runtime fails on them."""
        highest = max((max(tokens.ids, default=0) for tokens in self._tokens), default=0)
        padded = any(len(tokens.ids) < self.length for tokens in self._tokens)
        highest = max(highest, self._tokenizer.pad if padded else 0)
        spec = next(spec for spec in self._specs if kind_of(spec.name) == IDS)
        most = int(np.iinfo(spec.dtype).max) + 1
        most = min(spec.rows or most, most)
        if highest >= most:
            raise InputError(
                "tokens-beyond-table",
                f"{self._tokenizer.name} returns the token {highest:,}; the model has tokens below {most:,}.",
                "Pass the tokenizer that the model was trained with.",
            )


def text_loader(
    model: PathLike,
    file: PathLike,
    tokenizer: PathLike | None = None,
    *,
    field: str = FIELD,
    samples: int | None = None,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
) -> TextLoader:
    """Return texts for a model with symbolic dimensions: batch 1, and the length of the longest text.

    Args:
        model: an ONNX file.
        file: the texts.
        tokenizer: a ``tokenizer.json`` or a folder with it; None uses the one next to the model.
        field: field of an object that contains the text.
        samples: maximum number of samples; None uses all.
        bindings: values of symbolic dimensions.
        input_shapes: full shapes of inputs.

    Raises: PathError, InputError, OptionError, RequirementError.
    """
    declared = run_analysis(
        os.fspath(model), Options(brief=True, bindings=bindings or {}, input_shapes=input_shapes or {})
    )
    batch, length, names = _declared(declared)
    loaded = TextTokenizer(find_tokenizer(model, tokenizer))
    if length is None:
        texts = read_texts(file, field, None if samples is None else samples * batch)
        length = max(1, *(len(tokens.ids) for tokens in loaded.encode(texts)))
        length = min(length, loaded.longest or length)
    sizes = {name: np.broadcast_to(np.zeros((), np.int8), (batch, length)) for name in names}
    specs = input_specs(analysis_at_sizes(model, sizes, bindings, input_shapes))
    return TextLoader(file, specs, loaded, field, samples)


def _declared(analysis: Analysis) -> tuple[int, int | None, list[str]]:
    """Return batch and length where they are fixed, and the inputs. Raises: InputError for other inputs."""
    model, shapes = analysis.model, []
    names = []
    for number in model.graphs[0].inputs:
        tensor = model.tensors[number]
        if tensor.kind == TensorKind.INPUT:
            names.append(tensor.name)
            shapes.append(analysis.types.shapes[number])
    _refuse(names, model.file.name)
    batch = next((shape[0] for shape in shapes if shape and isinstance(shape[0], int)), 1)
    length = next(
        (shape[1] for shape in shapes if shape and len(shape) == 2 and isinstance(shape[1], int)), None
    )
    return max(1, int(batch)), None if length is None else int(length), names


def _refuse(names: Sequence[str], model: str) -> None:
    unknown = [name for name in names if kind_of(name) is None]
    if unknown or IDS not in {kind_of(name) for name in names}:
        listed = ", ".join(name[:60] for name in unknown[:5]) + (" …" if len(unknown) > 5 else "")
        raise InputError(
            "no-text-input",
            f"{model} takes {listed}, which cannot be created from text."
            if unknown
            else f"{model} has no {IDS}.",
            f"Text provides {IDS}, {MASK}, {TYPES} and {POSITIONS}. Pass arrays in a .npz file instead.",
        )


def _common(specs: Sequence[InputSpec]) -> tuple[int, int]:
    """Return the common batch and length. Raises: InputError, OptionError."""
    _refuse([spec.name for spec in specs], "The model")
    for spec in specs:
        if len(spec.shape) != 2 or (kind_of(spec.name) == IDS and spec.dtype.kind not in "iu"):
            raise InputError(
                "no-text-input",
                f"{spec.label} is not an input for text, which has integers of shape batch × length.",
            )
    shapes = {(spec.shape[0], spec.shape[1]) for spec in specs}
    if len(shapes) > 1:
        labels = ", ".join(spec.label for spec in specs)
        raise OptionError(
            "no-text-input", f"The inputs have different shapes: {labels}.", "Set them with --input-shape."
        )
    return shapes.pop()


def _labels(texts: Sequence[Text]) -> Any:
    """Return the labels of a batch: an array of numbers, a list of other labels, None if one is missing."""
    labels = [text.label for text in texts]
    if any(label is None for label in labels):
        return None
    if all(isinstance(label, (int, float)) for label in labels):
        return np.array(labels)
    return labels
