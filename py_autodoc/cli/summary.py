"""The terminal summary. Names are ``Text``, never markup, so that models cannot style our output."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from py_autodoc.cli.expression_lines import expression_lines
from py_autodoc.cli.findings_lines import LIST_HINT, finding_counts, finding_lines
from py_autodoc.cli.hardware_lines import WIDTH, hardware_lines
from py_autodoc.cli.memory_lines import memory_lines
from py_autodoc.cli.streams import styled
from py_autodoc.metrics import BY_ID, shown, words
from py_autodoc.render import units
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.builders.node_numbers import layer_number
from py_autodoc.report.document.architecture_text import architecture_line, quantization_line
from py_autodoc.report.document.block_counts import block_counts
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.total_texts import strip
from py_autodoc.report.pipeline.rule_settings import describe_rule_settings
from py_autodoc.report.schema import (
    DiagnosticInfo,
    DimInfo,
    DimValue,
    Layer,
    LlmSummary,
    OpTotals,
    RepeatInfo,
    ValueInfo,
)
from py_autodoc.units import plural

MAX_WIDTH = 120
TOP_LAYERS = 10
TOP_OPS = 8
WIDE = 100
"""Minimum width in columns to show the modules of layers."""
MAX_VALUES = 8
MAX_DIAGNOSTICS = 8
MAX_REPEATS = 6
_RULES = 600
"""Maximum number of characters about changed rule settings."""
BAR = 16
_PARAGRAPH = 4_000
"""Maximum number of characters of a paragraph."""
_DIM, _HEAD, _STRONG, _WARN, _BAD = "dim", "bold", "bold cyan", "yellow", "bold red"
GAP = 3
"""Width between two columns of a table: two of padding, one of the box."""
_NUMBERS = frozenset({*(metric.head for metric in shown("layers")), "Share"})
_MARKS = {"error": ("✗", _BAD), "warning": ("!", _WARN), "info": ("·", _DIM)}
_RISKS = {"high": _BAD, "medium": _WARN}


def print_summary(report: Report, width: int | None = None, findings: bool = False) -> None:
    """Print the summary to stdout, at most 120 columns wide; ``findings`` lists all of them."""
    console = Console(file=styled(sys.stdout), markup=False, emoji=False, highlight=False, width=width)
    console.width = min(console.width, MAX_WIDTH)
    for section in _parts(report, console.width, findings):
        console.print(section)


def _parts(report: Report, width: int, findings: bool) -> Iterable[RenderableType]:
    yield _title(report, width)
    if report.llm_summary is not None:
        yield _written(report.llm_summary)
    yield _kpis(report)
    yield _interface(report, width)
    yield _architecture(report, width)
    if report.dims:
        yield _dims(report)
    formulas = expression_lines(report)
    if formulas:
        yield _section("As formulas", _lines(formulas, 2 * width))
    counts = block_counts(report.blocks)
    if counts:
        yield _section("Blocks", Text(counts))
    if report.repeats:
        yield _repeats(report.repeats)
    memory = memory_lines(report)
    if memory:
        yield _section("Memory", _lines(memory, 2 * width))
    device = hardware_lines(report)
    if device:
        yield _section("Estimated latency", _lines(device, WIDTH))
    layers = _heaviest(report)
    if layers:
        yield _section(_layers_title(report), _layers(report, layers, width))
    if report.metrics.by_op:
        yield _section("Operators", _operators(report, width))
    rules = describe_rule_settings(report.rule_settings)
    if report.risk_signals or rules or findings:
        listing = _findings(report, findings)
        yield _section("Findings", Group(Text(_clean(rules, _RULES)), listing) if rules else listing)
    if report.diagnostics:
        yield _section("Diagnostics", _diagnostics(report.diagnostics))


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(title, style=_HEAD), Padding(body, (0, 0, 1, 2)))


def _written(summary: LlmSummary) -> RenderableType:
    """Return the text of a language model, labelled as such."""
    texts = [summary.short, *summary.detailed.split("\n\n")]
    body = [Padding(Text(_clean(text, _PARAGRAPH)), (0, 0, 1, 0)) for text in texts if text]
    source = Text(f"{_clean(summary.model, 60)} at {_clean(summary.service, 60)}; not measured", style=_DIM)
    return _section("Summary by a language model", Group(*body, source))


def _clean(text: str, width: int = 200) -> str:
    return shorten(printable(text), width)


def _title(report: Report, width: int) -> RenderableType:
    model, graph = report.model, report.graph
    maker = " ".join(
        producer
        for producer in (_clean(model.producer_name, 24), _clean(model.producer_version, 24))
        if producer
    )
    opsets = ", ".join(
        f"opset {item.version}" if item.domain == "ai.onnx" else f"{_clean(item.domain, 30)} {item.version}"
        for item in model.opset_imports[:4]
    )
    nodes = f"{graph.num_nodes:,} node{'' if graph.num_nodes == 1 else 's'}"
    if graph.num_subgraphs:
        nodes += f" in {graph.num_subgraphs + 1:,} graphs"
    size = units.size(model.file_bytes)
    if model.external_bytes:
        size += f" + {units.size(model.external_bytes)} external"
    facts = [fact for fact in (maker, opsets, f"IR {model.onnx_ir_version}", nodes, size) if fact]
    name = Text(_clean(model.name, width), style=_STRONG)
    words = [Text(_clean(report.identity.text, 4 * width), style=_HEAD)] if report.identity else []
    lines = [*words, name, Text(" · ".join(facts), style=_DIM)]
    if model.sha256 is not None:
        files = {"sha256": model.sha256, **model.external_sha256}
        lines += [Text(f"{_clean(file, 60)}  {value or '—'}", style=_DIM) for file, value in files.items()]
    return Padding(Group(*lines), (1, 0, 1, 0))


def _kpis(report: Report) -> RenderableType:
    tiles = strip(report)
    grid = Table.grid(padding=(0, 3, 0, 0))
    for _ in tiles:
        grid.add_column(no_wrap=True)
    grid.add_row(*(Text(tile.label, style=_DIM) for tile in tiles))
    grid.add_row(*(Text(tile.text, style=_HEAD) for tile in tiles))
    if report.runnable.verdict != "no":
        return Padding(grid, (0, 0, 1, 0))
    why = Text(_clean(f"Cannot run: {report.runnable.reason}", 400), style=_BAD)
    return Padding(Group(grid, why), (0, 0, 1, 0))


def _interface(report: Report, width: int) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        grid.add_column(no_wrap=True, overflow="ellipsis")
    for title, values in (("Inputs", report.graph.inputs), ("Outputs", report.graph.outputs)):
        for row, value in enumerate(values[:MAX_VALUES]):
            grid.add_row(Text(title if not row else "", style=_HEAD), *_value(value, width))
        if len(values) > MAX_VALUES:
            grid.add_row("", Text(f"… {len(values) - MAX_VALUES:,} more", style=_DIM))
        if not values:
            grid.add_row(Text(title, style=_HEAD), Text("none", style=_DIM))
    return Padding(grid, (0, 0, 1, 0))


def _architecture(report: Report, width: int) -> RenderableType:
    """Return family and attention, wrapped on narrow terminals."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, min_width=len("Architecture"))
    grid.add_column(overflow="fold")
    grid.add_row(Text("Architecture", style=_HEAD), Text(_clean(architecture_line(report), 2 * width)))
    quantized = quantization_line(report)
    if quantized:
        grid.add_row(Text("Quantization", style=_HEAD), Text(_clean(quantized, 2 * width)))
    return Padding(grid, (0, 0, 1, 0))


