"""The whole way: a loaded model → one of other sizes, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph import dims
from py_autodoc.graph.build import build
from py_autodoc.graph.model import Model, TypeTable
from py_autodoc.graph.rebatch import Refusal
from py_autodoc.graph.rebatch.prepare import prepared
from py_autodoc.graph.resize.axes import Axis, Part
from py_autodoc.graph.resize.rewrite import Rewritten, rewrite
from py_autodoc.graph.resize.search import Plan, search

if TYPE_CHECKING:
    from py_autodoc.graph.load import Loaded

BLOCKED = "resize-blocked"
"""Code of the error that says which node cannot have the wanted sizes."""
MAX_NODES = 50_000
"""Larger graphs are not followed."""
_IMAGE = 4
"""Axes from which on an input of numbers is a picture, whose tables are not sequences."""


class ResizeBlocked(InputError):
    """A model cannot have other sizes: a node is made for the file's, or no rule says that it is not."""

    def __init__(self, name: str, refusal: Refusal) -> None:
        super().__init__(BLOCKED, f"{name}: {refusal.message}", refusal.hint)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Resized:
    """A model of other sizes."""

    loaded: Loaded
    """The rewritten model; weights are references to the file."""
    inputs: Mapping[str, tuple[int, ...]]
    """Input → its whole shape."""
    fixed: Mapping[str, tuple[int, ...]]
    """The shapes that the file has."""
    outputs: Mapping[str, tuple[int, ...]]
    """Output → its shape, where it does not stay."""
    edits: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]


def resized(
    loaded: Loaded, wanted: Mapping[str, Sequence[int]], bindings: Mapping[str, int] | None = None
) -> Resized | Refusal:
    """Give inputs other sizes than the file's.

    ``wanted``: input → whole shape; ``bindings``: sizes of free dimensions.

    Raises: OptionError for an input or a size that is none.
    """
    ready = prepared(loaded.proto)
    if len(ready.nodes) > MAX_NODES:
        return Refusal("", "", f"{len(ready.nodes):,} nodes are more than are followed ({MAX_NODES:,})")
    if loaded.unexpanded_calls:
        return Refusal("", "", "local functions could not be expanded", "Inline them first (onnx.inliner).")
    copy = replace(loaded, proto=ready.proto)
    model = build(copy)
    sizes, shapes = _sizes(copy, model, wanted, bindings or {})
    if not sizes:
        why = "other sizes are free, and none were found that the model runs with"
        return Refusal("", "", why, "Set them with --bind.")
    plans: list[Plan] = []
    fixed: dict[str, tuple[int, ...]] = {}
    for given in sizes:
        found = _plan(copy, model, given, shapes, fixed)
        if isinstance(found, Refusal):
            return found
        plans.append(found)
    found = plans[0]
    if any(other.edits != found.edits for other in plans):
        return Refusal("", "", "what must be edited depends on sizes that are free", "Set them with --bind.")
    declared = {model.tensors[t].name: tuple(size) for t, size in shapes.items()}
    written = rewrite(ready.proto, found, declared, ready.opset, bindings or {})
    result = replace(loaded, proto=written.proto)
    for given, plan in zip(sizes, plans, strict=True):
        odd = _misfit(result, plan, given)
        if odd is not None:
            return odd
    outputs = {t: found.shapes[t][1] for t in ready.graph.outputs if t in found.shapes}
    numbers_of = {name: tuple(int(d) for d in s) for name, s in outputs.items()}  # type: ignore[arg-type]
    return Resized(result, declared, fixed, numbers_of, written.edits, found.notes)


