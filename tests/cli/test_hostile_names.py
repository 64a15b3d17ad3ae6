"""Names are data: none is a command to a terminal or a CI runner, whatever command prints it."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from click.testing import CliRunner
from hostile_names import CONTROL, NAMES, forged, write

from py_autodoc import analyze
from py_autodoc.cli.app import COMMANDS, app, command_of
from py_autodoc.cli.streams import Stdout
from py_autodoc.cli.summary import print_summary
from py_autodoc.render.runner_log import LogFilter, inert, inert_document, inert_json

CI = {"GITHUB_ACTIONS": "true", "CI": "true"}
NO_CI = dict.fromkeys(
    (
        "CI", "GITHUB_ACTIONS", "GITEA_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI", "JENKINS_URL",
        "BUILDKITE", "TRAVIS", "APPVEYOR", "CIRCLECI", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID",
        "DRONE",
    )
)  # fmt: skip
CHEAP = {
    "analyze": ["analyze", "{}", "--assume"],
    "analyze findings": ["analyze", "{}", "--findings"],
    "analyze many": ["analyze", "{}", "{}"],
    "analyze json": ["analyze", "{}", "--out-json", "-"],
    "analyze csv": ["analyze", "{}", "--out-csv", "-"],
    "analyze md": ["analyze", "{}", "--out-md", "-"],
    "check": ["check", "{}", "--max-macs", "1", "--require", "runs", "--forbid-op", "*", "--no-annotations"],
    "check github": ["check", "{}", "--max-macs", "1", "--forbid-op", "*", "--annotations"],
    "check json": ["check", "{}", "--forbid-op", "*", "--out-json", "-", "--no-annotations"],
    "check sarif": ["check", "{}", "--forbid-op", "*", "--sarif", "-", "--no-annotations"],
    "check junit": ["check", "{}", "--forbid-op", "*", "--junit", "-", "--no-annotations"],
    "compare": ["compare", "{}", "{other}"],
    "compare tags": ["compare", "{}", "{other}", "--tags"],
    "compare topology": ["compare", "{}", "{other}", "--topology"],
    "compare json": ["compare", "{}", "{other}", "--json"],
    "extract": ["extract", "{}", "{out}.onnx", "--node", "0"],
    "graph dot": ["graph", "{}", "--format", "dot", "--out", "-"],
    "graph netron": ["graph", "{}", "--format", "netron", "--out", "-"],
    "metadata": ["metadata", "{}"],
    "metadata json": ["metadata", "{}", "--json"],
    "rebatch": ["rebatch", "{}", "{out}.onnx", "--batch", "2"],
    "recommend": ["recommend", "{}"],
    "resize": ["resize", "{}", "{out}.onnx", "--input-shape", "1x8"],
    "sweep": ["sweep", "{}", "--batch", "1,2"],
    "tags": ["tags", "{}"],
    "tags detailed": ["tags", "{}", "--output", "detailed"],
    "tags csv": ["tags", "{}", "--output", "csv"],
    "tags json": ["tags", "{}", "--output", "json"],
    "tags restore": ["tags", "{}", "--restore", "{out}.onnx"],
    "to-torch": ["to-torch", "{}", "{out}.py"],
    "to-torch list": ["to-torch", "{}", "--list"],
    "validate": ["validate", "{}"],
    "validate debug": ["validate", "{}", "--log-level", "debug"],
    "validate json": ["validate", "{}", "--json"],
    "llm": ["llm", "{}", "--hardware", "l4"],
}
RUNNING = {
    "quantize": ["quantize", "{}", "{out}.onnx", "--method", "dynamic"],
    "verify": ["verify", "{}", "--against", "{}", "--all"],
    "run": ["run", "{}", "--runs", "1", "--warmup", "0"],
    "sensitivity": ["sensitivity", "{}"],
    "opdocs": ["opdocs", "{}", "--out", "{out}"],
}
"""They run the model, so each runs with one name only."""
WITHOUT = {"export", "hardware", "rule", "schema"}
"""They read no model file."""
JSON = {
    *(f"{name} json" for name in ("analyze", "check", "compare", "metadata", "tags", "validate")),
    "analyze", "analyze many", "graph netron", "llm", "recommend", "sweep",
}  # fmt: skip
"""Their result is JSON where stdout is not a terminal."""
KINDS = ("valid", "unknown", "function", "dangling")


def run(args: list[str], env: dict[str, str] | None) -> tuple[int, str, str]:
    done = CliRunner(env={**NO_CI, **(env or {})}).invoke(app, args)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def arguments(parts: list[str], folder, name: str, kind: str) -> list[str]:
    file = write(folder, name, kind)
    other = write(folder, name, "valid")
    return [
        part.replace("{out}", str(folder / "out")).replace("{other}", other).replace("{}", file)
        for part in parts
    ]


def judge(case: str, out: str, err: str, ci: bool) -> None:
    assert CONTROL.search(err) is None, ascii(err)
    assert forged(err, ci=ci) == []
    machine = case in JSON or case.split()[-1] in ("csv", "sarif", "junit", "dot", "md")
    if ci or not machine:
        assert CONTROL.search(out) is None, ascii(out)
    if case == "check github":
        commands = [line for line in out.splitlines() if line.startswith("::")]
        assert all(re.match(r"::(error|warning) file=[\w.]+,title=[^:]+::", line) for line in commands)
        assert len(commands) >= 1
        out = "\n".join(line for line in out.splitlines() if not line.startswith("::"))
    if case in JSON or not machine:
        assert forged(out, ci=ci) == [] or (case in JSON and not ci)
    elif ci:  # `::` within a line is kept in documents: operators of C++ have such names
        assert re.search(r"(?m)^\s*::|##\w*\[", out) is None
    if out and (case in JSON or case == "check sarif"):
        for document in out.splitlines() if case == "analyze many" else [out]:
            json.loads(document)
    if case == "check junit" and out:
        ElementTree.fromstring(out)
    if case.endswith("csv") and out:
        assert len({len(row) for row in csv.reader(io.StringIO(out)) if row}) == 1


@pytest.mark.parametrize("case", CHEAP)
def test_names_in_a_log(case, tmp_path):
    """Each command has every kind of model, each with another name; over all commands each name has each."""
    at = list(CHEAP).index(case)
    for index, kind in enumerate(KINDS):
        name = NAMES[(at * 3 + index * 5) % len(NAMES)]
        args = arguments(CHEAP[case], tmp_path, name, kind)
        for env in (None, CI):
            status, out, err = run(args, env)
            assert status in (0, 1, 2, 3, 5), err
            assert re.search("internal error|No such option|Missing option", err) is None
            judge(case, out, err, env is not None)
            for left in tmp_path.glob("out*"):
                left.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNNING)
def test_names_in_a_log_of_a_run(case, tmp_path, capfd):
    pytest.importorskip("onnxruntime")
    args = arguments(RUNNING[case], tmp_path, NAMES[0], "valid")
    status, out, err = run(args, CI)
    assert status in (0, 1, 2, 3, 5), err
    judge(case, out, err, True)
    below = capfd.readouterr()
    assert (below.out, below.err) == ("", ""), "a library wrote below the streams"


@pytest.mark.parametrize("name", NAMES)
def test_names_in_a_summary(name, tmp_path, monkeypatch):
    """The tables of a terminal, which some runners have."""
    for key, value in CI.items():
        monkeypatch.setenv(key, value)
    for kind in KINDS:
        shown = io.StringIO()
        monkeypatch.setattr(sys, "stdout", Stdout(shown))
        print_summary(analyze(write(tmp_path, name, kind), assume=True), width=100, findings=True)
        assert forged(shown.getvalue(), ci=True, wrapped=True) == []
        assert CONTROL.search(shown.getvalue()) is None


def test_every_command_is_tried():
    assert {parts[0] for parts in (*CHEAP.values(), *RUNNING.values())} == set(COMMANDS) - WITHOUT


@pytest.mark.parametrize("name", NAMES)
def test_file_names(name, tmp_path):
    file = tmp_path / name.replace("/", "")[:80].replace("\0", "")
    for args in (["analyze", str(file)], ["validate", str(file)], ["check", str(file), "--no-annotations"]):
        _, out, err = run(args, CI)
        assert forged(out + err, ci=True) == []
        assert CONTROL.search(out + err) is None


def test_what_libraries_write(monkeypatch):
    module = command_of("rule")
    real = module.callback
    assert real is not None

    def loud(*args, **kwargs):
        for name in NAMES:
            logging.getLogger("some.library").warning("odd %s", name)
            try:
                raise ValueError(name)
            except ValueError:
                logging.getLogger("some.library").exception("failed")
            for piece in (*re.split("(?<=[:#])", name), "\n", ":", ":", "error::\n", "##", "[error]\n"):
                sys.stderr.write(piece)
        return real(*args, **kwargs)

    monkeypatch.setattr(module, "callback", loud)
    _, _, err = run(["rule"], CI)
    # Raw lines may begin with the mark; that is a library's text, not ours.
    assert [line for line in forged(err, ci=True) if not re.match(r"Qzq(?!.*(::|##\w*\[))", line)] == []
    assert CONTROL.search(err.replace("\r", "")) is None
    assert sum(line.startswith("WARNING some.library: odd") for line in err.splitlines()) == len(NAMES)


def test_a_pipe_gets_the_exact_text_outside_of_ci(tmp_path):
    """And in CI the same value, as far as the format can spell it otherwise."""
    name = "a::b##[error]\u2028::c"
    args = arguments(CHEAP["tags json"], tmp_path, name, "valid")
    plain, logged = run(args, None)[1], run(args, CI)[1]
    assert name in plain
    assert json.loads(plain) == json.loads(logged)
    table = arguments(CHEAP["tags csv"], tmp_path, name, "valid")
    assert name in run(table, None)[1]


def test_a_file_gets_the_exact_text_in_ci(tmp_path):
    file, out = write(tmp_path, "a\n::error::b##[error]", "valid"), tmp_path / "out.csv"
    assert run(["analyze", file, "--out-csv", str(out)], CI)[0] == 0
    assert "\n::error::b##[error]" in out.read_text("utf-8")


def test_our_own_annotations_are_commands(tmp_path):
    file = write(tmp_path, NAMES[0], "unknown")
    for env in (None, CI):
        _, out, _ = run(["check", file, "--forbid-op", "*", "--annotations"], env)
        assert re.search(r"(?m)^::error file=unknown\.onnx,title=", out)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_are_as_inert_as_the_whole(size):
    for name in NAMES:
        text = f"{name}\n{'-' * 100} {name}\n{' ' * 100}::error::x\n{'y' * 100}::z ##vso[a]\n--- x\n"
        for rule in (inert, inert_document, inert_json):
            feed = LogFilter(rule)
            got = "".join(feed(text[at : at + size]) for at in range(0, len(text), size))
            assert re.search(r"##\w*\[", got) is None
            if rule is not inert_json:
                assert re.search(r"(?m)(^|\r)[^\S\n\r]*::", got) is None
            assert re.sub(r"\s|\\u003a|\\u0023|[:#]", "", got) == re.sub(r"[\s:#]", "", text)


def test_inert_text_is_not_changed_again():
    for name in NAMES:
        for rule in (inert, inert_document, inert_json):
            assert rule(rule(name)) == rule(name)
    assert inert_document("a::b\n---\nc") == "a::b\n---\nc"