def _lines(rows: list[tuple[str, str]], most: int) -> RenderableType:
    """Return labels and texts of at most ``most`` characters, wrapped to the terminal."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(label, style=_DIM), Text(_clean(text, most)))
    return grid


def _value(value: ValueInfo, width: int) -> tuple[Text, Text, Text]:
    alone = value.container in ("tensor", "map")
    kind = value.elem_type if alone else f"{value.container} of {value.elem_type}"
    name = Text(_clean(value.name, max(16, width // 3)))
    if value.container not in ("tensor", "sparse"):
        return name, Text(kind, style=_DIM), Text("")
    return name, Text(kind, style=_DIM), Text(_shape(value.shape, max(20, width // 2)))


def _shape(sizes: list[DimValue] | None, width: int) -> str:
    return _clean(units.shape(sizes), width)


def _dims(report: Report) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        grid.add_column(no_wrap=True, overflow="ellipsis")
    for dim in report.dims[:MAX_VALUES]:
        value = "symbolic" if dim.value is None else f"{dim.value:,}" + (" (assumed)" if dim.assumed else "")
        style = _WARN if dim.value is None or dim.assumed else ""
        locations = _clean(", ".join(dim.where[:3]) + (" …" if len(dim.where) > 3 else ""), 50)
        grid.add_row(Text(_clean(dim.name, 30)), Text(value, style=style), Text(locations, style=_DIM))
    parts: list[RenderableType] = [grid]
    if len(report.dims) > MAX_VALUES:
        parts.append(Text(f"… {len(report.dims) - MAX_VALUES:,} more", style=_DIM))
    free = [dim for dim in report.dims if dim.value is None]
    if free:
        parts.append(Text(_missing_values(free), style=_WARN))
    return _section("Dimensions", Group(*parts))


def _missing_values(free: list[DimInfo]) -> str:
    """Return the options that set the symbolic dimensions, except for dependent ones."""
    independent = [dim for dim in free if dim.follows is None] or free
    names = [(_quoted(dim.name), dim.suggested) for dim in independent[:3]]
    ellipsis = " …" if len(independent) > 3 else ""
    flags = " ".join(f"--bind {name}={'N' if size is None else size}" for name, size in names)
    if any(dim.suggested is None for dim in free):
        return f"Costs need values, and no typical ones fit this model: {flags}{ellipsis}"
    return f"To get all costs, add: {flags}{ellipsis}  (or --assume)"


def _repeats(repeats: list[RepeatInfo]) -> RenderableType:
    """Return ``BertLayer ×12``; equal repeats in several places are listed once."""
    occurrences: dict[tuple[str, int], int] = {}
    for repeat in repeats:
        key = (repeat.name, repeat.count)
        occurrences[key] = occurrences.get(key, 0) + 1
    parts = [
        f"{_clean(name, 40)} ×{count:,}" + (f" in {times:,} places" if times > 1 else "")
        for (name, count), times in occurrences.items()
    ]
    more = f" · … {len(parts) - MAX_REPEATS:,} more" if len(parts) > MAX_REPEATS else ""
    line = Text.assemble(("Repeats", _HEAD), "  ", " · ".join(parts[:MAX_REPEATS]) + more)
    return Padding(line, (0, 0, 1, 0))


def _quoted(name: str) -> str:
    """Quote a name for a shell."""
    text = _clean(name, 40)
    return text if text.replace("_", "").isalnum() else "'" + text.replace("'", "'\\''") + "'"


def _heaviest(report: Report) -> list[Layer]:
    key = "macs" if report.metrics.total_macs else "params"
    ranked = sorted(report.layers, key=lambda layer: -_in_inference(layer, key))
    return [layer for layer in ranked[:TOP_LAYERS] if _in_inference(layer, key)]


def _in_inference(layer: Layer, key: str) -> int:
    """Return MACs of all executions, or parameters."""
    return round(layer_number(layer, BY_ID[key]) or 0)


def _layers_title(report: Report) -> str:
    by = words("macs" if report.metrics.total_macs else "params")
    return f"Heaviest layers by {by}, costs of one inference"


def _layers(report: Report, layers: list[Layer], width: int) -> RenderableType:
    by_macs = bool(report.metrics.total_macs)
    total = report.metrics.total_macs if by_macs else report.metrics.total_params
    rows = [_layer_cells(layer, by_macs, total) for layer in layers]
    titles = ["Layer", "Module", "Type", "Output", *(metric.head for metric in shown("layers")), "Share"]
    if width < WIDE or not any(row[1] for row in rows):
        for row in (titles, *rows):
            del row[1]
    table = _table(*((title, "right" if title in _NUMBERS else "left") for title in titles))
    widths = _text_widths(titles, rows, width - 2)
    for row in rows:
        table.add_row(*(_layer_text(title, cell, widths) for title, cell in zip(titles, row, strict=True)))
    return table


def _layer_cells(layer: Layer, by_macs: bool, total: int | None) -> list[str]:
    times = f" ×{_runs(layer)}" if layer.repeat != 1 or layer.runs != 1 else ""
    # A name that is a path already contains the module.
    module = "" if "/" in layer.name else layer.group
    return [
        printable(layer.name) + times,
        printable(module),
        printable(layer.type),
        printable(units.shape(layer.output_shape)),
        *(getattr(units, metric.written)(layer_number(layer, metric)) for metric in shown("layers")),
        units.share(_in_inference(layer, "macs" if by_macs else "params"), total),
    ]


def _runs(layer: Layer) -> str:
    """Return how often the layer runs; a lower bound for loops of unknown length."""
    if layer.repeat is not None:
        return f"{layer.runs:,}"
    return "?" if layer.runs == 1 else f"{layer.runs:,}?"


def _text_widths(titles: list[str], rows: list[list[str]], width: int) -> dict[str, int]:
    """Return the widths of text columns: the space left by numbers, shared by need."""
    need = {t: max(len(t), *(len(row[i]) for row in rows)) for i, t in enumerate(titles)}
    need["Type"] = min(need["Type"], 18)
    texts = [t for t in ("Layer", "Module", "Output") if t in need]
    free = width - sum(n for t, n in need.items() if t not in texts) - GAP * (len(titles) - 1)
    widths = {"Type": need["Type"]}
    for index, title in enumerate(sorted(texts, key=lambda t: need[t])):
        widths[title] = min(need[title], max(8, free // (len(texts) - index)))
        free -= widths[title]
    return widths


def _layer_text(title: str, cell: str, widths: dict[str, int]) -> Text:
    width = widths.get(title, len(cell))
    style = {"Type": "cyan", "Output": _DIM, "Module": _DIM}.get(title, "")
    if title == "Output" and len(cell) > width:
        return Text(cell[: width - 1] + "…", style=style)
    return Text(shorten(cell, width), style=style)


def _operators(report: Report, width: int) -> RenderableType:
    # Bars show MACs if any are known, else nodes.
    by_macs = bool(report.metrics.total_macs)

    def value(row: OpTotals) -> int:
        return (row.macs or 0) if by_macs else row.count

    table = _table(
        ("Operator", "left"),
        ("Nodes", "right"),
        (BY_ID["params"].head, "right"),
        (BY_ID["macs"].head, "right"),
        ("by MACs" if by_macs else "by nodes", "left"),
    )
    ordered = sorted(report.metrics.by_op, key=lambda row: (-value(row), -row.count))
    most = max((value(row) for row in ordered), default=0)
    for row in ordered[:TOP_OPS]:
        table.add_row(
            Text(_clean(row.type, 30), style="cyan"),
            f"{row.count:,}",
            units.count(row.params),
            units.count(row.macs),
            Text(_bar(value(row), most, BAR if width < WIDE else 2 * BAR), style="cyan"),
        )
    others = ordered[TOP_OPS:]
    if others:
        table.add_row(
            Text(plural(len(others), "other type"), style=_DIM),
            f"{sum(row.count for row in others):,}",
            units.count(_whole_sum(row.params for row in others)),
            units.count(_known_sum(row.macs for row in others)),
            "",
        )
    return table


def _whole_sum(values: Iterable[int | None]) -> int | None:
    """Return the sum; None if a value is unknown."""
    counts = list(values)
    return None if None in counts else sum(value or 0 for value in counts)


def _known_sum(parts: Iterable[int | None]) -> int | None:
    """Return the sum of the known values; None if there are none."""
    counts = [value for value in parts if value is not None]
    return sum(counts) if counts else None


def _bar(value: int, most: int, width: int) -> str:
    """Return a bar in eighths of a cell; the smallest positive value is still visible."""
    eighths = round(8 * width * value / most) if most else 0
    if value and not eighths:
        eighths = 1
    full, eighth = divmod(eighths, 8)
    return "█" * full + ("▏▎▍▌▋▊▉"[eighth - 1] if eighth else "")


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style=_DIM, padding=(0, 2, 0, 0))
    for title, justify in columns:
        table.add_column(title, justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    return table


def _findings(report: Report, listed: bool) -> RenderableType:
    """Return the counts by severity, or all findings with their nodes if requested."""
    if not listed:
        counts = finding_counts(signal.severity for signal in report.risk_signals)
        return Text.assemble(counts, (f"  ({LIST_HINT})", _DIM)) if counts else Text("none")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in finding_lines(report):
        text = Text(_clean(line.text, _RULES))
        text.append(f"  {_clean(line.advice, _RULES)}", style=_DIM)
        text.append(f"  [{line.rule}]", style=_DIM)
        grid.add_row(Text(line.severity, style=_RISKS.get(line.severity, "")), text)
        if line.nodes:
            grid.add_row("", Text(printable(line.nodes), style=_DIM))
    return grid if report.risk_signals else Text("none")


def _diagnostics(diagnostics: list[DiagnosticInfo]) -> RenderableType:
    """Return one line each, merging equal codes with equal messages."""
    rows: dict[tuple[str, str], list[DiagnosticInfo]] = {}
    for item in diagnostics:
        rows.setdefault((item.code, item.message), []).append(item)
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for (code, message), items in list(rows.items())[:MAX_DIAGNOSTICS]:
        mark, style = _MARKS.get(items[0].severity, _MARKS["info"])
        text = Text(_clean(message, 300))
        location = _clean(items[0].where, 60)
        if location and location not in message:
            more = f" and {len(items) - 1:,} more" if len(items) > 1 else ""
            text.append(f"  {location}{more}", style=_DIM)
        grid.add_row(Text(mark, style=style), Text(code, style=style), text)
    if len(rows) > MAX_DIAGNOSTICS:
        grid.add_row("", "", Text(f"… {len(rows) - MAX_DIAGNOSTICS:,} more in the report", style=_DIM))
    return grid
