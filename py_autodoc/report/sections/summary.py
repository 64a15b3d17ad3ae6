"""The most important facts, selected by rules: for decisions, and for running the model."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.report.builders.node_numbers import layer_in_inference
from py_autodoc.report.document.architecture_text import architecture_line
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.labels import sentence_start
from py_autodoc.report.sections.section_model import Cell, Items, Line, Name, Section, SectionContext, Value
from py_autodoc.units import plural

_SEVERITIES = ("high", "medium", "low", "info")


def section(context: SectionContext) -> Section:
    """Return two lists of sentences."""
    return Section(
        "summary",
        "Summary",
        (
            Items(tuple(_decide(context)), "For a decision"),
            Items(tuple(_run(context)), "For running it"),
        ),
    )


def _decide(context: SectionContext) -> Iterator[Line]:
    """Return what the model is, what it costs, and its problems."""
    report = context.report
    yield _identity_line(report)
    yield _size(report)
    yield from _work_lines(report)
    yield from _purpose(report)
    yield from _device(report)
    yield from _answers(report)
    yield _risks(report)
    yield from _unknown_parts(report)


def _identity_line(report: Report) -> Line:
    identity = report.identity
    if identity is None or identity.task == "unknown":
        return ("The file does not state its task: ", architecture_line(report), ".")
    prefix = "" if identity.known.task in ("file", "structure") else "Probably "
    task = identity.task if prefix else identity.task[:1].upper() + identity.task[1:]
    source = {"file": "as the file says", "structure": "by its structure"}.get(
        identity.known.task, "by its structure"
    )
    family = "" if identity.family == "unknown" else f"; {identity.family}"
    return (prefix, task, family, f" – {source}.")


def _purpose(report: Report) -> Iterator[Line]:
    """Return what the owner says it is for."""
    if report.card is not None and report.card.intended_use:
        yield ("Intended use, as its owner says: ", Name(report.card.intended_use), ".")


def _size(report: Report) -> Line:
    numbers = report.metrics
    return (
        Value(numbers.total_params, "count", "/metrics/total_params"),
        " parameters, ",
        Value(numbers.weight_bytes, "size", "/metrics/weight_bytes"),
        " of weights",
        f", stored as {report.identity.precision}." if report.identity else ".",
    )


def _work_lines(report: Report) -> Iterator[Line]:
    numbers, cover = report.metrics, report.coverage
    if report.runnable.verdict == "no":
        sized = "" if report.runnable.file else " with these dimensions"
        yield (f"It cannot run{sized}: ", report.runnable.reason)
    if report.runnable.verdict == "no" and not report.runnable.file:
        return
    if numbers.total_macs is not None:
        sizes = _sizes(report)
        is_lower_bound = cover.macs is not None and cover.macs < 1
        yield (
            f"One inference{sizes} takes ",
            Value(numbers.total_macs, "count", "/metrics/total_macs", is_lower_bound),
            " MACs (",
            Value(numbers.total_flops, "count", "/metrics/total_flops", cover.nodes < 1),
            " FLOPs) and at its peak ",
            Value(numbers.peak_activation_bytes, "size", "/metrics/peak_activation_bytes"),
            " of memory in addition to the weights.",
        )


def _sizes(report: Report) -> str:
    sizes = [f"{dim.name} = {dim.value:,}" for dim in report.dims if dim.value is not None]
    return f" at {', '.join(sizes[:4])}" if sizes else ""


def _device(report: Report) -> Iterator[Line]:
    estimates = report.hardware_estimates
    if estimates is None or estimates.estimated_latency_ms is None:
        return
    fits = {True: "it fits into the memory", False: "it does not fit into the memory", None: ""}[
        estimates.fits_in_vram
    ]
    low, high = estimates.latency_low_ms, estimates.latency_high_ms
    yield (
        "On ",
        Name(estimates.device_name),
        f" ({estimates.precision}) about ",
        Value(
            estimates.estimated_latency_ms / 1e3, "seconds", is_lower_bound=bool(estimates.unknown_kernels)
        ),
        " (",
        Value(None if low is None else low / 1e3, "seconds"),
        " to ",
        Value(None if high is None else high / 1e3, "seconds"),
        f", {estimates.label})",
        *(
            ()
            if estimates.compute_utilization_estimate is None
            else (
                ", ",
                Value(
                    estimates.compute_utilization_estimate,
                    "share",
                    "/hardware_estimates/compute_utilization_estimate",
                ),
                " of its peak",
            )
        ),
        f"; {fits}." if fits else ".",
    )
    priced = estimates.usd_per_hour is not None and estimates.usd_per_million_inferences is not None
    if priced and report.serving is None:
        yield (
            "A million inferences cost about ",
            Value(
                estimates.usd_per_million_inferences, "usd", "/hardware_estimates/usd_per_million_inferences"
            ),
            " one after the other, at ",
            Value(estimates.usd_per_hour, "usd", "/hardware_estimates/usd_per_hour"),
            f" per hour ({estimates.price_source}).",
        )


def _answers(report: Report) -> Iterator[Line]:
    """Return what text generation costs, and how many users a device serves."""
    serving = report.serving
    if serving is None or serving.service is None:
        return
    service = serving.service
    yield (
        "Requests of ",
        Value(serving.input_tokens),
        " tokens with answers of ",
        Value(serving.output_tokens),
        ": one device serves ",
        Value(service.users_per_replica),
        " users at once, each reads ",
        Value(service.tokens_per_s_per_user, "count", "/serving/service/tokens_per_s_per_user"),
        " tokens per second, the first after ",
        Value(None if service.first_token_ms is None else service.first_token_ms / 1e3, "seconds"),
        ".",
    )
    if service.usd_per_million_output_tokens is not None:
        yield (
            "A million tokens of answers, with their prompts, cost about ",
            Value(
                service.usd_per_million_output_tokens, "usd", "/serving/service/usd_per_million_output_tokens"
            ),
            ".",
        )


def _risks(report: Report) -> Line:
    counts = dict.fromkeys(_SEVERITIES, 0)
    for signal in report.risk_signals:
        counts[signal.severity] = counts.get(signal.severity, 0) + 1
    by_severity = ", ".join(f"{number:,} {severity}" for severity, number in counts.items() if number)
    if not by_severity:
        return ("No findings.",)
    first = report.risk_signals[0]
    parts: Line = (f"{plural(len(report.risk_signals), 'finding')}: {by_severity}.",)
    if first.severity in ("high", "medium"):
        parts += (" First: ", first.description, " ", first.recommendation)
    return parts


def _unknown_parts(report: Report) -> Iterator[Line]:
    """Return what the numbers do not include."""
    unbound = [dim.name for dim in report.dims if dim.value is None]
    if unbound:
        yield ("Costs depend on symbolic dimensions without a value: ", Name(", ".join(unbound[:6])), ".")
    elif report.coverage.nodes_known < report.coverage.nodes_total and report.runnable.verdict != "no":
        yield (
            "The costs of ",
            Value(report.coverage.nodes_total - report.coverage.nodes_known),
            " of ",
            Value(report.coverage.nodes_total, "exact", "/coverage/nodes_total"),
            " nodes are unknown; totals are lower bounds.",
        )
    errors = [item for item in report.diagnostics if item.severity == "error"]
    if errors:
        yield (f"{plural(len(errors), 'error')} in the file. First: ", errors[0].message)


def _run(context: SectionContext) -> Iterator[Line]:
    """Return where most work and memory go."""
    report = context.report
    yield (sentence_start(architecture_line(report)), ".")
    yield from _repeats(report)
    yield from _operators(report)
    yield from _heaviest(context)
    yield from _peak(context)
    yield from _intensity(report)
    yield from _cache(report)


def _repeats(report: Report) -> Iterator[Line]:
    """Return the longest run of equal parts, as the evidence of the architecture has it.

    Stages may have more parts of that name, which differ in their sizes.
    """
    longest = max(report.repeats, key=lambda run: (run.count * run.size, run.count), default=None)
    if longest is not None:
        yield (
            Name(longest.name),
            " is repeated ",
            Value(longest.count),
            " times in a row, ",
            Value(longest.count * longest.size),
            " nodes in all.",
        )


def _operators(report: Report) -> Iterator[Line]:
    total = report.metrics.total_macs
    rows = sorted((row for row in report.metrics.by_op if row.macs), key=lambda row: -(row.macs or 0))[:2]
    if not total or not rows:
        return
    line: list[Cell] = []
    for row in rows:
        line += [" and " if line else "", Name(row.type), " ", Value((row.macs or 0) / total, "share")]
    yield (*line, " of the MACs.")


def _heaviest(context: SectionContext) -> Iterator[Line]:
    total = context.report.metrics.total_macs
    ranked = sorted(context.report.layers, key=lambda layer: -(layer_in_inference(layer, "macs") or 0))
    if total and ranked and (most := layer_in_inference(ranked[0], "macs")):
        first = ranked[0]
        yield (
            "Heaviest layer: ",
            Name(first.name),
            f" ({first.type}) with ",
            Value(most, "count"),
            " MACs, ",
            Value(most / total, "share"),
            ".",
        )


def _peak(context: SectionContext) -> Iterator[Line]:
    peak = context.report.memory.peak
    if peak is not None and peak.nodes:
        yield (
            "Activations peak at ",
            Value(peak.bytes, "size", "/memory/peak/bytes"),
            " in ",
            context.layer_name(peak.nodes[-1]),
            ".",
        )


def _intensity(report: Report) -> Iterator[Line]:
    numbers = report.metrics
    if numbers.total_flops and numbers.read_bytes and numbers.write_bytes is not None:
        moved = numbers.read_bytes + numbers.write_bytes
        yield (
            "Unfused, it moves ",
            Value(moved, "size"),
            " per inference: ",
            Value(numbers.total_flops / moved, "count"),
            " FLOPs per byte.",
        )


def _cache(report: Report) -> Iterator[Line]:
    cache = report.memory.kv_cache
    if cache is not None and cache.source != "none" and cache.bytes_per_token is not None:
        parts: Line = (
            "The KV cache takes ",
            Value(cache.bytes_per_token, "size", "/memory/kv_cache/bytes_per_token"),
            " per token",
        )
        if cache.context_bytes is not None and cache.context_length is not None:
            parts += (
                ", ",
                Value(cache.context_bytes, "size", "/memory/kv_cache/context_bytes"),
                " for ",
                Value(cache.context_length, "exact", "/memory/kv_cache/context_length"),
                " tokens",
            )
        yield (*parts, " of one sequence" + (" (estimated)." if cache.source == "estimated" else "."))
