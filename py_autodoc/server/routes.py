"""The table of routes: the handler and the permission of each operation.

Paths, request and response types are in ``py_autodoc.report.openapi_spec.operations``, from which the OpenAPI
document is generated. Tests use the table to check that every method requires a permission.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py_autodoc.report.openapi_spec.openapi import Operation
from py_autodoc.report.openapi_spec.operations import OPERATIONS
from py_autodoc.server.handlers import extract, files, jobs, results, socket, tasks, weights

PREFIX = "/autodoc/api"


@dataclass(frozen=True, slots=True)
class Route:
    """A method of a path. The authorizer must allow ``action`` on ``resource``."""

    operation: Operation
    handler: type[Any]
    action: str
    resource: str

    @property
    def pattern(self) -> str:
        """Regular expression of the path below the base URL."""
        return PREFIX + re.sub(r"\{\w+\}", r"([^/]+)", self.operation.path)


_BINDINGS: dict[str, tuple[type[Any], str, str]] = {
    "startJob": (jobs.JobsHandler, "execute", jobs.RESOURCE),
    "getJob": (jobs.JobHandler, "read", jobs.RESOURCE),
    "cancelJob": (jobs.JobHandler, "execute", jobs.RESOURCE),
    "watchJob": (socket.JobSocket, "read", jobs.RESOURCE),
    "getGraph": (results.GraphHandler, "read", results.RESOURCE),
    "getReport": (results.ReportHandler, "read", results.RESOURCE),
    "getSections": (results.SectionsHandler, "read", results.RESOURCE),
    "getBatch": (results.BatchHandler, "read", results.RESOURCE),
    "getServing": (results.ServingHandler, "read", results.RESOURCE),
    "getComparison": (results.ComparisonHandler, "read", results.RESOURCE),
    "getNode": (results.NodeHandler, "read", results.RESOURCE),
    "getWeights": (weights.WeightsHandler, "read", weights.RESOURCE),
    "getWeightFile": (weights.WeightFileHandler, "read", weights.RESOURCE),
    "getFile": (results.FileHandler, "read", results.RESOURCE),
    "extractNodes": (extract.ExtractHandler, "write", extract.RESOURCE),
    "uploadFile": (tasks.UploadsHandler, "write", tasks.RESOURCE),
    "startTask": (tasks.TasksHandler, "write", tasks.RESOURCE),
    "getTask": (tasks.TaskHandler, "read", tasks.RESOURCE),
    "cancelTask": (tasks.TaskHandler, "write", tasks.RESOURCE),
    "statFile": (files.FilesHandler, "read", files.RESOURCE),
}

ROUTES: tuple[Route, ...] = tuple(Route(operation, *_BINDINGS[operation.id]) for operation in OPERATIONS)


def tornado_rules(routes: Sequence[Route] = ROUTES) -> list[tuple[str, type[Any]]]:
    """Return pairs of pattern and handler for tornado, with each pattern once."""
    return list({route.pattern: route.handler for route in routes}.items())
