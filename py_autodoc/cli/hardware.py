"""``onnx-autodoc hardware``: list, show, detect, calibrate."""

from __future__ import annotations

import json
from typing import Any

import click

from py_autodoc.cli import completion, stdout
from py_autodoc.cli.options import force
from py_autodoc.errors import OptionError
from py_autodoc.hardware.requested import THIS_MACHINE

ACTIONS = ("list", "show", "detect", "calibrate")


@click.command("hardware", short_help="List known devices, show one, or detect those of this machine.")
@click.argument("action", metavar="list|show|detect|calibrate")
@click.argument("device", metavar="[ID|FILE]", required=False, shell_complete=completion.devices)
@click.option(
    "--category", metavar="C", default="", help="list: one category, such as datacenter, edge or cpu."
)
@click.option(
    "--cloud", metavar="NAME", default="", help="list: instances of aws, azure, gcp or all, with prices."
)
@click.option("--threads", metavar="N", type=int, default=0, help="calibrate: threads per operator.")
@click.option("--out", metavar="PATH", help="calibrate: write the profile to PATH (- for stdout).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@force
def command(action: str, device: str | None, category: str, cloud: str, **options: Any) -> None:
    """List the devices with latency estimates, show one, or detect those of this machine.

    \b
    list       all devices, or the instances of cloud providers with --cloud
    show       all data of one device, by its id or a profile file
    detect     the CPU and the GPUs of this machine, and the profiles they match
    calibrate  measure this CPU with ONNX Runtime (3 s), for --hardware this-machine

    Exit status: 0 success, 1 invalid input, 3 the profile could not be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    if action not in ACTIONS:
        raise OptionError(
            "unknown-action", f"Unknown action {action[:40]!r}.", f"Choose one of {', '.join(ACTIONS)}."
        )
    if (action == "show") != (device is not None):
        what = "needs a device" if action == "show" else "takes no device"
        raise OptionError(
            "device-argument", f"hardware {action} {what}.", "Run `onnx-autodoc hardware --help`."
        )
    if action != "list" and (category or cloud):
        raise OptionError("only-of-list", "--category and --cloud are options of list.", "Remove them.")
    if action != "calibrate" and (options["threads"] or options["out"] is not None or options["force"]):
        raise OptionError(
            "only-of-calibrate", "--threads, --out and --force are options of calibrate.", "Remove them."
        )
    as_json = bool(options["as_json"])
    if device is not None:
        _print_device(device, as_json)
    elif action == "calibrate":
        _calibrate(options["threads"], options["out"], options["force"], as_json)
    elif action == "list":
        _list(category, cloud, as_json)
    else:
        _detect(as_json)


def _list(category: str, cloud: str, as_json: bool) -> None:
    from py_autodoc.hardware.cloud import checked_provider
    from py_autodoc.hardware.listing import devices, instances_as_rows, table

    if category and cloud:
        raise OptionError(
            "two-lists", "--category applies to devices, --cloud to instances.", "Pass one of them."
        )
    if cloud:
        rows = instances_as_rows("" if cloud == "all" else checked_provider(cloud))
    else:
        rows = devices(category)
    if as_json:
        stdout.as_json(rows)
    else:
        stdout.lines(table(rows))


def _print_device(device: str, as_json: bool) -> None:
    from py_autodoc.hardware.listing import facts

    listing = facts(device)
    if as_json:
        stdout.as_json(listing)
        return
    width = max(map(len, listing))
    stdout.lines(
        f"{(name if index == 0 else '').ljust(width)}  {line}"
        for name, value in listing.items()
        for index, line in enumerate(_texts(value))
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [f"{value:,.15g}"]
    return [value if isinstance(value, str) else json.dumps(value)]


def _calibrate(threads: int, out: str | None, forced: bool, as_json: bool) -> None:
    from py_autodoc.hardware.profile import user_profile_folder
    from py_autodoc.measure.calibrate import calibrate, lines
    from py_autodoc.render.output_target import targets

    path = str(user_profile_folder() / f"{THIS_MACHINE}.json") if out is None else out
    if out is None:
        _make_folder()
    target = targets({"--out": (path, "profile")}, [], forced)["--out"]
    profile = calibrate(threads)
    target.write(json.dumps(profile, indent=2) + "\n")
    if as_json and not target.to_stdout:
        stdout.as_json(profile)
    elif not target.to_stdout:
        use = THIS_MACHINE if out is None else path
        stdout.lines([*lines(profile), f"Wrote {target.display_name}; use it with --hardware {use}."])


def _make_folder() -> None:
    """Create the folder for the user's profiles. Raises: OutputError."""
    from py_autodoc.errors import OutputError
    from py_autodoc.hardware.profile import user_profile_folder

    try:
        user_profile_folder().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as fault:
        raise OutputError(
            "no-settings-folder",
            f"The settings folder cannot be written: {getattr(fault, 'strerror', None) or fault}.",
            "Pass a file: --out cpu.json.",
        ) from None


def _detect(as_json: bool) -> None:
    from py_autodoc.hardware.detect import detected

    devices = detected()
    if as_json:
        stdout.as_json(devices)
        return
    for device in devices:
        matched = f"profile {device['profile']}" if device["profile"] else "no profile"
        stdout.lines(
            [f"{device['kind']}: {device['name']} ({matched})", *(f"  {note}" for note in device["notes"])]
        )
