"""Loading and building over the corpus of bad models."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from corpus import CASES, Diag, Error, Ok, params

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load

_opened: list[str] | None = None


def _audit(event, args):
    if event == "open" and _opened is not None and isinstance(args[0], str | bytes | os.PathLike):
        _opened.append(os.fsdecode(args[0]))


sys.addaudithook(_audit)


@pytest.fixture
def opened():
    """Paths opened while the test runs."""
    global _opened
    _opened = []
    yield _opened
    _opened = None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Each case's model, made when first asked for."""
    paths = {}

    def get(case):
        if case.id not in paths:
            paths[case.id] = case.make(tmp_path_factory.mktemp("bad"))
        return paths[case.id]

    return get


@pytest.mark.parametrize("case", params([case for case in CASES if case.name != "chain-300k"]))
def test_case(case, made, opened):
    """All but the large honest one, which ``test_bad_report.test_long_chain`` loads and builds."""
    path = made(case)
    opened.clear()
    if isinstance(case.expect, Error):
        with pytest.raises(case.expect.cls) as caught:
            load(path)
        assert caught.value.code == case.expect.code
        message = caught.value.message
        assert message.startswith(f"{path.name}: ")
        assert "\n" not in message
        assert str(path.parent) not in str(caught.value)
        may_open = "Path" not in case.expect.cls.__name__
        assert opened == [str(path)] * may_open
        return
    model = build(load(path))
    assert [name for name in opened if name.startswith("/tmp") or "out" in name] == [str(path)]
    codes = {note.code for note in model.diagnostics}
    if case.level == "load" and isinstance(case.expect, Diag):
        assert set(case.expect.codes) <= codes
    elif isinstance(case.expect, Ok):
        assert not [note for note in model.diagnostics if note.severity != "info"]
    for note in model.diagnostics:
        assert str(path.parent) not in note.message + note.where
        assert len(note.message) < 400


_CHILD = """
import json, sys
from py_autodoc.errors import AutodocError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
for path in json.load(sys.stdin):
    try:
        build(load(path))
    except AutodocError:
        pass
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory(made):
    """All cases but the large honest one in one process of less than 512 MB."""
    paths = [str(made(case)) for case in CASES if case.name != "chain-300k"]
    child = subprocess.run(
        [sys.executable, "-c", _CHILD], input=json.dumps(paths), capture_output=True, text=True, check=True
    )
    assert child.stderr == ""
    assert int(child.stdout) < 512 << 10


def test_every_row_is_there():
    assert {case.row for case in CASES} == set(range(1, 61))
    assert len({case.id for case in CASES}) == len(CASES)
