"""``onnx-autodoc recommend``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, progress_options, risk_option, runtime_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.recommend import DeviceCandidate, Recommendation

UNMET = 5
"""Exit status if no device meets all targets."""
_MAX_LISTED = 10
_TIERS = (
    ("minimum", "Minimum (the cheapest to rent that fits the model, else the one with the least power)"),
    (
        "recommended",
        "Recommended (the cheapest to rent that meets all targets, else the one with the least power)",
    ),
    ("optimal", "Optimal (the most items per second)"),
)


@click.command("recommend", short_help="Recommend devices: minimum, recommended, optimal.")
@click.argument("models", metavar="MODEL…", type=click.Path(path_type=str), nargs=-1, required=True)
@click.option(
    "--deployment-target",
    "target",
    metavar="T",
    default="",
    help="edge, local or cloud (default: any device).",
)
@click.option("--target-latency", metavar="TIME", help="Maximum time per inference: 5ms.")
@risk_option()
@click.option("--target-throughput", metavar="RATE", help="Minimum items per second: 30, 30fps or 1000/s.")
@click.option("--max-power", metavar="WATTS", type=float, help="Maximum power of the device.")
@click.option(
    "--max-devices",
    metavar="N",
    type=click.IntRange(min=1, max=1024),
    default=16,
    help="Devices of a kind that may share the throughput if one is too slow (default: 16).",
)
@click.option("--max-price", metavar="USD", type=float, help="Maximum price per hour.")
@click.option("--cloud", metavar="NAME", default="", help="Prices of one provider: aws, azure or gcp.")
@click.option(
    "--precision",
    metavar="P,P…",
    multiple=True,
    shell_complete=completion.precisions,
    help="Allowed precisions; the fastest is used (default: the stored precision).",
)
@runtime_option()
@click.option(
    "--batch-size",
    "batch",
    metavar="N",
    type=click.IntRange(min=1, max=1 << 20),
    help="Only try this batch size (default: 1 to 64, if the model allows it).",
)
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension; the others get a typical one. Repeatable.",
)
@click.option("--all", "every", is_flag=True, help="List all devices below the tiers, not only the best ten.")
@click.option("--out-json", metavar="PATH", help="Write the recommendation as JSON (- for stdout).")
@click.option("--out-md", metavar="PATH", help="Write the system requirements as Markdown (- for stdout).")
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@force
@progress_options
def command(models: tuple[str, ...], log_level: str, progress: bool | None, **options: Any) -> int:
    """Recommend devices for MODEL, like the system requirements of a game.

    \b
        onnx-autodoc recommend resnet50.onnx --deployment-target edge --target-latency 20ms --max-power 30
        onnx-autodoc recommend bert.onnx --deployment-target cloud --target-throughput 500 --precision fp16

    Several models are assumed to run in sequence on one device: latencies and memory are summed. Latencies
    are estimates, followed by their likely range. Prices are approximate and dated.

    \b
    Exit status: 0 success, 1 invalid input, 3 a result could not be written, 5 no device meets all targets.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.cli import axes
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings
    from py_autodoc.recommend import RecommendOptions, recommend

    chosen = RecommendOptions(
        target=options["target"].strip().lower(),
        latency=axes.milliseconds(options["target_latency"], "--target-latency"),
        throughput=axes.per_second(options["target_throughput"], "--target-throughput"),
        power=axes.positive(options["max_power"], "--max-power"),
        risk=options["risk"],
        max_devices=options["max_devices"],
        price=axes.positive(options["max_price"], "--max-price"),
        provider=options["cloud"],
        precision=axes.texts(options["precision"]),
        runtime=options["runtime"],
        batch=options["batch"],
        bindings=parse_bindings(options["bind"]),
    )
    requested = {
        "--out-json": (options["out_json"], "recommendation"),
        "--out-md": (options["out_md"], "markdown"),
    }
    outputs = targets(requested, list(models), options["force"])
    with ProgressLine(printable(os.path.basename(models[0])), progress) as line:
        result = recommend(models, chosen, lambda done, total: line.update("points", done, total))
    text = result.to_json(options["pretty"]) + "\n"
    for option, target in outputs.items():
        written = target.write(text if option == "--out-json" else _markdown(result))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if not outputs:
        if sys.stdout.isatty():
            stdout.lines(lines(result, options["every"]))
        else:
            stdout.json_text(text)
    return _status(result)


