"""A Jupyter server with the extension, as strict as it can be configured.

Its jobs run in real child processes with the fake engine of ``tests/jobs``; what a test needs of the
real engine it says with the marker ``real``.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403 - its fixtures and its support of coroutine tests

sys.path.insert(0, str(Path(__file__).parent.parent / "jobs"))

import jobs_help
from conftest_help import Client

import py_autodoc.server.app as app_module
from py_autodoc.jobs.launch import ENGINE, ForkLauncher, _ZygoteLink, default_launcher
from py_autodoc.server.app import AutodocApp


class SharedLauncher(ForkLauncher):
    """Its zygote, whose imports take up to a second, serves one event loop after the other."""

    def __init__(self, engine: str = ENGINE, search: Sequence[str] = ()) -> None:
        super().__init__(engine, search)
        self._kept: tuple[socket.socket, subprocess.Popen[bytes]] | None = None

    async def _open(self) -> _ZygoteLink:
        if self._kept is None or self._kept[1].poll() is not None:
            link = await super()._open()
            self._kept = link._control.dup(), link.process
            return link
        control, process = self._kept
        link = _ZygoteLink(control.dup(), process)
        link.ready.set_result(None)
        return link

    async def close(self) -> None:
        """Kill the children; the zygote stays, because a copy of its socket stays open."""
        opening, self._opening = self._opening, None
        if opening is not None:
            link = await opening
            for child in list(link.exits):
                link.kill(child)
            link.close()

    def end(self) -> None:
        """Close the socket, at which the zygote exits."""
        if self._kept is not None:
            self._kept[0].close()
            assert self._kept[1].wait(timeout=30) == 0


@pytest.fixture(scope="session")
def shared_launchers() -> Iterator[dict[str, SharedLauncher]]:
    launchers = {"real": SharedLauncher(), "fake": SharedLauncher(jobs_help.FAKE, [jobs_help.HERE])}
    yield launchers
    for launcher in launchers.values():
        launcher.end()


@pytest.fixture
def engine() -> str:
    """Overridden where the real analysis is wanted, or a zygote of the test's own."""
    return "fake"


@pytest.fixture
def extension_config() -> dict[str, Any]:
    return {}


@pytest.fixture
def jp_server_config(
    engine: str,
    extension_config: dict[str, Any],
    shared_launchers: dict[str, SharedLauncher],
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    if engine in shared_launchers and type(default_launcher()) is ForkLauncher:
        monkeypatch.setattr(app_module, "default_launcher", lambda: shared_launchers[engine])
    elif engine != "real":
        monkeypatch.setattr(app_module, "default_launcher", jobs_help.fake_launcher)
    return {
        "ServerApp": {
            "jpserver_extensions": {"py_autodoc": True, "jupyter_server_terminals": False},
            "allow_unauthenticated_access": False,
        },
        "AutodocApp": {"preload": False, "seconds": 60.0, "memory_bytes": 1 << 30, **extension_config},
    }


@pytest.fixture
def autodoc(jp_serverapp: Any, jp_asyncio_loop: Any) -> Iterator[AutodocApp]:
    app = jp_serverapp.extension_manager.extension_points["py_autodoc"].app
    yield app
    jp_asyncio_loop.run_until_complete(app.stop_extension())


@pytest.fixture
def client(autodoc: AutodocApp, jp_fetch: Any, jp_root_dir: Path) -> Client:
    return Client(jp_fetch, jp_root_dir)
