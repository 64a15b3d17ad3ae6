"""A small, fixed share of ``make fuzz``: every option that writes is aimed at inputs, and runs are killed."""

from __future__ import annotations

import sys

import pytest
import writers
import writing

from py_autodoc.cli.app import COMMANDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="links and kills as Linux has them"),
]
ALL = list(writers.writers())
BY_NAME = {f"{one.command}-{one.parameter}": one for one in ALL}


def _inputs(writer: writers.Writer) -> list[tuple[str, tuple[str, ...]]]:
    """(file, options) of the inputs that a run can be aimed at."""
    own = "k.keras" if writer.command == "export" else "m.onnx"
    return [(own, ()), *((file, (flag, file)) for flag, file in writers.reads(writer.command))]


@pytest.mark.parametrize("name", BY_NAME)
def test_an_input_is_never_written_over(name):
    writer = BY_NAME[name]
    if writer.command == "hardware":
        pytest.skip("reads no file")
    number = list(BY_NAME).index(name)
    for turn, (file, options) in enumerate(_inputs(writer)):
        way = writers.TARGETS[(number + turn) % len(writers.TARGETS)]
        # Its weights are those of a model alone.
        way = way if file.endswith(".onnx") else way.replace("hard-data", "hard").replace("data", "itself")
        assert writing.overwrite(writer, file, way, bool((number + turn) % 2), options) == ""


KILLED = ("analyze-out_json", "check-junit", "compare-out_json", "extract-out", "rebatch-out", "to-torch-out",
          "recommend-out_json", "verify-out_json", "sensitivity-out_md", "run-out_layers",
          "export-report_json")  # fmt: skip


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("name", KILLED)
def test_a_killed_run_leaves_the_old_file_or_the_new_one(name, at):
    said, _ = writing.kill(BY_NAME[name], at=at)
    assert said == ""


def test_every_path_that_a_command_takes_is_known():
    """A new option that takes a file is run here at once, or is said to be read."""
    assert {one.command for one in ALL} == set(writers.BASE)
    seen = {
        parameter.name
        for command in COMMANDS
        for parameter in writers._command(command).params
        if writers.takes_path(command, parameter)
    }
    assert seen >= writers.READ - {"against", "source"}  # described in other words
    assert {"out_json", "out_html", "out", "beside", "restore", "assign", "junit", "jit_graph"} <= {
        one.parameter for one in ALL
    }


def test_the_harness_sees_faults(monkeypatch):
    """It must not be content with everything."""
    from py_autodoc.outputs import output_files

    writer = BY_NAME["analyze-out_json"]
    monkeypatch.setattr(output_files, "_check", _everything)
    assert "changed ['m.onnx']" in writing.overwrite(writer, "m.onnx", "itself", True)


def _everything(request, inputs, force):
    from pathlib import Path

    from py_autodoc.outputs import output_files

    path = Path(request.path).resolve()
    return output_files.OutputFile(path, path.name, False, output_files._state(path)), None
