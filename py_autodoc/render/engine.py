"""What runs the viewer's own layout and drawing (``svg.js``) where there is no browser.

QuickJS inside this process where its wheel is installed, else Node (``render.node``). Both give the same
bytes. In QuickJS our code sees no file, no network and no process; the model goes in as data, and what the
picture may take of memory, time and stack is limited.
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

from py_autodoc.errors import AnalysisError, LimitError, RequirementError
from py_autodoc.render.nodejs import find_nodejs

if TYPE_CHECKING:
    from importlib.abc import Traversable

MEMORY = 1 << 30
"""Bytes that QuickJS may take."""
SECONDS = 300
"""Seconds that a picture may take: of CPU in QuickJS, by the clock in Node."""
STACK = 4 << 20
"""Bytes of stack for QuickJS; its thread has four times as much, whatever the system gives to threads."""
_HINT = "Use a smaller --depth, or write HTML, which is drawn in the browser."
_LONE = re.compile("[\ud800-\udfff]")
# Text leaves as JSON: QuickJS hands over texts as C strings, which end at a NUL, and refuses half a pair.
_CALL = """
var drawn = null, fault = null;
drawSvg(request).then(
  text => { drawn = JSON.stringify(text); },
  error => { fault = JSON.stringify(String(error)); }
);
"""


class PictureFault(Exception):
    """The viewer's code threw; the text is the error's name and message."""


def draw(request: bytes) -> str:
    """The SVG of a request, JSON of ``{"payload": …, "options": …}`` in UTF-8.

    Raises:
        RequirementError: there is neither QuickJS nor Node, or the viewer was not built.
        LimitError: the picture needs more memory, time or stack than it may have.
        AnalysisError: the engine could not be run.
        PictureFault: the viewer refused or failed.
    """
    if quickjs() is None:
        return _in_node(find_nodejs(), request)
    return _in_thread(_bundle(), request)


def need() -> None:
    """Raises: RequirementError where ``draw`` would for want of an engine."""
    if quickjs() is None:
        find_nodejs()


@cache
def quickjs() -> ModuleType | None:
    """QuickJS where its wheel is there. An older package of the same module name cannot run our code."""
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
    """``_in_quickjs`` in a thread whose stack is large enough for the limit to be met before the system's."""
    found: list[str | BaseException] = []

    def run() -> None:
        try:
            found.append(_in_quickjs(bundle, request))
        except BaseException as fault:  # noqa: BLE001 - raised again in the thread that asked
            found.append(fault)

    with _STACKS:
        before = threading.stack_size(4 * STACK)
        try:
            # A daemon: who interrupts the program does not wait for the picture.
            thread = threading.Thread(target=run, name="picture", daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    (result,) = found
    if isinstance(result, BaseException):
        raise result
    return result


_STACKS = threading.Lock()
"""The size of new stacks is the whole program's."""


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
        message = _whole(fault)
        # What a promise catches is told by its words as well.
        raise _limit(message) if _WORDS.search(message) else PictureFault(message)
    if drawn is None:
        raise AnalysisError("svg-failed", "The image could not be drawn: its code did not end.", "")
    return _whole(drawn)


_WORDS = re.compile(r"out of memory|interrupted|call stack|^(?:Error: )?null$")
"""What QuickJS says of a limit; it throws null where no memory is left for an error."""


def _limit(message: str) -> LimitError | AnalysisError:
    """The error of a picture that asked for too much; another fault of the engine is ours."""
    found = _WORDS.search(message)
    if found is None:
        return AnalysisError("svg-failed", f"The image could not be drawn: {_first(message)}.", "")
    what, limit, text = {
        "interrupted": ("seconds", SECONDS, f"{SECONDS:,} seconds"),
        "call stack": ("stack", STACK, f"{STACK >> 20} MB of stack"),
    }.get(found[0], ("memory", MEMORY, f"{MEMORY >> 20:,} MB of memory"))
    return LimitError(
        f"picture-{what}", limit, limit, f"The image needs more than {text}, the most it may have.", _HINT
    )


def _first(message: str) -> str:
    return (message.strip().splitlines() or ["no reason given"])[0][:200]


def _whole(quoted: str) -> str:
    """A text of JavaScript as Node writes it: half a pair of a character becomes U+FFFD."""
    text: str = json.loads(quoted)
    return _LONE.sub("\ufffd", text)


def _in_node(program: str, request: bytes) -> str:
    _bundle()
    with as_file(_script()) as path:
        try:
            done = subprocess.run(  # noqa: S603 - our own script, the model goes in as data
                [program, str(path)], input=request, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise _limit("interrupted") from None
        except OSError as fault:
            raise AnalysisError("svg-failed", f"Node.js did not draw the image: {fault}.", "") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise PictureFault((lines or ["no reason given"])[-1])
    return done.stdout.decode("utf-8")
