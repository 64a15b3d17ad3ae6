"""``onnx-autodoc recommend``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, progress_options, runtime_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.recommend import DeviceCandidate, Recommendation

UNMET = 5
"""Exit status if no device meets all targets."""
_SHOWN = 10
_TIERS = (
    ("minimum", "Minimum (the smallest that fits the model)"),
    ("recommended", "Recommended (the smallest that meets all targets)"),
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
@click.option("--target-throughput", metavar="N", type=float, help="Minimum items per second.")
@click.option("--max-power", metavar="WATTS", type=float, help="Maximum power of the device.")
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
        throughput=axes.positive(options["target_throughput"], "--target-throughput"),
        power=axes.positive(options["max_power"], "--max-power"),
        price=axes.positive(options["max_price"], "--max-price"),
        provider=options["cloud"],
        precision=axes.texts(options["precision"]),
        runtime=options["runtime"],
        batch=options["batch"],
        bindings=parse_bindings(options["bind"]),
    )
    outputs = targets({"--out-json": (options["out_json"], "recommendation")}, list(models), options["force"])
    with ProgressLine(printable(os.path.basename(models[0])), progress) as line:
        found = recommend(models, chosen, lambda done, total: line.update("points", done, total))
    text = found.to_json(options["pretty"]) + "\n"
    for target in outputs.values():
        written = target.write(text)
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if not outputs:
        if sys.stdout.isatty():
            stdout.lines(lines(found, options["every"]))
        else:
            stdout.text(text)
    return _status(found)


def _status(found: Recommendation) -> int:
    if not found.candidates:
        stderr.error(f"{', '.join(found.models)}: no device has an estimate.", "Set dimensions with --bind.")
        return UNMET
    nearest = found.nearest_miss
    if nearest is not None:
        stderr.error(
            f"{', '.join(found.models)}: no device meets all targets. Closest: {nearest.device_name}: "
            f"{nearest.reason}."
        )
        return UNMET
    return 0


def lines(found: Recommendation, every: bool = False) -> list[str]:
    """Return the tiers and the best devices as text."""
    sizes = ", ".join(f"{name} = {size}" for name, size in found.bindings.items())
    text = [f"System requirements of {', '.join(found.models)}{f' at {sizes}' if sizes else ''}"]
    for name, title in _TIERS:
        one: DeviceCandidate | None = getattr(found, name)
        text += ["", title]
        if one is None:
            text.append("  none")
            continue
        sure = f" ({one.label})" if one.label != "estimate" else ""
        text.append(f"  {one.device_name} ({one.device}), {one.precision}{_batch(one)}{sure}")
        text.append(f"  {one.reason}")
        more = [f"{one.estimated_throughput_fps:,.4g} items/s" if one.estimated_throughput_fps else ""]
        more.append(f"{one.power_watts:g} W" if one.power_watts is not None else "")
        more.append(_price(one))
        shown = "; ".join(part for part in more if part)
        if shown:
            text.append(f"  {shown}")
    listed = found.candidates if every else found.candidates[:_SHOWN]
    if listed:
        text += ["", f"The best {len(listed)} of {len(found.candidates)} devices"]
        width = max(len(one.device) for one in listed)
        text += [
            f"  {'✓' if one.meets_all_targets else '·'} {one.device.ljust(width)}  {one.reason}"
            for one in listed
        ]
    return text


def _batch(one: DeviceCandidate) -> str:
    return "" if one.batch is None else f", batch {one.batch}"


def _price(one: DeviceCandidate) -> str:
    if one.price_usd_per_hour is None:
        return ""
    million = f", ${one.usd_per_million:.3g} per million items" if one.usd_per_million is not None else ""
    return f"about ${one.price_usd_per_hour:g}/h ({one.instance}, {one.region}, {one.price_date}){million}"
