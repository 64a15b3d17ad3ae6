"""Names that files, links, saved notebooks and settings hold. Renaming a symbol must not rename one of them.

A new name is added to ``tests/snapshots/stored_names.json``. One that goes needs a reader for what holds it.
"""

import json
import re
from pathlib import Path

from py_autodoc import Autodoc

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "tests/snapshots/stored_names.json"


def _found(pattern: str, *places: str, ending: str = "*") -> list[str]:
    texts = (
        path.read_text(encoding="utf-8")
        for place in places
        for path in sorted((ROOT / place).rglob(ending))
        if path.suffix in (".py", ".ts", ".tsx") and ".test." not in path.name
    )
    return sorted({one for text in texts for one in re.findall(pattern, text)})


def _members(file: str, interface: str) -> list[str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    body = re.search(rf"export interface {interface} \{{(.*?)^\}}", text, flags=re.DOTALL | re.MULTILINE)
    assert body, interface
    return sorted(re.findall(r"^  readonly (\w+)\??:", body[1], flags=re.MULTILINE))


def stored_names() -> dict[str, list[str]]:
    settings = json.loads((ROOT / "schema/plugin.json").read_text(encoding="utf-8"))
    base = {"layout", "tabbable", "tooltip"}
    return {
        "traits of the widget": sorted(
            name
            for name in Autodoc.class_traits(sync=True)
            if name not in base and not name.startswith(("_dom", "_model_", "_view_"))
        ),
        "messages of the widget": _found(r"[\"'](autodoc:[a-z]+)[\"']", "py_autodoc/widget", "src/widget"),
        "MIME types": _found(r"application/vnd\.onnx-autodoc[\w.+-]+", "py_autodoc/widget", "src/lab"),
        "metadata keys": _found(r"\"(autodoc\.[a-z_.]+|hf_[a-z_]+/?)\"", "py_autodoc"),
        "snapshot of a view": _members("src/viewer/state/snapshot.ts", "ISnapshot"),
        "settings": sorted(settings["properties"]),
        "commands": _found(r"'(onnx-autodoc:[a-z-]+)'", "src/lab/commands"),
        "actions": _found(r"\bid: '([a-z0-9-]+)'", "src/viewer/actions"),
    }


def test_stored_names_are_as_they_were():
    assert stored_names() == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_kind_is_found():
    assert all(stored_names().values())
