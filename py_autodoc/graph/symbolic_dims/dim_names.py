"""Names and bindings of symbolic dimensions.

A ``dim_param`` is text from an untrusted file. It is parsed as an expression only if it follows the grammar
of ``dim_arithmetic``. Any other text is an opaque atom: it gets a safe name for inference, and its original
text in results where it occurs alone. Names that mean "unknown" (``?``, ``-1``) and unnamed dimensions get
one symbol per position, ``<input>_d<axis>``, so that two unknown sizes are never considered equal and each
can be bound.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.model import Diagnostic, Dim, Model, Shape, Tensor, TensorKind
from py_autodoc.graph.symbolic_dims import dim_arithmetic
from py_autodoc.graph.symbolic_dims.assumed_sizes import (
    TYPICAL_SIZES,
    SizeMeaning,
    holds_integers,
    is_signal,
    meaning,
    takes_a_rate,
    takes_one_token,
)

ANY_SYMBOL = "*"
"""Binding name for every unbound symbol."""
MAX_BINDING = 1 << 40
_UNKNOWN = frozenset({"", "?", "-1", "None", "none", "unk", "unknown", "*"})
_PLAIN_TEXT = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/ -]{0,63}\Z")
"""Ordinary names that are not identifiers, such as ``DynamicDimension.0``."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")


class DimNames:
    """Maps the dimensions of a model to safe names and back."""

    def __init__(self) -> None:
        self._safe_dims: dict[str, Dim] = {}
        self._text: dict[str, str] = {}
        self._used_names: set[str] = set()
        self.diagnostics: list[Diagnostic] = []

    def reserve(self, names: Iterable[str]) -> None:
        """Reserve names that generated ones must not use."""
        self._used_names.update(names)

    def fresh(self, stem: str) -> str:
        """Return a name that no symbol of the model has."""
        base = re.sub(r"[^A-Za-z0-9_]+", "_", stem)[:40].strip("_") or "dim"
        if not base[0].isalpha():
            base = f"d_{base}"
        name, n = base, 2
        while name in self._used_names:
            name, n = f"{base}_{n}", n + 1
        self._used_names.add(name)
        return name

    def safe(self, dim: Dim, tensor: str, axis: int) -> Dim:
        """Return the dimension in the form used by inference."""
        if isinstance(dim, int):
            if dim >= 0:
                return dim
            self._note(
                "negative-dim", "warning", f"dimension {axis} is {dim}; it is treated as unknown", tensor
            )
            return self.fresh(f"{tensor}_d{axis}")
        if dim is None or dim.strip() in _UNKNOWN:
            return self.fresh(f"{tensor}_d{axis}")
        if dim in self._safe_dims:
            return self._safe_dims[dim]
        safe_dim = self._canonical(dim)
        if safe_dim is None:
            safe_dim = self.fresh(dim if len(dim) <= dim_arithmetic.MAX_TEXT else f"{tensor}_d{axis}")
            self._text[safe_dim] = dim
            if _PLAIN_TEXT.match(dim):
                return self._store(dim, safe_dim)
            excerpt = dim if len(dim) <= 40 else f"{dim[:40]}… ({len(dim):,} characters)"
            self._note(
                "opaque-dim",
                "info",
                f"dimension name {excerpt!r} is not an expression; used as a name",
                tensor,
            )
        return self._store(dim, safe_dim)

    def _store(self, dim: str, safe_dim: Dim) -> Dim:
        self._safe_dims[dim] = safe_dim
        return safe_dim

    def _canonical(self, text: str) -> Dim:
        if len(text) > dim_arithmetic.MAX_TEXT:
            return None
        try:
            return dim_arithmetic.to_dim(dim_arithmetic.parse(text))
        except dim_arithmetic.ExprError:
            return None

    def _note(self, code: str, severity: str, message: str, tensor: str) -> None:
        self.diagnostics.append(Diagnostic(code, severity, f"{tensor}: {message}", where=tensor))

    def original(self, dim: Dim) -> Dim:
        """Return the original text of a dimension that is an opaque atom."""
        if isinstance(dim, str):
            text = self._text.get(dim)
            if text is not None and len(text) <= dim_arithmetic.MAX_TEXT and text.isprintable():
                return text
        return dim

    def safe_name(self, name: str) -> str:
        """Return the safe name of a symbol that the user wrote as in the file."""
        safe_dim = self._safe_dims.get(name)
        return safe_dim if isinstance(safe_dim, str) else name


def graph_inputs(model: Model) -> list[Tensor]:
    """Return the inputs a caller must provide, without initializers listed as inputs."""
    tensors = (model.tensors[i] for i in model.graphs[0].inputs)
    return [t for t in tensors if t.kind == TensorKind.INPUT]


