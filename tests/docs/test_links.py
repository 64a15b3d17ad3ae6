"""Everything that a page refers to exists: links, anchors, commands, options, names."""

from __future__ import annotations

import os.path
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import py_autodoc
from py_autodoc.cli.app import COMMANDS, command_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
try:
    import docs_pictures
    from docs_site import python_api, site
finally:
    sys.path.remove(str(ROOT / "scripts"))

FILES = [*site.OUTSIDE, *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md")))]
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^( *)(```+)(\w*)[^\n]*\n(.*?)^\1\2`*$", re.M | re.S)
PATH = re.compile(r"`((?:py_autodoc|scripts|src|tests|benchmarks|ui-tests|docs|profiles|schema)/[^`\s*<…]+)`")
FOREIGN = re.compile(r"^(?:[a-z]+:|//)", re.I)


class Loader(yaml.SafeLoader):
    """YAML with the tags of MkDocs, which name Python functions."""


Loader.add_multi_constructor("", lambda loader, suffix, node: None)


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def without_code(text: str) -> str:
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "code", FENCE.sub("", text))


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts and the site make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@cache
def anchors(text: str) -> set[str]:
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", text), re.M):
        name, count = slug(heading), 0
        while (name if not count else f"{name}-{count}") in found:
            count += 1
        found.add(name if not count else f"{name}-{count}")
    return found | set(re.findall(r"\bid=\"([^\"]+)\"", text))


def links(text: str) -> Iterator[str]:
    for match in LINK.finditer(without_code(text)):
        link = match[1] or match[2]
        if not FOREIGN.match(link):
            yield link


@pytest.mark.parametrize("file", FILES)
def test_links_and_anchors_in_the_repository(file):
    broken = []
    for link in links(text_of(file)):
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
        known = (ROOT / target).exists()
        if known and anchor and target.endswith(".md"):
            known = anchor in anchors(text_of(target))
        if not known:
            broken.append(link)
    assert broken == []


@cache
def pages() -> dict[str, str]:
    """Every page of the site with its text."""
    inside = {}
    for file in FILES:
        if file.startswith("docs/"):
            page = file.removeprefix("docs/")
            inside[page] = site.moved(text_of(file), file, page)
    return inside | site.outside() | site.generated()


def test_links_between_the_pages_of_the_site():
    broken = []
    for page, text in pages().items():
        for link in links(text):
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if target in pages():
                known = not anchor or anchor in anchors(pages()[target])
            else:
                known = (ROOT / "docs" / target).is_file() and not target.endswith(".md")
            if not known:
                broken.append(f"{page}: {link}")
    assert broken == []


def flat(nav: object) -> list[str]:
    if isinstance(nav, list):
        return [page for one in nav for page in flat(one)]
    if isinstance(nav, dict):
        return [page for one in nav.values() for page in flat(one)]
    return [str(nav)]


def test_every_page_is_in_the_navigation_once():
    config = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader)
    assert sorted(flat(site.navigation(config["nav"], pages()))) == sorted(pages())


def test_every_picture_is_shown_and_made():
    shown = {
        os.path.normpath(os.path.join(os.path.dirname(file), link))
        for file in FILES
        for link in links(text_of(file))
    }
    pictures = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/images/**/*.*")}
    assert pictures - shown == set()
    drawn = {Path(path).name for path in pictures if Path(path).suffix == ".svg" and path.count("/") == 2}
    assert drawn == set(docs_pictures.files())


@cache
def options(command: str) -> set[str]:
    return {name for option in command_of(command).params for name in (*option.opts, *option.secondary_opts)}


def shown_commands(text: str) -> Iterator[str]:
    """Command lines in fences and in code of a line."""
    for fence in FENCE.finditer(text):
        joined = re.sub(r"\\\n\s*", " ", fence[4])
        for line in joined.splitlines():
            yield from re.findall(r"(?:^|[$|;&] *|: )(onnx-autodoc .*)", line.strip())
    yield from re.findall(r"`(onnx-autodoc [^`\n]+)`", FENCE.sub("", text))


@pytest.mark.parametrize("file", FILES)
def test_commands_and_their_options_exist(file):
    unknown = []
    for line in shown_commands(text_of(file)):
        words = line.split("  #")[0].split(" # ")[0].split()[1:]
        if not words or words[0].startswith(("-", "COMMAND")):
            continue
        if words[0] not in COMMANDS:
            unknown.append(line)
            continue
        for word in words[1:]:
            name = re.match(r"--[a-z][a-z-]*", word.strip("[]('\""))
            if name and name[0] not in options(words[0]):
                unknown.append(f"{line}: {name[0]}")
    assert unknown == []


@pytest.mark.parametrize("file", [file for file in FILES if file != "CHANGELOG.md"])
def test_python_names_and_files_exist(file):
    text = text_of(file)
    names = set(re.findall(r"\bpy_autodoc(?:\.[a-zA-Z_]+)+", re.sub(r"py_autodoc/\S+", "", text)))
    missing = sorted(name for name in names if not resolves(name))
    missing += sorted(path for path in set(PATH.findall(text)) if not (ROOT / path).exists())
    assert missing == []


def resolves(name: str) -> bool:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_every_public_python_name_has_a_place_in_the_reference():
    shown = {name for _, _, names in python_api.PAGES.values() for name in names}
    missing = {f"py_autodoc.{name}" for name in py_autodoc.__all__} - shown
    # Every class of py_autodoc.errors is on the page of errors.
    assert missing == {"py_autodoc.__version__", "py_autodoc.AutodocError"}
    assert "py_autodoc.errors" in shown


def test_shlex_reads_every_shown_command():
    """Quotes in the commands of fences are closed."""
    for file in FILES:
        for fence in FENCE.finditer(text_of(file)):
            if fence[3] in ("bash", "console", "sh"):
                for line in re.sub(r"\\\n", " ", fence[4]).splitlines():
                    if line.lstrip("$ ").startswith("onnx-autodoc "):
                        shlex.split(line, comments=True)
