"""The table "Where to add things" is true: its paths exist, and what is added where it says is seen.

A copy of the package gets an operator, a risk rule, a command, an endpoint, a metric and a section, each in
the file that the table names; a process of its own then looks for all of them. Nothing else is edited.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from py_autodoc.graph.operators.aspects import ASPECTS

ROOT = Path(__file__).parents[2]
INVENTED = Path(__file__).with_name("invented")
PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
TABLE = PAGE.partition("## Where to add things")[2].partition("\n## ")[0]
ROWS = {
    cells[1].strip(): (cells[2], cells[3])
    for cells in (line.split("|") for line in TABLE.splitlines() if line.startswith("| "))
    if cells[1].strip() != "to add"
}
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.<>*/-]+")
BUILT = {"src/schema/metrics.ts"}


def paths_of(cell):
    """What looks like a file or folder among the code of a cell, ``cli/<command>.py``."""
    for code in CODE.findall(cell):
        for word in code.split():
            name = word.partition(":")[0].rstrip("…")
            if PATH.fullmatch(name) and ("/" in name or name.endswith((".py", ".md", ".ts", ".json"))):
                yield name


def found_at(name):
    """The files that a name of the table stands for, relative to the repository or the package."""
    pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
    bases = (ROOT, ROOT / "py_autodoc", *(ROOT / "py_autodoc").glob("*/"))
    return next((found for base in bases if (found := sorted(base.glob(pattern)))), [])


@pytest.mark.parametrize("row", ROWS)
def test_every_path_of_the_table_exists(row):
    for cell in ROWS[row]:
        for name in paths_of(cell):
            assert found_at(name), f"{row}: {name}"


def test_what_counts_as_a_path():
    cell = (
        "`cli/<command>.py`, `tags/assign.py: Evidence`, `scripts/findings_table.py --write`, `@rule`, `make`"
    )
    assert list(paths_of(cell)) == ["cli/<command>.py", "tags/assign.py", "scripts/findings_table.py"]
    assert found_at("cli/<command>.py")
    assert not found_at("cli/no-such.py")
    assert not found_at("no-such/")


@pytest.mark.parametrize("aspect", ASPECTS, ids=lambda one: one.id)
def test_every_place_of_an_aspect_exists(aspect):
    for name in re.findall(r"[\w/]+/(?:\w+\.py)?", aspect.add):
        assert (ROOT / "py_autodoc" / name).exists(), name


class Copy:
    """The package and the generators, to be edited."""

    def __init__(self, root):
        self.root = root
        ignored = shutil.ignore_patterns("__pycache__", "static", "labextension")
        shutil.copytree(ROOT / "py_autodoc", root / "py_autodoc", ignore=ignored)
        shutil.copytree(ROOT / "profiles", root / "profiles")
        (root / "scripts").mkdir()
        for path in (ROOT / "scripts").glob("*.py"):
            shutil.copy(path, root / "scripts")

    def place(self, row, number, **names):
        """The path that a row of the table names, filled in."""
        name = list(paths_of(ROWS[row][0]))[number]
        for key, value in names.items():
            name = name.replace(f"<{key}>", value)
        folder = self.root / "py_autodoc" if not name.startswith("py_autodoc/") else self.root
        return folder / name

    def module(self, folder):
        """A module of a folder of rules that is imported already."""
        return next(
            path for path in sorted(folder.glob("*.py")) if re.search(r"^@\w+\(", path.read_text(), re.M)
        )


def append(path, name):
    path.write_text(f"{path.read_text('utf-8')}\n\n{(INVENTED / name).read_text('utf-8')}", "utf-8")


def insert(path, after, text):
    """Put text behind the line that a pattern finds."""
    old = path.read_text("utf-8")
    new, count = re.subn(f"(?m)^({after}[^\n]*\n)", lambda match: match[1] + text, old, count=1)
    assert count == 1, (path, after)
    path.write_text(new, "utf-8")


def add_operator(copy):
    """Each aspect of ``aspects.py`` that is a rule or a row of a table, at the place that it names."""
    rules = {"shape": "shape_rule", "rebatch": "batch_rule", "resize": "size_rule", "cost": "cost_rule",
             "torch": "torch_rule"}  # fmt: skip
    for aspect in ASPECTS:
        places = re.findall(r"[\w/]+/(?:\w+\.py)?", aspect.add)
        if aspect.id in rules:
            append(copy.module(copy.root / "py_autodoc" / places[0]), f"{rules[aspect.id]}.py")
        elif aspect.id in ("kernel", "category"):
            table = copy.root / "py_autodoc" / places[0]
            text = table.read_text("utf-8")
            assert "BiasGelu BiasS" in text
            table.write_text(text.replace("BiasGelu BiasS", "BiasGelu Wobble BiasS", 1), "utf-8")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    copy = Copy(tmp_path_factory.mktemp("copy"))
    add_operator(copy)
    shutil.copy(INVENTED / "risk_rule.py", copy.place("a risk rule", 0, rule_id="invented_wobble"))
    shutil.copy(INVENTED / "command.py", copy.place("a command", 0, command="invented"))
    insert(copy.place("a command", 1), "COMMANDS = {", '    "invented": "Say one line.",\n')
    insert(
        copy.place("an endpoint", 0), r"OPERATIONS\b.*\(",
        '    Operation("GET", "/invented", "getInvented", "Nothing.", {204: None}),\n',
    )  # fmt: skip
    shutil.copy(INVENTED / "handler.py", copy.place("an endpoint", 1, resource="invented"))
    routes = copy.place("an endpoint", 2)
    insert(
        routes, "from py_autodoc.server.handlers import", "from py_autodoc.server.handlers import invented\n"
    )
    row = '    "getInvented": (invented.InventedHandler, "read", invented.RESOURCE),\n'
    insert(routes, r"_\w+: dict\[.*\{", row)
    section = "a section of the documents"
    shutil.copy(INVENTED / "section.py", copy.place(section, 0, name="invented"))
    insert(copy.place(section, 1), r"ORDER = \(", '    "invented",\n')
    insert(copy.place("a metric", 0), r"METRICS: .*\(", (INVENTED / "metric_entry.txt").read_text("utf-8"))
    work = tmp_path_factory.mktemp("work")
    done = subprocess.run(
        [sys.executable, str(INVENTED / "probe.py"), str(work)],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(copy.root)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["package"]).is_relative_to(copy.root)
    return found


def test_an_operator_is_seen(seen):
    assert seen["shape"] == [1, 4, 8, 8]
    assert seen["flops"] == 7 * 4 * 8 * 8
    assert seen["coverage"] == 1
    assert seen["category"] == "activation"
    assert seen["unknown_kernels"] == 0
    assert seen["torch"]
    assert seen["batch"] == [3, 4, 8, 8]
    assert seen["size"] == [1, 4, 12, 12]
    assert seen["aspects"] == ["category", "cost", "kernel", "rebatch", "resize", "shape", "torch"]


def test_a_risk_rule_is_seen(seen):
    assert "invented-wobble" in seen["findings"]
    assert "invented-wobble" in seen["rules"]
    assert "Nobody else has them." in seen["rule_page"]


def test_a_command_is_seen(seen):
    assert "invented" in seen["commands"]
    assert re.search(r"^ +invented +Say one line\.", seen["help"], re.M)
    assert seen["command"] == "invented here\n"


def test_an_endpoint_is_seen(seen):
    assert "/autodoc/api/invented" in seen["routes"]
    assert seen["tornado"]["/autodoc/api/invented"] == "InventedHandler"
    assert any(path.endswith("/invented") for path in seen["openapi"])


def test_a_section_is_seen(seen):
    assert "## Invented section" in seen["markdown"]
    assert re.search(r"\| Layers that are listed +\| +3 +\|", seen["markdown"])


def test_a_metric_is_seen(seen):
    assert "invented_density" in seen["heatmap"]
    assert "invented_density" in seen["attachments"]
    assert seen["typescript"]
    assert "middle" not in seen["query"]
    assert {"first"} <= set(seen["query"])


def test_nothing_of_it_is_in_the_package_itself():
    from py_autodoc.cli.app import COMMANDS
    from py_autodoc.report.sections import ORDER

    assert "invented" not in COMMANDS
    assert "invented" not in ORDER
