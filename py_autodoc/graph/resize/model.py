"""Resizing of a loaded model: a new model, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.graph.rebatch import BatchRefusal
from py_autodoc.graph.rebatch.prepare import prepare_structure
from py_autodoc.graph.resize.axes import Axis, AxisFactor
from py_autodoc.graph.resize.rewrite import RewrittenSizes, rewrite
from py_autodoc.graph.resize.search import SizePlan, search
from py_autodoc.graph.symbolic_dims import dim_names

if TYPE_CHECKING:
    from py_autodoc.graph.loading.load import LoadedModel

BLOCKED = "resize-blocked"
EXPORT_AGAIN = "Export the model again at this size, or with symbolic dimensions."
"""The way out of a refusal that knows no other."""
"""Code of the error that names the node that does not support the requested dimensions."""
MAX_NODES = 50_000
"""Larger graphs are not followed."""
_IMAGE = 4
"""Minimum rank of an input that counts as an image, whose tables are not sequences."""


class ResizeBlocked(InputError):
    """A model cannot have other dimensions: a node depends on those of the file, or has no rule."""

    def __init__(self, name: str, refusal: BatchRefusal) -> None:
        super().__init__(BLOCKED, f"{name}: {refusal.message}", refusal.hint or EXPORT_AGAIN)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class ResizedModel:
    """A model with other dimensions."""

    loaded: LoadedModel
    """The rewritten model; weights are references to the file."""
    inputs: Mapping[str, tuple[int, ...]]
    """Input → its complete shape."""
    fixed: Mapping[str, tuple[int, ...]]
    """The shapes in the file."""
    outputs: Mapping[str, tuple[int, ...]]
    """Output → its shape, if it changes."""
    edits: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]


def resize_model(
    loaded: LoadedModel, requested: Mapping[str, Sequence[int]], bindings: Mapping[str, int] | None = None
) -> ResizedModel | BatchRefusal:
    """Change the dimensions of inputs.

    ``requested``: input → complete shape; ``bindings``: values of symbolic dimensions.

    Raises: OptionError for an invalid input or dimension.
    """
    structure = prepare_structure(loaded.proto)
    if len(structure.nodes) > MAX_NODES:
        return BatchRefusal(
            "", "", f"the graph has {len(structure.nodes):,} nodes; at most {MAX_NODES:,} are supported"
        )
    if loaded.unexpanded_calls:
        return BatchRefusal(
            "", "", "local functions could not be expanded", "Inline them first (onnx.inliner)."
        )
    copy = replace(loaded, proto=structure.proto)
    model = build(copy)
    sizes, shapes = _sizes(copy, model, requested, bindings or {})
    if not sizes:
        why = "other dimensions are symbolic, and no values were found with which the model runs"
        return BatchRefusal("", "", why, "Set them with --bind.")
    plans: list[SizePlan] = []
    fixed: dict[str, tuple[int, ...]] = {}
    for bindings_of_set in sizes:
        first_plan = _plan(copy, model, bindings_of_set, shapes, fixed)
        if isinstance(first_plan, BatchRefusal):
            return first_plan
        plans.append(first_plan)
    first_plan = plans[0]
    if any(set_plan.edits != first_plan.edits for set_plan in plans):
        return BatchRefusal(
            "", "", "the required edits depend on symbolic dimensions", "Set them with --bind."
        )
    declared = {model.tensors[t].name: tuple(size) for t, size in shapes.items()}
    written = rewrite(structure.proto, first_plan, declared, structure.opset, bindings or {})
    result = replace(loaded, proto=written.proto)
    for bindings_of_set, plan in zip(sizes, plans, strict=True):
        refusal = _misfit(result, plan, bindings_of_set)
        if refusal is not None:
            return refusal
    outputs = {t: first_plan.shapes[t][1] for t in structure.graph.outputs if t in first_plan.shapes}
    numbers_of = {name: tuple(int(d) for d in s) for name, s in outputs.items()}  # type: ignore[arg-type]
    return ResizedModel(result, declared, fixed, numbers_of, written.edits, first_plan.notes)


def _plan(
    copy: LoadedModel,
    model: Model,
    symbol_sizes: Mapping[str, int],
    shapes: Mapping[int, Sequence[int]],
    fixed: dict[str, tuple[int, ...]],
) -> SizePlan | BatchRefusal:
    """Return the edits for these sizes of symbols. Fills ``fixed`` with the shapes in the file."""
    from py_autodoc.graph.shapes import infer

    old = infer(copy, model, symbol_sizes, {})
    if old.contradiction is not None:
        return BatchRefusal("", "", f"the model cannot run as it is: {old.contradiction.message}")
    inputs: dict[int, tuple[Axis, ...]] = {}
    free = dim_names.symbolic_inputs(model)[0]
    for t, shape in shapes.items():
        was, declared = old.shapes[t], free[t]
        assert was is not None
        assert declared is not None
        before = tuple(d for d in was if isinstance(d, int))
        after = [a if isinstance(d, str) else b for a, b, d in zip(before, shape, declared, strict=True)]
        fixed.setdefault(model.tensors[t].name, before)
        inputs[t] = _axes(model, t, before, after)
    return search(model, old, inputs)


def _sizes(
    copy: LoadedModel, model: Model, requested: Mapping[str, Sequence[int]], bindings: Mapping[str, int]
) -> tuple[list[dict[str, int]], dict[int, tuple[int, ...]]]:
    """Return values of symbolic dimensions, two sets if some are unbound, and the input shapes.

    Raises: OptionError.
    """
    declared, names = dim_names.symbolic_inputs(model)
    symbols = dim_names.free_symbols(declared.values())
    _, values = dim_names.apply_shapes(declared, model, names, bindings, requested)
    by_name = {model.tensors[t].name: t for t in declared}
    fixed = {}
    for name, shape in requested.items():
        if declared[by_name[name]] is None:
            raise OptionError("bad-input-shape", f"The shape of the input {name!r:.80} is unknown.", "")
        fixed[by_name[name]] = tuple(int(d) for d in shape)
    _, bound = dim_names.apply_shapes(declared, model, names, bindings, {})
    free = [symbol for symbol in symbols if symbol not in bound]
    if not free:
        return [{str(names.original(s)): bound[s] for s in symbols}], fixed
    from py_autodoc.graph.size_fitting.fit import fitter

    fitting = fitter(copy, model)
    first = fitting.fit(values).sizes
    if first is None:
        return [], fixed
    sets = [{**values, **first}]
    second = fitting.fit(bound, {symbol: 2 * max(sets[0][symbol], 1) for symbol in free}).sizes
    if second is not None:
        sets.append({**bound, **second})
    return [{str(names.original(s)): assignment[s] for s in symbols} for assignment in sets], fixed


def _axes(model: Model, t: int, old: Sequence[int], new: Sequence[int]) -> tuple[Axis, ...]:
    """Return the axes of an input. Raises: OptionError if an axis of size 1 would grow."""
    moving = [k for k, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    name = model.tensors[t].name
    for k in moving:
        if old[k] == 1:
            raise OptionError(
                "size-of-one",
                f"Axis {k} of the input {name!r:.80} has size 1 and cannot be changed.",
                "To change the batch size, use --batch-size, or write the file with `rebatch`.",
            )
        if new[k] < 1:
            raise OptionError("bad-input-shape", f"Axis {k} of the input {name!r:.80} would be empty.", "")
    grows_front = len(moving) == 1 and len(old) < _IMAGE
    return tuple((AxisFactor(a, b, grows_front and a != b),) for a, b in zip(old, new, strict=True))


def _misfit(result: LoadedModel, plan: SizePlan, symbol_sizes: Mapping[str, int]) -> BatchRefusal | None:
    """Return a refusal if inferred shapes differ from the plan: never, unless a rule is wrong."""
    from py_autodoc.graph.shapes import infer

    model = build(result)
    declared, names = dim_names.symbolic_inputs(model)
    unbound = {str(names.original(symbol)) for symbol in dim_names.free_symbols(declared.values())}
    types: TypeTable = infer(result, model, {n: size for n, size in symbol_sizes.items() if n in unbound}, {})
    if types.contradiction is not None:
        return BatchRefusal(
            "", "", f"the result cannot run: {types.contradiction.message}", "Please report it."
        )
    for tensor in model.tensors:
        shape = types.shapes[tensor.id]
        if tensor.name in plan.shapes and shape != plan.shapes[tensor.name][1]:
            why = f"the shape of {tensor.name} differs from the expected one"
            return BatchRefusal("", tensor.name, why, "Please report it.")
    return None


__all__ = ["BLOCKED", "ResizeBlocked", "ResizedModel", "RewrittenSizes", "resize_model"]