def declared_names(model: Model) -> set[str]:
    """Return all plain names in declared shapes."""
    names: set[str] = set()
    for t in model.tensors:
        for d in t.shape or ():
            if isinstance(d, str) and len(d) <= dim_arithmetic.MAX_TEXT:
                names.update(s for s in dim_arithmetic.symbols_of(d) if _NAME.match(s))
    return names


def symbolic_inputs(model: Model) -> tuple[dict[int, Shape | None], DimNames]:
    """Return (tensor id → shape of each graph input with safe symbols, the names used)."""
    names = DimNames()
    names.reserve(declared_names(model))
    shapes: dict[int, Shape | None] = {}
    for t in graph_inputs(model):
        shapes[t.id] = (
            None if t.shape is None else tuple(names.safe(d, t.name, i) for i, d in enumerate(t.shape))
        )
    return shapes, names


def item_shapes(model: Model, names: DimNames) -> dict[int, Shape]:
    """Return sequence or optional input → shape of its items, with the symbols that can be bound.

    Items may differ where the file names no dimension, so these stay unknown.
    """
    found: dict[int, Shape] = {}
    for t in graph_inputs(model):
        if t.item_shape is not None:
            found[t.id] = tuple(
                names.safe(d, t.name, i) if isinstance(d, str) and d.strip() not in _UNKNOWN else d
                for i, d in enumerate(t.item_shape)
            )
    return found


def free_symbols(shapes: Iterable[Shape | None]) -> tuple[str, ...]:
    """Return symbols in order of appearance."""
    symbols: dict[str, None] = {}
    for shape in shapes:
        for d in shape or ():
            if isinstance(d, str):
                symbols.update(dict.fromkeys(dim_arithmetic.symbols_of(d)))
    return tuple(symbols)


def is_named(t: Tensor, axis: int) -> bool:
    """True if the file names this dimension of an input."""
    declared = t.shape[axis] if t.shape is not None else None
    return isinstance(declared, str) and declared.strip() not in _UNKNOWN


def meanings(model: Model, shapes: Mapping[int, Shape | None]) -> dict[str, SizeMeaning]:
    """Return what each symbol of the inputs counts, in order of appearance."""
    out: dict[str, SizeMeaning] = {}
    sound = takes_a_rate(graph_inputs(model))
    # Ids and masks are the best evidence for a meaning, so they come first.
    for t in sorted(graph_inputs(model), key=lambda t: not holds_integers(t)):
        shape = shapes[t.id] or ()
        signal = len(shape) <= 3 and ((sound and len(shape) <= 2) or is_signal(model, t))
        for axis, d in enumerate(shape):
            for symbol in dim_arithmetic.symbols_of(d) if isinstance(d, str) else ():
                if symbol not in out:
                    out[symbol] = meaning(symbol if is_named(t, axis) else "", t, shape, axis, signal)
    if takes_one_token(graph_inputs(model)):
        out = {symbol: SizeMeaning.STEP if what is SizeMeaning.PAST else what for symbol, what in out.items()}
    return {symbol: out[symbol] for symbol in free_symbols(shapes.values())}


def typical_sizes(model: Model) -> dict[str, int]:
    """Return the typical value of every symbol by its meaning; ``size_fitting`` finds values that fit."""
    shapes, names = symbolic_inputs(model)
    return {
        str(names.original(s)): TYPICAL_SIZES[counted][0] for s, counted in meanings(model, shapes).items()
    }


def parse_bindings(items: Sequence[str]) -> dict[str, int]:
    """Parse ``["batch=4", "*=1"]``. Raises: OptionError, including for two values of one name."""
    out: dict[str, int] = {}
    for item in items:
        name, sep, text = item.rpartition("=")
        if not sep or not name:
            raise OptionError(
                "bad-binding", f"Cannot read the binding {item!r}.", "Pass NAME=N, such as batch=4."
            )
        name, size = name.strip(), _size(text, item)
        if out.setdefault(name, size) != size:
            raise conflicting_sizes(name, out[name], size)
    return out


def conflicting_sizes(name: str, first: int, second: int, source: str = "") -> OptionError:
    """Return the error for a dimension with two values; ``source`` names the origin of the second."""
    sizes = f"{first} and {second}" if not source else f"{first} and, by {source}, {second}"
    subject = "Every symbolic dimension ('*')" if name == ANY_SYMBOL else f"Dimension {name!r:.80}"
    return OptionError("two-sizes", f"{subject} is given two sizes: {sizes}.", "Pass one size.")


