"""If, Loop and Scan as Python statements."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.to_torch.code import CodeValue, NotCovered, Statement, numbers, sequence, token
from py_autodoc.to_torch.naming import pruned
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

Lines = list[tuple[int, str]]


def _graph(op: OpContext, name: str) -> int:
    found = next((graph for attribute, graph in op.node.subgraphs if attribute == name), None)
    if found is None:
        raise NotCovered(f"attribute {name} is missing")
    return found


def _block(op: OpContext, stmts: list[Statement], codes: Sequence[str]) -> tuple[Lines, list[int]]:
    """Return (lines one level in, tokens of a subgraph), without statements that ``codes`` do not need."""
    kept = pruned(stmts, {one for code in codes for one in numbers(code)})
    lines = [(indent + 1, text) for stmt in kept for indent, text in stmt.lines]
    return lines, [one for stmt in kept for one in (*stmt.defs, *stmt.inner)]


@rule("If")
def branch(op: OpContext) -> None:
    """``if condition: … else: …``."""
    made = [op.scope.tokens.new(op.writer.label(tensor)) for tensor in op.node.outputs]
    lines: Lines = [(0, f"if {op.t(0)}:")]
    inner: list[int] = []
    kinds = ["tensor"] * len(made)
    for name in ("then_branch", "else_branch"):
        stmts, results = op.writer.body(op.scope, _graph(op, name), {})
        if len(results) != len(made):
            raise NotCovered("a branch with another number of results")
        codes = [op.writer.tensor(op.scope, value) for value in results]
        kinds = [
            value.kind if value.kind == "list" else kind for value, kind in zip(results, kinds, strict=True)
        ]
        block, tokens = _block(op, stmts, codes)
        inner += tokens
        if name == "else_branch":
            lines.append((0, "else:"))
        lines += block
        lines += [(1, f"{token(one)} = {code}") for one, code in zip(made, codes, strict=True)]
    op.scope.stmts.append(Statement(lines, tuple(made), tuple(inner), simple=False))
    for place, (one, kind) in enumerate(zip(made, kinds, strict=True)):
        op.set(CodeValue(kind, token(one)), place)


@rule("Loop")
def loop(op: OpContext) -> None:
    """``for step in range(count): …`` with an optional condition that ends it."""
    held = op.writer.model.graphs[_graph(op, "body")]
    carried = op.count - 2
    scanned = len(held.outputs) - 1 - carried
    if carried < 0 or scanned < 0 or len(held.inputs) != carried + 2:
        raise NotCovered("a body that does not fit")
    tokens = op.scope.tokens
    step, condition = tokens.new("step"), tokens.new("going")
    names = [tokens.new(op.writer.label(t) if t >= 0 else "state") for t in op.node.outputs[:carried]]
    names += [tokens.new("state") for _ in range(carried - len(names))]
    starts = [op.value(place + 2) for place in range(carried)]
    lines: Lines = []
    for one, value in zip(names, starts, strict=True):
        lines.append((0, f"{token(one)} = {op.writer.tensor(op.scope, value)}"))
    values = {
        held.inputs[0]: CodeValue("host", "", (token(step),), True),
        held.inputs[1]: CodeValue("tensor", token(condition)),
    }
    for tensor, one, value in zip(held.inputs[2:], names, starts, strict=True):
        values[tensor] = CodeValue("list" if value.kind == "list" else "tensor", token(one))
    stmts, results = op.writer.body(op.scope, held.id, values)
    codes = [op.writer.tensor(op.scope, value) for value in results]
    block, inner = _block(op, stmts, codes)
    checked = _checked(op, results[0], held.inputs[1], values)
    lists = [tokens.new("collected") for _ in range(scanned)]
    lines += [(0, f"{token(one)} = []") for one in lists]
    if checked or any(token(condition) in text for _, text in (*block, *enumerate(codes))):
        lines.append((0, f"{token(condition)} = {op.t(1) if op.has(1) else 'torch.tensor(True)'}"))
        inner.append(condition)
    lines.append((0, f"for {token(step)} in {_steps(op)}:"))
    lines += [(1, f"if not {token(condition)}:"), (2, "break")] if checked else []
    lines += block
    lines += [
        (1, f"{token(one)}.append({code})") for one, code in zip(lists, codes[1 + carried :], strict=True)
    ]
    targets = [*names, *([condition] if checked else [])]
    sources = [*codes[1 : 1 + carried], *([codes[0]] if checked else [])]
    pairs = [(token(t), s) for t, s in zip(targets, sources, strict=True) if token(t) != s]
    if pairs:
        lines.append((1, f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}"))
    elif not block and not lists:
        lines.append((1, "pass"))
    _collected(op, lines, lists, names, [*inner, step], [values[t].kind for t in held.inputs[2:]])


def _collected(
    op: OpContext, lines: Lines, lists: list[int], names: list[int], inner: list[int], kinds: list[str]
) -> None:
    """Return the results: carried values, and collected lists as tensors."""
    carried = len(names)
    results = []
    for place, one in enumerate(lists):
        made = op.scope.tokens.new("stacked")
        results.append(made)
        lines.append((0, f"{token(made)} = {_stack(op, token(one), carried + place)}"))
    op.scope.stmts.append(Statement(lines, (*names, *results), (*inner, *lists), simple=False))
    for place, one in enumerate((*names, *results)):
        kind = kinds[place] if place < carried else "tensor"
        op.set(CodeValue(kind, token(one)), place)


def _stack(op: OpContext, items: str, place: int) -> str:
    shape = op.writer.source.types.shapes[op.node.outputs[place]] if op.has_out(place) else None
    known = [size if isinstance(size, int) else 0 for size in (shape or ())[1:]]
    return op.call(
        "onnx_stack",
        items,
        sequence(known),
        op.torch_dtype(op.out_dtype(place) or 1) if op.has_out(place) else "None",
    )


def _checked(op: OpContext, result: CodeValue, given: int, values: dict[int, CodeValue]) -> bool:
    """False if the condition is always true."""
    start = op.scalar(1) if op.has(1) else True
    if start is None or not start:
        return True
    if result.kind == "constant":
        array = op.writer.source.array(result.tensor)
        return array is None or not array.reshape(-1).all()
    return result.code != values[given].code


def _steps(op: OpContext) -> str:
    if not op.has(0):
        return "itertools.count()"
    found = op.ints(0)
    count = found[0] if found else f"int({op.t(0)})"
    return "itertools.count()" if isinstance(count, int) and count > 1 << 40 else f"range({count})"


@rule("Scan")
def scan(op: OpContext) -> None:
    """``for row in x.unbind(0): …``."""
    if op.opset < 9:
        raise NotCovered("Scan as before opset 9")
    held = op.writer.model.graphs[_graph(op, "body")]
    inputs = op.attr("num_scan_inputs")
    carried = op.count - inputs
    scanned = len(held.outputs) - carried
    if carried < 0 or scanned < 0 or len(held.inputs) != op.count:
        raise NotCovered("a body that does not fit")
    tokens = op.scope.tokens
    names = [tokens.new("state") for _ in range(carried)]
    rows = [tokens.new("row") for _ in range(inputs)]
    lines: Lines = [(0, f"{token(one)} = {op.t(place)}") for place, one in enumerate(names)]
    values = {t: CodeValue("tensor", token(one)) for t, one in zip(held.inputs, (*names, *rows), strict=True)}
    stmts, results = op.writer.body(op.scope, held.id, values)
    codes = [op.writer.tensor(op.scope, value) for value in results]
    block, inner = _block(op, stmts, codes)
    lists = [tokens.new("collected") for _ in range(scanned)]
    lines += [(0, f"{token(one)} = []") for one in lists]
    axes, backwards = op.attr("scan_input_axes", [0] * inputs), op.attr("scan_input_directions", [0] * inputs)
    sources = []
    for place in range(inputs):
        code = f"{op.v(carried + place)}.unbind({axes[place]})"
        sources.append(f"reversed({code})" if backwards[place] else code)
    source = sources[0] if inputs == 1 else f"zip({', '.join(sources)}, strict=True)"
    lines.append((0, f"for {', '.join(map(token, rows))} in {source}:"))
    lines += block
    lines += [(1, f"{token(one)}.append({code})") for one, code in zip(lists, codes[carried:], strict=True)]
    pairs = [(token(t), s) for t, s in zip(names, codes[:carried], strict=True) if token(t) != s]
    if pairs:
        lines.append((1, f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}"))
    elif not block and not lists:
        lines.append((1, "pass"))
    if any(op.attr("scan_output_axes", [0] * scanned)) or any(
        op.attr("scan_output_directions", [0] * scanned)
    ):
        raise NotCovered("results along other axes or backwards")
    _collected(op, lines, lists, names, [*inner, *rows], ["tensor"] * carried)
