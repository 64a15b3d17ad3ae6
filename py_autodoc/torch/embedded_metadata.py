"""Metadata that a transformers model needs to run from its file alone."""

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
    """Options of embedding."""

    metadata: bool = True
    """Embed configuration, task and versions."""
    processor: bool = True
    """Embed the files of the processor."""
    given: Any = None
    """A processor or a list of them; None uses the one in ``folder``."""
    task: str | None = None
    folder: str | os.PathLike[str] | None = None
    """Folder the model was loaded from; None uses the folder or hub cache that the model names."""


def collect_metadata(request: ExportRequest, wanted: EmbedOptions) -> EmbeddedMetadata | None:
    """Return the metadata of a transformers model; None for other models, or if the request has such entries.

    Raises:
        OptionError: an option applies to transformers models only, or names an unknown task.
    """
    model = request.model
    if not wanted.metadata or any(key.startswith(PREFIX) for key in request.metadata):
        return None
    if not is_transformers(model):
        if wanted.task is not None or wanted.given is not None:
            name = type(model).__name__
            raise OptionError(
                "hf-metadata", f"Task and processor apply only to transformers models, not to {name}."
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
    """True for a transformers model. Does not import transformers."""
    library = sys.modules.get("transformers")
    return library is not None and isinstance(model, library.PreTrainedModel)
