"""Plans of text generation as terminal output and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from py_autodoc import units
from py_autodoc.render.markdown_text import escape
from py_autodoc.render.terminal_text import printable
from py_autodoc.report.schema.generation import Limit, LlmPoint, Plan, Plans, Service

_HEADS = (
    "Batch", "Context", "Prefill", "Decode", "Tokens/s", "A request", "With prompts", "KV cache", "Memory",
    "Fits", "$/M in", "$/M out",
)  # fmt: skip
_MAX_POINTS_NAMED = 6
"""Maximum number of points named in one line."""
_BOUNDS = {
    "memory_bandwidth": "memory",
    "compute": "compute",
    "kernel_overhead": "kernel starts",
    "interconnect": "the link",
}


_LIMITS = {
    "memory": "limited by memory",
    "first_token": "limited by the first token",
    "tokens_per_s": "limited by the tokens/s of a user",
    "search": "no limit found",
}


def _cells(point: LlmPoint) -> list[str]:
    return [
        f"{point.batch:,}",
        f"{point.context:,}",
        _time(point.prefill_ms),
        _time(point.decode_ms),
        units.count(point.tokens_per_s),
        units.count(point.tokens_per_s_per_request),
        units.count(point.tokens_per_s_with_prompts),
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


def _table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Return header and rows, without price columns if no price is known."""
    count = len(_HEADS) if plan.price_usd_per_hour is not None else len(_HEADS) - 2
    return list(_HEADS[:count]), [_cells(point)[:count] for point in plan.points]


def _title(plan: Plan) -> str:
    count_text = f"{plan.devices} × " if plan.devices > 1 else ""
    parts = [f"tensor parallel {plan.tensor_parallel}"] if plan.tensor_parallel > 1 else []
    parts += [f"pipeline parallel {plan.pipeline_parallel}"] if plan.pipeline_parallel > 1 else []
    parts += [plan.link] if plan.link else []
    return ", ".join(
        [f"{count_text}{plan.device_name} ({plan.hardware})", *parts, plan.precision or "no rate"]
    )


def _facts(plan: Plan) -> list[str]:
    """Return facts that apply to all points, one per line."""
    of = " of each device" if plan.devices > 1 else ""
    lines = []
    if plan.weight_bytes is not None:
        weights = f"weights {units.size(plan.weight_bytes)}"
        if plan.devices > 1:
            weights += f" ({units.size(plan.weight_bytes_per_device)}{of})"
        cache = f"KV cache {units.size(plan.kv_cache_bytes_per_token)} per token"
        lines.append(f"{weights}; {cache}; usable memory{of} {units.size(plan.available_bytes)}")
    lines += [_computing(limit) for limit in plan.compute_bound]
    if plan.price_usd_per_hour is not None:
        share = f"{plan.devices} of the {plan.instance_devices} devices of {plan.instance}"
        rented = plan.instance if plan.instance_devices in (None, plan.devices) else share
        source = ", ".join(filter(None, (rented, plan.region, plan.price_date))) or "as given"
        lines.append(f"about ${plan.price_usd_per_hour:.4g}/h ({source})")
    if plan.service is not None:
        lines += _service(plan.service, plan.devices)
    for limit in plan.longest_context:
        lines.append(f"longest context at batch {limit.batch:,}: {_limit(limit, limit.context, 'token')}")
    for limit in plan.largest_batch:
        lines.append(f"largest batch at context {limit.context:,}: {_limit(limit, limit.batch, 'sequence')}")
    return lines


def _service(service: Service, count: int) -> list[str]:
    """Return how many users are served, and by what."""
    request = f"prompts of {service.input_tokens:,} and answers of {service.output_tokens:,} tokens"
    goals = []
    if service.first_token_goal_ms is not None:
        goals.append(f"the first token in {_time(service.first_token_goal_ms)}")
    if service.tokens_per_s_goal is not None:
        goals.append(f"{service.tokens_per_s_goal:g} tokens/s for each user")
    if goals:
        request += f", {' and '.join(goals)}"
    if service.users_per_replica is None:
        return [f"users at once ({request}): unknown ({service.reason})"]
    if not service.users_per_replica:
        return [f"users at once ({request}): none ({service.reason})"]
    number = f"{service.users_per_replica:,}"
    low, high = service.users_per_replica_low, service.users_per_replica_high
    if (low, high) != (service.users_per_replica, service.users_per_replica):
        number += f", likely {low:,} to {high:,}"
    on = f" on {count} devices" if count > 1 else ""
    lines = [f"users at once{on} ({request}): {number} ({_LIMITS[service.limited_by]})"]
    lines.append(
        f"with {units.plural(service.load or 0, 'user')}: first token after {_time(service.first_token_ms)}, "
        f"{_time(service.first_token_worst_ms)} if all ask at once; "
        f"{units.count(service.tokens_per_s_per_user)} tokens/s for each; "
        f"{units.count(service.requests_per_s)} requests/s, "
        f"{units.count(service.tokens_per_s)} tokens/s of answers; "
        f"{100 * (service.prompt_share or 0):.0f} % of the time for prompts"
    )
    if service.replicas is not None:
        groups = f" in {units.plural(service.replicas, 'group')} of {count}" if count > 1 else ""
        devices = units.plural(service.devices or 0, "device")
        lines.append(f"{units.plural(service.users or 0, 'user')}: {devices} needed{groups}")
    if service.usd_per_million_output_tokens is not None:
        lines.append(
            f"about ${service.usd_per_hour:.4g}/h for them, "
            f"${service.usd_per_million_output_tokens:.3g} per million tokens of answers with their prompts"
        )
    return lines


