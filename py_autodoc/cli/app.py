"""The command group: lazily imported commands, and central handling of errors and exit codes.

0 success · 1 invalid input · 2 analysis error (a partial report may have been written) · 3 a result could not
be written · 4 an external service failed · 5 a model does not pass · 130 interrupted · 141 the reader of
our output has exited.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from py_autodoc.cli import stderr
from py_autodoc.cli.logs import LEVEL, level_option, one_handler, trace
from py_autodoc.cli.model_files import accept_other_formats
from py_autodoc.cli.other_spellings import accept_spellings, hint
from py_autodoc.cli.streams import drop_stdout, guarded
from py_autodoc.errors import AutodocError, OutputError
from py_autodoc.version import NAME, version

COMMANDS = {
    "analyze": "Analyse a model: architecture, parameters, MACs, memory, findings.",
    "check": "Check models against limits and rules, for CI.",
    "compare": "Compare models: architecture, precision, metrics.",
    "export": "Export a PyTorch or Keras model to ONNX, recording the module of each node.",
    "extract": "Write one module, or some nodes, as a separate model.",
    "graph": "Write the graph as SVG, PNG, HTML, DOT or data for other viewers.",
    "hardware": "List known devices, show one, or detect those of this machine.",
    "llm": "Plan text generation: prefill, decode, KV cache, devices, costs.",
    "metadata": "Show the task, processor and configuration embedded in a model.",
    "opdocs": "Document every quantized operation: formulas, C, test vectors.",
    "quantize": "Write a quantized model and compare it with the original.",
    "rebatch": "Change the fixed batch size of a model.",
    "recommend": "Recommend devices: minimum, recommended, optimal.",
    "resize": "Change the fixed sequence length or resolution of a model.",
    "rule": "Explain a rule, or list all rules.",
    "run": "Measure latency, memory and results on this machine, also per layer.",
    "schema": "Print the JSON Schema of the report.",
    "sensitivity": "Measure the effect of quantizing each layer on its own.",
    "sweep": "Compute costs and latency for batches, dimensions, precisions and devices.",
    "tags": "List the module that each node comes from.",
    "to-torch": "Write a model as readable PyTorch source and its weights.",
    "validate": "Check a model with its tags, or a JSON report.",
    "verify": "Find where the values of two models diverge.",
}
"""Command → help line; the module with this name (``-`` as ``_``) is imported on use."""
INVALID, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


class _StdoutClosed(Exception):
    """The reader of our stdout has exited."""


@contextmanager
def _reader() -> Iterator[None]:
    """Intercept broken pipes before click, which would report a failure of the command."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise _StdoutClosed from None


def command_of(name: str) -> click.Command:
    """Return a command by name, with ``--log-level`` if it does not define it, and other spellings."""
    command: click.Command = import_module(f"py_autodoc.cli.{name.replace('-', '_')}").command
    if not any(option.name == LEVEL for option in command.params):
        command.params.append(level_option())
    accept_spellings(name, command)
    accept_other_formats(name, command)
    return command


class App(click.Group):
    """Commands from ``COMMANDS``; every failure becomes one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list for ``--help`` without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the command line; ``--help`` and ``--version`` print here."""
        with _reader():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _reader():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for a mistyped name, suggest the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message}{_nearest(args[0])}", ctx) from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its status."""
        sys.exit(self._status(args, prog_name or NAME, complete_var, windows_expand_args, extra))

    def _status(
        self, args: Sequence[str] | None, name: str, complete: str | None, expand: bool, extra: dict[str, Any]
    ) -> int:
        with guarded(), one_handler():
            return self._guarded(args, name, complete, expand, extra)

    def _guarded(
        self, args: Sequence[str] | None, name: str, complete: str | None, expand: bool, extra: dict[str, Any]
    ) -> int:
        try:
            result = super().main(
                args=args,
                prog_name=name,
                complete_var=complete,
                standalone_mode=False,
                windows_expand_args=expand,
                **extra,
            )
        except click.UsageError as error:
            _usage(error)
            return getattr(error.ctx and error.ctx.command, "trouble", INVALID)
        except click.ClickException as error:
            stderr.error(error.format_message())
            return INVALID
        except (click.Abort, KeyboardInterrupt):
            stderr.error("interrupted")
            return INTERRUPTED
        except _StdoutClosed:
            drop_stdout()
            return BROKEN_PIPE
        except AutodocError as error:
            if isinstance(error, OutputError):
                drop_stdout()
            _trace()
            stderr.error(error.message, error.hint)
            return error.exit_status
        except MemoryError:
            _trace()
            stderr.error("The analysis ran out of memory.", "Lower the limits or use a larger machine.")
            return UNEXPECTED
        except OSError as fault:
            from py_autodoc.outputs.output_files import ROOM, is_full, why_full  # slow import

            if not is_full(fault):
                return _unexpected(fault)
            _trace()
            stderr.error(f"Could not write a temporary file: {why_full(fault)}.", ROOM)
            return OutputError.exit_status
        except Exception as fault:  # noqa: BLE001 - the last boundary: a user never sees a traceback unasked
            return _unexpected(fault)
        return result if isinstance(result, int) else 0


def _unexpected(fault: Exception) -> int:
    _trace()
    stderr.error(
        f"The analysis failed because of an internal error in {NAME} ({type(fault).__name__}).",
        "Run again with --log-level debug for a traceback, and please report it.",
    )
    return UNEXPECTED


def _usage(fault: click.UsageError) -> None:
    """Report a usage error; for an option that another command has, name that command."""
    if isinstance(fault, click.NoSuchOption) and fault.ctx is not None:
        known = hint(fault.ctx.info_name or "", fault.option_name)
        if known is not None:
            stderr.error(f"No such option: {fault.option_name}.", known)
            return
    stderr.usage(fault)


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, cutoff=0.5)
    return f" Did you mean {' or '.join(close)}?" if close else f" Commands: {', '.join(COMMANDS)}."


def _trace() -> None:
    """Log the traceback if debug logging is on."""
    if logging.getLogger("py_autodoc").isEnabledFor(logging.DEBUG):
        import traceback

        trace(traceback.format_exc())


@click.group(
    NAME,
    cls=App,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(version(), prog_name=NAME)
@click.pass_context
def app(ctx: click.Context) -> None:
    """See what an ONNX model is and what it costs, without reading its weights."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
