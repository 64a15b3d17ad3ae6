"""Dimensions other than the file's fixed ones: the analysis uses the model rewritten for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from py_autodoc.graph.ir.model import Diagnostic, Model
from py_autodoc.graph.symbolic_dims.dim_names import (
    ANY_SYMBOL,
    apply_shapes,
    free_symbols,
    symbolic_inputs,
)
from py_autodoc.report.schema import RebatchNote, ResizeInfo

if TYPE_CHECKING:
    from py_autodoc.graph.loading.load import LoadedModel
    from py_autodoc.graph.resize import ResizedModel

RESIZED = "resized"
"""Diagnostic code: the costs are for dimensions that the file does not have."""
MAX_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Resize:
    """A model rewritten for other dimensions than its file's."""

    resized: ResizedModel

    def bindings(self, model: Model, given: Mapping[str, int]) -> dict[str, int]:
        """Return the values of the symbols that the rewritten model still has.

        They are those that its new shapes determine, and the given ones. A symbol that the rewriting replaced
        by its value is no longer one.
        """
        declared, names = symbolic_inputs(model)
        shapes = self.resized.inputs
        symbols = {str(names.original(s)) for s in free_symbols(declared.values())}
        kept = {name: size for name, size in given.items() if name in symbols or name == ANY_SYMBOL}
        _, values = apply_shapes(declared, model, names, kept, shapes)
        return {**{str(names.original(symbol)): size for symbol, size in values.items()}, **kept}

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics about the change."""
        dims = [f"{name} {_shape(shape)}" for name, shape in self.resized.fixed.items()]
        count = len(self.resized.edits)
        edits = "no node had to change" if not count else f"{count:,} edit{'s' * (count > 1)}"
        message = f"The file has the sizes {', '.join(dims[:4])}; this is the same model at others ({edits})."
        return (Diagnostic(RESIZED, "info", message),)

    def info(self) -> ResizeInfo:
        """Return the section of the report."""
        resized = self.resized
        return ResizeInfo(
            inputs={name: list(shape) for name, shape in resized.inputs.items()},
            fixed={name: list(shape) for name, shape in resized.fixed.items()},
            edits=list(resized.edits[:MAX_LISTED]),
            edits_omitted=max(0, len(resized.edits) - MAX_LISTED),
            notes=[
                RebatchNote(where=location, message=note) for location, note in resized.notes[:MAX_LISTED]
            ],
        )


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def at_sizes(
    loaded: LoadedModel, requested: Mapping[str, Sequence[int]], bindings: Mapping[str, int]
) -> Resize | None:
    """Return the model with other input shapes; None if not requested.

    Raises:
        ResizeBlocked: a node does not support these dimensions.
        OptionError: an unknown input or an invalid dimension.
    """
    if not requested:
        return None
    # Imported here because most analyses do not rewrite the model.
    from py_autodoc.graph.rebatch import BatchRefusal
    from py_autodoc.graph.resize import ResizeBlocked, resize_model

    resized = resize_model(loaded, requested, bindings)
    if isinstance(resized, BatchRefusal):
        raise ResizeBlocked(loaded.facts.name, resized)
    return Resize(resized)
