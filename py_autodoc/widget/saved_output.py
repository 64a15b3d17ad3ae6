"""Saved output of a widget, for a notebook reopened without its widgets."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

MIME = "application/vnd.onnx-autodoc.v1+json"
"""MIME type known only to the JupyterLab extension; other readers ignore it."""
MAX_CHARACTERS = 1_000_000
"""Maximum characters of the models in base64. A notebook stores one such entry per output."""


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
    """Return the models of one output and their state; two are a linked pair unless ``apart`` is True.

    Models are omitted if they are too large: the extension then shows the image in the same output.
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