def parse_input_shapes(items: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Parse ``["x=1x3x224x224"]``. Raises: OptionError."""
    out: dict[str, tuple[int, ...]] = {}
    for item in items:
        name, sep, text = item.rpartition("=")
        if not sep or not name:
            raise OptionError(
                "bad-input-shape", f"Cannot read the input shape {item!r}.", "Pass NAME=1x3x224x224."
            )
        parts = [p for p in re.split(r"[x×,]", text.strip().strip("[]()")) if p.strip()]
        name, shape = name.strip(), tuple(_size(p, item) for p in parts)
        if out.setdefault(name, shape) != shape:
            shapes_text = " and ".join("x".join(map(str, dims)) for dims in (out[name], shape))
            message = f"Input {name!r:.80} is given two shapes: {shapes_text}."
            raise OptionError("two-shapes", message, "Pass one size.")
    return out


def _size(text: str, item: str) -> int:
    text = text.strip()
    if not re.fullmatch(r"\d{1,13}", text, re.ASCII) or int(text) > MAX_BINDING:
        raise OptionError(
            "bad-binding",
            f"{text[:40]!r} in {item[:80]!r} is not a size.",
            "Sizes are whole numbers, 0 or more.",
        )
    return int(text)


def _suggestion(name: str, available: Sequence[str], noun: str) -> str:
    close = difflib.get_close_matches(name, available, n=3, cutoff=0.4)
    if close:
        return f"Did you mean {', '.join(close)}?"
    return f"The model's {noun}: {', '.join(available[:12])}." if available else f"The model has no {noun}."


def apply_shapes(
    shapes: Mapping[int, Shape | None],
    model: Model,
    names: DimNames,
    bindings: Mapping[str, int],
    input_shapes: Mapping[str, Sequence[int | str]],
) -> tuple[dict[int, Shape | None], dict[str, int]]:
    """Apply bindings and input shapes.

    A value given for a named dimension binds that name everywhere; a symbol in an input shape stays one.
    Returns the new input shapes and the value of every symbol. Raises: OptionError for an unknown name,
    another rank, or two values.
    """
    symbols = free_symbols([*shapes.values(), *item_shapes(model, names).values()])
    values: dict[str, int] = {}
    for name, value in bindings.items():
        if value < 0 or value > MAX_BINDING:
            raise OptionError("bad-binding", f"The size {value} of {name!r} is not usable.", "Use 0 or more.")
        safe = names.safe_name(name)
        if name == ANY_SYMBOL:
            continue
        if safe not in symbols:
            symbol_texts = [str(names.original(s)) for s in symbols]
            raise OptionError(
                "unknown-symbol",
                f"No input has a dimension {name!r}.",
                _suggestion(name, symbol_texts, "symbols"),
            )
        if values.setdefault(safe, value) != value:
            raise conflicting_sizes(name, values[safe], value)
    out = dict(shapes)
    by_name = {model.tensors[i].name: i for i in shapes}
    for name, requested in input_shapes.items():
        if name not in by_name:
            raise OptionError(
                "unknown-input", f"No input is called {name!r}.", _suggestion(name, list(by_name), "inputs")
            )
        out[by_name[name]] = _requested_shape(name, shapes[by_name[name]], requested, values)
    if ANY_SYMBOL in bindings:
        for symbol in symbols:
            values.setdefault(symbol, bindings[ANY_SYMBOL])
    for i, shape in out.items():
        if shape is not None:
            out[i] = tuple(dim_arithmetic.substitute(d, values) for d in shape)
    return out, values


def bound_shapes(
    model: Model, input_shapes: Mapping[str, Sequence[int]]
) -> tuple[dict[str, Sequence[int | str]], dict[str, int]]:
    """Split input shapes into (shapes in which named dimensions stay symbols, values of these symbols).

    For callers that infer the model at several values of its symbols, which full shapes would contradict.
    Raises: OptionError like ``apply_shapes``.
    """
    declared, names = symbolic_inputs(model)
    _, values = apply_shapes(declared, model, names, {}, input_shapes)
    by_name = {model.tensors[i].name: shape for i, shape in declared.items()}
    shapes: dict[str, Sequence[int | str]] = {}
    for name, requested in input_shapes.items():
        dims = by_name[name] or (None,) * len(requested)
        pairs = zip(dims, requested, strict=True)
        shapes[name] = tuple(d if isinstance(d, str) and d in values else size for d, size in pairs)
    return shapes, values


def _requested_shape(
    name: str, declared: Shape | None, requested: Sequence[int | str], values: dict[str, int]
) -> Shape:
    if declared is not None and len(declared) != len(requested):
        raise OptionError(
            "bad-input-shape", f"Input {name!r} has {len(declared)} dimensions, not {len(requested)}.", ""
        )
    for axis, size in enumerate(requested):
        if isinstance(size, str):
            continue
        if size < 0 or size > MAX_BINDING:
            raise OptionError("bad-input-shape", f"Input {name!r} cannot have a dimension of {size}.", "")
        d = declared[axis] if declared is not None else None
        if isinstance(d, str) and _NAME.match(d) and values.setdefault(d, size) != size:
            raise conflicting_sizes(d, values[d], size, f"the shape of input {name!r:.80}")
    return tuple(requested)
