"""Hooks of MkDocs: adds the pages that are not in ``docs/`` and the links between them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from mkdocs.config.defaults import MkDocsConfig  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402
from mkdocs.structure.pages import Page  # noqa: E402

from docs_site.site import ROOT, generated, moved, navigation, outside  # noqa: E402

_PICTURE = re.compile(r"<picture>.*?</picture>", re.S)
_SOURCE = re.compile(r'<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"')
_ROW = re.compile(r"^\|.*$", re.M)
_CODE = re.compile(r"`[^`]*`")
_IMAGE = re.compile(r'<img ([^>]*?)src="([^"]+)"([^>]*)>')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fills the folders of the navigation."""
    docs = Path(config.docs_dir)
    pages = dict.fromkeys(path.relative_to(docs).as_posix() for path in sorted(docs.rglob("*.md")))
    config.nav = navigation(config.nav, {**pages, **generated()})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages and those from outside ``docs/``."""
    for page, text in (outside() | generated()).items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links out of ``docs/`` lead to pages of the site; pictures follow its colour scheme."""
    path = page.file.src_uri
    if (ROOT / "docs" / path).exists():
        markdown = moved(markdown, f"docs/{path}", path)
    return _ROW.sub(_with_pipes, _PICTURE.sub(_both, markdown))


def _with_pipes(match: re.Match[str]) -> str:
    """A row of a table: code hosts need ``\\|`` inside code, Python-Markdown would show the backslash."""
    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), match[0])


def _both(match: re.Match[str]) -> str:
    """A picture for each colour scheme: Material shows the one that fits its own switch."""
    dark, light = _SOURCE.search(match[0]), _IMAGE.search(match[0])
    if dark is None or light is None:
        return match[0]
    alt = re.search(r'alt="([^"]*)"', match[0])
    text = alt[1] if alt else ""
    return f"![{text}]({light[2]}#only-light)\n![{text}]({dark[1]}#only-dark)"
