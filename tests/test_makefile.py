"""`make test` runs every part whatever failed, names what failed, and stops when it is interrupted."""

import os
import shutil
import signal
import subprocess
import time

import pytest

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
PARTS = ("test-lint", "test-py", "test-js", "test-ui")
STUB = """#!/bin/sh
echo "$@" >> "{log}"
for word in "$@"; do
    case " $FAILING " in *" $word "*) exit 2 ;; esac
    case " $SLEEPING " in *" $word "*) exec sleep 60 ;; esac
done
"""


def make(folder, failing="", sleeping=""):
    """Start `make test` with a stub in place of each inner make; the stub logs what it was asked for."""
    stub, log = folder / "make-stub", folder / "log"
    log.write_text("")
    stub.write_text(STUB.format(log=log))
    stub.chmod(0o755)
    started = subprocess.Popen(
        ["make", "-s", "test", f"MAKE={stub}"],
        env={**os.environ, "FAILING": failing, "SLEEPING": sleeping, "MAKEFLAGS": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored below a background job
    )
    return started, log


@pytest.mark.parametrize(
    ("failing", "named"),
    [
        ("", []),
        ("test-lint", ["lint-or-setup"]),
        ("test-py", ["test-py"]),
        ("test-js", ["test-js"]),
        ("test-ui", ["test-ui"]),
        ("test-lint test-js", ["lint-or-setup", "test-js"]),
        ("test-lint test-py test-js test-ui", ["lint-or-setup", "test-py", "test-js", "test-ui"]),
    ],
)
def test_every_part_runs_and_all_that_failed_is_named(failing, named, tmp_path):
    started, log = make(tmp_path, failing)
    _, errors = started.communicate(timeout=60)
    ran = log.read_text().split()
    assert [part for part in PARTS if part in ran] == list(PARTS)
    assert (started.returncode == 0) == (not named)
    said = [line for line in errors.splitlines() if line.startswith("make test: failed:")]
    assert said == ([f"make test: failed: {' '.join(named)}"] if named else [])


@pytest.mark.parametrize("part", ["test-lint", "test-py", "test-js"])
def test_an_interrupt_ends_it(part, tmp_path):
    started, log = make(tmp_path, sleeping=part)
    while part not in log.read_text().split() and started.poll() is None:
        time.sleep(0.01)
    while started.poll() is None:  # a shell that is about to start a process can miss one
        os.killpg(started.pid, signal.SIGINT)
        time.sleep(0.1)
    started.communicate(timeout=30)
    assert started.returncode != 0
    later = PARTS[PARTS.index(part) + 1 :]
    assert not set(later) & set(log.read_text().split())
