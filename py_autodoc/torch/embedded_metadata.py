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
    processor_object: Any = None
    """A processor or a list of them; None uses the one in ``folder``."""
    task: str | None = None
    folder: str | os.PathLike[str] | None = None
    """Folder the model was loaded from; None uses the folder or hub cache that the model names."""


def collect_metadata(request: ExportRequest, options: EmbedOptions) -> EmbeddedMetadata | None:
    """Return the metadata of a transformers model; None for other models, or if the request has such entries.

    Raises:
        OptionError: an option applies to transformers models only, or names an unknown task.
    """
    model = request.model
    if not options.metadata or any(key.startswith(PREFIX) for key in request.metadata):
        return None
    if not is_transformers(model):
        if options.task is not None or options.processor_object is not None:
            name = type(model).__name__
            raise OptionError(
                "hf-metadata", f"Task and processor apply only to transformers models, not to {name}."
            )
        return None
    request.stage("metadata", 0.0)
    hub_id = str(getattr(model, "name_or_path", "") or "")
    return gather_metadata(
        model,
        options.processor_object,
        task=options.task,
        embed_processor=options.processor,
        source_folder=options.folder if options.folder is not None else hub_id or None,
        cached_only=options.folder is None,
    )


def is_transformers(model: Any) -> bool:
    """True for a transformers model. Does not import transformers, which loads all that it can use."""
    modeling = sys.modules.get("transformers.modeling_utils")
    return modeling is not None and isinstance(model, modeling.PreTrainedModel)
