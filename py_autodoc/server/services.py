"""The interface of the extension for its handlers."""

from __future__ import annotations

from typing import Protocol

from py_autodoc.jobs.job_queue import JobQueue
from py_autodoc.jobs.request_bodies import RequestBodies
from py_autodoc.tasks.manager import TaskManager
from py_autodoc.tasks.uploads import Uploads


class Services(Protocol):
    """Queues and settings of ``AutodocApp`` that the handlers use."""

    jobs: JobQueue
    tasks: TaskManager
    uploads: Uploads
    bodies: RequestBodies
    allow_outside_links: bool
    task_memory_bytes: int