def _plan(
    copy: Loaded,
    model: Model,
    given: Mapping[str, int],
    shapes: Mapping[int, Sequence[int]],
    fixed: dict[str, tuple[int, ...]],
) -> Plan | Refusal:
    """The edits, where free dimensions have the sizes ``given``. Fills ``fixed``, what the file has."""
    from py_autodoc.graph.shapes import infer

    old = infer(copy, model, given, {})
    if old.contradiction is not None:
        return Refusal("", "", f"the model cannot run as it is: {old.contradiction.message}")
    inputs: dict[int, tuple[Axis, ...]] = {}
    free = dims.symbolic_inputs(model)[0]
    for t, wanted in shapes.items():
        was, declared = old.shapes[t], free[t]
        assert was is not None
        assert declared is not None
        before = tuple(d for d in was if isinstance(d, int))
        after = [a if isinstance(d, str) else b for a, b, d in zip(before, wanted, declared, strict=True)]
        fixed.setdefault(model.tensors[t].name, before)
        inputs[t] = _axes(model, t, before, after)
    return search(model, old, inputs)


def _sizes(
    copy: Loaded, model: Model, wanted: Mapping[str, Sequence[int]], bindings: Mapping[str, int]
) -> tuple[list[dict[str, int]], dict[int, tuple[int, ...]]]:
    """Sizes of free dimensions, two sets where some are not bound; the shapes of the inputs.

    Raises: OptionError.
    """
    declared, names = dims.symbolic_inputs(model)
    symbols = dims.free_symbols(declared.values())
    _, values = dims.apply_shapes(declared, model, names, bindings, wanted)
    by_name = {model.tensors[t].name: t for t in declared}
    found = {}
    for name, shape in wanted.items():
        if declared[by_name[name]] is None:
            raise OptionError("bad-input-shape", f"The shape of the input {name!r:.80} is not known.", "")
        found[by_name[name]] = tuple(int(d) for d in shape)
    _, bound = dims.apply_shapes(declared, model, names, bindings, {})
    free = [symbol for symbol in symbols if symbol not in bound]
    if not free:
        return [{str(names.original(s)): bound[s] for s in symbols}], found
    from py_autodoc.graph.fit import fitter

    fitting = fitter(copy, model)
    first = fitting.fit(values).sizes
    if first is None:
        return [], found
    sets = [{**values, **first}]
    other = fitting.fit(bound, {symbol: 2 * max(sets[0][symbol], 1) for symbol in free}).sizes
    if other is not None:
        sets.append({**bound, **other})
    return [{str(names.original(s)): given[s] for s in symbols} for given in sets], found


def _axes(model: Model, t: int, old: Sequence[int], new: Sequence[int]) -> tuple[Axis, ...]:
    """The axes of an input. Raises: OptionError where an axis of one entry would grow."""
    moving = [k for k, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    name = model.tensors[t].name
    for k in moving:
        if old[k] == 1:
            raise OptionError(
                "size-of-one",
                f"Axis {k} of the input {name!r:.80} has one entry, which other sizes do not follow.",
                "For more items give --batch-size, or write the file with `rebatch`.",
            )
        if new[k] < 1:
            raise OptionError("bad-input-shape", f"Axis {k} of the input {name!r:.80} would be empty.", "")
    front = len(moving) == 1 and len(old) < _IMAGE
    return tuple((Part(a, b, front and a != b),) for a, b in zip(old, new, strict=True))


def _misfit(result: Loaded, plan: Plan, given: Mapping[str, int]) -> Refusal | None:
    """A refusal where inference does not find the shapes that were followed: none, unless a rule is wrong."""
    from py_autodoc.graph.shapes import infer

    model = build(result)
    declared, names = dims.symbolic_inputs(model)
    left = {str(names.original(symbol)) for symbol in dims.free_symbols(declared.values())}
    types: TypeTable = infer(result, model, {n: size for n, size in given.items() if n in left}, {})
    if types.contradiction is not None:
        return Refusal("", "", f"the result cannot run: {types.contradiction.message}", "Please report it.")
    for tensor in model.tensors:
        shape = types.shapes[tensor.id]
        if tensor.name in plan.shapes and shape != plan.shapes[tensor.name][1]:
            why = f"the shape of {tensor.name} does not come out as followed"
            return Refusal("", tensor.name, why, "Please report it.")
    return None


__all__ = ["BLOCKED", "ResizeBlocked", "Resized", "Rewritten", "resized"]
