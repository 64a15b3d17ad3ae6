"""The extension: configuration, start and end."""

from __future__ import annotations

import os
from dataclasses import replace

from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Float, Integer

from py_autodoc.jobs.job_queue import JobQueue, QueueSettings
from py_autodoc.jobs.launch import default_launcher
from py_autodoc.limits import SERVER
from py_autodoc.report.schema import SCHEMA_VERSION
from py_autodoc.server.routes import tornado_rules
from py_autodoc.tasks.manager import TaskManager
from py_autodoc.tasks.uploads import Uploads

MIN_MEMORY_BYTES = 1 << 29


class AutodocApp(ExtensionApp):
    """ONNX Autodoc under ``/autodoc/api``."""

    name = "py_autodoc"
    extension_url = "/lab"
    load_other_extensions = True

    max_running = Integer(
        min(2, os.cpu_count() or 1), min=1, help="Analyses that run at the same time, each in a process."
    ).tag(config=True)
    max_pending = Integer(32, min=0, help="Analyses that may wait; more are refused with 429.").tag(
        config=True
    )
    memory_bytes = Integer(
        SERVER.memory_bytes, min=MIN_MEMORY_BYTES, help="Address space one analysis may use, in bytes."
    ).tag(config=True)
    seconds = Float(SERVER.seconds, min=1, help="Time one analysis may take, in seconds.").tag(config=True)
    max_nodes = Integer(
        SERVER.nodes, min=1, help="Nodes a model may have, local functions expanded, before it is refused."
    ).tag(config=True)
    cache_bytes = Integer(256 << 20, min=0, help="Memory for finished results, in bytes.").tag(config=True)
    idle_workers = Integer(
        3, min=0, help="Processes kept after their analysis to answer questions about nodes at once."
    ).tag(config=True)
    max_workers = Integer(
        16, min=1, help="Processes at the same time, whatever they do; questions to more of them wait."
    ).tag(config=True)
    worker_idle_seconds = Float(1800.0, min=0, help="How long such a process is kept, in seconds.").tag(
        config=True
    )
    allow_outside_links = Bool(
        True, help="Open models through symbolic links that lead out of the server's root, as Jupyter does."
    ).tag(config=True)
    task_memory_bytes = Integer(
        8 << 30, min=MIN_MEMORY_BYTES, help="Address space a task that runs a model may use, in bytes."
    ).tag(config=True)
    task_seconds = Float(1800.0, min=1, help="Time such a task may take, in seconds.").tag(config=True)
    preload = Bool(
        True, help="Import the analysis code in the background soon after the server started."
    ).tag(config=True)
    preload_delay_seconds = Float(
        2.0, min=0, help="When to do so, in seconds after the start: JupyterLab's own start goes first."
    ).tag(config=True)

    jobs: JobQueue
    tasks: TaskManager
    uploads: Uploads

    def initialize_settings(self) -> None:
        """Creates the queue; no process is started yet."""
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
        self.tasks = TaskManager(self.task_seconds)
        self.uploads = Uploads()
        if self.preload and self.serverapp is not None:
            self.serverapp.io_loop.call_later(self.preload_delay_seconds, self._warm)

    def initialize_handlers(self) -> None:
        """Binds the table of routes."""
        self.handlers.extend(tornado_rules())

    async def stop_extension(self) -> None:
        """Ends all child processes."""
        await self.tasks.close()
        self.uploads.close()
        await self.jobs.close()

    async def _warm(self) -> None:
        await self.jobs.warm()
