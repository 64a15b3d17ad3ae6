"""Load the embedded processor without a network and without custom code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from py_autodoc.errors import AutodocError, InputError, OptionError, PathError, RequirementError
from py_autodoc.ort import one_line
from py_autodoc.outputs import scratch

transformers: Any = import_module("transformers")

ROLES = {
    "tokenizer": ("AutoTokenizer", "_load_tokenizer"),
    "image_processor": ("AutoImageProcessor", "_load_image_processor"),
    "feature_extractor": ("AutoFeatureExtractor", "_load_feature_extractor"),
    "processor": ("AutoProcessor", "_load_processor"),
}
"""Argument of a pipeline → the class that loads it, the attribute that says whether it is needed."""

_OF_IMAGES = ("preprocessor_config.json", "processor_config.json")
_FILES = {
    "image_processor": _OF_IMAGES,
    "feature_extractor": _OF_IMAGES,
    "processor": ("processor_config.json",),
}


def parts_for(
    kind: Any, parts: Mapping[str, Any], processor: Any, files: Mapping[str, bytes], config: Any, name: str
) -> dict[str, Any]:
    """Return the processors that a pipeline class needs.

    Args:
        kind: the class of the pipeline.
        parts: role → object given for it.
        processor: an object or folder to use instead of the embedded files; None uses those.
        files: the processor's files embedded in the model.
        config: the model's configuration as a dict, or None.
        name: the model's name for messages.

    Raises:
        OptionError: there is no processor for the inputs.
        InputError: the files are invalid, or need custom code, which is not executed.
        PathError: the folder does not exist.
        RequirementError: a library that the processor needs is not installed.
    """
    needs = {role: getattr(kind, flag, None) for role, (_, flag) in ROLES.items() if role not in parts}
    if not any(needs.values()) and parts:
        return dict(parts)
    loaded: dict[str, Any] = {}
    if processor is not None and not isinstance(processor, (str, Path)):
        loaded = _by_role(processor)
    elif processor is not None:
        folder = Path(processor)
        if not folder.is_dir():
            raise PathError(
                "path-missing",
                f"{folder.name}: no such folder.",
                "Pass a local folder; hub ids are not supported.",
            )
        loaded = _loaded(folder, needs, folder.name)
    elif files:
        with _unpacked(files, config) as folder:
            loaded = _loaded(folder, needs, name)
    missing = [role for role, need in needs.items() if need and role not in loaded]
    if missing:
        raise OptionError(
            "processor-missing",
            f"{name} has no {missing[0].replace('_', ' ')}, which this task needs.",
            f"Pass processor=FOLDER or {missing[0]}=….",
        )
    return {**loaded, **parts}


def _by_role(processor: Any) -> dict[str, Any]:
    """Return the object, and the parts of a composed processor, by role."""
    kinds = {
        "tokenizer": transformers.PreTrainedTokenizerBase,
        "image_processor": transformers.BaseImageProcessor,
        "processor": transformers.ProcessorMixin,
        "feature_extractor": transformers.FeatureExtractionMixin,
    }
    for role, kind in kinds.items():
        if isinstance(processor, kind):
            parts = {
                attribute: getattr(processor, attribute, None)
                for attribute in ROLES
                if attribute != "processor"
            }
            inner = {
                attribute: member
                for attribute, member in parts.items()
                if role == "processor" and member is not None
            }
            return {role: processor, **inner}
    raise OptionError(
        "processor-kind",
        f"A {type(processor).__name__} is not a processor of transformers.",
        "Pass a tokenizer, an image processor, a feature extractor, or the folder of one.",
    )


@contextmanager
def _unpacked(files: Mapping[str, bytes], config: Any) -> Iterator[Path]:
    """Unpack the files into a temporary folder that only this user can read."""
    with scratch() as folder:
        for file, data in files.items():
            if Path(file).name != file or file in ("", ".", ".."):
                raise InputError(
                    "processor-files", f"The processor's file {file[:80]!r} is not a plain name."
                )
            (folder / file).write_bytes(data)
        if config is not None and "config.json" not in files:
            (folder / "config.json").write_text(json.dumps(config), "utf-8")
        yield folder


def _loaded(folder: Path, needs: Mapping[str, bool | None], name: str) -> dict[str, Any]:
    loaded = {}
    for role, need in needs.items():
        if need is False or not _has(folder, role):
            continue
        try:
            loaded[role] = _load(folder, role, name)
        except AutodocError:
            # An optional part may be of another kind: a feature extractor's file is not an image processor.
            if need:
                raise
    return loaded


def _has(folder: Path, role: str) -> bool:
    names = _FILES.get(role)
    if names is None:  # tokenizers store their vocabulary under many file names
        file_names = {"tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json"}
        return any((folder / file).is_file() for file in file_names) or any(folder.glob("*.model"))
    return any((folder / file).is_file() for file in names)


def _load(folder: Path, role: str, name: str) -> Any:
    auto = getattr(transformers, ROLES[role][0])
    word = role.replace("_", " ")
    try:
        return auto.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except ImportError as fault:
        raise RequirementError(
            "processor-needs", f"{name}: its {word} needs a library: {one_line(fault, folder)}", ""
        ) from fault
    except Exception as fault:
        if "trust_remote_code" in str(fault):
            raise InputError(
                "remote-code",
                f"{name}: its {word} needs custom code, which is not executed.",
                "Load it yourself and pass it as processor=….",
            ) from fault
        raise InputError(
            "processor-unreadable",
            f"{name}: its {word} cannot be built: {one_line(fault, folder)}",
            "Pass processor=FOLDER.",
        ) from fault
