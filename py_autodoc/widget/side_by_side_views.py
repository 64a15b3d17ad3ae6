"""Two models side by side in a notebook cell, with linked selection, blocks and colours."""

from __future__ import annotations

import gzip
import uuid
from typing import Any

import ipywidgets
import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.widget.autodoc import Autodoc
from py_autodoc.widget.container_outputs import embed_models

_LAYOUT = {"flex": "1 1 0", "min_width": "320px"}


class SideBySide(ipywidgets.HBox):  # type: ignore[misc] # ipywidgets has no types
    """Two linked ``Autodoc`` widgets, ``left`` and ``right``.

    Models are aligned by structure: differences are coloured, and selecting a node in one model selects it in
    the other. Expanded blocks, the heatmap and its scale, and dimensions of the same name are synchronized.
    The link is part of the page: it needs no kernel, and is restored in a notebook saved with its widgets.
    """

    def __init__(self, left: Autodoc, right: Autodoc) -> None:
        if left is right:
            raise OptionError(
                "same-widget",
                "A widget cannot be compared with itself.",
                "Pass the model twice, not the widget.",
            )
        self.left, self.right = left, right
        name = uuid.uuid4().hex
        left._comparison = _compared(left, right)
        for side, widget in enumerate((left, right)):
            widget._pair = f"{name}:{side}"
            for key, value in _LAYOUT.items():
                setattr(widget.layout, key, value)
        super().__init__([left, right], layout={"width": "100%", "flex_flow": "row wrap"})

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget with both compressed models and their images."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if isinstance(data, dict):
            data["text/plain"] = " beside ".join(embed_models(data, [self.left, self.right], apart=False))
        return bundle


def _compared(left: Autodoc, right: Autodoc) -> bytes:
    """Return the alignment of both models, compressed."""
    from py_autodoc.compare.align import align
    from py_autodoc.compare.columns import comparison_columns

    columns = comparison_columns(align(left._now.analysis, right._now.analysis))
    return gzip.compress(msgspec.json.encode(columns), mtime=0)


def compare(a: Any, b: Any, **traits: Any) -> SideBySide:
    """Compare two models. Alias of ``side_by_side``, named like the command."""
    return side_by_side(a, b, **traits)


def side_by_side(left: Any, right: Any, **traits: Any) -> SideBySide:
    """Show two linked models side by side.

    Each is an ``Autodoc`` or an argument of ``Autodoc``: a path, bytes, a model, a ``Report``. ``traits``
    (``height``, ``theme``, ``overlay``, ``dims``) apply to the widgets created here.

    Raises:
        InputError: a model cannot be read.
        OptionError: both are the same widget.
        TraitError: a trait of one of the models does not accept the value.
    """
    views = [model if isinstance(model, Autodoc) else Autodoc(model, **traits) for model in (left, right)]
    return SideBySide(views[0], views[1])
