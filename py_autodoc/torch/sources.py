"""Load the source of an export, given on the command line, as a module with example inputs.

An existing path takes precedence, then ``package.module:factory``, then an id of the Hugging Face hub. Only a
factory executes code; nothing inside a model file is executed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

from py_autodoc.errors import AutodocError, InputError, PathError, RequirementError
from py_autodoc.graph.protobuf.file_signatures import identify
from py_autodoc.graph.protobuf.probe import regular_file
from py_autodoc.torch.input_options import InputOptions, near
from py_autodoc.torch.loaded_source import PIP, LoadedSource, facts_of, reject_transformers_options

_FACTORY = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?", re.ASCII)
PROGRAM, KERAS = (".pt2",), (".h5", ".hdf5", ".keras")
_REFUSED = {
    (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"): (
        "is a pickle, which can run any code when it is read, and has no module to export.",
        "Pass the model's Hugging Face folder, package.module:factory, or a .pt2 of torch.export.",
    ),
    (".safetensors", ".gguf"): (
        "contains only weights.",
        "Pass the folder with its config.json, or package.module:factory.",
    ),
    (".onnx",): ("is ONNX already.", "`onnx-autodoc tags FILE --assign OUT.onnx` tags it."),
}


def load_source(source: str, options: InputOptions) -> LoadedSource:
    """Load the source named on the command line.

    Raises:
        PathError: nothing has this name.
        InputError: it cannot be exported; the message gives the reason.
        OptionError: an option does not fit this kind of source.
        RequirementError: torch, transformers or keras is missing.
        ServiceError: the hub cannot be reached.
    """
    need_torch()
    path = os.path.expanduser(source)
    if os.path.exists(path):
        return _from_path(Path(path), options)
    if _FACTORY.fullmatch(source):
        return from_factory(source, options)
    suffixes = (*PROGRAM, *KERAS, *(suffix for group in _REFUSED for suffix in group))
    if source.lower().endswith(suffixes) or not _HUB_ID.fullmatch(source) or _in_a_folder(source):
        raise PathError(
            "path-missing",
            f"{source}: no such file or folder.",
            "Pass a Hugging Face folder or id, package.module:factory, .pt2, .keras or .h5.",
        )
    from py_autodoc.torch.pretrained import from_pretrained

    return from_pretrained(source, source, options, local=False)


def _in_a_folder(source: str) -> bool:
    """Return True if the part before the slash is a folder here: a mistyped path, not an id of the hub."""
    folder = os.path.dirname(source)
    return bool(folder) and os.path.isdir(folder)


def need_torch() -> None:
    """Raise a RequirementError if torch or its ONNX exporter is not installed."""
    for name in ("torch", "onnxscript"):
        try:
            import_module(name)
        except ImportError:
            raise RequirementError("torch-missing", f"Exporting needs {name}.", PIP) from None


def _from_path(path: Path, options: InputOptions) -> LoadedSource:
    name = path.name or str(path)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise InputError(
                "no-config",
                f"{name}: the folder has no config.json.",
                "Pass a folder that save_pretrained wrote.",
            )
        from py_autodoc.torch.pretrained import from_pretrained

        return from_pretrained(str(path), path.resolve().name, options, local=True)
    suffix = path.suffix.lower()
    for suffixes, (why, hint) in _REFUSED.items():
        if suffix in suffixes:
            raise InputError("source-refused", f"{name}: {why}", _own_exporter(path) or hint)
    from py_autodoc.torch import program_files

    if suffix in PROGRAM:
        return program_files.from_program(path, options)
    if suffix in KERAS:
        return program_files.from_keras(path, options)
    raise InputError(
        "source-unknown",
        f"{name}: not a kind of file that can be exported.",
        "Pass a Hugging Face folder, package.module:factory, .pt2, .keras or .h5.",
    )


def _own_exporter(path: Path) -> str:
    """Return the hint for a checkpoint whose library exports it; empty for any other."""
    try:
        with regular_file(path) as (fd, status):
            kind = identify(os.read(fd, 1 << 12), status.st_size)
    except PathError:
        return ""
    return kind.hint if kind is not None and kind.kind == "ultralytics" else ""


def from_factory(source: str, options: InputOptions) -> LoadedSource:
    """Call ``package.module:factory``, which returns ``(module, example_inputs)``.

    The current folder is on the import path only while the module is imported.

    Raises:
        InputError: the module or the factory is missing, fails, or returns something else.
    """
    import torch

    from py_autodoc.torch.dynamo import quiet_loggers
    from py_autodoc.torch.inputs import ModelInputs

    reject_transformers_options(options, "package.module:factory")
    name, _, attribute = source.partition(":")
    # A factory often imports transformers, which makes torchao and pytree log for their developers.
    with redirect_stdout(sys.stderr), quiet_loggers():
        with _current_folder():
            module = _imported(name)
        value: Any = module
        for attribute_name in attribute.split("."):
            if not hasattr(value, attribute_name):
                members = [member for member in dir(value) if not member.startswith("_")]
                raise InputError(
                    "source-factory",
                    f"{name} has no {attribute_name}.",
                    near(attribute_name, members, "It has"),
                )
            value = getattr(value, attribute_name)
        if not callable(value) or isinstance(value, torch.nn.Module):
            raise InputError("source-factory", f"{source} is not a function.", _SHAPE_OF_FACTORY)
        torch.manual_seed(options.seed)
        result = _called(value, source)
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[0], torch.nn.Module):
        raise InputError("source-factory", f"{source} returned {_described(result)}.", _SHAPE_OF_FACTORY)
    ModelInputs.of(result[1])
    facts = {"kind": "factory", "name": source, **facts_of(result[0])}
    return LoadedSource(result[0], result[1], facts)


_SHAPE_OF_FACTORY = "It must be a function that returns (module, example_inputs)."


@contextmanager
def _current_folder() -> Iterator[None]:
    """Put the current folder on the import path in the ``with`` block."""
    folder = os.getcwd()
    before = list(sys.path)
    sys.path.insert(0, folder)
    invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except AutodocError:
        raise
    except Exception as fault:
        from py_autodoc.torch.export_errors import as_sentence

        missing = fault.name if isinstance(fault, ModuleNotFoundError) else None
        if missing and (name == missing or name.startswith(f"{missing}.")):
            raise InputError(
                "source-module",
                f"Unknown module {missing} in the current folder, and none is installed.",
                "Run from the folder the module is in.",
            ) from None
        raise InputError(
            "source-module",
            f"Importing {name} failed: {as_sentence(fault)}",
            "Run with --log-level debug to see where.",
        ) from fault


def _called(factory: Any, source: str) -> Any:
    try:
        return factory()
    except (AutodocError, MemoryError):
        raise
    except Exception as fault:
        from py_autodoc.torch.export_errors import as_sentence

        raise InputError(
            "source-factory",
            f"{source} failed: {as_sentence(fault)}",
            "Run with --log-level debug to see where.",
        ) from fault


def _described(result: Any) -> str:
    if isinstance(result, tuple):
        return f"a tuple of {len(result)}: {', '.join(type(item).__name__ for item in result[:4])}"
    return f"a {type(result).__name__}"
