"""Plans of text generation as terminal output and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc import units
from py_autodoc.render.markdown_text import escape
from py_autodoc.render.terminal_text import printable
from py_autodoc.report.schema.generation import Limit, LlmPoint, Plan, Plans

_HEADS = (
    "Batch", "Context", "Prefill", "Decode", "Tokens/s", "A request", "KV cache", "Memory", "Fits",
    "$/M in", "$/M out",
)  # fmt: skip
_SHOWN = 6
"""Maximum number of points named in one line."""
_BOUNDS = {
    "memory_bandwidth": "memory",
    "compute": "compute",
    "kernel_overhead": "kernel starts",
    "interconnect": "the link",
}


def _cells(point: LlmPoint) -> list[str]:
    return [
        f"{point.batch:,}",
        f"{point.context:,}",
        _time(point.prefill_ms),
        _time(point.decode_ms),
        units.count(point.tokens_per_s),
        units.count(point.tokens_per_s_per_request),
        units.size(point.kv_cache_bytes),
        units.size(point.memory_bytes_per_device),
        {True: "yes", False: "no", None: units.UNKNOWN}[point.fits],
        _dollars(point.usd_per_million_input_tokens),
        _dollars(point.usd_per_million_output_tokens),
    ]


def _time(milliseconds: float | None) -> str:
    return units.seconds(None if milliseconds is None else milliseconds / 1e3)


def _dollars(value: float | None) -> str:
    return units.UNKNOWN if value is None else f"{value:.3g}"


def _table(one: Plan) -> tuple[list[str], list[list[str]]]:
    """Return header and rows, without price columns if no price is known."""
    count = len(_HEADS) if one.price_usd_per_hour is not None else len(_HEADS) - 2
    return list(_HEADS[:count]), [_cells(point)[:count] for point in one.points]


def _title(one: Plan) -> str:
    several = f"{one.devices} × " if one.devices > 1 else ""
    parts = [f"tensor parallel {one.tensor_parallel}"] if one.tensor_parallel > 1 else []
    parts += [f"pipeline parallel {one.pipeline_parallel}"] if one.pipeline_parallel > 1 else []
    parts += [one.link] if one.link else []
    return ", ".join([f"{several}{one.device_name} ({one.hardware})", *parts, one.precision or "no rate"])


def _facts(one: Plan) -> list[str]:
    """Return facts that apply to all points, one per line."""
    of = " of each device" if one.devices > 1 else ""
    found = []
    if one.weight_bytes is not None:
        weights = f"weights {units.size(one.weight_bytes)}"
        if one.devices > 1:
            weights += f" ({units.size(one.weight_bytes_per_device)}{of})"
        cache = f"KV cache {units.size(one.kv_cache_bytes_per_token)} per token"
        found.append(f"{weights}; {cache}; usable memory{of} {units.size(one.available_bytes)}")
    if one.compute_bound_batch is not None:
        found.append(f"decode is bound by compute from about {one.compute_bound_batch:.0f} tokens per step")
    if one.price_usd_per_hour is not None:
        part = f"{one.devices} of the {one.instance_devices} devices of {one.instance}"
        rented = one.instance if one.instance_devices in (None, one.devices) else part
        where = ", ".join(filter(None, (rented, one.region, one.price_date))) or "as given"
        found.append(f"about ${one.price_usd_per_hour:.4g}/h ({where})")
    for limit in one.longest_context:
        found.append(f"longest context at batch {limit.batch:,}: {_limit(limit, limit.context, 'token')}")
    for limit in one.largest_batch:
        found.append(f"largest batch at context {limit.context:,}: {_limit(limit, limit.batch, 'sequence')}")
    return found


def _limit(limit: Limit, value: int | None, what: str) -> str:
    if value is None:
        return f"unknown ({limit.reason})"
    if value == 0:
        return "none fits"
    why = {"model": " (the model's own limit)", "search": " or more"}.get(limit.limited_by, "")
    return f"{units.plural(value, what)}{why}"


def _bands(one: Plan) -> list[str]:
    """Return the likely ranges of the times; if they differ, with the points each applies to."""
    prefill: dict[str, list[LlmPoint]] = {}
    decode: dict[str, list[LlmPoint]] = {}
    for point in one.points:
        if point.prefill_ms and point.prefill_low_ms and point.prefill_high_ms:
            low, high = point.prefill_low_ms / point.prefill_ms, point.prefill_high_ms / point.prefill_ms
            by = "by the kernels of the model" if point.prefill_method == "kernels" else "by formula"
            text = f"{low:.3g} to {high:.3g} of the time given ({point.prefill_label}, {by})"
            prefill.setdefault(text, []).append(point)
        if point.decode_ms and point.decode_low_ms and point.decode_high_ms:
            low, high = point.decode_low_ms / point.decode_ms, point.decode_high_ms / point.decode_ms
            bound = _BOUNDS.get(point.decode_bottleneck, "")
            text = f"{low:.3g} to {high:.3g} of the time given ({point.decode_label}, bound by {bound})"
            decode.setdefault(text, []).append(point)
    return [*_of_points("prefill", prefill), *_of_points("decode", decode)]


def _of_points(phase: str, found: dict[str, list[LlmPoint]]) -> list[str]:
    most = max(found, key=lambda text: len(found[text]), default="")
    lines = []
    for text, points in found.items():
        where = ""
        if text != most:
            where = f" at {', '.join(f'{point.batch:,} × {point.context:,}' for point in points[:_SHOWN])}"
        elif len(found) > 1:
            where = ", else"
        lines.append(f"{phase}{where}: {text}")
    return sorted(lines, key=lambda line: ", else:" in line)


def _decoder(found: Plans) -> str:
    made = found.decoder
    parts = [f"{units.count(made.parameters)} parameters", f"{made.layers} layers with a cache"]
    if made.kv_heads is not None:
        parts.append(f"{made.kv_heads} key-value heads")
    if made.max_context is not None:
        parts.append(f"up to {made.max_context:,} tokens")
    return ", ".join(parts)


def llm_lines(found: Plans) -> list[str]:
    """Return the plans as lines of text."""
    text = [f"Text generation with {printable(found.model)}: {_decoder(found)}"]
    for one in found.plans:
        text += ["", printable(_title(one))]
        if one.reason:
            text.append(f"  {printable(one.reason)}")
            continue
        text += [f"  {line}" for line in _facts(one)]
        heads, rows = _table(one)
        widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
        text.append("")
        for row in [heads, *rows]:
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            text.append(f"  {'  '.join(cells)}".rstrip())
        text += [f"  Likely range of {line}" for line in _bands(one)]
        text += [f"  Unknown: {printable(why)}" for why in _reasons(one)]
        text += [f"  Warning: {printable(line)}" for line in one.warnings]
    text += ["", *(f"Assumed: {line}." for line in found.assumptions)]
    return text


def _reasons(one: Plan) -> list[str]:
    return list(dict.fromkeys(point.reason for point in one.points if point.reason))


def llm_markdown(found: Plans) -> str:
    """Return the plans as Markdown."""
    text = [f"# Text generation with {escape(found.model)}", "", f"{_decoder(found)}."]
    for one in found.plans:
        text += ["", f"## {escape(_title(one))}", ""]
        if one.reason:
            text.append(f"{escape(one.reason)}.")
            continue
        text += [f"- {escape(line)}" for line in _facts(one)]
        heads, rows = _table(one)
        text += ["", _row(heads), _row(["--:"] * len(heads)), *map(_row, rows), ""]
        text += [f"- Likely range of {escape(line)}" for line in _bands(one)]
        text += [f"- Unknown: {escape(why)}" for why in _reasons(one)]
        text += [f"- **Warning**: {escape(line)}" for line in one.warnings]
    text += ["", *(f"- Assumed: {escape(line)}." for line in found.assumptions), ""]
    return "\n".join(text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
