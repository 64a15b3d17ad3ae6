"""What an output keeps of the widgets in a box (``VBox``, ``HBox``, ``Tab``, ``Accordion``, …).

The output of a box is ipywidgets' own and names the box alone: a notebook that is opened again would show a
line of text. IPython lets others write the output of a class; here that is used to put beside it what an
output of a single widget keeps.
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
"""Of the pictures of one output; widgets after that are lines of text."""


def watch_boxes() -> None:
    """Write the outputs of boxes from now on. Does nothing outside IPython, or where somebody else does."""
    shell = get_ipython()
    display = getattr(shell, "display_formatter", None)
    formatter = getattr(display, "mimebundle_formatter", None)
    if formatter is not None and ipywidgets.Box not in formatter.type_printers:
        formatter.for_type(ipywidgets.Box, box_output)


def box_output(box: Any) -> Any:
    """The output of a box as it writes it, with the models and pictures of the widgets in it."""
    write = getattr(box, "_repr_mimebundle_", None)
    if write is None:  # closed
        return None
    found = write()
    data = found[0] if isinstance(found, tuple) else found
    if isinstance(data, dict) and VIEW_MIME in data and MIME not in data:
        widgets = widgets_in(box)
        if widgets:
            embed_models(data, widgets)
    return found


def embed_models(data: dict[str, Any], widgets: Sequence[SavableWidget], *, apart: bool = True) -> list[str]:
    """Put models and pictures of several widgets into an output. Returns a line about each."""
    lines, shown, size = [], [], 0
    for widget in widgets:
        line, picture = _static(widget)
        lines.append(line)
        size += len(picture)
        caption = f"<figcaption>{html.escape(line)}</figcaption>"
        shown.append(f"<figure>{caption}{picture if size <= MAX_CHARACTERS else ''}</figure>")
    data["text/html"] = "".join(shown)
    data[MIME] = saved_output(widgets, apart=apart)
    return lines


def widgets_in(box: Any) -> list[SavableWidget]:
    """The widgets of models in a box and in the boxes in it, each once, in their order."""
    found: list[SavableWidget] = []
    seen: set[int] = set()
    stack = [box]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, SavableWidget):
            if item.comm is not None:
                found.append(item)
        elif isinstance(item, ipywidgets.Box):
            stack.extend(reversed(item.children))
    return found


def _static(widget: Any) -> tuple[str, str]:
    """A line about a widget, and its picture or summary as HTML."""
    found = widget._repr_mimebundle_()
    data = found[0] if isinstance(found, tuple) else found
    text = str(data.get("text/plain", ""))
    picture = data.get("image/svg+xml")
    if picture is None:
        return text, str(data.get("text/html", ""))
    # As an image each picture keeps its own ids and styles.
    packed = base64.b64encode(picture.encode()).decode("ascii")
    return text, f'<img alt="{html.escape(text)}" src="data:image/svg+xml;base64,{packed}">'
