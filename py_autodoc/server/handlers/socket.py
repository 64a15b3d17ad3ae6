"""Progress of a job over a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, cast

import msgspec
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from py_autodoc.server.handlers.jobs import RESOURCE
from py_autodoc.server.problems import ProblemMixin
from py_autodoc.server.services import Services

NORMAL = 1000
UNKNOWN_JOB = 4404
"""Close code for an unknown job: scripts in a browser cannot see the status of a rejected handshake."""


class JobSocket(ProblemMixin, ExtensionHandlerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Sends the state of a job at once and after each change, then closes. Ignores all messages."""

    _watcher: asyncio.Task[None] | None = None

    @ws_authenticated
    async def get(self, job_id: str) -> None:
        """Open the socket. ``authorized`` cannot be used, because it does not support the upgrade."""
        allowed = await ensure_async(self.authorizer.is_authorized(self, self.current_user, "read", RESOURCE))
        if not allowed:
            raise web.HTTPError(403)
        await super().get(job_id)

    def open(self, job_id: str, *args: Any, **kwargs: Any) -> None:
        """Start to send the states of the job."""
        super().open(job_id, *args, **kwargs)
        self._watcher = asyncio.get_running_loop().create_task(self._follow(job_id))

    async def _follow(self, job_id: str) -> None:
        jobs = cast("Services", self.extensionapp).jobs
        if not jobs.has_job(job_id):
            self.close(UNKNOWN_JOB, "unknown-job")
            return
        with contextlib.suppress(WebSocketClosedError):
            async for job in jobs.watch(job_id):
                await self.write_message(msgspec.json.encode(job))
            self.close(NORMAL, job.state)

    def on_message(self, message: str | bytes) -> None:
        """Ignore messages of the client."""

    def on_close(self) -> None:
        """Stop sending states after either side has closed the socket."""
        super().on_close()
        if self._watcher is not None:
            self._watcher.cancel()
