"""Every row of other spellings: accepted like the option it means, or hinted with a command that exists."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import COMMANDS, app, command_of
from py_autodoc.cli.other_spellings import ACCEPTED, ANY, HINTED


def own(name: str) -> dict[str, click.Parameter]:
    """Options in the help of a command, by spelling."""
    return {
        spelling: option
        for option in command_of(name).params
        if not getattr(option, "hidden", False)
        for spelling in option.opts
    }


def parsed(name: str, *arguments: str, given: str = "") -> dict[str, object]:
    command = command_of(name)
    options: list[str] = []
    positional: list[str] = []
    for one in command.params:
        if one.required and isinstance(one, click.Argument):
            positional.append("x")
        elif one.required and given not in one.opts:
            options += [one.opts[0], "x.svg"]
    # First, so that what is tested is the last value given.
    return command.make_context(name, [*options, *arguments, *positional]).params


ROWS = [
    (name, spelling, meant)
    for commands, spelling, meant in ACCEPTED
    for name in COMMANDS
    if (commands == ANY or name in commands) and meant and meant in own(name) and spelling not in own(name)
]


def test_every_accepted_row_has_a_command():
    for commands, spelling, meant in ACCEPTED:
        hit = [row for row in ROWS if row[1:] == (spelling, meant)]
        assert hit or not meant, (commands, spelling)


@pytest.mark.parametrize(("name", "spelling", "meant"), ROWS)
def test_accepted(name, spelling, meant):
    value = "8" if "batch" in spelling else "cpu"
    expected = parsed(name, meant, value, given=meant)
    assert parsed(name, spelling, value, given=meant) == expected
    assert parsed(name, f"{spelling}={value}", given=meant) == expected
    assert value in str(expected)
    assert spelling not in CliRunner().invoke(app, [name, "--help"]).stdout.split()


def test_models_are_positional_too():
    assert parsed("compare", "--models", "a", "b", "c") == parsed("compare", "a", "b", "c")


@pytest.mark.parametrize("row", HINTED, ids=lambda row: row.spelling)
def test_hinted(row):
    lacking = [
        name for name in COMMANDS if not {row.spelling} & {o for p in command_of(name).params for o in p.opts}
    ]
    lacking = [name for name in lacking if row.commands == ANY or name in row.commands]
    assert lacking
    for name in lacking:
        done = CliRunner().invoke(app, [name, row.spelling, "x", "y"])
        assert done.exit_code == getattr(command_of(name), "trouble", 1)
        assert done.stderr == f"error: No such option: {row.spelling}. {row.hint}\n"


@pytest.mark.parametrize("row", HINTED, ids=lambda row: row.spelling)
def test_hints_name_what_exists(row):
    quoted = [line for line in re.findall(r"`(.*?)`", row.hint) if line.startswith("onnx-autodoc")]
    assert quoted
    for line in quoted:
        _, name, *words = shlex.split(line)
        assert {word for word in words if word.startswith("--")} <= set(own(name))


def test_a_mistyped_option_still_gets_the_nearest():
    done = CliRunner().invoke(app, ["analyze", "--out-jsn", "x", "m.onnx"])
    assert "--out-json" in done.stderr
