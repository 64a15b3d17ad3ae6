"""What a conversion gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from py_autodoc.tags.result import TaggedModel


@dataclass(slots=True)
class ConvertResult(TaggedModel):
    """A converted model. Its exporter is ``keras``."""

    source: dict[str, Any] = field(kw_only=True)
    """Name, form, version of Keras, class, parameters and their types of what was read."""
    components: dict[str, Any] = field(default_factory=dict)
    """Always empty: one file."""
    carried: None = None
    """A file of Keras has no configuration of transformers to take along."""
