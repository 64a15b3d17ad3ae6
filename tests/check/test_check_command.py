"""``check``: limits, rules, a baseline and a policy; what is unknown does not pass."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import onnx
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from py_autodoc.check import Policy, PolicyBaseline, PolicyLimits, PolicyOperators, check
from py_autodoc.check.rules.operators import matches
from py_autodoc.cli import checking as commands
from py_autodoc.cli.app import app
from py_autodoc.report.pipeline.analysis import run_analysis

TINY = Path("tests/data/models/resnet_tiny.onnx").resolve()
MNIST = Path("tests/data/models/mnist_cntk.onnx").resolve()
FREE = Path("tests/data/stripped/resnet50_dyn.stripped.onnx").resolve()
ROOT = Path(__file__).parent.parent.parent


def called(*args: object, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = CliRunner(env={"GITHUB_ACTIONS": None, **(env or {})}).invoke(app, ["check", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No policy file but those that a test writes."""
    monkeypatch.chdir(tmp_path)


def hostile(path: Path) -> Path:
    """A model whose names are commands, markup and formulas."""
    info = helper.make_tensor_value_info
    name = '</failure>"><script>alert(1)</script>\n::error::##[group]{0}[a](javascript:x)\u202e'
    nodes = [helper.make_node("Relu", ["x"], ["y"], name)]
    graph = helper.make_graph(nodes, "g", [info("x", 1, [4])], [info("y", 1, [4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--runtime", "tensorrt"), "A runtime needs a device"),
        (("--hardware", "l4", "--runtime", "none"), "Unknown runtime"),
        (("--hardware", "none-such"), "none-such"),
    ],
)
def test_what_is_wrong_for_every_model_is_told_once(options, said):
    code, out, err = called(TINY, MNIST, "--max-params", "1G", *options)
    assert (code, out, err.count("error:")) == (1, "", 1)
    assert said in err


def test_a_fault_of_the_program_ends_one_model_not_the_run(monkeypatch):
    """Whatever a stage or a rule raises is told of the model at hand; the next one is checked."""
    real = commands.run_analysis

    def analyse(file, *args, **more):
        if os.path.basename(file) == MNIST.name:
            raise ValueError("not expected\nanywhere")
        return real(file, *args, **more)

    monkeypatch.setattr(commands, "run_analysis", analyse)
    code, out, err = called(MNIST, TINY, "--max-params", "1G", "--out-json", "-")
    first, second = json.loads(out)["models"]
    assert code == 2
    assert first["status"] == 2
    assert first["error"]["code"] == "internal-error"
    assert "ValueError: not expected" in first["error"]["message"]
    assert second["passes"]
    assert "Traceback" not in out + err


@pytest.mark.parametrize("figure", ["params", "macs", "flops", "weights", "peak-memory", "size"])
def test_a_limit_is_kept_exactly_up_to_the_figure(figure):
    done = run_analysis(str(TINY))
    from py_autodoc.check.figures import figures

    name = {"peak-memory": "peak"}.get(figure, figure)
    value = figures(done)[name].value
    assert value is not None
    assert value > 0
    assert called(TINY, f"--max-{figure}", int(value))[0] == 0
    status, out, _ = called(TINY, f"--max-{figure}", int(value) - 1)
    assert status == 5
    assert f"max-{figure}" in out


def test_figures_are_those_of_the_report():
    from py_autodoc import analyze
    from py_autodoc.check.figures import figures

    report, found = analyze(str(TINY)), figures(run_analysis(str(TINY)))
    metrics = report.metrics
    assert found["macs"].value == metrics.total_macs
    assert found["flops"].value == metrics.total_flops
    assert found["params"].value == metrics.total_params
    assert found["weights"].value == metrics.weight_bytes
    assert found["peak"].value == metrics.peak_activation_bytes


def test_what_is_unknown_does_not_pass_unless_it_is_only_warned_of():
    status, out, _ = called(FREE, "--max-macs", "100T")
    assert status == 5
    assert "unknown" in out
    assert "--bind" in out
    status, out, _ = called(FREE, "--max-macs", "100T", "--unknown", "warn")
    assert status == 0
    assert out.startswith("WARN")
    assert called(FREE, "--max-macs", "100T", "--bind", "*=1")[0] == 0


def test_a_model_that_cannot_run_never_passes():
    status, out, _ = called(TINY, "--max-params", "1T", "--input-shape", "xs_0=1x4x64x64")
    assert status != 0, out


def test_the_latency_is_that_of_the_device():
    status, out, err = called(TINY, "--max-latency", "10ms")
    assert status == 1
    assert "--hardware" in out + err
    assert called(TINY, "--max-latency", "10s", "--hardware", "l4", "--assume")[0] == 0
    assert called(TINY, "--max-latency", "0.001us", "--hardware", "l4", "--assume")[0] == 5


@pytest.mark.parametrize(
    ("fact", "status"),
    [
        ("opset>=1", 0), ("opset>=999", 5), ("opset:no.such.domain>=1", 5), ("inputs=1", 0), ("inputs=9", 5),
        ("static", 0), ("runs", 0), ("precision=fp32", 0), ("precision=int8", 5), ("family~cnn", 0),
        ("coverage>=95%", 0), ("macs<1", 5),
        ("colour=red", 1), ("opset~17", 1), ("opset>=many", 1), ("fits", 1),
    ],
)  # fmt: skip
def test_requirements(fact, status):
    assert called(TINY, "--require", fact)[0] == status


def test_operators_that_are_forbidden_or_not_allowed():
    assert called(TINY, "--forbid-op", "Loop")[0] == 0
    status, out, _ = called(TINY, "--forbid-op", "Loop,Conv")
    assert status == 5
    assert "Conv is forbidden" in out
    status, out, _ = called(TINY, "--allow-op", "Conv")
    assert status == 5
    assert "not among the allowed" in out
    assert called(TINY, "--allow-op", "*")[0] == 0


def test_a_query_chooses_the_nodes():
    assert called(TINY, "--forbid-op", "*", "--where", "op=Conv & macs>1e15")[0] == 0
    assert called(TINY, "--forbid-op", "*", "--where", "op=Conv")[0] == 5
    assert called(TINY, "--max-latency", "1s", "--hardware", "l4", "--where", "op=Conv")[0] == 1
    assert called(TINY, "--where", "op=Conv")[0] == 1


@settings(max_examples=200, deadline=None)
@given(
    st.text("ab*:", min_size=1, max_size=8), st.text("ab", max_size=4), st.text("ab", min_size=1, max_size=6)
)
def test_patterns_match_as_shell_patterns_do(pattern, domain, op):
    from fnmatch import fnmatchcase

    if pattern == "*":
        assert matches(pattern, domain, op)
        return
    wanted, _, name = pattern.rpartition("::")
    assert matches(pattern, domain, op) == (fnmatchcase(domain, wanted) and fnmatchcase(op, name))


def test_a_baseline_as_model_and_as_report(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(run_report(TINY))
    for base in (TINY, report):
        assert called(TINY, "--baseline", base)[0] == 0
        assert called(MNIST, "--baseline", base, "--tolerance", "10000000%", "--assume")[0] in (0, 5)
    smaller = called(MNIST, "--baseline", TINY, "--tolerance", "params=1%", "--assume")
    larger = called(TINY, "--baseline", MNIST, "--tolerance", "params=1%", "--assume")
    assert {smaller[0], larger[0]} == {0, 5}
    assert called(TINY, "--baseline", MNIST, "--fail-on", "architecture", "--assume")[0] == 5
    status, out, err = called(TINY, "--baseline", report, "--fail-on", "architecture")
    assert status == 1
    assert "report" in out + err
    (tmp_path / "broken.json").write_text('{"a": 1}')
    assert called(TINY, "--baseline", tmp_path / "broken.json")[0] == 1


def run_report(path: Path) -> str:
    from py_autodoc import analyze

    return analyze(str(path)).to_json()


def test_a_policy_file_and_options_over_it(tmp_path):
    shutil.copy(TINY, tmp_path / "one.onnx")
    Path("autodoc.toml").write_text('models = ["*.onnx"]\n[limits]\nmacs = 1\n')
    status, out, err = called()
    assert status == 5
    assert "max-macs" in out
    assert "autodoc.toml" in err
    assert called("--max-macs", "1T")[0] == 0
    assert called("one.onnx", "--no-policy")[0] == 1  # nothing to check
    Path("autodoc.toml").write_text("[limits]\nmacz = 1\n")
    status, out, err = called("one.onnx")
    assert status == 1
    assert "macs" in out + err
    Path("autodoc.toml").write_text("[limits")
    assert called("one.onnx")[0] == 1


def test_many_models_one_of_which_is_broken(tmp_path):
    shutil.copy(TINY, tmp_path / "a.onnx")
    (tmp_path / "b.onnx").write_bytes(b"\x08")
    shutil.copy(TINY, tmp_path / "c.onnx")
    status, out, _ = called("*.onnx", "--max-macs", "1T")
    assert status == 1
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == ["PASS", "ERROR", "PASS", "3"]
    assert "2 passed, 1 could not be checked" in out
    assert called("none/*.onnx", "--max-macs", "1T")[0] == 1


def test_names_are_inert_in_every_format(tmp_path):
    path = hostile(tmp_path / "evil.onnx")
    status, out, _ = called(path, "--forbid-op", "Relu", "--annotations")
    assert status == 5
    lines = out.splitlines()
    (ours,) = [line for line in lines if line.startswith("::")]
    assert "error: :" in ours
    assert ours.count("::") == 2  # those of the command
    assert "##[" not in out
    assert "\u202e" not in out
    files = {"--junit": "j.xml", "--sarif": "s.sarif", "--out-json": "c.json"}
    options = [part for option, name in files.items() for part in (option, name)]
    assert called(path, "--forbid-op", "Relu", *options)[0] == 5
    tree = ET.parse("j.xml")
    assert {one.tag for one in tree.iter()} == {"testsuites", "testsuite", "testcase", "failure"}
    text = json.loads(Path("s.sarif").read_text())["runs"][0]["results"][0]["message"]["text"]
    assert "{{0}}" in text
    assert "](" not in text
    json.loads(Path("c.json").read_text())


def test_junit_counts_what_it_holds(tmp_path):
    shutil.copy(TINY, tmp_path / "a.onnx")
    (tmp_path / "b.onnx").write_bytes(b"\x08")
    called("a.onnx", "b.onnx", "--max-macs", "1", "--require", "static", "--junit", "j.xml")
    suites = ET.parse("j.xml").getroot()
    for node in (suites, *suites):
        cases = list(node.iter("testcase"))
        assert int(node.get("tests")) == len(cases)
        assert int(node.get("failures")) == sum(case.find("failure") is not None for case in cases)
        assert int(node.get("errors")) == sum(case.find("error") is not None for case in cases)
    assert (suites.get("failures"), suites.get("errors")) == ("1", "1")


def test_sarif_has_what_the_specification_asks_for():
    called(TINY, "--max-macs", "1", "--forbid-op", "Conv", "--sarif", "s.sarif")
    made = json.loads(Path("s.sarif").read_text())
    assert made["version"] == "2.1.0"
    assert len(made["runs"]) == 1
    found = made["runs"][0]
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules) == 2
    for result in found["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note", "none")
        assert result["message"]["text"]
        location = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not location.startswith("/")
        assert ".." not in location


def test_sarif_obeys_its_schema(tmp_path):
    schema = json.loads((ROOT / "tests" / "data" / "schemas" / "sarif-2.1.0.json").read_text())
    shutil.copy(TINY, "a b.onnx")
    Path("broken.onnx").write_bytes(TINY.read_bytes()[:500])
    hostile = onnx.load(TINY)
    for node in hostile.graph.node:
        node.name = f"</script>%0A::error::{node.name}\x1b[31m\u202e"
    onnx.save(hostile, "hostile.onnx")
    rules = ["--max-macs", "1", "--forbid-op", "Conv", "--fail-on", "info", "--require", "opset>=30"]
    called("a b.onnx", "broken.onnx", "hostile.onnx", "missing.onnx", *rules, "--sarif", "s.sarif")
    made = json.loads(Path("s.sarif").read_text())
    assert len(made["runs"][0]["results"]) >= 6
    assert made["runs"][0]["invocations"] == [{"executionSuccessful": True}]
    unchecked = [entry for entry in made["runs"][0]["results"] if entry["ruleId"] == "unchecked"]
    assert [entry["level"] for entry in unchecked] == ["error"] * 2
    valid = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [f"{one.json_path}: {one.message[:200]}" for one in valid.iter_errors(made)] == []
    made["runs"][0]["results"][0]["level"] = "fatal"
    assert list(valid.iter_errors(made))


def test_results_replace_only_what_is_ours():
    Path("j.xml").write_text("mine")
    status, _, _ = called(TINY, "--max-macs", "1T", "--junit", "j.xml")
    assert status == 3
    assert Path("j.xml").read_text() == "mine"
    assert called(TINY, "--max-macs", "1T", "--junit", "k.xml")[0] == 0
    assert called(TINY, "--max-macs", "1T", "--junit", "k.xml")[0] == 0
    status, out, _ = called(TINY, "--max-macs", "1", "--out-json", "-")
    assert status == 5
    assert json.loads(out)["schema"].startswith("autodoc.check/")


def test_in_python():
    found = check(str(TINY), Policy(limits=PolicyLimits(macs="1T"), require=["static"]))
    assert found.passes
    assert found.exit_status == 0
    found = check(str(TINY), Policy(operators=PolicyOperators(forbid=["Conv"])))
    assert not found.passes
    assert found.exit_status == 5
    assert check(str(TINY), Policy(baseline=PolicyBaseline(file=str(TINY)))).passes
    assert check("missing.onnx", Policy(require=["static"])).fault is not None


@pytest.mark.slow
def test_the_hook_is_a_command_that_runs(tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    import re

    assert re.search(hook["files"], "models/a.onnx")
    assert not re.search(hook["files"], "a.onnx.txt")
    name, *words = hook["entry"].split()
    assert name == "onnx-autodoc"
    shutil.copy(TINY, tmp_path / "a.onnx")
    done = subprocess.run(
        [sys.executable, "-m", "py_autodoc", *words, "--max-macs", "1", "a.onnx"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 5
    assert done.stdout.startswith("FAIL")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the step is a script of bash")
def test_the_step_of_the_action_runs(tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = next(one for one in action["runs"]["steps"] if one.get("id") == "check")
    given = {word.split(".")[1].split(" ")[0] for word in step["env"].values() if "inputs." in word}
    assert given <= set(action["inputs"])
    assert "inputs." not in step["run"]  # nothing that is given is run by the shell
    shutil.copy(TINY, tmp_path / "a b.onnx")
    shutil.copy(TINY, tmp_path / "c.onnx")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "onnx-autodoc").write_text(f'#!/bin/sh\nexec {sys.executable} -m py_autodoc "$@"\n')
    (tools / "onnx-autodoc").chmod(0o755)
    out = tmp_path / "output"
    env = {
        **os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        "GITHUB_OUTPUT": str(out), "MODELS": "*.onnx", "ARGS": "--max-macs=1\n--require=static; touch pwned",
        "SARIF": "", "JUNIT": "j.xml",
    }  # fmt: skip
    done = subprocess.run(["bash", "-c", step["run"]], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 1
    assert not (tmp_path / "pwned").exists()
    env["ARGS"] = "--max-macs=1"
    done = subprocess.run(["bash", "-c", step["run"]], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 5, done.stderr
    assert out.read_text().splitlines()[-1] == "status=5"
    assert int(ET.parse("j.xml").getroot().get("failures")) == 2
    # One name per line: blanks in it are its own, those around it and empty lines are not.
    env["MODELS"] = "  a b.onnx \n\nc.on?x\n"
    done = subprocess.run(["bash", "-c", step["run"]], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 5, done.stderr
    named = {case.get("classname") for case in ET.parse("j.xml").getroot().iter("testcase")}
    assert named == {"a b.onnx", "c.onnx"}


def test_the_policy_of_the_documentation_runs(tmp_path):
    """Every rule, option and path of it is valid: the models are checked, whatever comes of it."""
    shown = re.search(r"```toml\n(.*?)```", (ROOT / "docs/check.md").read_text("utf-8"), re.DOTALL)
    assert shown is not None
    Path("autodoc.toml").write_text(shown[1], "utf-8")
    Path("models").mkdir()
    shutil.copy(TINY, "models")
    sizes = ["--hardware", "l4", "--batch-size", "1"]
    assert (
        CliRunner().invoke(app, ["analyze", str(TINY), *sizes, "--out-json", "baseline.json"]).exit_code == 0
    )
    status, out, err = called("--all")
    assert status in (0, 5), err
    assert "resnet_tiny.onnx" in out