def _computing(limit: Limit) -> str:
    at = f"decode at context {limit.context or 0:,}"
    if limit.batch is not None:
        return f"{at} is bound by compute from {units.plural(limit.batch, 'sequence')}"
    if limit.limited_by:
        return f"{at}: {limit.reason}; that one is bound by {_BOUNDS[limit.limited_by]}"
    return f"{at}: the bound is unknown ({limit.reason})"


def _limit(limit: Limit, value: int | None, unit: str) -> str:
    if value is None:
        return f"unknown ({limit.reason})"
    if value == 0:
        return "none fits"
    note = {"model": " (the model's own limit)", "search": " or more"}.get(limit.limited_by, "")
    return f"{units.plural(value, unit)}{note}"


def _bands(plan: Plan) -> list[str]:
    """Return the likely ranges of the times; if they differ, with the points each applies to.

    Lower ends differ where a time cannot be shorter: the lowest is given.
    """
    prefill: dict[tuple[str, str], list[LlmPoint]] = {}
    decode: dict[tuple[str, str], list[LlmPoint]] = {}
    for point in plan.points:
        if point.prefill_ms and point.prefill_low_ms and point.prefill_high_ms:
            by = "by the kernels of the model" if point.prefill_method == "kernels" else "by formula"
            high = f"{point.prefill_high_ms / point.prefill_ms:.3g}"
            prefill.setdefault((high, f"{point.prefill_label}, {by}"), []).append(point)
        if point.decode_ms and point.decode_low_ms and point.decode_high_ms:
            bound = _BOUNDS.get(point.decode_bottleneck, "")
            high = f"{point.decode_high_ms / point.decode_ms:.3g}"
            decode.setdefault((high, f"{point.decode_label}, bound by {bound}"), []).append(point)
    return [
        *_of_points("prefill", _ranges(prefill, lambda at: (at.prefill_low_ms or 0) / (at.prefill_ms or 1))),
        *_of_points("decode", _ranges(decode, lambda at: (at.decode_low_ms or 0) / (at.decode_ms or 1))),
    ]


def _ranges(
    groups: dict[tuple[str, str], list[LlmPoint]], low: Callable[[LlmPoint], float]
) -> dict[str, list[LlmPoint]]:
    return {
        f"{min(map(low, points)):.3g} to {high} of the time given ({why})": points
        for (high, why), points in groups.items()
    }


def _of_points(phase: str, by_text: dict[str, list[LlmPoint]]) -> list[str]:
    usual = max(by_text, key=lambda text: len(by_text[text]), default="")
    lines = []
    for text, points in by_text.items():
        suffix = ""
        if text != usual:
            batches = [f"{point.batch:,} × {point.context:,}" for point in points[:_MAX_POINTS_NAMED]]
            suffix = f" at {', '.join(batches)}"
        elif len(by_text) > 1:
            suffix = ", else"
        lines.append(f"{phase}{suffix}: {text}")
    return sorted(lines, key=lambda line: ", else:" in line)


def _decoder(plans: Plans) -> str:
    decoder = plans.decoder
    parameters = f"{units.count(decoder.parameters)} parameters"
    if decoder.active_parameters is not None and 2 * decoder.active_parameters < decoder.parameters:
        parameters += f" ({units.count(decoder.active_parameters)} active)"
    parts = [parameters, f"{decoder.layers} layers with a cache"]
    if decoder.window is not None and decoder.window_layers:
        parts.append(f"{decoder.window_layers} of them of at most {decoder.window:,} tokens")
    if decoder.kv_heads is not None:
        parts.append(f"{decoder.kv_heads} key-value heads")
    if decoder.max_context is not None:
        parts.append(f"up to {decoder.max_context:,} tokens")
    if decoder.quantization:
        parts.append(f"weights quantized by {decoder.quantization}")
    return ", ".join(parts)


def llm_lines(plans: Plans) -> list[str]:
    """Return the plans as lines of text."""
    text = [f"Text generation with {printable(plans.model)}: {_decoder(plans)}"]
    for plan in plans.plans:
        text += ["", printable(_title(plan))]
        if plan.reason:
            text.append(f"  {printable(plan.reason)}")
            continue
        text += [f"  {line}" for line in _facts(plan)]
        heads, rows = _table(plan)
        widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
        text.append("")
        for row in [heads, *rows]:
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            text.append(f"  {'  '.join(cells)}".rstrip())
        text += [f"  Likely range of {line}" for line in _bands(plan)]
        text += [f"  Unknown: {printable(reason)}" for reason in _reasons(plan)]
        text += [f"  Warning: {printable(line)}" for line in plan.warnings]
    text += ["", *(f"Assumed: {line}." for line in plans.assumptions)]
    return text


def _reasons(plan: Plan) -> list[str]:
    return list(dict.fromkeys(point.reason for point in plan.points if point.reason))


def llm_markdown(plans: Plans) -> str:
    """Return the plans as Markdown."""
    text = [f"# Text generation with {escape(plans.model)}", "", f"{_decoder(plans)}."]
    for plan in plans.plans:
        text += ["", f"## {escape(_title(plan))}", ""]
        if plan.reason:
            text.append(f"{escape(plan.reason)}.")
            continue
        text += [f"- {escape(line)}" for line in _facts(plan)]
        heads, rows = _table(plan)
        text += ["", _row(heads), _row(["--:"] * len(heads)), *map(_row, rows), ""]
        text += [f"- Likely range of {escape(line)}" for line in _bands(plan)]
        text += [f"- Unknown: {escape(reason)}" for reason in _reasons(plan)]
        text += [f"- **Warning**: {escape(line)}" for line in plan.warnings]
    text += ["", *(f"- Assumed: {escape(line)}." for line in plans.assumptions), ""]
    return "\n".join(text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
