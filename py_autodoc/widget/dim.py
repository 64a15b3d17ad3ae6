"""A widget for one symbolic dimension, to which sliders can be linked without a kernel."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets
from ipywidgets import Widget, widget_serialization

from py_autodoc.render.html import static


class Dim(anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """A symbolic dimension of a model. ``value`` is synchronized both ways, even without a kernel.

    ``ipywidgets.jslink((slider, "value"), (w.dim("batch"), "value"))`` updates the model with the slider. On
    its own, it is displayed as a number field.
    """

    name = traitlets.Unicode().tag(sync=True)
    value = traitlets.Int(1, min=1).tag(sync=True)
    owner = traitlets.Instance(Widget).tag(sync=True, **widget_serialization)
    """Widget of the model; its ``dims`` hold the values of all dimensions."""
    from_page = False
    """True during a change from the page, which also updates the owner."""

    @property
    def _esm(self) -> str:
        """Front-end module of the number field; anywidget makes a trait of it."""
        return static("dim.js")

    def set_state(self, sync_data: Any) -> None:
        """Apply a change from the page."""
        self.from_page = True
        try:
            super().set_state(sync_data)
        finally:
            self.from_page = False
