"""``onnx-autodoc hardware``: list, show, detect."""

from __future__ import annotations

import json
from typing import Any

import click

from py_autodoc.cli import completion, stdout
from py_autodoc.errors import OptionError

ACTIONS = ("list", "show", "detect")


@click.command("hardware", short_help="The devices that are known, one of them, and this machine.")
@click.argument("action", metavar="list|show|detect")
@click.argument("device", metavar="[ID|FILE]", required=False, shell_complete=completion.devices)
@click.option("--category", metavar="C", default="", help="list: only one, as datacenter, edge, cpu.")
@click.option(
    "--cloud", metavar="NAME", default="", help="list: what aws, azure or gcp rents, or all, with prices."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(action: str, device: str | None, category: str, cloud: str, as_json: bool) -> None:
    """List the devices that a latency can be estimated for, show one, or detect those of this machine.

    \b
    list    all of them, or with --cloud all what can be rented
    show    all that is known of one, by its id or a profile's file
    detect  the CPU and the GPUs of this machine, and which profiles they match

    Exit status: 0 success, 1 invalid input.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    if action not in ACTIONS:
        raise OptionError(
            "unknown-action", f"There is no action {action[:40]!r}.", f"One of {', '.join(ACTIONS)}."
        )
    if (action == "show") != (device is not None):
        what = "needs a device" if action == "show" else "takes no device"
        raise OptionError("device-argument", f"hardware {action} {what}.", "See --help.")
    if action != "list" and (category or cloud):
        raise OptionError("only-of-list", "--category and --cloud are options of list.", "Leave them out.")
    if device is not None:
        _show(device, as_json)
    elif action == "list":
        _list(category, cloud, as_json)
    else:
        _detect(as_json)


def _list(category: str, cloud: str, as_json: bool) -> None:
    from py_autodoc.hardware.cloud import checked_provider
    from py_autodoc.hardware.listing import devices, instances_as_rows, table

    if category and cloud:
        raise OptionError("two-lists", "--category is of devices, --cloud of instances.", "Give one of them.")
    if cloud:
        rows = instances_as_rows("" if cloud == "all" else checked_provider(cloud))
    else:
        rows = devices(category)
    if as_json:
        stdout.as_json(rows)
    else:
        stdout.lines(table(rows))


def _show(device: str, as_json: bool) -> None:
    from py_autodoc.hardware.listing import facts

    found = facts(device)
    if as_json:
        stdout.as_json(found)
        return
    width = max(map(len, found))
    stdout.lines(
        f"{(name if at == 0 else '').ljust(width)}  {line}"
        for name, value in found.items()
        for at, line in enumerate(_texts(value))
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [f"{value:,.15g}"]
    return [value if isinstance(value, str) else json.dumps(value)]


def _detect(as_json: bool) -> None:
    from py_autodoc.hardware.detect import detected

    found = detected()
    if as_json:
        stdout.as_json(found)
        return
    for one in found:
        matched = f"profile {one['profile']}" if one["profile"] else "no profile"
        stdout.lines([f"{one['kind']}: {one['name']} ({matched})", *(f"  {note}" for note in one["notes"])])
