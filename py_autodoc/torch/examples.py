"""Example inputs for a transformers model, derived from its class and configuration.

No architecture is hard-coded. The class names the main input and the modalities, ``forward`` has a signature,
and the configuration gives the dimensions. If several inputs are possible, candidates are tried in order, and
the first that the model accepts is used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from py_autodoc.errors import AnalysisError, OptionError
from py_autodoc.torch.dynamo import quiet
from py_autodoc.torch.export_errors import as_sentence
from py_autodoc.torch.input_options import InputOptions

IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"
IMAGE, FEATURES, SAMPLES = "pixel_values", "input_features", "input_values"
PRIMARY = (IDS, IMAGE, FEATURES, SAMPLES)
_DECODER = "decoder_"
SEQUENCE, IMAGE_SIZE, CHANNELS, FRAMES, MELS, RATE = 16, 224, 3, 1024, 80, 16_000
"""Dimensions if the configuration does not give them."""


@dataclass(frozen=True, slots=True)
class AcceptedInputs:
    """Inputs that the model accepts, and its outputs."""

    inputs: dict[str, Any]
    outputs: Any
    left_out: tuple[str, ...] = ()
    """Inputs of other modalities that the model did not accept."""


def find_inputs(
    model: Any, processor: Mapping[str, Any], options: InputOptions, values: Mapping[str, Any]
) -> AcceptedInputs:
    """Return the first candidate that the model accepts.

    Args:
        model: a transformers model in evaluation mode.
        processor: content of the processor's files (``preprocessor_config.json``, …).
        options: requested dimensions and shapes.
        values: inputs that exist already, such as those of a tokenizer.

    Raises:
        OptionError: an input cannot be inferred, or a shape is given for an unknown input.
        AnalysisError: ``export-forward``, the model accepts none of the candidates.
    """
    maker = _InputFactory(model, processor, options, values)
    first: Exception | None = None
    chosen = maker.chosen()
    for names in (chosen, maker.main_only()):
        if names == chosen and first is not None:
            continue
        for inputs in maker.variants(names):
            try:
                return AcceptedInputs(inputs, run(model, inputs), tuple(n for n in chosen if n not in inputs))
            except Exception as fault:  # noqa: BLE001 - a model's own code raises what it likes
                first = first or fault
    assert first is not None
    raise AnalysisError(
        "export-forward",
        f"The model accepts none of the generated inputs: {as_sentence(first)}",
        "Pass them with --inputs FILE.npz, or their shapes with --input-shape NAME=1x16.",
    ) from first


def run(model: Any, inputs: Mapping[str, Any]) -> Any:
    """Call the model once."""
    with torch.no_grad(), quiet():
        return model(**inputs)


def setting(config: Any, *names: str) -> Any:
    """Return the first of these settings found in the configuration or its sub-configurations; else None."""
    parts = [getattr(config, name, None) for name in getattr(config, "sub_configs", {})]
    for holder in (config, *(component for component in parts if component is not None)):
        for name in names:
            value = getattr(holder, name, None)
            if value is not None:
                return value
    return None


class _InputFactory:
    """Creates inputs by argument name."""

    def __init__(
        self, model: Any, processor: Mapping[str, Any], options: InputOptions, values: Mapping[str, Any]
    ) -> None:
        self.values = values
        self.config = model.config
        self.processor = processor
        self.options = options
        self.main: str = type(model).main_input_name
        modalities = getattr(type(model), "input_modalities", None) or ()
        self.modalities = (modalities,) if isinstance(modalities, str) else tuple(modalities)
        parameters = inspect.signature(model.forward).parameters
        self.arguments = {name: str(parameter.annotation) for name, parameter in parameters.items()}
        self.random = torch.Generator().manual_seed(options.seed)
        kinds = [parameter.dtype for parameter in model.parameters() if parameter.is_floating_point()]
        self.kind = kinds[0] if kinds else torch.float32
        self.batch = options.sizes[0]
        for name, shape in options.shapes.items():
            if name and name not in self.arguments:
                raise OptionError(
                    "unknown-input", f"The model has no input {name}.", f"The main input is {self.main}."
                )
            self.batch = shape[0] if shape else self.batch

    def chosen(self) -> list[str]:
        """Return the main input, those of other modalities, and the inputs that belong to them."""
        several = len(self.modalities) > 1
        names = [self.main]
        names += [n for n in PRIMARY if several and n in self.arguments and n not in names]
        return self._with_companions(names)

    def main_only(self) -> list[str]:
        """Return the main input and the inputs that belong to it."""
        return self._with_companions([self.main])

    def _with_companions(self, names: list[str]) -> list[str]:
        listed = self.processor.get("model_input_names") or ()
        if IDS in names:
            names += [MASK] if MASK in self.arguments else []
            typed = TYPES in listed if listed else (setting(self.config, "type_vocab_size") or 0) > 1
            names += [TYPES] if TYPES in self.arguments and typed else []
        if getattr(self.config, "is_encoder_decoder", False):
            for name in (IDS, SAMPLES):
                if _DECODER + name in self.arguments:
                    names.append(_DECODER + name)
                    break
        more = [*(name for name in self.values if name in self.arguments), *filter(None, self.options.shapes)]
        return list(dict.fromkeys((*names, *more)))

    def variants(self, names: list[str]) -> Iterator[dict[str, Any]]:
        """Yield candidates for these inputs; models differ in the layout of audio and do not name theirs."""
        audio = next((n for n in names if n in (FEATURES, SAMPLES) and n not in self.options.shapes), None)
        for shape in self._audio(audio) if audio and audio not in self.values else [None]:
            inputs: dict[str, Any] = {}
            for name in names:
                if name in self.values:
                    inputs[name] = self.values[name]
                elif name == audio and shape is not None:
                    inputs[name] = self._floats(shape)
                else:
                    inputs[name] = self._create(name)
            yield inputs

    def _create(self, name: str) -> Any:
        shape = self.options.shapes.get(name)
        if shape is None and name == self.main:
            shape = self.options.shapes.get("")
        makers: dict[str, Callable[[tuple[int, ...]], Any]] = {
            IDS: self._ids,
            _DECODER + IDS: self._decoder_ids,
            MASK: lambda size: torch.ones(size, dtype=torch.long),
            TYPES: lambda size: torch.zeros(size, dtype=torch.long),
        }
        if name in makers:
            return makers[name](shape or (self.batch, self._length(_DECODER in name)))
        if shape is not None:
            integer = "Long" in self.arguments[name] or name.endswith(("_ids", "_mask"))
            return torch.ones(shape, dtype=torch.long) if integer else self._floats(shape)
        if name == IMAGE:
            return self._floats(self._image())
        if name == _DECODER + SAMPLES:
            return self._floats((self.batch, SEQUENCE, self._mels()))
        raise OptionError(
            "input-unknown",
            f"The input {name} cannot be inferred.",
            f"Pass --input-shape {name}=1x16 or --inputs FILE.npz.",
        )

    def _length(self, decoder: bool) -> int:
        shapes = {**self.options.shapes, **{name: tuple(value.shape) for name, value in self.values.items()}}
        for name in () if decoder else (IDS, MASK, TYPES, "" if self.main == IDS else IDS):
            if name in shapes and len(shapes[name]) == 2:
                return int(shapes[name][1])
        most = setting(self._text_config(), "max_position_embeddings", "n_positions", "max_target_positions")
        usual = min(SEQUENCE, most) if isinstance(most, int) and most > 0 else SEQUENCE
        return self.options.sequence or usual

    def _text_config(self) -> Any:
        get = getattr(self.config, "get_text_config", None)
        return get() if callable(get) else self.config

    def _ids(self, shape: tuple[int, ...]) -> Any:
        """Return random non-special tokens; the last is the end-of-text token, which some models look for."""
        config = self._text_config()
        size = setting(config, "vocab_size")
        size = size if isinstance(size, int) and size > 0 else 2
        special = {
            value
            for holder in (self.config, config)
            for name, value in vars(holder).items()
            if name.endswith(("_token_id", "_token_index")) and isinstance(value, int)
        }
        ordinary = [token for token in range(min(size, 4096)) if token not in special] or [0]
        picked = torch.randint(0, len(ordinary), shape, generator=self.random)
        ids = torch.tensor(ordinary)[picked]
        end = setting(config, "eos_token_id")
        if isinstance(end, int) and 0 <= end < size and ids.dim() == 2 and ids.shape[1] > 1:
            ids[:, -1] = end
        return ids

    def _decoder_ids(self, shape: tuple[int, ...]) -> Any:
        ids = self._ids(shape)
        start = setting(self.config, "decoder_start_token_id")
        if isinstance(start, int) and ids.dim() == 2 and ids.shape[1]:
            ids[:, 0] = start
        return ids

    def _floats(self, shape: tuple[int, ...]) -> Any:
        return torch.randn(shape, generator=self.random).to(self.kind)

    def _image(self) -> tuple[int, ...]:
        """Return the image shape from the configuration, else from the processor's crop or size."""
        size = setting(self.config, "image_size")
        if size is None:
            says = self.processor
            size = says.get("crop_size") if says.get("do_center_crop") else None
            size = size or says.get("size")
        height, width = _pair(size)
        channels = setting(self.config, "num_channels")
        depth = channels if isinstance(channels, int) else CHANNELS
        frames = setting(self.config, "num_frames") if "video" in self.modalities else None
        return (self.batch, *([frames] if isinstance(frames, int) else []), depth, height, width)

    def _mels(self) -> int:
        count = setting(self.config, "num_mel_bins", "input_feat_per_channel") or self.processor.get(
            "feature_size"
        )
        return count if isinstance(count, int) and count > 1 else MELS

    def _audio(self, name: str) -> list[tuple[int, ...]]:
        """Return the likely audio shapes: (frames, bins), (bins, frames) or samples, most likely first."""
        mels, longest = self._mels(), setting(self.config, "max_source_positions")
        frames = self.processor.get("nb_max_frames") or (2 * longest if isinstance(longest, int) else None)
        length = setting(self.config, "max_length") or self.processor.get("max_length") or FRAMES
        length = length if isinstance(length, int) and length >= 16 else FRAMES
        spectra = [(self.batch, mels, frames)] if isinstance(frames, int) else []
        spectra += [(self.batch, length, mels), (self.batch, mels, length)]
        samples = (self.batch, RATE)
        binned = name == FEATURES or setting(self.config, "num_mel_bins") is not None
        return [*spectra, samples] if binned else [samples, *spectra]


def _pair(size: Any) -> tuple[int, int]:
    """Return height and width from a size in a configuration."""
    if isinstance(size, Mapping):
        edge = size.get("shortest_edge") or size.get("longest_edge")
        size = [size.get("height") or edge, size.get("width") or edge]
    pair = list(size) if isinstance(size, (list, tuple)) else [size, size]
    sides = [size for size in pair[-2:] if isinstance(size, int) and size > 0]
    return (sides[0], sides[-1]) if sides else (IMAGE_SIZE, IMAGE_SIZE)
