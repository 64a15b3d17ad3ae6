"""What a model of transformers takes along into its file, so that it runs without any other."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.hf.keys import PREFIX
from py_autodoc.hf.write import EmbeddedMetadata, gather_metadata
from py_autodoc.torch.result import ExportRequest


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """What to embed."""

    metadata: bool = True
    """Configuration, task and versions at all."""
    processor: bool = True
    """The processor's own files."""
    given: Any = None
    """A processor, or a list of them; None: that of ``folder``."""
    task: str | None = None
    folder: str | os.PathLike[str] | None = None
    """Where the model was loaded from; None: where it says itself, a folder or the hub's cache."""


def collect_metadata(request: ExportRequest, wanted: EmbedOptions) -> EmbeddedMetadata | None:
    """The entries for a model of transformers; None for any other, and where some are given as they are.

    Raises:
        OptionError: an option is for models of transformers, or names no task.
    """
    model = request.model
    if not wanted.metadata or any(key.startswith(PREFIX) for key in request.metadata):
        return None
    if not is_transformers(model):
        if wanted.task is not None or wanted.given is not None:
            name = type(model).__name__
            raise OptionError(
                "hf-metadata", f"A task and a processor are of models of transformers, not of {name}."
            )
        return None
    request.stage("metadata", 0.0)
    own = str(getattr(model, "name_or_path", "") or "")
    return gather_metadata(
        model,
        wanted.given,
        task=wanted.task,
        embed_processor=wanted.processor,
        source_folder=wanted.folder if wanted.folder is not None else own or None,
        cached_only=wanted.folder is None,
    )


def is_transformers(model: Any) -> bool:
    """A model of transformers; asking does not import it."""
    library = sys.modules.get("transformers")
    return library is not None and isinstance(model, library.PreTrainedModel)
