"""The server extension: configuration, start and stop."""

from __future__ import annotations

import os
from dataclasses import replace

from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Float, Integer

from py_autodoc import temporary
from py_autodoc.jobs.job_queue import JobQueue, QueueSettings
from py_autodoc.jobs.launch import default_launcher
from py_autodoc.jobs.request_bodies import RequestBodies
from py_autodoc.limits import SERVER
from py_autodoc.report.schema import SCHEMA_VERSION
from py_autodoc.server.routes import tornado_rules
from py_autodoc.tasks.manager import TaskManager
from py_autodoc.tasks.uploads import Uploads

MIN_MEMORY_BYTES = 1 << 29
"""Minimum address space that a child process needs."""


class AutodocApp(ExtensionApp):
    """The extension, with its API under ``/autodoc/api``."""

    name = "py_autodoc"
    extension_url = "/lab"
    load_other_extensions = True

    max_running = Integer(
        min(2, os.cpu_count() or 1),
        min=1,
        help="Maximum number of analyses that run at the same time, each in its own process.",
    ).tag(config=True)
    max_pending = Integer(
        32, min=0, help="Maximum number of waiting analyses. Further requests get the status 429."
    ).tag(config=True)
    memory_bytes = Integer(
        SERVER.memory_bytes, min=MIN_MEMORY_BYTES, help="Maximum address space of an analysis, in bytes."
    ).tag(config=True)
    seconds = Float(SERVER.seconds, min=1, help="Maximum time of an analysis, in seconds.").tag(config=True)
    max_nodes = Integer(
        SERVER.nodes,
        min=1,
        help="Maximum number of nodes of a model, with its local functions expanded.",
    ).tag(config=True)
    cache_bytes = Integer(
        256 << 20,
        min=0,
        help="Maximum memory for the results of analyses and tasks that are kept, in bytes. "
        "The least recently used are dropped first; the newest is kept even if it is larger.",
    ).tag(config=True)
    idle_workers = Integer(
        3,
        min=0,
        help="Maximum number of idle processes, which are kept to respond to requests about nodes quickly.",
    ).tag(config=True)
    max_workers = Integer(
        16, min=1, help="Maximum number of processes. Requests that need another process wait."
    ).tag(config=True)
    worker_idle_seconds = Float(
        1800.0, min=0, help="Time after which an idle process is stopped, in seconds."
    ).tag(config=True)
    allow_outside_links = Bool(
        True, help="Follow symbolic links out of the root folder of the server, as Jupyter does."
    ).tag(config=True)
    task_memory_bytes = Integer(
        8 << 30,
        min=MIN_MEMORY_BYTES,
        help="Maximum address space of a task (one that runs or quantizes a model), in bytes.",
    ).tag(config=True)
    task_seconds = Float(1800.0, min=1, help="Maximum time of a task, in seconds.").tag(config=True)
    preload = Bool(True, help="Import the analysis code in the background after the server has started.").tag(
        config=True
    )
    preload_delay_seconds = Float(
        2.0,
        min=0,
        help="Delay of this import after the start, in seconds, so that it does not slow down JupyterLab.",
    ).tag(config=True)

    jobs: JobQueue
    tasks: TaskManager
    uploads: Uploads
    bodies: RequestBodies

    def initialize_settings(self) -> None:
        """Create the queues. No process is started yet."""
        limits = replace(
            SERVER,
            nodes=self.max_nodes,
            expanded_nodes=self.max_nodes,
            memory_bytes=self.memory_bytes,
            seconds=self.seconds,
        )
        settings = QueueSettings(
            limits=limits,
            max_running=self.max_running,
            max_pending=self.max_pending,
            cache_bytes=self.cache_bytes,
            idle_workers=self.idle_workers,
            max_workers=self.max_workers,
            worker_idle_seconds=self.worker_idle_seconds,
        )
        self.jobs = JobQueue(default_launcher(), settings, SCHEMA_VERSION)
        self.tasks = TaskManager(self.task_seconds, self.jobs.budget)
        self.uploads = Uploads()
        self.bodies = RequestBodies(self.jobs.budget)
        if self.serverapp is not None:
            # What a server that was killed left there, in a thread: the folder can be slow.
            self.serverapp.io_loop.run_in_executor(None, temporary.sweep_scratch)
        if self.preload and self.serverapp is not None:
            self.serverapp.io_loop.call_later(self.preload_delay_seconds, self._warm)

    def initialize_handlers(self) -> None:
        """Register the routes."""
        self.handlers.extend(tornado_rules())

    async def stop_extension(self) -> None:
        """Stop all child processes and remove uploaded files."""
        await self.tasks.close()
        self.uploads.close()
        await self.jobs.close()

    async def _warm(self) -> None:
        await self.jobs.warm()
