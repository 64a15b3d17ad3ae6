"""Runs the viewer's own layout and drawing code (``svg.js``) without a browser.

It uses QuickJS inside this process if its wheel is installed, else Node (``render.nodejs``); both give the
same bytes. In QuickJS the code has no access to files, network or processes; the model is passed as data, and
memory, time and stack are limited.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from functools import cache
from importlib import import_module
from importlib.resources import as_file, files
from types import ModuleType
from typing import TYPE_CHECKING

from py_autodoc import children
from py_autodoc.errors import AnalysisError, LimitError, RequirementError
from py_autodoc.render.nodejs import find_nodejs

if TYPE_CHECKING:
    from importlib.abc import Traversable

MEMORY = 1 << 30
"""Memory limit of QuickJS in bytes."""
SECONDS = 300
"""Time limit in seconds: CPU time in QuickJS, wall time in Node."""
STACK = 4 << 20
"""Stack limit of QuickJS in bytes; its thread has four times as much, independent of the system default."""
_HINT = "Use a smaller --depth, or write HTML, which is drawn in the browser."
_LONE = re.compile("[\ud800-\udfff]")
# Text is returned as JSON: QuickJS passes C strings, which end at a NUL, and rejects lone surrogates.
_CALL = """
var drawn = null, fault = null;
drawSvg(request).then(
  text => { drawn = JSON.stringify(text); },
  error => { fault = JSON.stringify(String(error)); }
);
"""


class PictureFault(Exception):
    """The viewer's code threw an exception; the text is the error's name and message."""


def draw(request: bytes) -> str:
    """Return the SVG for a request: UTF-8 JSON of ``{"payload": …, "options": …}``.

    Raises:
        RequirementError: neither QuickJS nor Node is available, or the viewer was not built.
        LimitError: the image exceeds the limit of memory, time or stack.
        AnalysisError: the engine could not be run.
        PictureFault: the viewer's code failed.
    """
    if quickjs() is None:
        return _in_node(find_nodejs(), request)
    return _in_thread(_bundle(), request)


def require_engine() -> None:
    """Raises: RequirementError if ``draw`` would fail for lack of an engine."""
    if quickjs() is None:
        find_nodejs()


@cache
def quickjs() -> ModuleType | None:
    """Return QuickJS if its wheel is installed, but not an older package with the same module name."""
    try:
        library = import_module("quickjs")
    except ImportError:
        return None
    return library if hasattr(library, "StackOverflow") else None


def _script() -> Traversable:
    return files("py_autodoc").joinpath("static").joinpath("svg.js")


@cache
def _bundle() -> str:
    script = _script()
    if not script.is_file():
        raise RequirementError(
            "viewer-not-built",
            "This installation has no built viewer (svg.js is missing).",
            "Install the wheel, or run `make lab` once in a checkout.",
        )
    return script.read_text("utf-8")


def _in_thread(bundle: str, request: bytes) -> str:
    """Run ``_in_quickjs`` in a thread with enough stack to reach our limit before the system's."""
    results: list[str | BaseException] = []

    def run() -> None:
        try:
            results.append(_in_quickjs(bundle, request))
        except BaseException as fault:  # noqa: BLE001 - raised again in the thread that asked
            results.append(fault)

    with _STACKS:
        previous_size = threading.stack_size(4 * STACK)
        try:
            # A daemon thread: interrupting the program does not wait for the image.
            thread = threading.Thread(target=run, name="picture", daemon=True)
            thread.start()
        finally:
            threading.stack_size(previous_size)
    thread.join()
    (result,) = results
    if isinstance(result, BaseException):
        raise result
    return result


_STACKS = threading.Lock()
"""The stack size of new threads is a setting of the whole process."""


def _in_quickjs(bundle: str, request: bytes) -> str:
    library = quickjs()
    assert library is not None
    engine = library.Context()
    engine.set_memory_limit(MEMORY)
    engine.set_time_limit(SECONDS)
    engine.set_max_stack_size(STACK)
    try:
        engine.eval(bundle)
        engine.set("request", request.decode("utf-8"))
        engine.eval(_CALL)
        while engine.execute_pending_job():
            pass
        drawn, fault = engine.eval("drawn"), engine.eval("fault")
    except library.JSException as error:
        raise _limit(str(error)) from None
    except MemoryError:
        raise _limit("out of memory") from None
    if fault is not None:
        message = _decode_js_string(fault)
        # Limits caught inside a promise are recognised by their message.
        raise _limit(message) if _LIMIT_MESSAGES.search(message) else PictureFault(message)
    if drawn is None:
        raise AnalysisError("svg-failed", "The image could not be drawn: its code did not finish.", "")
    return _decode_js_string(drawn)


_LIMIT_MESSAGES = re.compile(r"out of memory|interrupted|call stack|^(?:Error: )?null$")
"""Messages of QuickJS for limits; it throws null if there is no memory left for an error."""


def _limit(message: str) -> LimitError | AnalysisError:
    """Return the error for an exceeded limit, or for another failure of the engine."""
    match = _LIMIT_MESSAGES.search(message)
    if match is None:
        return AnalysisError("svg-failed", f"The image could not be drawn: {_first(message)}.", "")
    limit_name, limit, text = {
        "interrupted": ("seconds", SECONDS, f"{SECONDS:,} seconds"),
        "call stack": ("stack", STACK, f"{STACK >> 20} MB of stack"),
    }.get(match[0], ("memory", MEMORY, f"{MEMORY >> 20:,} MB of memory"))
    return LimitError(
        f"picture-{limit_name}", limit, limit, f"The image needs more than {text}, which is the limit.", _HINT
    )


def _first(message: str) -> str:
    return (message.strip().splitlines() or ["no reason given"])[0][:200]


def _decode_js_string(quoted: str) -> str:
    """Return the JavaScript text as Node writes it: lone surrogates become U+FFFD."""
    text: str = json.loads(quoted)
    return _LONE.sub("\ufffd", text)


def _in_node(program: str, request: bytes) -> str:
    _bundle()
    with as_file(_script()) as path:
        try:
            process = children.run([program, str(path)], input=request, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise _limit("interrupted") from None
        except OSError as fault:
            raise AnalysisError("svg-failed", f"Node.js did not draw the image: {fault}.", "") from None
    if process.returncode:
        lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        raise PictureFault((lines or ["no reason given"])[-1])
    return process.stdout.decode("utf-8")
