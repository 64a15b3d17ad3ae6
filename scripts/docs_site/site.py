"""Which pages the site has beside those of ``docs/``, and its navigation. Needs no MkDocs."""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import Any

from docs_site.commands import command_pages
from docs_site.operators import PAGE, operators_page
from docs_site.python_api import python_pages

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "profiles/README.md": "profiles.md",
}
"""File of the repository → page of the site."""
NAMED_BY_FILE = ("reference/commands/", "rules/")
"""Folders whose pages are called in the navigation as their files are: commands and rules."""
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
SOURCE = re.compile(r"(src=\"|srcset=\")([^\":]+)(\")")


def generated() -> dict[str, str]:
    """Page of the site → Markdown, for pages that are in no file."""
    return command_pages() | python_pages() | {PAGE: operators_page()}


def outside() -> dict[str, str]:
    """Page of the site → Markdown, for files outside ``docs/``."""
    return {page: moved((ROOT / file).read_text("utf-8"), file, page) for file, page in OUTSIDE.items()}


def moved(text: str, file: str, page: str) -> str:
    """``text`` of a file of the repository with the links of the site.

    Links to pages follow them. A link to a file that the site does not have becomes its path in code type.
    """

    def link(match: re.Match[str]) -> str:
        target = _target(match[2], file, page)
        return match[0] if target is None else f"{match[1]}{target}{match[3]}"

    parts = re.split(r"(```.*?```)", text, flags=re.S)
    return "".join(
        part if part.startswith("```") else SOURCE.sub(link, _without_files(LINK.sub(link, part), file, page))
        for part in parts
    )


def place(file: str) -> str | None:
    """Where a file of the repository is in the site, None when it is not there."""
    if file in OUTSIDE:
        return OUTSIDE[file]
    return file.removeprefix("docs/") if file.startswith("docs/") else None


def _target(link: str, file: str, page: str) -> str | None:
    found = place(os.path.normpath(os.path.join(os.path.dirname(file), link)))
    return None if found is None else os.path.relpath(found, os.path.dirname(page) or ".")


def _without_files(text: str, file: str, page: str) -> str:
    def plain(match: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(page), match[2]))
        inside = not target.startswith("..") and (ROOT / "docs" / target).exists()
        known = inside or target in OUTSIDE.values()
        path = os.path.normpath(os.path.join(os.path.dirname(file), match[2]))
        return match[0] if known or not (ROOT / path).exists() else f"{match[1].strip('`')} (`{path}`)"

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)\)", plain, text)


def navigation(nav: Any, pages: dict[str, str]) -> Any:
    """``nav`` of ``mkdocs.yml``; an entry that ends in ``/`` becomes the pages of that folder."""
    if isinstance(nav, list):
        return [navigation(one, pages) for one in nav]
    if isinstance(nav, dict):
        return {title: navigation(inner, pages) for title, inner in nav.items()}
    if not nav.endswith("/"):
        return nav
    inside = sorted(page.removeprefix(nav) for page in pages if page.startswith(nav))
    first = [f"{nav}{name}" for name in inside if name in ("index.md", "README.md")]
    others = [name for name in inside if f"{nav}{name}" not in first]
    if nav not in NAMED_BY_FILE:
        return first + [f"{nav}{name}" for name in others]
    return first + [{name.removesuffix(".md"): f"{nav}{name}"} for name in others]
