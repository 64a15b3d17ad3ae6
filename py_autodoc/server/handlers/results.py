"""Results of finished analyses."""

from __future__ import annotations

from tornado import web

from py_autodoc.jobs.errors import UnknownNode
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler

RESOURCE = "autodoc:reports"
MAX_NODE_DIGITS = 9


class GraphHandler(Handler):
    """The payload of the viewer."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the payload."""
        await self.send(await self.jobs.body(job_id, "graph"))


class ReportHandler(Handler):
    """The report."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the report, which is built on the first request."""
        await self.send(await self.jobs.body(job_id, "report"))


class SectionsHandler(Handler):
    """The report as sections of a document."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the sections, which are built on the first request."""
        await self.send(await self.jobs.body(job_id, "sections"))


class BatchHandler(Handler):
    """Whether the fixed batch size of a model can be changed."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the result, which is computed on the first request."""
        await self.send(await self.jobs.body(job_id, "batch"))


class ServingHandler(Handler):
    """Estimates of text generation on a device."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the estimates, which the child of the job computes."""
        device, *rest = (self.get_query_argument(name, "") for name in ("device", "precision", "runtime"))
        await self.send(await self.jobs.serving(job_id, device, *rest))


class ComparisonHandler(Handler):
    """The alignment with another analysed model."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send the alignment. The child of the job analyses the other model again."""
        await self.send(await self.jobs.comparison(job_id, self.get_query_argument("other")))


class NodeHandler(Handler):
    """Details of a node."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str, node_id: str) -> None:
        """Send the details for the inspector."""
        if not (node_id.isascii() and node_id.isdigit() and len(node_id) <= MAX_NODE_DIGITS):
            raise UnknownNode(node_id)
        await self.send(await self.jobs.body(job_id, "node", int(node_id)))


class FileHandler(Handler):
    """Documents and images of a model."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str, format: str) -> None:
        """Send the document in a format, with an optional metric as its overlay."""
        await self.send(await self.jobs.file(job_id, format, self.get_query_argument("metric", "")))
