"""Commands that run models, in real processes: limits of time and memory, signals, crashes, leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.cli import supervisor
from py_autodoc.cli.app import COMMANDS, command_of

MODEL = str(Path(__file__).parents[1] / "data/models/mnist_cntk.onnx")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="looks at processes")


def start(*args, before="", **options):
    """Run the console script in a process; ``before`` runs in its child before the command."""
    code = f"""
import sys
sys.argv = ["onnx-autodoc", *{list(args)!r}]
from py_autodoc import cli
command = cli._run
def run():
{textwrap.indent(before or "pass", "    ")}
    command()
cli._run = run
cli.main()
"""
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def told(*args, before="", **options):
    process = start(*args, before=before, **options)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def endless(path):
    """A loop that ends after 2**62 turns."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Add", ["v", "v"], ["w"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("goes", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [1]),
        ],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "yes", "x"], ["y"], body=body)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
        [
            helper.make_tensor("n", TensorProto.INT64, [], [1 << 62]),
            helper.make_tensor("yes", TensorProto.BOOL, [], [True]),
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def large(path):
    """A model of a few bytes whose activations take 4 TB."""
    graph = helper.make_graph(
        [
            helper.make_node("Expand", ["x", "shape"], ["wide"]),
            helper.make_node("ReduceMean", ["wide"], ["y"], keepdims=0),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
        [helper.make_tensor("shape", TensorProto.INT64, [2], [1 << 20, 1 << 20])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def calls(path, depth):
    """Functions each of which calls the next twice."""
    functions = []
    for number in range(depth):
        called = [
            helper.make_node(f"F{number + 1}" if number + 1 < depth else "Relu", [one], [two],
                             domain="local" if number + 1 < depth else "")
            for one, two in (("a", "b"), ("b", "c"))
        ]  # fmt: skip
        functions.append(
            helper.make_function(
                "local", f"F{number}", ["a"], ["c"], called,
                [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
            )
        )  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("F0", ["x"], ["y"], domain="local")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    onnx.save(helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=8), path)
    return str(path)


def test_which_commands_are_watched():
    limited = {name for name in COMMANDS if any(one.name == "time_limit" for one in command_of(name).params)}
    assert limited == supervisor.COMMANDS | supervisor.WITH_OPTION.keys()
    assert supervisor.wanted(["run", "m.onnx"])
    assert not supervisor.wanted(["analyze", "run"])


def test_completion_is_not_watched(monkeypatch):
    monkeypatch.setenv("_ONNX_AUTODOC_COMPLETE", "bash_complete")
    assert not supervisor.wanted(["run", "m.onnx"])


def test_output_and_status_are_those_of_the_command():
    code, out, err = told("run", MODEL, "--runs", "2", "--warmup", "0", "--out-json", "-")
    assert (code, out[:1]) == (0, "{")
    assert err.startswith("warning: the inputs are synthetic")
    code, out, err = told("run", "none.onnx")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert told("run", "--no-such-option")[0] == 1
    assert told("verify", "--help")[0] == 0


@pytest.mark.parametrize("command", ["run", "verify", "quantize"])
def test_a_model_that_does_not_end_is_stopped(tmp_path, command):
    model = endless(tmp_path / "endless.onnx")
    args = {
        "run": ["run", model],
        "verify": ["verify", model, "--against", model],
        "quantize": ["quantize", model, str(tmp_path / "out.onnx"), "--random-data"],
    }[command]
    code, _, err = told(*args, "--time-limit", "4", cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert code == 1
    assert err.splitlines()[-1] == (
        f"error: {command} took longer than 4 seconds and was stopped. "
        "Set another limit with --time-limit SECONDS (0 for none)."
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.onnx"]


def test_a_model_that_needs_too_much_memory_is_refused(tmp_path):
    model = large(tmp_path / "large.onnx")
    code, _, err = told("run", model)
    assert code == 1
    assert "running it" in err
    assert "4.4 TB of activations at the peak" in err
    assert "--memory-limit none" in err


def test_a_forced_one_ends_in_one_line(tmp_path):
    model = large(tmp_path / "large.onnx")
    # More than the machine has, so that it is the allocation that fails.
    code, _, err = told("run", model, "--memory-limit", "900TB")
    assert code == 1
    assert "needs more memory than there is" in err.splitlines()[-1]


def test_a_limit_below_the_libraries_is_refused():
    code, _, err = told("run", MODEL, "--memory-limit", "5MB")
    assert code == 1
    assert "less than the libraries alone take" in err
    assert told("run", MODEL, "--memory-limit", "much")[0] == 1


@pytest.mark.parametrize("command", ["run", "verify", "quantize", "opdocs", "sensitivity"])
def test_functions_without_end_are_refused(tmp_path, command):
    model = calls(tmp_path / "calls.onnx", 60)
    args = {
        "run": ["run", model],
        "verify": ["verify", model, "--against", model],
        "quantize": ["quantize", model, str(tmp_path / "out.onnx"), "--random-data"],
        "opdocs": ["opdocs", model, "--out", str(tmp_path / "reference")],
        "sensitivity": ["sensitivity", model],
    }[command]
    code, _, err = told(*args)
    assert code == 1
    assert "Expanding local functions gives" in err.splitlines()[-1]


def test_a_crash_is_one_line():
    code, _, err = told("run", MODEL, before="import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert code == 2
    assert err.splitlines() == [
        "error: ONNX Runtime, or another library, crashed while running the model (SIGSEGV). The model may "
        "be damaged, or need more memory than --memory-limit leaves."
    ]
    code, _, err = told("run", MODEL, before="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert code == 2
    assert "probably because memory ran out" in err


WAITING = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)"


def gone(pid):
    """Wait until a process is gone."""
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_end_both(number):
    process = start("run", MODEL, before=WAITING)
    child = int(process.stdout.readline())
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a child of its parent's end")
def test_the_child_ends_with_a_killed_parent():
    process = start("run", MODEL, before=WAITING)
    child = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=60)
    assert gone(child)


def test_an_interrupt_is_what_it_was():
    process = start("run", MODEL, before=f"{WAITING}", start_new_session=True)
    child = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (130, 1, -signal.SIGINT)
    assert gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux gives us the orphans")
def test_what_a_killed_child_started_ends_too():
    before = """
import subprocess, sys, time
one = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(one.pid, flush=True)
time.sleep(600)
"""
    process = start("run", MODEL, before=before)
    grandchild = int(process.stdout.readline())
    process.terminate()
    process.wait(timeout=60)
    assert gone(grandchild)


def test_leftovers_of_a_killed_child_are_removed(tmp_path):
    before = """
import os, signal
from pathlib import Path
from py_autodoc import temporary
context = temporary.folder(Path.cwd())
(context.__enter__() / "private.npz").write_bytes(b"x")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert told("run", MODEL, before=before, cwd=tmp_path)[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_threads_are_bounded_by_the_cores():
    code, _, err = told("run", MODEL, "--runs", "2", "--threads", "1000")
    assert code == 0
    assert "--threads 1000: this process has" in err


def test_a_new_interpreter_where_there_is_no_fork(tmp_path):
    model = endless(tmp_path / "endless.onnx")
    code = """
import os, sys
del os.fork
sys.argv = ["onnx-autodoc", *{args!r}]
from py_autodoc.cli import main
main()
"""

    def run(*args):
        done = subprocess.run(
            [sys.executable, "-c", code.format(args=list(args))], capture_output=True, text=True, timeout=300,
            cwd=tmp_path, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    status, out, _ = run("run", MODEL, "--runs", "2", "--out-json", "-")
    assert (status, out[:1]) == (0, "{")
    status, _, err = run("run", "endless.onnx", "--time-limit", "4")
    assert (status, "took longer than 4 seconds" in err) == (1, True)
    assert model


def test_in_this_process_nothing_is_limited():
    from click.testing import CliRunner

    from py_autodoc.cli.app import app

    assert not supervisor.supervised()
    assert CliRunner().invoke(app, ["run", MODEL, "--runs", "1", "--time-limit", "0"]).exit_code == 0


def test_free_memory_is_a_number_where_the_system_says():
    from py_autodoc import free_memory

    found = free_memory.available_bytes()
    assert found is None or 0 < found < 1 << 50
    said = "takes 11 B of memory; 10 B is allowed"
    with free_memory.allowing(10), pytest.raises(free_memory.LimitError, match=said):
        free_memory.need(11, "A test")
    with free_memory.allowing(None):
        free_memory.need(1 << 80, "A test")


def test_the_limit_of_a_container_is_known(tmp_path, monkeypatch):
    from py_autodoc import free_memory

    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 100000\n")
    assert free_memory._left(tmp_path, "memory.max", "memory.current", "inactive_file") == 700_000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory._left(tmp_path, "memory.max", "memory.current", "inactive_file") is None
    assert np.isfinite(free_memory.available_bytes() or 0)


LEAVES = """
import os, tempfile, subprocess, sys
made = tempfile.mkdtemp(prefix="ort.quant.")
open(os.path.join(made, "augmented_model.onnx"), "w").close()
code = "import tempfile; print(tempfile.mkdtemp(prefix='by.a.child.'))"
by_child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
assert os.path.dirname(by_child.strip()) == os.path.dirname(made)
"""


@pytest.mark.parametrize("end", ["pass", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"])
def test_libraries_leave_no_temporary_files(tmp_path, end):
    """Whatever a library makes with ``tempfile`` is removed, also if it had no time for that itself."""
    process = subprocess.run(
        [sys.executable, "-c", WITH_LIBRARY, LEAVES + end, MODEL],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == (0 if end == "pass" else 2), process.stderr
    assert list(tmp_path.iterdir()) == []


WITH_LIBRARY = """
import sys
from py_autodoc import cli
from py_autodoc.cli import app
code, model = sys.argv[1:]
sys.argv = ["onnx-autodoc", "run", model]
app.app = lambda: exec(code, {})
cli.main()
"""
