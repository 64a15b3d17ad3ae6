"""A batch size other than the file's fixed one: the analysis uses the model rewritten for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.model import Diagnostic, Dim, Model, TypeTable
from py_autodoc.graph.symbolic_dims.dim_names import ANY_SYMBOL, free_symbols, symbolic_inputs
from py_autodoc.report.pipeline.dim_bindings import Choices
from py_autodoc.report.schema import RebatchInfo, RebatchNote, RebatchOutput

if TYPE_CHECKING:
    from py_autodoc.graph.loading.load import LoadedModel
    from py_autodoc.graph.rebatch import PlannedBatch

REBATCHED = "rebatched"
"""Diagnostic code: the costs are for a batch that the file does not have."""


@dataclass(frozen=True, slots=True)
class Rebatch:
    """A model rewritten for another batch than its file's."""

    loaded: LoadedModel
    """The rewritten model; weights are references to the file."""
    batch: int
    planned: PlannedBatch
    edits: tuple[str, ...]

    def check(self, model: Model, types: TypeTable) -> None:
        """Raises: RebatchBlocked if inference contradicts the predicted shapes."""
        from py_autodoc.graph.rebatch import RebatchBlocked

        contradiction = self.planned.fits(model, types, self.batch)
        if contradiction is not None:
            raise RebatchBlocked(self.loaded.facts.name, contradiction)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics about the change."""
        fixed = self.planned.plan.batch
        if fixed == self.batch:
            return ()
        count = len(self.edits)
        edits = "no node had to change" if not count else f"{count:,} edit{'s' * (count > 1)}"
        message = (
            f"The file has a batch of {fixed}; this is the same model at batch {self.batch:,} ({edits})."
        )
        return (Diagnostic(REBATCHED, "info", message),)

    def info(self) -> RebatchInfo:
        """Return the section of the report."""
        plan = self.planned.plan
        outputs = [
            RebatchOutput(name=name, axis=None if layout is None else layout.axis, items=_entries(layout))
            for name, layout in plan.outputs.items()
        ]
        return RebatchInfo(
            batch=self.batch,
            fixed=plan.batch,
            inputs=dict(plan.inputs),
            outputs=outputs,
            edits=list(self.edits[:MAX_EDITS]),
            edits_omitted=max(0, len(self.edits) - MAX_EDITS),
            notes=[RebatchNote(where=location, message=note) for location, note in plan.notes[:MAX_EDITS]],
        )


MAX_EDITS = 1000


def _entries(layout: object) -> int | None:
    from py_autodoc.graph.rebatch import Layout

    return layout.entries_per_item if isinstance(layout, Layout) and not layout.ragged else None


def rebatch_if_requested(loaded: LoadedModel, model: Model, options: Choices) -> Rebatch | None:
    """Return the model at ``options.batch_size``.

    None if not requested, if the batch is symbolic, or if the file has this batch and cannot have another.

    Raises:
        RebatchBlocked: a node would mix items.
        OptionError: full input shapes of another batch were given as well.
    """
    if options.batch_size is None or not sets_fixed_batch(model, options):
        return None
    # Imported here because most analyses do not rewrite the model.
    from py_autodoc.graph.rebatch import BatchRefusal, BatchRequest, RebatchBlocked, plan_batch

    has_batch = _leading_sizes(model, options) == {options.batch_size}
    if options.input_shapes:
        if has_batch:
            return None
        raise OptionError(
            "batch-and-shapes",
            "The batch of this model is fixed; a batch size and full input shapes cannot be combined.",
            "Pass one of --batch-size and --input-shape.",
        )
    planned = plan_batch(loaded, BatchRequest(bindings=_sizes(model, options)))
    if isinstance(planned, BatchRefusal):
        if has_batch:
            return None
        raise RebatchBlocked(loaded.facts.name, planned)
    written = planned.written(options.batch_size)
    return Rebatch(replace(loaded, proto=written.proto), options.batch_size, planned, tuple(written.edits))


def sets_fixed_batch(model: Model, options: Choices) -> bool:
    """Return whether a batch size is requested for a model whose batch is fixed in the file."""
    from py_autodoc.graph.rebatch import fixed_batch

    return options.batch_size is not None and fixed_batch(model)


def _leading_sizes(model: Model, options: Choices) -> set[Dim]:
    """Return the first dimension of the first input in the file, and those of all requested shapes."""
    declared, _ = symbolic_inputs(model)
    first = next((shape[0] for shape in declared.values() if shape), None)
    return {first, *(shape[0] for shape in options.input_shapes.values() if shape)}


def _sizes(model: Model, options: Choices) -> dict[str, int]:
    """Return the values given to other symbolic dimensions in this analysis."""
    bindings = {name: size for name, size in options.bindings.items() if name != ANY_SYMBOL}
    if ANY_SYMBOL in options.bindings:
        shapes, names = symbolic_inputs(model)
        for symbol in free_symbols(shapes.values()):
            bindings.setdefault(str(names.original(symbol)), options.bindings[ANY_SYMBOL])
    return bindings
