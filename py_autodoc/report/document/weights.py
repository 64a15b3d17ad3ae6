"""One constant tensor as ``WeightValues``: found by id or name, read, and encoded for JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import InputError, OptionError, PathError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, Tensor, TensorKind
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.tensor_data.weight_distribution import PROBABILITIES, Distribution, Histogram
from py_autodoc.graph.tensor_data.weight_view import Check, WeightView, view_weight
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.document.report_origin import origin_of
from py_autodoc.report.encode.json_values import MAX_TEXT, json_float
from py_autodoc.report.encode.labels import dtype_name, graph_label, shorten_middle
from py_autodoc.report.pipeline.model_source import normalise_source, open_model
from py_autodoc.report.schema import ReportFields, WeightHistogram, WeightValues

if TYPE_CHECKING:
    import onnx
    import onnx_ir

EXACT = 1 << 53
"""Larger integers are not exact in JavaScript."""
_BOOL, _DOUBLE = 9, 11
_MAX_LOOKED_AT = 20_000
"""Maximum number of names compared with a mistyped one."""
Number = Callable[[Any], float | int | str]


def read_weights(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto | onnx_ir.Model,
    name: str | int,
    *,
    graph: str | None = None,
    limits: Limits = LIBRARY,
) -> WeightValues:
    """Return statistics, histogram and first values of one initializer or Constant.

    ``name`` is the tensor's name or its id in a report. Only this tensor is read, in pieces of bounded
    memory, from the model or from a file in its folder. ``graph`` names a subgraph (``"If_3.then_branch"``;
    ``""``: the main graph) if several graphs have a tensor with this name.

    Raises:
        InputError: the model cannot be read, it has no such constant, or its data are missing or damaged.
    """
    source, label = normalise_source(model)
    loaded = open_model(source, label, limits)
    built = build(loaded)
    number = constant_id(built, name, graph) if isinstance(name, str) else name
    return weight_values(loaded, built, source, number)


def report_weights(report: ReportFields, name: str | int, graph: str | None = None) -> WeightValues:
    """Implement ``Report.weights``."""
    loaded, built, source = model_of(report, "Call py_autodoc.read_weights(model, name).")
    return weight_values(
        loaded, built, source, constant_id(built, name, graph) if isinstance(name, str) else name
    )


def model_of(report: ReportFields, hint: str) -> tuple[LoadedModel, Model, str | bytes]:
    """Load the model of a report again; also return where its bytes are.

    Raises: InputError: it is missing (``hint`` says what to do instead) or has changed.
    """
    origin = origin_of(report)
    if origin is None or origin.path is None:
        why = "was read without its model" if origin is None else "does not know the file of its model"
        raise InputError("model-not-at-hand", f"The report {why}.", hint)
    source, name = normalise_source(origin.path)
    loaded = open_model(source, name, origin.options.limits)
    same_model(loaded, report.model.identity)
    return loaded, build(loaded), source


def constant_id(model: Model, name: str, graph: str | None = None) -> int:
    """Return the id of the constant with that name.

    Raises: PathError with the closest names; OptionError if several graphs have one.
    """
    constants = [t for t in model.tensors if t.name == name and t.is_constant]
    if graph is not None:
        constants = [t for t in constants if graph_label(model, t.graph) == graph]
    # A duplicate in the same graph cannot be referenced: consumers get the first.
    by_graph = {t.graph: t for t in reversed(constants)}
    if len(by_graph) > 1:
        labels = ", ".join(repr(graph_label(model, graph_id)) for graph_id in sorted(by_graph)[:8])
        message = f"{len(by_graph)} graphs have a constant {shorten_middle(name, 200)!r}."
        raise OptionError("ambiguous-weight", message, f"Choose one of the graphs {labels}.")
    if not by_graph:
        raise _unknown(model, name)
    return by_graph.popitem()[1].id


def _unknown(model: Model, name: str) -> PathError:
    if any(t.name == name for t in model.tensors):
        return _no_constant(name)
    names = {t.name for t in model.tensors if t.is_constant}
    similar = get_close_matches(name[:200], sorted(names)[:_MAX_LOOKED_AT], n=3)
    hint = f"Did you mean {' or '.join(shorten_middle(n, 200) for n in similar)}?" if similar else ""
    if not names:
        hint = "The model has no constants."
    message = f"The model has no initializer or Constant {shorten_middle(name, 200)!r}."
    return PathError("unknown-weight", message, hint or f"It has {len(names):,} other constants.")


def _no_constant(name: str) -> PathError:
    message = f"{shorten_middle(name, 200)!r} has no stored values."
    return PathError("not-a-weight", message, "Its values exist only while the model runs.")


def weight_values(
    loaded: LoadedModel, model: Model, source: str | bytes, tensor: int, check: Check | None = None
) -> WeightValues:
    """Return the values of the constant with that id; ``source`` is the path or bytes of ``loaded``.

    ``check`` is called between chunks; an exception it raises aborts the read.

    Raises:
        PathError: there is no such tensor, or it is not a constant.
        InputError: see ``view_weight``.
    """
    constant = constant_of(model, tensor)
    return _to_wire(model, constant, view_weight(loaded, model, source, tensor, check))


def constant_of(model: Model, tensor: int) -> Tensor:
    """Return the constant with that id. Raises: PathError if there is no such constant."""
    if not 0 <= tensor < len(model.tensors):
        raise PathError("unknown-weight", f"The model has no tensor with the id {tensor}.")
    constant = model.tensors[tensor]
    if not constant.is_constant:
        raise _no_constant(constant.name)
    return constant


def same_model(loaded: LoadedModel, expected_identity: str) -> None:
    """Raises: InputError if the model's structure has another identity."""
    if loaded.facts.identity != expected_identity:
        name = loaded.facts.name
        raise InputError("file-changed", f"{name} changed since it was analysed.", "Load the model again.")


