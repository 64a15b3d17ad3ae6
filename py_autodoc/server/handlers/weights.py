"""Values of one constant, read when somebody asks for them and only as long as he waits."""

from __future__ import annotations

import asyncio

import msgspec
from tornado import web

from py_autodoc.errors import OptionError
from py_autodoc.jobs.ipc_frames import BodyRequest
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.report.schema.details import NPY
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler

RESOURCE = "autodoc:weights"
MAX_ID_DIGITS = 9
MAX_NAME = 4096


class WeightsHandler(Handler):
    """Initializers and Constants of an analysed model."""

    _reading: asyncio.Task[EncodedBody] | None = None

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Statistics, histogram and first values."""
        await self._answer(job_id)

    async def _answer(self, job_id: str, format: str = "") -> None:
        """Reads the constant for as long as the client is there."""
        request = msgspec.structs.replace(self._request(), format=format)
        self._reading = asyncio.ensure_future(self.jobs.weights(job_id, request))
        try:
            body = await self._reading
        except asyncio.CancelledError:
            # The client went away and hears nothing any more.
            return
        await self.send(body)

    def on_connection_close(self) -> None:
        """Nobody waits for the answer: the reading stops."""
        super().on_connection_close()
        if self._reading is not None:
            self._reading.cancel()

    def _request(self) -> BodyRequest:
        """Which constant is meant. Raises ``OptionError``."""
        tensor = self.get_query_argument("tensor", None)
        name = self.get_query_argument("name", None, strip=False)
        graph = self.get_query_argument("graph", None, strip=False)
        if (tensor is None) == (name is None):
            raise OptionError("bad-request", "Say which constant: either tensor=<id> or name=<name>.")
        if name is not None:
            if len(name) > MAX_NAME or (graph is not None and len(graph) > MAX_NAME):
                raise OptionError("bad-request", f"A name of more than {MAX_NAME:,} characters.")
            return BodyRequest(kind="weights", name=name, graph=graph)
        assert tensor is not None
        if not (tensor.isascii() and tensor.isdigit() and len(tensor) <= MAX_ID_DIGITS):
            raise OptionError(
                "bad-request", f"{tensor[:20]!r} is not a tensor id.", "Ids are numbers from 0 up."
            )
        return BodyRequest(kind="weights", tensor=int(tensor))


class WeightFileHandler(WeightsHandler):
    """All values of a constant of an analysed model."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """The ``.npy`` file."""
        await self._answer(job_id, NPY)
