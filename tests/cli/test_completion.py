"""What the shell completes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.findings.registry import rules
from py_autodoc.hardware.profile import estimable, profiles

DYNAMIC = "tests/data/stripped/bert_base_dyn.stripped.onnx"


def complete(line: str, last: str = "") -> list[str]:
    """What bash is offered after ``line`` for the word that begins with ``last``."""
    words = f"onnx-autodoc {line} {last}".strip()
    env = {
        "_ONNX_AUTODOC_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(f"onnx-autodoc {line}".split())),
    }
    done = CliRunner().invoke(app, [], env=env, prog_name="onnx-autodoc")
    assert done.exit_code == 0, done.exception
    return done.stdout.splitlines()


def values(line: str, last: str = "") -> list[str]:
    return [item.partition(",")[2] for item in complete(line, last) if item.startswith("plain,")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell):
    env = {"_ONNX_AUTODOC_COMPLETE": f"{shell}_source"}
    done = CliRunner().invoke(app, [], env=env, prog_name="onnx-autodoc")
    assert done.exit_code == 0
    assert f"_ONNX_AUTODOC_COMPLETE={shell}_complete" in done.stdout


def test_commands_and_options():
    assert values("", "ana") == ["analyze"]
    assert "--hash" in values("analyze", "--ha")


def test_devices():
    known = {one.id for one in profiles() if estimable(one)}
    assert set(values("analyze m.onnx --hardware")) == known
    found = values("analyze m.onnx --hardware", "jetson")
    assert found == [one.id for one in profiles() if one.id.startswith("jetson") and one.id in known]
    assert len(found) > 2
    assert complete("analyze m.onnx --hardware", "./my") == ["file,./my"]
    assert values("analyze m.onnx --precision", "fp1") == ["fp16"]


def test_rules():
    assert values("rule", "deep") == ["deep-chain"]
    assert values("rule") == list(rules())


def test_symbols_of_the_model_on_the_line(tmp_path):
    assert values(f"analyze {DYNAMIC} --bind") == ["batch=", "seq="]
    assert values(f"analyze {DYNAMIC} --bind", "s") == ["seq="]
    assert values("analyze --bind") == []
    assert values(f"analyze {tmp_path / 'none.onnx'} --bind") == []
    assert values(f"graph {DYNAMIC} --bind", "b") == ["batch="]
