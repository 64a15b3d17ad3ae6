"""One page per command, from the definitions that ``--help`` prints."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from py_autodoc.cli.app import COMMANDS, command_of
from py_autodoc.version import NAME

FOLDER = "reference/commands"
_OPTION = re.compile(r"(?<![\w`-])(--?[a-z][a-z0-9-]*)")


def command_pages() -> dict[str, str]:
    """Path below ``docs/`` → Markdown, of every command and of their list."""
    rows = "".join(f"| [`{name}`]({name}.md) | {_cell(line)} |\n" for name, line in COMMANDS.items())
    index = (
        f"# Commands\n\nEvery command and option, as `{NAME} COMMAND --help` prints them. The\n"
        "[command-line guide](../../cli.md) explains how to use them.\n\n"
        f"| command | purpose |\n|---|---|\n{rows}"
    )
    pages = {f"{FOLDER}/index.md": index}
    return pages | {f"{FOLDER}/{name}.md": command_page(name) for name in COMMANDS}


def command_page(name: str) -> str:
    """Markdown: usage, help text, arguments and options of one command."""
    command = command_of(name)
    # click keeps the help option that it makes first.
    context = click.Context(command, info_name=f"{NAME} {name}", help_option_names=["-h", "--help"])
    parts = [f"# {NAME} {name}", f"```text\n{usage(command, context)}\n```", *_paragraphs(command.help or "")]
    options = [one for one in command.get_params(context) if isinstance(one, click.Option) and not one.hidden]
    rows = "".join(_row(option, context) for option in options)
    parts.append(f"## Options\n\n| option | meaning |\n|---|---|\n{rows}")
    return "\n\n".join(parts) + "\n"


def usage(command: click.Command, context: click.Context) -> str:
    """The usage line."""
    return " ".join([context.command_path, *command.collect_usage_pieces(context)])


def _paragraphs(help_text: str) -> Iterator[str]:
    """The help text as Markdown: paragraphs flow, those marked with a backspace keep their lines."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(help_text)):
        lines = paragraph.strip("\n").splitlines()
        if not lines:
            continue
        marked = lines[0].strip() == "\b"
        if marked and not lines[1].lstrip().startswith("Exit status"):
            yield "```text\n" + "\n".join(line.rstrip() for line in lines[1:]) + "\n```"
        else:
            yield _prose(" ".join(line.strip() for line in lines[marked:]))


def _row(option: click.Option, context: click.Context) -> str:
    names = [*option.opts, *option.secondary_opts]
    metavar = "" if option.is_flag or option.count else option.make_metavar(ctx=context)
    shown = " / ".join(f"`{name} {metavar}`" if metavar else f"`{name}`" for name in names)
    text, found = option.help or "", option.get_help_extra(context)
    extra = [f"`{one}`" for one in found.get("envvars", ())]
    extra += [f"Default: `{found['default']}`."] if "default" in found and not option.is_flag else []
    extra += [f"Range: `{found['range']}`."] if "range" in found else []
    extra += ["Required."] if "required" in found else []
    return f"| {_escape(shown)} | {_cell(' '.join([text, *extra]))} |\n"


def _prose(text: str) -> str:
    """Text of a docstring: options in code type, nothing in it is markup."""
    return _OPTION.sub(r"`\1`", text.replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_"))


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _cell(text: str) -> str:
    held: list[str] = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return _escape("".join(one if one.startswith("`") else _prose(one) for one in held))
