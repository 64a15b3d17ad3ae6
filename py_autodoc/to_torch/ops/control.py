"""If, Loop and Scan as Python statements."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.to_torch.code import CodeValue, NotCovered, Statement, numbers, sequence, token
from py_autodoc.to_torch.naming import pruned
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

Lines = list[tuple[int, str]]


def _graph(op: OpContext, name: str) -> int:
    body = next((graph for attribute, graph in op.node.subgraphs if attribute == name), None)
    if body is None:
        raise NotCovered(f"attribute {name} is missing")
    return body


def _block(op: OpContext, stmts: list[Statement], codes: Sequence[str]) -> tuple[Lines, list[int]]:
    """Return (lines one level in, tokens of a subgraph), without statements that ``codes`` do not need."""
    needed = pruned(stmts, {variable for code in codes for variable in numbers(code)})
    lines = [(indent + 1, text) for stmt in needed for indent, text in stmt.lines]
    return lines, [variable for stmt in needed for variable in (*stmt.defs, *stmt.inner)]


@rule("If")
def branch(op: OpContext) -> None:
    """``if condition: … else: …``."""
    outputs = [op.scope.tokens.new(op.writer.label(tensor)) for tensor in op.node.outputs]
    lines: Lines = [(0, f"if {op.t(0)}:")]
    inner: list[int] = []
    kinds = ["tensor"] * len(outputs)
    for name in ("then_branch", "else_branch"):
        stmts, results = op.writer.body(op.scope, _graph(op, name), {})
        if len(results) != len(outputs):
            raise NotCovered("branches with different numbers of outputs")
        codes = [op.writer.tensor(op.scope, value) for value in results]
        kinds = [
            value.kind if value.kind == "list" else kind for value, kind in zip(results, kinds, strict=True)
        ]
        block, tokens = _block(op, stmts, codes)
        inner += tokens
        if name == "else_branch":
            lines.append((0, "else:"))
        lines += block
        lines += [(1, f"{token(variable)} = {code}") for variable, code in zip(outputs, codes, strict=True)]
    op.scope.stmts.append(Statement(lines, tuple(outputs), tuple(inner), simple=False))
    for index, (variable, kind) in enumerate(zip(outputs, kinds, strict=True)):
        op.set(CodeValue(kind, token(variable)), index)


@rule("Loop")
def loop(op: OpContext) -> None:
    """``for step in range(count): …`` with an optional condition that ends it."""
    body = op.writer.model.graphs[_graph(op, "body")]
    carried_count = op.count - 2
    scanned = len(body.outputs) - 1 - carried_count
    if carried_count < 0 or scanned < 0 or len(body.inputs) != carried_count + 2:
        raise NotCovered("a subgraph that does not fit")
    tokens = op.scope.tokens
    step, condition = tokens.new("step"), tokens.new("going")
    names = [tokens.new(op.writer.label(t) if t >= 0 else "state") for t in op.node.outputs[:carried_count]]
    names += [tokens.new("state") for _ in range(carried_count - len(names))]
    starts = [op.value(index + 2) for index in range(carried_count)]
    lines: Lines = []
    for variable, value in zip(names, starts, strict=True):
        lines.append((0, f"{token(variable)} = {op.writer.tensor(op.scope, value)}"))
    values = {
        body.inputs[0]: CodeValue("host", "", (token(step),), True),
        body.inputs[1]: CodeValue("tensor", token(condition)),
    }
    for tensor, variable, value in zip(body.inputs[2:], names, starts, strict=True):
        values[tensor] = CodeValue("list" if value.kind == "list" else "tensor", token(variable))
    stmts, results = op.writer.body(op.scope, body.id, values)
    codes = [op.writer.tensor(op.scope, value) for value in results]
    block, inner = _block(op, stmts, codes)
    checked = _checked(op, results[0], body.inputs[1], values)
    lists = [tokens.new("collected") for _ in range(scanned)]
    lines += [(0, f"{token(variable)} = []") for variable in lists]
    if checked or any(token(condition) in text for _, text in (*block, *enumerate(codes))):
        lines.append((0, f"{token(condition)} = {op.t(1) if op.has(1) else 'torch.tensor(True)'}"))
        inner.append(condition)
    lines.append((0, f"for {token(step)} in {_steps(op)}:"))
    lines += [(1, f"if not {token(condition)}:"), (2, "break")] if checked else []
    lines += block
    lines += [
        (1, f"{token(variable)}.append({code})")
        for variable, code in zip(lists, codes[1 + carried_count :], strict=True)
    ]
    targets = [*names, *([condition] if checked else [])]
    sources = [*codes[1 : 1 + carried_count], *([codes[0]] if checked else [])]
    pairs = [(token(t), s) for t, s in zip(targets, sources, strict=True) if token(t) != s]
    if pairs:
        lines.append((1, f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}"))
    elif not block and not lists:
        lines.append((1, "pass"))
    _collected(op, lines, lists, names, [*inner, step], [values[t].kind for t in body.inputs[2:]])


def _collected(
    op: OpContext, lines: Lines, lists: list[int], names: list[int], inner: list[int], kinds: list[str]
) -> None:
    """Return the results: carried values, and collected lists as tensors."""
    carried_count = len(names)
    results = []
    for index, variable in enumerate(lists):
        stacked = op.scope.tokens.new("stacked")
        results.append(stacked)
        lines.append((0, f"{token(stacked)} = {_stack(op, token(variable), carried_count + index)}"))
    op.scope.stmts.append(Statement(lines, (*names, *results), (*inner, *lists), simple=False))
    for index, variable in enumerate((*names, *results)):
        kind = kinds[index] if index < carried_count else "tensor"
        op.set(CodeValue(kind, token(variable)), index)


def _stack(op: OpContext, items: str, index: int) -> str:
    shape = op.writer.source.types.shapes[op.node.outputs[index]] if op.has_out(index) else None
    sizes = [size if isinstance(size, int) else 0 for size in (shape or ())[1:]]
    return op.call(
        "onnx_stack",
        items,
        sequence(sizes),
        op.torch_dtype(op.out_dtype(index) or 1) if op.has_out(index) else "None",
    )


def _checked(op: OpContext, result: CodeValue, input_count: int, values: dict[int, CodeValue]) -> bool:
    """False if the condition is always true."""
    start = op.scalar(1) if op.has(1) else True
    if start is None or not start:
        return True
    if result.kind == "constant":
        array = op.writer.source.array(result.tensor)
        return array is None or not array.reshape(-1).all()
    return result.code != values[input_count].code


def _steps(op: OpContext) -> str:
    if not op.has(0):
        return "itertools.count()"
    steps = op.ints(0)
    count = steps[0] if steps else f"int({op.t(0)})"
    return "itertools.count()" if isinstance(count, int) and count > 1 << 40 else f"range({count})"


@rule("Scan")
def scan(op: OpContext) -> None:
    """``for row in x.unbind(0): …``."""
    if op.opset < 9:
        raise NotCovered("Scan before opset 9")
    body = op.writer.model.graphs[_graph(op, "body")]
    inputs = op.attr("num_scan_inputs")
    state_count = op.count - inputs
    scanned = len(body.outputs) - state_count
    if state_count < 0 or scanned < 0 or len(body.inputs) != op.count:
        raise NotCovered("a subgraph that does not fit")
    tokens = op.scope.tokens
    names = [tokens.new("state") for _ in range(state_count)]
    rows = [tokens.new("row") for _ in range(inputs)]
    lines: Lines = [(0, f"{token(variable)} = {op.t(index)}") for index, variable in enumerate(names)]
    values = {
        t: CodeValue("tensor", token(variable))
        for t, variable in zip(body.inputs, (*names, *rows), strict=True)
    }
    stmts, results = op.writer.body(op.scope, body.id, values)
    codes = [op.writer.tensor(op.scope, value) for value in results]
    block, inner = _block(op, stmts, codes)
    lists = [tokens.new("collected") for _ in range(scanned)]
    lines += [(0, f"{token(variable)} = []") for variable in lists]
    axes, backwards = op.attr("scan_input_axes", [0] * inputs), op.attr("scan_input_directions", [0] * inputs)
    sources = []
    for index in range(inputs):
        code = f"{op.v(state_count + index)}.unbind({axes[index]})"
        sources.append(f"reversed({code})" if backwards[index] else code)
    source = sources[0] if inputs == 1 else f"zip({', '.join(sources)}, strict=True)"
    lines.append((0, f"for {', '.join(map(token, rows))} in {source}:"))
    lines += block
    lines += [
        (1, f"{token(variable)}.append({code})")
        for variable, code in zip(lists, codes[state_count:], strict=True)
    ]
    pairs = [(token(t), s) for t, s in zip(names, codes[:state_count], strict=True) if token(t) != s]
    if pairs:
        lines.append((1, f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}"))
    elif not block and not lists:
        lines.append((1, "pass"))
    if any(op.attr("scan_output_axes", [0] * scanned)) or any(
        op.attr("scan_output_directions", [0] * scanned)
    ):
        raise NotCovered("scan outputs along other axes or in reverse")
    _collected(op, lines, lists, names, [*inner, *rows], ["tensor"] * state_count)