def _to_wire(model: Model, constant: Tensor, view: WeightView) -> WeightValues:
    storage, facts, spread = constant.storage, view.facts, view.spread
    number = _number(view.dtype)
    elements = view.stored
    if view.sparse:
        elements = 1
        for size in view.shape:
            elements *= size
    return WeightValues(
        tensor=constant.id,
        name=shorten_middle(constant.name),
        graph=graph_label(model, constant.graph),
        kind="initializer" if constant.kind == TensorKind.INITIALIZER else "constant",
        elem_type=dtype_name(view.dtype),
        shape=list(view.shape),
        elements=elements,
        stored=view.stored,
        sparse=view.sparse,
        bytes=storage.bytes if storage else None,
        storage="external" if storage and storage.location else "inline",
        location=shorten_middle(os.path.basename(storage.location)) if storage else "",
        offset=(storage.offset or 0)
        if storage and storage.location
        else (storage.offset if storage else None),
        zeros=facts.zero if facts else None,
        nan=facts.nan if facts else None,
        inf=facts.inf if facts else None,
        min=None if facts is None or facts.minimum is None else number(facts.minimum),
        max=None if facts is None or facts.maximum is None else number(facts.maximum),
        mean=facts.mean if facts else None,
        std=facts.std if facts else None,
        distinct=spread.distinct if spread else None,
        quantiles=_quantiles(spread, number),
        histogram=_histogram(spread.histogram) if spread and spread.histogram else None,
        values=_values(view),
        indices=None if view.indices is None else list(view.indices),
    )


def _quantiles(spread: Distribution | None, number: Number) -> dict[str, float | int | str] | None:
    if spread is None or spread.quantiles is None:
        return None
    return {f"{p:g}": number(q) for p, q in zip(PROBABILITIES, spread.quantiles, strict=True)}


def _histogram(histogram: Histogram) -> WeightHistogram:
    return WeightHistogram(
        edges=[json_number(edge) for edge in histogram.edges],
        counts=list(histogram.counts),
        whole=histogram.integers,
    )


def _number(dtype: int) -> Number:
    """Return how values of the type are written: with the fewest digits that round-trip."""
    if dtype == _DOUBLE:
        return json_number
    return lambda value: json_float(value) if isinstance(value, float) else json_number(value)


def json_number(value: float) -> float | int | str:
    """Return a number for JSON: integers that JavaScript would round and non-finite numbers become text."""
    if isinstance(value, int):
        return value if abs(value) <= EXACT else str(value)
    return value if value - value == 0 else str(json_float(value))


def _values(view: WeightView) -> list[Any]:
    if isinstance(view.first, list):
        return [shorten_middle(item, MAX_TEXT) for item in view.first]
    if view.dtype == _BOOL:
        return [bool(item) for item in view.first.tolist()]
    number = _number(view.dtype)
    return [str(item) if isinstance(item, complex) else number(item) for item in view.first.tolist()]
