"""Values of constants, which are read on request until the client disconnects."""

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
    """Summaries of the constants of an analysed model."""

    _reading: asyncio.Task[EncodedBody] | None = None

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send statistics, histogram and first values."""
        await self._send_weights(job_id)

    async def _send_weights(self, job_id: str, format: str = "") -> None:
        """Read the constant and send it, unless the client disconnects."""
        request = msgspec.structs.replace(self._request(), format=format)
        self._reading = asyncio.ensure_future(self.jobs.weights(job_id, request))
        try:
            body = await self._reading
        except asyncio.CancelledError:
            # The client has disconnected.
            return
        await self.send(body)

    def on_connection_close(self) -> None:
        """Stop reading."""
        super().on_connection_close()
        if self._reading is not None:
            self._reading.cancel()

    def _request(self) -> BodyRequest:
        """Return the request for the constant in the query. Raises: OptionError."""
        tensor = self.get_query_argument("tensor", None)
        name = self.get_query_argument("name", None, strip=False)
        graph = self.get_query_argument("graph", None, strip=False)
        if (tensor is None) == (name is None):
            raise OptionError(
                "bad-request",
                "The request must name one constant.",
                "Pass either tensor=<id> or name=<name>.",
            )
        if name is not None:
            if len(name) > MAX_NAME or (graph is not None and len(graph) > MAX_NAME):
                raise OptionError("bad-request", f"A name has more than {MAX_NAME:,} characters.")
            return BodyRequest(kind="weights", name=name, graph=graph)
        assert tensor is not None
        if not (tensor.isascii() and tensor.isdigit() and len(tensor) <= MAX_ID_DIGITS):
            raise OptionError(
                "bad-request", f"{tensor[:20]!r} is not a valid tensor id.", "Pass a non-negative integer."
            )
        return BodyRequest(kind="weights", tensor=int(tensor))


class WeightFileHandler(WeightsHandler):
    """All values of a constant."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the ``.npy`` file."""
        await self._send_weights(job_id, NPY)
