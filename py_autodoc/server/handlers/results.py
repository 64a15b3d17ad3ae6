"""What a finished analysis found."""

from __future__ import annotations

from tornado import web

from py_autodoc.jobs.errors import UnknownNode
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler

RESOURCE = "autodoc:reports"
MAX_NODE_DIGITS = 9


class GraphHandler(Handler):
    """The viewer's payload."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """What the viewer draws."""
        await self.send(await self.jobs.body(job_id, "graph"))


class ReportHandler(Handler):
    """The full report."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Built when first asked for."""
        await self.send(await self.jobs.body(job_id, "report"))


class SectionsHandler(Handler):
    """The report as a document."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Written when first asked for."""
        await self.send(await self.jobs.body(job_id, "sections"))


class BatchHandler(Handler):
    """Other batches for a model that has one fixed."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Followed through the graph when it is first asked for."""
        await self.send(await self.jobs.body(job_id, "batch"))


class ServingHandler(Handler):
    """Text generation on a device."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Planned by the child of the job."""
        device, *rest = (self.get_query_argument(name, "") for name in ("device", "precision", "runtime"))
        await self.send(await self.jobs.serving(job_id, device, *rest))


class ComparisonHandler(Handler):
    """This model beside another analysed one."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Aligned by the child of the job, which analyses the other model once more."""
        await self.send(await self.jobs.comparison(job_id, self.get_query_argument("other")))


class NodeHandler(Handler):
    """Details of one node."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str, node_id: str) -> None:
        """What the inspector shows."""
        if not (node_id.isascii() and node_id.isdigit() and len(node_id) <= MAX_NODE_DIGITS):
            raise UnknownNode(node_id)
        await self.send(await self.jobs.body(job_id, "node", int(node_id)))


class FileHandler(Handler):
    """The model as a file to keep."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str, format: str) -> None:
        """Made when it is asked for."""
        await self.send(await self.jobs.file(job_id, format, self.get_query_argument("metric", "")))
