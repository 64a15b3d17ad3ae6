"""Rebatching of a loaded model: a plan, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from py_autodoc.errors import InputError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.graph.rebatch.prepare import PreparedStructure, StructureFacts, facts_of, prepare_structure
from py_autodoc.graph.rebatch.rewrite import RebatchedModel, rewrite
from py_autodoc.graph.rebatch.search import MAX_TRIES, Axes, BatchPlan, BatchRefusal, search
from py_autodoc.graph.symbolic_dims.dim_names import symbolic_inputs

if TYPE_CHECKING:
    from py_autodoc.graph.loading.load import LoadedModel

BLOCKED = "rebatch-blocked"
"""Code of the error that names the node that would mix items."""
EXPORT_AGAIN = "Export the model again with this batch, or with a symbolic first dimension."
"""The way out of a refusal that knows no other."""
MAX_ADVICE = 4
"""Inputs that are tried as shared inputs for the hint of a refusal."""
MAX_NODES = 50_000
"""Larger graphs are not followed, since every try is a pass over the whole graph."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What to rebatch and how.

    ``batch`` is the batch size of the file. None: 1, or the first dimension of every input and output, if an
    operator confirms that it is the batch. ``axes`` gives the batch axis of an input (None: the input is the
    same for all items); other inputs are inferred. ``bindings`` are values of other symbolic dimensions.
    """

    batch: int | None = None
    axes: Axes = field(default_factory=dict)
    tries: int = MAX_TRIES
    """Maximum number of passes."""
    advise: bool = True
    """Check whether sharing one input between all items would help."""
    bindings: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class PlannedBatch:
    """A way to change the batch."""

    loaded: LoadedModel
    structure: PreparedStructure
    facts: Sequence[StructureFacts]
    plan: BatchPlan

    def written(self, batch: int | str, literal: bool = False) -> RebatchedModel:
        """Return the model for a number of items, or for any; see ``rewrite``."""
        return rewrite(self.structure, self.plan, batch, literal)

    def checked(self, batch: int) -> BatchRefusal | None:
        """Infer the shapes for a number of items. Return a refusal if they differ from the plan."""
        from py_autodoc.graph.shapes import infer

        copy = replace(self.loaded, proto=self.written(batch).proto)
        model = build(copy)
        return self.fits(model, infer(copy, model, {}, {}), batch)

    def fits(self, model: Model, types: TypeTable, batch: int) -> BatchRefusal | None:
        """Check inferred shapes like ``checked``; shapes that depend on other dimensions are skipped."""
        wrong_tensors = misfits(model, types, self.plan, batch, self.facts[0]) if len(self.facts) == 1 else []
        if not wrong_tensors:
            return None
        why = f"the shape of {wrong_tensors[0]} differs from the expected one"
        return BatchRefusal("", wrong_tensors[0], why, "Please report it.")


def plan_batch(loaded: LoadedModel, request: BatchRequest | None = None) -> PlannedBatch | BatchRefusal:
    """Plan how to change the batch of a model. Never raises on content."""
    request = request or BatchRequest()
    structure = prepare_structure(loaded.proto)
    if len(structure.nodes) > MAX_NODES:
        return BatchRefusal(
            "", "", f"the graph has {len(structure.nodes):,} nodes; at most {MAX_NODES:,} are supported", ""
        )
    if loaded.unexpanded_calls:
        return BatchRefusal(
            "", "", "local functions could not be expanded", "Inline them first (onnx.inliner)."
        )
    first: BatchRefusal | None = None
    for batch in [request.batch] if request.batch else [1, *_common(structure)]:
        facts = facts_of(loaded, structure, batch, request.bindings)
        if not facts:
            why = "other dimensions are symbolic, and no values were found with which the model runs"
            return BatchRefusal("", "", why, "Set them with --bind.")
        plan = search(structure, facts, batch, request.axes, request.tries)
        if isinstance(plan, BatchPlan) and (batch in (1, request.batch) or plan.confirmed):
            return PlannedBatch(loaded, structure, facts, plan)
        first = first or (plan if isinstance(plan, BatchRefusal) else None)
    assert first is not None
    return _advised(first, loaded, structure, request)


def _advised(
    refusal: BatchRefusal, loaded: LoadedModel, structure: PreparedStructure, request: BatchRequest
) -> BatchRefusal:
    """Return the refusal with a hint about an input that would have to be the same for all items."""
    names = [i.name for i in structure.inputs]
    if refusal.hint or not request.advise or request.axes or not 2 <= len(names) <= MAX_ADVICE:
        return refusal
    batch = request.batch or 1
    facts = facts_of(loaded, structure, batch, request.bindings)
    for name in names:
        if isinstance(search(structure, facts, batch, {name: None}), BatchPlan):
            return replace(refusal, hint=f"Add --same {name}, which keeps this input the same for all items.")
    return refusal


def _common(structure: PreparedStructure) -> list[int]:
    """Return the common first dimension, above 1, of all inputs and outputs."""
    sizes: set[int] = set()
    outputs = list(structure.proto.graph.output)
    for info in (*structure.inputs, *outputs):
        dims = info.type.tensor_type.shape.dim
        if len(dims) < 2 or not dims[0].dim_value:
            return []
        sizes.add(dims[0].dim_value)
    return [size for size in sizes if size > 1] if len(sizes) == 1 and outputs else []


def fixed_batch(model: Model) -> bool:
    """True if no input has a symbolic first dimension, so that the batch is fixed in the file."""
    declared, _ = symbolic_inputs(model)
    return not any(shape and isinstance(shape[0], str) for shape in declared.values())


def misfits(model: Model, types: TypeTable, plan: BatchPlan, batch: int, facts: StructureFacts) -> list[str]:
    """Return tensors whose inferred shape differs from the plan: none, unless a rule is wrong."""
    misfit_names = []
    for tensor in model.tensors:
        shape = types.shapes[tensor.id]
        old_shape = facts.shapes.get(tensor.name)
        if tensor.name not in plan.followed or shape is None or old_shape is None:
            continue
        if not all(isinstance(d, int) for d in shape):
            continue
        layout = plan.layouts.get(tensor.name)
        if layout is not None and (layout.ragged or tensor.name in plan.size_dependent):
            continue
        expected = tuple(
            layout.size(batch) if layout and a == layout.axis else d for a, d in enumerate(old_shape)
        )
        if tuple(shape) != expected:
            misfit_names.append(tensor.name)
    return misfit_names


class RebatchBlocked(InputError):
    """The batch of a model cannot be changed: a node would mix items, or has no rule."""

    def __init__(self, name: str, refusal: BatchRefusal) -> None:
        super().__init__(BLOCKED, f"{name}: {refusal.message}", refusal.hint or EXPORT_AGAIN)
        self.refusal = refusal