def _markdown(result: Recommendation) -> str:
    from py_autodoc.outputs.marks import sealed_text
    from py_autodoc.recommend.for_card import requirements
    from py_autodoc.render.markdown import render_sections
    from py_autodoc.render.markdown_text import escape
    from py_autodoc.report.sections.requirements import requirements_section

    section = requirements_section(requirements(result))
    names = ", ".join(result.models)
    return sealed_text(f"# {escape(names)}\n\n{render_sections([section])}", "markdown")


def _status(result: Recommendation) -> int:
    if not result.candidates:
        stderr.error(f"{', '.join(result.models)}: no device has an estimate.", "Set dimensions with --bind.")
        return UNMET
    nearest = result.nearest_miss
    if nearest is not None:
        stderr.error(
            f"{', '.join(result.models)}: no device meets all targets. Closest: {nearest.device_name}: "
            f"{nearest.reason}."
        )
        return UNMET
    return 0


def lines(result: Recommendation, all_devices: bool = False) -> list[str]:
    """Return the tiers and the best devices as text."""
    from py_autodoc.recommend.words import rate_text
    from py_autodoc.units import dollars

    sizes = ", ".join(f"{name} = {size}" for name, size in result.bindings.items())
    text = [f"System requirements of {', '.join(result.models)}{f' at {sizes}' if sizes else ''}"]
    for name, title in _TIERS:
        candidate: DeviceCandidate | None = getattr(result, name)
        text += ["", title]
        if candidate is None:
            text.append("  none")
            continue
        label = f" ({candidate.label})" if candidate.label != "estimate" else ""
        text.append(
            f"  {candidate.device_name} ({candidate.device}), {candidate.precision}{_batch(candidate)}{label}"
        )
        text.append(f"  {candidate.reason}")
        more = [
            f"{rate_text(candidate.estimated_throughput_fps)} items/s"
            if candidate.estimated_throughput_fps
            else ""
        ]
        more.append(f"{candidate.power_watts:g} W" if candidate.power_watts is not None else "")
        more.append(_price(candidate, dollars))
        details = "; ".join(detail for detail in more if detail)
        if details:
            text.append(f"  {details}")
    left_out = _left_out(result)
    if left_out:
        named = ", ".join(candidate.device for candidate in left_out[:3])
        others = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        text.append(f"  Estimated faster, but known to an order of magnitude only: {named}{others}")
    listed = result.candidates if all_devices else result.candidates[:_MAX_LISTED]
    if listed:
        text += ["", f"The best {len(listed)} of {len(result.candidates)} devices"]
        width = max(len(candidate.device) for candidate in listed)
        for candidate in listed:
            mark = "✓" if candidate.meets_all_targets else "·"
            text.append(
                f"  {mark} {candidate.device.ljust(width)}  {candidate.reason}{_uncertain(candidate)}"
            )
    return text


def _uncertain(candidate: DeviceCandidate) -> str:
    return f" ({candidate.label})" if candidate.label not in ("estimate", "rough") else ""


def _left_out(result: Recommendation) -> list[DeviceCandidate]:
    """Return the faster devices that are not optimal because their times are too uncertain."""
    from py_autodoc.recommend.run import MAGNITUDE_LABEL

    best = result.optimal
    if best is None or best.label == MAGNITUDE_LABEL:
        return []
    return [
        candidate
        for candidate in result.candidates
        if candidate.label == MAGNITUDE_LABEL
        and candidate.meets_all_targets >= best.meets_all_targets
        and (candidate.estimated_throughput_fps or 0) > (best.estimated_throughput_fps or 0)
    ]


def _batch(candidate: DeviceCandidate) -> str:
    return "" if candidate.batch is None else f", batch {candidate.batch}"


def _price(candidate: DeviceCandidate, dollars: Callable[[float | None], str]) -> str:
    if candidate.price_usd_per_hour is None:
        return ""
    offer = f"{candidate.instance}, {candidate.region}, {candidate.price_date}"
    million = candidate.usd_per_million
    per_million = "" if million is None else f", {dollars(million)} per million items"
    return f"about {dollars(candidate.price_usd_per_hour)}/h ({offer}){per_million}"
