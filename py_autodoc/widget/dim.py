"""One free dimension as a widget of its own: something sliders can be linked to without a kernel."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets
from ipywidgets import Widget, widget_serialization

from py_autodoc.render.html import static


class Dim(anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """A dimension of a model. ``value`` is its size, both ways, also in a page without a kernel.

    ``ipywidgets.jslink((slider, "value"), (w.dim("batch"), "value"))`` moves the model with the slider.
    Shown by itself it is a box for the size.
    """

    name = traitlets.Unicode().tag(sync=True)
    value = traitlets.Int(1, min=1).tag(sync=True)
    owner = traitlets.Instance(Widget).tag(sync=True, **widget_serialization)
    """The widget of the model; its ``dims`` hold all sizes."""
    from_page = False
    """True while a change comes from the page, which tells the owner itself."""

    @property
    def _esm(self) -> str:
        """The module of the box; anywidget makes a trait of it."""
        return static("dim.js")

    def set_state(self, sync_data: Any) -> None:
        """What the page changed."""
        self.from_page = True
        try:
            super().set_state(sync_data)
        finally:
            self.from_page = False
