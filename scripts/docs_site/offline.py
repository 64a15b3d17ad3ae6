#!/usr/bin/env python3
"""Fails when a page of the built site would load anything from another host."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_FOREIGN = re.compile(r"^(?:[a-z]+:)?//", re.I)
_IN_CSS = re.compile(r"""(?:url\(\s*['"]?|@import\s+['"])((?:https?:)?//[^'")]+)""")
_LOADED = {"src", "srcset", "poster", "data", "action"}


class _Assets(HTMLParser):
    """Addresses that a browser loads when it shows the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            loads = name in _LOADED or (tag == "link" and name == "href")
            if loads and value and _FOREIGN.match(value):
                self.found.append(value)
            if name == "style" and value:
                self.found += _IN_CSS.findall(value)


def foreign(folder: Path) -> list[str]:
    """``page: address`` of everything that a page or a style sheet would load from another host."""
    found = []
    for page in sorted(folder.rglob("*.html")):
        assets = _Assets()
        text = page.read_text("utf-8")
        assets.feed(text)
        found += [f"{page.relative_to(folder)}: {one}" for one in [*assets.found, *_IN_CSS.findall(text)]]
    for sheet in sorted(folder.rglob("*.css")):
        text = sheet.read_text("utf-8")
        found += [f"{sheet.relative_to(folder)}: {one}" for one in _IN_CSS.findall(text)]
    return found


def main() -> int:
    folder = Path(sys.argv[1])
    pages = len(list(folder.rglob("*.html")))
    found = foreign(folder)
    for one in found:
        print(one, file=sys.stderr)
    if not pages or found:
        print(f"{pages} pages, {len(found)} addresses of other hosts", file=sys.stderr)
        return 1
    print(f"{folder / 'index.html'}: {pages} pages, nothing is loaded from elsewhere")
    return 0


if __name__ == "__main__":
    sys.exit(main())
