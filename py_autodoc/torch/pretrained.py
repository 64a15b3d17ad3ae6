"""transformers models: a local folder, or an id of the Hugging Face hub."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from py_autodoc.bounded import parse_json
from py_autodoc.errors import (
    AutodocError,
    InputError,
    LimitError,
    OptionError,
    PathError,
    RequirementError,
    ServiceError,
)
from py_autodoc.limits import SETTINGS
from py_autodoc.torch.dynamo import quiet
from py_autodoc.torch.examples import AcceptedInputs, find_inputs, run
from py_autodoc.torch.export_errors import as_sentence
from py_autodoc.torch.input_options import InputOptions, near, read_arrays
from py_autodoc.torch.loaded_source import PIP, LoadedSource, facts_of

_PROCESSORS = ("preprocessor_config.json", "processor_config.json", "tokenizer_config.json")
_WEIGHTS = (".safetensors", ".bin")
_LISTED = 3
MAX_LAYERS = 10_000


def from_pretrained(source: str, name: str, options: InputOptions, local: bool) -> LoadedSource:
    """Load a model and find inputs that it accepts.

    Args:
        source: the folder or the id.
        name: name for messages and the report; never a path.
        options: the options about inputs and weights.
        local: do not download anything.

    Raises:
        InputError: unknown model, damaged files, or a model that needs its own code, which is not executed.
        LimitError: the configuration has more than ``MAX_LAYERS`` layers.
        ServiceError: the hub cannot be reached.
        AnalysisError: the model accepts no inputs.
    """
    transformers = _transformers()
    config = _config(transformers, source, name, local)
    kind = _class(transformers, config, name)
    with _no_bars(transformers):
        model, warnings = _model(kind, source, name, config, options, local)
    notes = [] if options.cache else [*_without_cache(model), *_batched_experts(model)]
    trial = _inputs(transformers, model, source, name, options, local)
    if trial.left_out:
        warnings.append(
            f"Exported without {', '.join(trial.left_out)}, because the model does not run with these inputs."
        )
    weights = "random" if options.random_weights else "pretrained"
    facts = {
        "kind": "transformers",
        "name": name,
        "model_type": getattr(config, "model_type", None),
        "weights": weights,
        **facts_of(model),
    }
    names = None if options.cache else _output_names(trial.outputs)
    return LoadedSource(model, trial.inputs, facts, names, warnings, notes, source)


def _transformers() -> Any:
    try:
        with quiet():
            return import_module("transformers")
    except ImportError:
        raise RequirementError("transformers-missing", "Reading this needs transformers.", PIP) from None


@contextmanager
def _no_bars(transformers: Any) -> Iterator[None]:
    """Disable the progress bars of transformers, since the command line has its own."""
    logging = transformers.utils.logging
    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()


def _config(transformers: Any, source: str, name: str, local: bool) -> Any:
    if local:
        _check_json(Path(source) / "config.json", name)
    try:
        with quiet():
            return transformers.AutoConfig.from_pretrained(
                source, local_files_only=local, trust_remote_code=False
            )
    except Exception as fault:
        raise _translated(fault, name, local) from fault


def _check_json(path: Path, name: str) -> None:
    try:
        content = parse_json(path.read_text("utf-8"), SETTINGS)
    except (OSError, ValueError) as fault:
        raise InputError(
            "bad-config", f"{name}: config.json cannot be read: {as_sentence(fault)}", ""
        ) from fault
    if not isinstance(content, dict):
        raise InputError("bad-config", f"{name}: config.json is not the configuration of a model.", "")
    for key, value in _numbers(content):
        # Modules are created one at a time, without any other limit.
        if re.search(r"(layers|depths?|blocks)$", key) and value > MAX_LAYERS:
            raise LimitError(
                "layers", value, MAX_LAYERS, f"{name}: {key} in config.json exceeds {MAX_LAYERS:,}."
            )


def _numbers(content: Any) -> Iterator[tuple[str, int]]:
    """Yield (key, integer) for all numbers in a configuration; items of a list have the list's key."""
    todo = [("", content)]
    while todo:
        key, value = todo.pop()
        if isinstance(value, dict):
            todo += [(str(name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            todo += [(key, inner) for inner in value]
        elif isinstance(value, int):
            yield key, value


def _translated(fault: Exception, name: str, local: bool) -> AutodocError:
    """Convert a failure of transformers to an error with a one-line message."""
    if not local and isinstance(fault, (OSError, ConnectionError)):
        offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")
        hint = "Check the name, or download it first and pass the folder."
        if offline:
            return PathError(
                "path-missing",
                f"{name}: no such file or folder, nor in the hub's cache (HF_HUB_OFFLINE is set).",
                hint,
            )
        return ServiceError(
            "hub-unavailable",
            f"{name}: no such file or folder, and the Hugging Face hub did not provide it.",
            hint,
        )
    if "trust_remote_code" in str(fault):
        return InputError(
            "remote-code",
            f"{name}: the model needs custom code, which is not executed.",
            "Load it yourself in a function and pass package.module:factory.",
        )
    return InputError("bad-config", f"{name}: transformers cannot load it: {as_sentence(fault)}", "")


def _class(transformers: Any, config: Any, name: str) -> Any:
    """Return the class named by ``architectures``, else the default class of the configuration."""
    listed = getattr(config, "architectures", None) or []
    if not isinstance(listed, list):
        raise InputError("bad-config", f"{name}: architectures in config.json is not a list.", "")
    if not listed:
        try:
            with quiet():  # imports the model's module, and that torchao
                return transformers.AutoModel._model_mapping[type(config)]
        except KeyError:
            raise InputError("bad-config", f"{name}: config.json names no architecture.", "") from None
    with quiet():
        kind = getattr(transformers, str(listed[0]), None)
    if not isinstance(kind, type) or not issubclass(kind, transformers.PreTrainedModel):
        raise InputError(
            "architecture-unknown",
            f"{name}: transformers {transformers.__version__} has no model {str(listed[0])[:80]}.",
            "Update transformers, or pass package.module:factory.",
        )
    return kind


def _model(
    kind: Any, source: str, name: str, config: Any, options: InputOptions, local: bool
) -> tuple[Any, list[str]]:
    """Return the model and warnings about its weights."""
    if options.random_weights:
        with torch.random.fork_rng(devices=[]), quiet():
            torch.manual_seed(options.seed)
            try:
                return kind(config).eval(), []
            except Exception as fault:
                raise _translated(fault, name, local) from fault
    if local and not any(path.suffix in _WEIGHTS for path in Path(source).iterdir()):
        raise InputError(
            "no-weights",
            f"{name}: the folder has no weights.",
            "Add --random-weights to export without weights.",
        )
    try:
        with quiet(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            model, info = kind.from_pretrained(
                source,
                config=config,
                local_files_only=local,
                output_loading_info=True,
                trust_remote_code=False,
            )
    except Exception as fault:
        raise _translated(fault, name, local) from fault
    return model.eval(), _loading(info)


def _loading(info: Any) -> list[str]:
    """Return warnings about weights that differ from the checkpoint."""
    missing = sorted({*info.get("missing_keys", ()), *(str(k[0]) for k in info.get("mismatched_keys", ()))})
    if not missing:
        return []
    listed = ", ".join(missing[:_LISTED]) + (" …" if len(missing) > _LISTED else "")
    return [f"{len(missing):,} weights are not in the checkpoint and were initialized randomly: {listed}."]


def _batched_experts(model: Any) -> list[str]:
    """Replace grouped expert products, which ONNX has no operator for, by batched ones."""
    able = getattr(model, "_can_set_experts_implementation", None)
    if able is None or not able() or "grouped_mm" not in model.get_experts_implementation().values():
        return []
    model.set_experts_implementation("batched_mm")
    return ["Experts are exported as batched products, because ONNX has no grouped ones."]


def _without_cache(model: Any) -> list[str]:
    """Disable the cache, since plain exporters cannot write it as an output."""
    disabled = False
    for module in model.modules():
        config = getattr(module, "config", None)
        if getattr(config, "use_cache", False):
            config.use_cache = False  # type: ignore[union-attr]
            disabled = True
    if not disabled or not model.can_generate():
        return []
    return ["Exported without the key-value cache; --exporter hf --generation exports prefill and decode."]


def _inputs(
    transformers: Any, model: Any, source: str, name: str, options: InputOptions, local: bool
) -> AcceptedInputs:
    if options.arrays is not None:
        from py_autodoc.torch.inputs import parameter_names

        arrays = read_arrays(options.arrays)
        names = parameter_names(model)
        unknown = next((array for array in arrays if array not in names), None)
        if unknown is not None:
            raise OptionError("unknown-input", f"The model has no input {unknown}.", near(unknown, names))
        inputs = {key: torch.from_numpy(value) for key, value in arrays.items()}
        return _tried(model, inputs)
    processor = _processor(source) if local else {}
    tokens = _tokens(transformers, source, name, options, local) if options.text is not None else {}
    return find_inputs(model, processor, options, tokens)


def _tried(model: Any, inputs: dict[str, Any]) -> AcceptedInputs:
    from py_autodoc.torch.export_errors import translate_errors
    from py_autodoc.torch.inputs import ModelInputs

    with translate_errors(model, ModelInputs(kwargs=inputs)):
        return AcceptedInputs(inputs, run(model, inputs))


def _processor(source: str) -> dict[str, Any]:
    """Return the content of the processor's files, including the parts of a composed processor."""
    settings: dict[str, Any] = {}
    for file in _PROCESSORS:
        try:
            content = parse_json((Path(source) / file).read_text("utf-8"), SETTINGS)
        except (OSError, ValueError):
            continue
        if isinstance(content, dict):
            parts = [entry for entry in content.values() if isinstance(entry, dict) and "size" in entry]
            for entry in (*parts, content):
                settings.update(entry)
    return settings


def _tokens(transformers: Any, source: str, name: str, options: InputOptions, local: bool) -> dict[str, Any]:
    """Tokenize the text given by the user."""
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                source, local_files_only=local, trust_remote_code=False
            )
            file_names = {*tokenizer.vocab_files_names.values(), "tokenizer.json", "tokenizer_config.json"}
            if local and not any((Path(source) / file).is_file() for file in file_names):
                # Otherwise an empty tokenizer would be created, without any of the words.
                raise FileNotFoundError("the folder has none")
            batch, length = options.sizes
            fixed = {"padding": "max_length", "max_length": length, "truncation": True} if length else {}
            encoded = tokenizer([options.text] * batch, return_tensors="pt", **fixed)
    except Exception as fault:
        raise InputError(
            "no-tokenizer",
            f"{name}: --input-text needs a tokenizer that works: {as_sentence(fault)}",
            "Save it into the folder with tokenizer.save_pretrained.",
        ) from fault
    return dict(encoded)


def _output_names(outputs: Any) -> list[str] | None:
    """Return the names of the outputs if each is one tensor; else None."""
    if not isinstance(outputs, dict):
        return None
    all_tensors = all(isinstance(value, torch.Tensor) for value in outputs.values())
    return list(outputs) if all_tensors and outputs else None
