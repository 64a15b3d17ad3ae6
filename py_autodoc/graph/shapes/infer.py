"""Shape inference of a whole model for given dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import TensorProto

from py_autodoc.graph.ir.contradiction import contradiction, discard_reached
from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.graph.ir.model import Contradiction, Diagnostic, Model, Shape, TensorKind, TypeTable
from py_autodoc.graph.protobuf.tensor_protos import KNOWN_TYPES
from py_autodoc.graph.shapes.engine import Engine, seed
from py_autodoc.graph.shapes.operand_types import mistyped_operands
from py_autodoc.graph.shapes.shape_context import (
    Assumptions,
    Element,
    InferenceState,
    assuming,
    dims_array,
    numeric,
)
from py_autodoc.graph.symbolic_dims import dim_arithmetic, dim_names
from py_autodoc.graph.symbolic_dims.poly import Poly

if TYPE_CHECKING:
    from py_autodoc.graph.loading.load import LoadedModel


def infer(
    loaded: LoadedModel,
    model: Model,
    bindings: Mapping[str, int],
    input_shapes: Mapping[str, Sequence[int | str]],
) -> TypeTable:
    """Infer the types of all tensors.

    ``bindings`` give values to symbols (``"*"``: every symbol without one); ``input_shapes`` replace the
    declared shapes of inputs. With either, shapes declared inside the file are ignored, since they may
    belong to other dimensions. Raises: OptionError for unknown names or contradictory dimensions;
    defects of the model become diagnostics.
    """
    declared, names = dim_names.symbolic_inputs(model)
    symbols = dim_names.free_symbols(declared.values())
    inputs, values = dim_names.apply_shapes(declared, model, names, bindings, input_shapes)
    items = _items(model, names, values)
    state = _run(loaded, model, inputs, items, symbols, use_declared=not (bindings or input_shapes))
    fault = _contradiction(model, state)
    reported = {(d.code, d.node) for d in model.diagnostics if d.node >= 0}
    new_diagnostics = [d for d in state.diagnostics if (d.code, d.node) not in reported]
    if not (bindings or input_shapes) and fault is None:
        new_diagnostics += _lying_declarations(model, state.shapes)
    mistyped, doubtful = mistyped_operands(model, state.dtypes)
    new_diagnostics += mistyped
    new_diagnostics += _contradicted_types(model, state.dtypes, doubtful)
    return TypeTable(
        dtypes=state.dtypes,
        shapes=[_original_names(s, names) for s in state.shapes],
        values={i: v for i, v in state.values.items() if numeric(v)},
        diagnostics=(*names.diagnostics, *new_diagnostics),
        symbols=tuple(str(names.original(s)) for s in symbols),
        bindings={str(names.original(s)): v for s, v in values.items()},
        contradiction=fault,
    )


@dataclass(frozen=True, slots=True)
class SymbolicTypes:
    """Types with symbolic dimensions.

    ``types.shapes`` and ``types.values`` hold expressions over ``symbols``, the symbols of the inputs, and
    over names of data-dependent sizes. They hold if every expression in ``zero`` is 0 and every one in
    ``positive`` at least 1; otherwise the model cannot run, or its shapes must be inferred for concrete
    dimensions. ``original`` maps a symbol to its text in the file.
    """

    types: TypeTable
    symbols: tuple[str, ...]
    original: Mapping[str, str]
    zero: tuple[Poly, ...]
    positive: tuple[Poly, ...]
    either: tuple[tuple[Poly, Poly], ...] = ()
    """Factors of the products in ``zero``."""
    certain: frozenset[Poly] = frozenset()
    """Expressions in ``zero`` that are required on every path, not only in a branch."""


def infer_symbolic(
    loaded: LoadedModel,
    model: Model,
    input_shapes: Mapping[str, Sequence[int]],
    written: Mapping[str, Sequence[int | str]] | None = None,
) -> SymbolicTypes | None:
    """Infer the types of all tensors, with only ``input_shapes`` bound; None without symbols.

    Shapes declared inside the file are ignored. ``written`` are dimensions stored in weights with these
    names, which may include symbols of the inputs. Raises: OptionError like ``infer``.
    """
    declared, names = dim_names.symbolic_inputs(model)
    inputs, _ = dim_names.apply_shapes(declared, model, names, {}, input_shapes)
    symbols = dim_names.free_symbols(inputs.values())
    if not symbols:
        return None
    assumed = Assumptions(symbols)
    with assuming(assumed):
        free = dim_names.free_symbols(declared.values())
        state = _run(
            loaded, model, inputs, _items(model, names, {}), free, use_declared=False, written=written
        )
    fault = _contradiction(model, state)
    return SymbolicTypes(
        TypeTable(state.dtypes, state.shapes, state.values, tuple(state.diagnostics), contradiction=fault),
        symbols,
        {s: str(names.original(s)) for s in symbols},
        tuple(assumed.zero),
        tuple(assumed.positive),
        tuple(assumed.either),
        frozenset(assumed.certain),
    )


def _run(
    loaded: LoadedModel,
    model: Model,
    inputs: dict[int, Shape | None],
    items: Mapping[int, Shape],
    symbols: tuple[str, ...],
    use_declared: bool,
    written: Mapping[str, Sequence[int | str]] | None = None,
) -> InferenceState:
    """Infer all shapes from the input shapes."""
    state = InferenceState(model)
    state.reserved.update(dim_names.declared_names(model), symbols)
    seed(state, inputs)
    for i in model.graphs[0].initializers if written else ():
        sizes = written.get(model.tensors[i].name) if written else None
        if sizes is not None:
            state.values[i] = dims_array(
                [dim_arithmetic.to_dim(dim_arithmetic.parse(str(size))) for size in sizes]
            )
    _containers(loaded, model, items, state)
    with gc_paused():
        Engine(state, use_declared=use_declared).run_graph(0)
    return state


def _contradiction(model: Model, state: InferenceState) -> Contradiction | None:
    """Return the contradiction, if any, and remove the shapes and values that it affects."""
    fault = contradiction(model, (*model.diagnostics, *state.diagnostics))
    if fault is not None:
        discard_reached(model, fault, state.shapes, state.values)
    return fault


def _lying_declarations(model: Model, shapes: Sequence[Shape | None]) -> list[Diagnostic]:
    """Return one diagnostic if the file declares shapes of results that its nodes do not compute.

    Runtimes warn at most: what the nodes compute counts, there and here.
    """
    differing = [
        tensor
        for tensor in model.tensors
        if tensor.kind is TensorKind.ACTIVATION and _contradicts(tensor.shape, shapes[tensor.id])
    ]
    if not differing:
        return []
    first = differing[0]
    declared, computed = (_text(shape) for shape in (first.shape, shapes[first.id]))
    more = f" So are {len(differing) - 1:,} more." if len(differing) > 1 else ""
    message = f"Declared as {declared}, computed as {computed}, which counts.{more}"
    return [Diagnostic("declared-shape", "warning", message, first.name, first.producer, first.id)]


def _contradicted_types(model: Model, dtypes: Sequence[int], doubtful: set[int]) -> list[Diagnostic]:
    """Return one diagnostic if the file declares element types of results that its nodes do not compute.

    Unlike for shapes, runtimes refuse such a file. The types of ``doubtful`` tensors are not known.
    """
    differing = [
        tensor
        for tensor in model.tensors
        if tensor.kind is TensorKind.ACTIVATION
        and tensor.container == "tensor"
        and tensor.id not in doubtful
        and {tensor.dtype, dtypes[tensor.id]} <= KNOWN_TYPES
        and tensor.dtype != dtypes[tensor.id]
    ]
    if not differing:
        return []
    first = differing[0]
    declared, computed = (TensorProto.DataType.Name(kind).lower() for kind in (first.dtype, dtypes[first.id]))
    more = f" So are {len(differing) - 1:,} more." if len(differing) > 1 else ""
    message = f"Declared as {declared}, computed as {computed}.{more}"
    return [Diagnostic("declared-type", "error", message, first.name, first.producer, first.id)]


def _contradicts(declared: Shape | None, computed: Shape | None) -> bool:
    if declared is None or computed is None:
        return False
    if len(declared) != len(computed):
        return True
    pairs = zip(declared, computed, strict=True)
    return any(type(a) is int and type(b) is int and a != b for a, b in pairs)


def _text(shape: Shape | None) -> str:
    return "×".join("?" if size is None else str(size)[:40] for size in shape or ()) or "a scalar"


def _original_names(shape: Shape | None, names: dim_names.DimNames) -> Shape | None:
    """Restore the original text of safe symbol names."""
    if shape is None or all(isinstance(d, int) for d in shape):
        return shape
    return tuple(names.original(d) for d in shape)


def _items(model: Model, names: dim_names.DimNames, values: Mapping[str, int]) -> dict[int, Shape]:
    """Return the shapes of the items of sequences and optionals among the inputs.

    Symbols without a value are dropped, since items may differ in them.
    """
    bound: dict[int, Shape] = {}
    for t, shape in dim_names.item_shapes(model, names).items():
        sizes = [dim_arithmetic.substitute(d, values) for d in shape]
        bound[t] = tuple(d if isinstance(d, int) else None for d in sizes)
    return bound


def _containers(loaded: LoadedModel, model: Model, items: Mapping[int, Shape], state: InferenceState) -> None:
    """Set the element types of sequences and optionals among the graph inputs."""
    by_name = {
        model.tensors[i].name: i for i in model.graphs[0].inputs if model.tensors[i].container != "tensor"
    }
    for info in loaded.proto.graph.input if by_name else ():
        t = by_name.get(info.name)
        if t is None:
            continue
        proto, container = info.type, model.tensors[t].container
        for _ in range(8):
            which = proto.WhichOneof("value")
            if which not in ("sequence_type", "optional_type"):
                break
            container = which.removesuffix("_type") if which == "sequence_type" else container
            proto = getattr(proto, which).elem_type
        if proto.WhichOneof("value") == "tensor_type":
            dtype = proto.tensor_type.elem_type
            state.elements[t] = Element(container, dtype, items.get(t))
            state.dtypes[t] = dtype
            state.shapes[t] = None
