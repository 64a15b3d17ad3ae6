"""What the metadata of a file claim of the data that the model was made for."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.wire import Wire


class DatasetInfo(Wire, frozen=True, kw_only=True):
    """Classes and training data as the metadata name them, in the keys of Ultralytics and Hugging Face.

    Claims of the file: nothing of it is compared with the graph.
    """

    task: str = ""
    """What the model does, in the words of its maker: ``detect``; empty: not said."""
    num_classes: int | None = None
    """How many classes are named; null where the metadata name none."""
    class_names: dict[str, str] = msgspec.field(default_factory=dict)
    """Number of a class (as text) → its name, ascending."""
    source: str = ""
    """Where the classes stand: ``names``, ``hf_model_config: id2label``; empty where there are none."""
    image_size: list[int] | None = None
    """Height and width of the images it was made for; null: not said."""
    trained_on: str = ""
    """The data that a description names; empty: not said."""
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    """What else the model's configuration says that a reader may know it by: name → value."""
