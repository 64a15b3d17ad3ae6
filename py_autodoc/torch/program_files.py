"""Single-file sources: programs of ``torch.export`` and Keras models."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from py_autodoc.errors import InputError, OptionError, RequirementError
from py_autodoc.limits import PROGRAM_FILE
from py_autodoc.option_files import opened
from py_autodoc.torch.dynamo import quiet
from py_autodoc.torch.export_errors import as_sentence, root_cause
from py_autodoc.torch.input_options import InputOptions
from py_autodoc.torch.loaded_source import LoadedSource, facts_of, reject_transformers_options

_FORCE = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
NO_LAYERS = (
    "Keras does not call its layers as torch does: nodes are tagged with the whole model only, and layers "
    "are listed as not run."
)


def from_program(path: Path, options: InputOptions) -> LoadedSource:
    """Load a ``.pt2`` with the inputs and dynamic axes it was exported with.

    Raises:
        InputError: the file is damaged, or holds objects that would execute code when read.
        OptionError: inputs are given.
    """
    reject_transformers_options(options, "an exported program")
    if options.shapes or options.arrays or options.dynamic:
        raise OptionError(
            "export-program", f"{path.name}: the inputs of an exported program are fixed.", "Export it again."
        )
    try:
        with quiet(), _no_pickles(), opened(path, PROGRAM_FILE) as file:
            program = torch.export.load(file)
    except Exception as fault:
        raise InputError(
            "source-program",
            f"{path.name}: cannot be read as a program of torch.export: {as_sentence(root_cause(fault))}",
            "Write it with torch.export.save; files with other Python objects are rejected.",
        ) from fault
    args, kwargs = program.example_inputs or ((), {})
    facts = {"kind": "program", "name": path.name, **facts_of(program)}
    return LoadedSource(program, (*args, dict(kwargs)) if kwargs else tuple(args), facts)


@contextmanager
def _no_pickles() -> Iterator[None]:
    """Restrict unpickling to tensors in the ``with`` block; torch would otherwise read any object."""
    package: Any = import_module("torch.export.pt2_archive._package")
    pickle_module, before = getattr(package, "pickle", None), os.environ.get(_FORCE)

    def refused(*_: object, **__: object) -> Any:
        raise ValueError("it contains a pickled object")

    os.environ[_FORCE] = "1"
    if pickle_module is not None:
        package.pickle = SimpleNamespace(**{**vars(pickle_module), "loads": refused, "load": refused})
    try:
        yield
    finally:
        if pickle_module is not None:
            package.pickle = pickle_module
        if before is None:
            del os.environ[_FORCE]
        else:
            os.environ[_FORCE] = before


def from_keras(path: Path, options: InputOptions) -> LoadedSource:
    """Load a Keras 3 model on its torch backend. Code in the file is not executed.

    Raises:
        RequirementError: Keras is not installed, or already uses another backend.
        InputError: the file cannot be read.
    """
    reject_transformers_options(options, "a model of Keras")
    if importlib.util.find_spec("keras") is None:
        raise RequirementError(
            "keras-missing", f"{path.name}: running it needs Keras 3.", "pip install keras"
        )
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "torch"
    try:
        with quiet():
            keras: Any = import_module("keras")
            if keras.backend.backend() != "torch":
                raise RequirementError(
                    "keras-backend", "Keras uses another backend than torch.", "Set KERAS_BACKEND=torch."
                )
            model = keras.saving.load_model(str(path), compile=False, safe_mode=True)
    except RequirementError:
        raise
    except Exception as fault:
        raise InputError(
            "source-keras", f"{path.name}: Keras cannot read it: {as_sentence(fault)}", ""
        ) from fault
    facts = {"kind": "keras", "name": path.name, **facts_of(model)}
    return LoadedSource(model, _keras_inputs(model, path.name, options), facts, warnings=[NO_LAYERS])


def _keras_inputs(model: Any, name: str, options: InputOptions) -> tuple[Any, ...]:
    """Return seeded inputs of the declared shapes; symbolic dimensions are 1, a dynamic batch 2."""
    random = torch.Generator().manual_seed(options.seed)
    batch = options.sizes[0]
    inputs = []
    for value in model.inputs or ():
        shape = [batch if axis == 0 else size or 1 for axis, size in enumerate(value.shape)]
        kind = getattr(torch, str(value.dtype), torch.float32)
        integer = not kind.is_floating_point
        inputs.append(
            torch.zeros(shape, dtype=kind) if integer else torch.randn(shape, generator=random).to(kind)
        )
    if not inputs:
        raise InputError("source-keras", f"{name}: the model was saved without the shape of its input.", "")
    return tuple(inputs)
