"""``onnx-autodoc llm``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, progress_options, runtime_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.errors import OptionError
from py_autodoc.outputs.marks import sealed_text
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.llm import Plans

UNKNOWN = 2
"""Exit status if times of some points are unknown."""


@click.command("llm", short_help="Plan text generation: prefill, decode, KV cache, devices, costs.")
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--hardware",
    metavar="ID|FILE,…",
    multiple=True,
    required=True,
    shell_complete=completion.devices,
    help="Devices.",
)
@click.option("--batch", metavar="N,N…", multiple=True, help="Sequences per batch (default: 1,8,32).")
@click.option(
    "--context",
    metavar="N,N…",
    multiple=True,
    help="Tokens per sequence; 1k is 1,024 (default: 1k,4k,32k, up to the model's maximum).",
)
@click.option(
    "--precision",
    metavar="P,P…",
    multiple=True,
    shell_complete=completion.precisions,
    help="fp32, tf32, fp16, bf16, fp8 or int8 (default: the stored precision).",
)
@runtime_option()
@click.option("--tensor-parallel", metavar="N,N…", multiple=True, help="Devices that share each layer.")
@click.option(
    "--pipeline-parallel", metavar="N,N…", multiple=True, help="Devices that each run a range of layers."
)
@click.option(
    "--link",
    metavar="L",
    default="auto",
    show_default=True,
    help="Interconnect of the devices: auto, nvlink or pcie.",
)
@click.option("--input-length", metavar="N", help="Tokens of the prompt of a request (default: 1k).")
@click.option("--output-length", metavar="N", help="Tokens of the answer of a request (default: 256).")
@click.option(
    "--first-token", metavar="T", help="Goal: mean time to the first token of a user, such as 500ms."
)
@click.option("--user-tokens-per-s", metavar="R", type=float, help="Goal: tokens per second for each user.")
@click.option("--users", metavar="N", help="Users to serve at once; gives the devices needed.")
@click.option("--cloud", metavar="NAME", default="", help="Prices: aws, azure, gcp, or all for the cheapest.")
@click.option(
    "--price", metavar="USD", type=float, help="Dollars per hour and device, instead of a cloud price."
)
@click.option(
    "--prefill-chunk",
    metavar="N",
    default="2k",
    show_default=True,
    help="Prompt tokens processed at a time.",
)
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension other than batch and tokens. Repeatable.",
)
@click.option("--out-json", metavar="PATH", help="Write the plans as JSON (- for stdout).")
@click.option("--out-md", metavar="PATH", help="Write the plans as Markdown (- for stdout).")
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@force
@progress_options
def command(model: str, log_level: str, progress: bool | None, pretty: bool, **options: Any) -> int:
    """Plan text generation with MODEL, a decoder as ONNX or the config.json of a model of transformers.

    \b
        onnx-autodoc llm llama.onnx --hardware h100 --batch 1,8,32 --context 1k,4k,32k
        onnx-autodoc llm config.json --hardware h100,a100-sxm4-80gb --tensor-parallel 1,2,4 --cloud all
        onnx-autodoc llm config.json --hardware l40s --users 200 --input-length 2k --first-token 1s

    Reports prefill (the prompt) and decode (per token), tokens per second, the KV cache, the longest context
    and the largest batch that fit, on one device or several, the users that they serve at once over whole
    requests, and the cost of a million tokens.

    \b
    Exit status: 0 success, 1 invalid input or not a decoder, 2 some times are unknown, 3 a result could not
    be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.cli import axes
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings
    from py_autodoc.llm import PlanOptions, plan

    chunk = axes.tokens([options["prefill_chunk"]], "--prefill-chunk")
    devices = axes.texts(options["hardware"])
    chosen = PlanOptions(
        hardware=devices,
        batch=axes.counts(options["batch"], "--batch") or (1, 8, 32),
        context=axes.tokens(options["context"], "--context"),
        precision=axes.texts(options["precision"]),
        tensor_parallel=axes.counts(options["tensor_parallel"], "--tensor-parallel") or (1,),
        pipeline_parallel=axes.counts(options["pipeline_parallel"], "--pipeline-parallel") or (1,),
        link=options["link"].strip().lower(),
        provider=options["cloud"].strip().lower(),
        price=axes.positive(options["price"], "--price"),
        chunk=chunk[0] if chunk else 2048,
        runtime=options["runtime"],
        input_tokens=_tokens(options["input_length"], "--input-length"),
        output_tokens=_tokens(options["output_length"], "--output-length"),
        first_token_ms=axes.milliseconds(options["first_token"], "--first-token"),
        user_tokens_per_s=axes.positive(options["user_tokens_per_s"], "--user-tokens-per-s"),
        users=_one(axes.counts([options["users"] or ""], "--users"), "--users"),
        bindings=parse_bindings(options["bind"]),
    )
    requested = {"--out-json": (options["out_json"], "llm"), "--out-md": (options["out_md"], "markdown")}
    outputs = targets(requested, [model, *devices], options["force"])
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        plans = plan(model, chosen, lambda done, total: line.update("devices", done, total))
    for option, target in outputs.items():
        written = target.write(_text(option, plans, pretty, target.to_stdout))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if not outputs:
        if sys.stdout.isatty():
            from py_autodoc.render.llm_text import llm_lines

            stdout.lines(llm_lines(plans))
        else:
            stdout.json_text(plans.to_json(pretty) + "\n")
    return _status(plans)


def _tokens(text: str | None, option: str) -> int:
    from py_autodoc.cli import axes

    return _one(axes.tokens([text or ""], option), option)


def _one(numbers: list[int], option: str) -> int:
    """Return the only number of a list, 0 without one. Raises: OptionError for several."""
    if len(numbers) > 1:
        raise OptionError("bad-list", f"{option} takes one number.", "Run the command once for each.")
    return numbers[0] if numbers else 0


def _text(option: str, plans: Plans, pretty: bool, printed: bool) -> str:
    if option == "--out-json":
        return plans.to_json(pretty) + "\n"
    from py_autodoc.render.llm_text import llm_markdown

    text = llm_markdown(plans)
    return text if printed else sealed_text(text, "markdown")


def _status(plans: Plans) -> int:
    """Report how many times are unknown, and why; return the exit status."""
    points = [point for plan in plans.plans for point in plan.points]
    lost = [point for point in points if point.prefill_ms is None or point.decode_ms is None]
    rateless = next((plan.reason for plan in plans.plans if plan.reason), "")
    if not lost and not rateless:
        return 0
    why = (lost[0].reason if lost else "") or rateless or "a dimension is unknown"
    stderr.error(f"{plans.model}: times of {len(lost):,} of {len(points):,} points are unknown: {why}.")
    return UNKNOWN
