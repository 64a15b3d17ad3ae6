"""Saved outputs of widgets in a box (``VBox``, ``HBox``, ``Tab``, ``Accordion``, …).

The output of a box is created by ipywidgets and contains only the box: a reopened notebook would show a line
of text. IPython allows custom formatters per class, which are used here to add the saved output of each
contained widget.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import Any

import ipywidgets
from IPython import get_ipython

from py_autodoc.widget.saved_output import MIME, SavableWidget, saved_output

VIEW_MIME = "application/vnd.jupyter.widget-view+json"
MAX_CHARACTERS = 1_000_000
"""Maximum characters of the images in one output; further widgets are shown as a line of text."""


def register_box_formatter() -> None:
    """Register the formatter for boxes. Does nothing outside IPython, or if there is another formatter."""
    shell = get_ipython()
    display = getattr(shell, "display_formatter", None)
    formatter = getattr(display, "mimebundle_formatter", None)
    if formatter is not None and ipywidgets.Box not in formatter.type_printers:
        formatter.for_type(ipywidgets.Box, box_output)


def box_output(box: Any) -> Any:
    """Return the box's own output with the models and images of the widgets in it."""
    write = getattr(box, "_repr_mimebundle_", None)
    if write is None:  # the box was closed
        return None
    output = write()
    data = output[0] if isinstance(output, tuple) else output
    if isinstance(data, dict) and VIEW_MIME in data and MIME not in data:
        widgets = widgets_in(box)
        if widgets:
            embed_models(data, widgets)
    return output


def embed_models(data: dict[str, Any], widgets: Sequence[SavableWidget], *, apart: bool = True) -> list[str]:
    """Add models and images of several widgets to an output, and return a summary line for each."""
    lines, images, size = [], [], 0
    for widget in widgets:
        line, picture = _static(widget)
        lines.append(line)
        size += len(picture)
        caption = f"<figcaption>{html.escape(line)}</figcaption>"
        images.append(f"<figure>{caption}{picture if size <= MAX_CHARACTERS else ''}</figure>")
    data["text/html"] = "".join(images)
    data[MIME] = saved_output(widgets, apart=apart)
    return lines


def widgets_in(box: Any) -> list[SavableWidget]:
    """Return the model widgets in a box and its nested boxes, each once, in order."""
    widgets: list[SavableWidget] = []
    seen: set[int] = set()
    stack = [box]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, SavableWidget):
            if item.comm is not None:
                widgets.append(item)
        elif isinstance(item, ipywidgets.Box):
            stack.extend(reversed(item.children))
    return widgets


def _static(widget: Any) -> tuple[str, str]:
    """Return a summary line of a widget, and its image or HTML summary."""
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    text = str(data.get("text/plain", ""))
    picture = data.get("image/svg+xml")
    if picture is None:
        return text, str(data.get("text/html", ""))
    # Each image keeps its own ids and styles if it is embedded as a data URL.
    packed = base64.b64encode(picture.encode()).decode("ascii")
    return text, f'<img alt="{html.escape(text)}" src="data:image/svg+xml;base64,{packed}">'
