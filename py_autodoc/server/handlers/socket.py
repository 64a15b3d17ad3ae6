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
"""Close code for an unknown job: a browser hides the status of a refused handshake from scripts."""


class JobSocket(ProblemMixin, ExtensionHandlerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Sends the job's state at once and on each change, and closes after the last. Listens to nothing."""

    _following: asyncio.Task[None] | None = None

    @ws_authenticated
    async def get(self, job_id: str) -> None:
        """Opens the socket. ``authorized`` cannot be used: it does not know of the upgrade."""
        allowed = await ensure_async(self.authorizer.is_authorized(self, self.current_user, "read", RESOURCE))
        if not allowed:
            raise web.HTTPError(403)
        await super().get(job_id)

    def open(self, job_id: str, *args: Any, **kwargs: Any) -> None:
        """Begins to follow the job."""
        super().open(job_id, *args, **kwargs)
        self._following = asyncio.get_running_loop().create_task(self._follow(job_id))

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
        """Clients have nothing to say here."""

    def on_close(self) -> None:
        """The client left, or we did."""
        super().on_close()
        if self._following is not None:
            self._following.cancel()
