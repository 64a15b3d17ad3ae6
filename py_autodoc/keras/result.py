"""Result of a conversion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from py_autodoc.tags.result import TaggedModel


@dataclass(slots=True)
class ConvertResult(TaggedModel):
    """A converted model. Its exporter is ``keras``."""

    source: dict[str, Any] = field(kw_only=True)
    """Name, format, version of Keras, class, parameters and their types of the source."""
    components: dict[str, Any] = field(default_factory=dict)
    """Always empty: there is one file."""
    carried: None = None
    """Always None: a Keras file has no transformers configuration."""
