"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from py_autodoc.cli import completion

F = TypeVar("F", bound=Callable[..., Any])


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Combine options into one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _one_size(context: click.Context, parameter: click.Parameter, values: tuple[int, ...]) -> int | None:
    """Return the given size. Reject differing repeats instead of silently using the last one."""
    if len(set(values)) > 1:
        listed = " and ".join(map(str, dict.fromkeys(values)))
        raise click.BadParameter(f"it was given several times: {listed}.", context, parameter)
    return values[0] if values else None


def sizes(says: str) -> Callable[[F], F]:
    """Options for symbolic dimensions: ``--bind``, ``--input-shape``, ``--batch-size``, ``--assume``.

    ``says`` names the output that lists assumed values, such as ``report``.
    """
    return _all(
        click.option(
            "--bind",
            metavar="NAME=N",
            multiple=True,
            shell_complete=completion.symbols,
            help="Value for a symbolic dimension; '*=N' for all without a value. Repeatable.",
        ),
        click.option(
            "--input-shape",
            metavar="NAME=1x3x224x224",
            multiple=True,
            help="Full shape of an input. Repeatable.",
        ),
        click.option(
            "--batch-size",
            metavar="N",
            type=click.IntRange(min=1, max=1 << 20),
            multiple=True,
            callback=_one_size,
            help="Batch size, even if the file has a fixed one (see `rebatch`).",
        ),
        click.option(
            "--resize",
            metavar="NAME=1x3x320x320",
            multiple=True,
            help="New shape of an input with fixed dimensions (see `resize`). Repeatable.",
        ),
        click.option(
            "--assume",
            is_flag=True,
            help=f"Use typical values for dimensions without one (the {says} lists them).",
        ),
    )


def _list_devices(context: click.Context, _: click.Parameter, enabled: bool) -> None:
    if enabled and not context.resilient_parsing:
        from py_autodoc.hardware.profile import PRECISIONS, estimable, profiles

        for profile in profiles():
            if estimable(profile):
                memory = "" if profile.vram_bytes is None else f"{profile.vram_bytes / 2**30:g} GiB"
                precisions = " ".join(name for name in PRECISIONS if profile.peak(name))
                click.echo("\t".join((profile.id, profile.name, profile.category, memory, precisions)))
        context.exit()


def _one_device(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str:
    """Return the device. Reject repeats instead of silently using the last one."""
    if len(values) > 1:
        raise click.BadParameter("only one device can be given.", context, parameter)
    if values and not values[0].strip():
        raise click.BadParameter(
            "the value is empty; run --list-hardware to list the ids.", context, parameter
        )
    return values[0] if values else ""


def runtime_option() -> Callable[[F], F]:
    """The option ``--runtime``: the runtime of the model on the device."""
    return click.option(
        "--runtime",
        metavar="R",
        default="",
        shell_complete=completion.runtimes,
        help="tensorrt, ort-cuda, pytorch-eager, torch-compile or vendor (default: tensorrt on NVIDIA's "
        "devices, ort-cuda on CPUs, vendor on others).",
    )


def risk_option() -> Callable[[F], F]:
    """The option ``--risk``: which end of the likely range a limit on latency applies to."""
    return click.option(
        "--risk",
        metavar="R",
        default="",
        help="A limit on latency applies to the estimate (typical, the default) or to the upper end of its "
        "likely range (high).",
    )


def hardware(command: F) -> F:
    """Options for latency estimates: ``--hardware``, ``--precision``, ``--runtime``, ``--list-hardware``."""
    several: Callable[[F], F] = _all(
        click.option(
            "--hardware",
            metavar="ID|FILE",
            multiple=True,
            callback=_one_device,
            shell_complete=completion.devices,
            help="Estimate latency and memory on a device: an id such as l4, a JSON profile file, or auto.",
        ),
        click.option(
            "--precision",
            metavar="P",
            default="",
            shell_complete=completion.precisions,
            help="fp32, tf32, fp16, bf16, fp8 or int8 (default: the stored precision).",
        ),
        runtime_option(),
        click.option(
            "--list-hardware",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_list_devices,
            help="List the known devices (id, name, kind, memory, precisions), and exit.",
        ),
    )
    return several(command)


def force(command: F) -> F:
    """The option ``--force``: replace existing files."""
    return click.option(
        "--force",
        is_flag=True,
        help="Replace files that this command did not write, or that have changed since; never inputs.",
    )(command)


def progress_options(command: F) -> F:
    """Options for output on stderr: ``--progress``, ``--log-level``."""
    decorate: Callable[[F], F] = _all(
        click.option(
            "--progress/--no-progress",
            default=None,
            help="Show progress on stderr (default: on a terminal).",
        ),
        click.option(
            "--log-level",
            type=click.Choice(["debug", "info", "warning", "error"], case_sensitive=False),
            default="warning",
            show_default=True,
            help="How much to log on stderr: info shows phases; debug also nodes and tracebacks.",
        ),
    )
    return decorate(command)


def preprocessing(command: F) -> F:
    """The option ``--preprocessing``: how images of ``--data`` become values."""
    return click.option(
        "--preprocessing",
        metavar="NAME|FILE",
        help="Preprocessing of images: 0..1, -1..1, 0..255, imagenet, or a preprocessor_config.json "
        "(default: from the model's metadata).",
    )(command)


def seed_option(values: str = "synthetic values") -> Callable[[F], F]:
    """The option ``--seed``: seed of the random numbers that serve as ``values``."""
    return click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help=f"Random seed for {values}.",
    )
