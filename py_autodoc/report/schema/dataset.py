"""Classes and training data that the metadata of a file state."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.wire import Wire


class DatasetInfo(Wire, frozen=True, kw_only=True):
    """Classes and training data from the metadata, in the keys of Ultralytics and Hugging Face.

    These are claims of the file and are not compared with the graph.
    """

    task: str = ""
    """The task in the words of the author, such as ``detect``; empty if not given."""
    num_classes: int | None = None
    """Number of named classes; null if the metadata has none."""
    class_names: dict[str, str] = msgspec.field(default_factory=dict)
    """Number of a class (as text) → its name, ascending."""
    source: str = ""
    """Metadata entry with the classes: ``names``, ``hf_model_config: id2label``; empty if there are none."""
    image_size: list[int] | None = None
    """Height and width of the images it was made for; null if not given."""
    trained_on: str = ""
    """The training data named in a description; empty if not given."""
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    """Other informative settings of the model's configuration: name → value."""
