"""What an output keeps of a widget's model, for a notebook that is opened again without its widgets."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

MIME = "application/vnd.onnx-autodoc.v1+json"
"""Known to the JupyterLab extension alone; other readers pass it over."""
MAX_CHARACTERS = 1_000_000
"""Of the packed models in base64. A notebook keeps one of these an output."""


class SavableWidget:
    """Base of ``Autodoc``: the state of a widget that a saved output keeps."""

    _bundle: bytes
    overlay: str | Mapping[str, Any] | None
    selection: list[int]
    view: Mapping[str, Any]
    height: int
    comm: Any
    """None after the widget was closed."""


def saved_output(widgets: Sequence[SavableWidget], *, apart: bool = False) -> dict[str, Any]:
    """The models of one output with what is chosen in each; two are a linked pair unless they are ``apart``.

    Without models where they would be too large: the extension then shows the picture in the same output.
    """
    models: list[dict[str, Any]] = [
        {
            "bundle": base64.b64encode(widget._bundle).decode("ascii"),
            "overlay": widget.overlay,
            "selection": widget.selection,
            "view": widget.view,
        }
        for widget in widgets
    ]
    fits = sum(len(model["bundle"]) for model in models) <= MAX_CHARACTERS
    height = max((widget.height for widget in widgets), default=0)
    return {"models": models if fits else [], "height": height, **({"apart": True} if apart else {})}
