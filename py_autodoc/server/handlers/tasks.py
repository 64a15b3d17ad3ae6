"""Start, look at and stop tasks: what runs a model, or writes one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tornado import web

from py_autodoc.errors import OptionError
from py_autodoc.report.schema import TaskRequest, Upload
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler
from py_autodoc.server.incoming_file import check_name
from py_autodoc.server.paths import require_model
from py_autodoc.tasks.child import Order
from py_autodoc.tasks.kinds import TaskFiles
from py_autodoc.tasks.manager import TooManyTasks

RESOURCE = "contents"
"""Whoever may save files may do this: a task writes beside the model, or runs what is in it."""
_PROFILES = 3
"""Paths that are looked up; more than two are refused by the task."""


class UploadsHandler(Handler):
    """Files for tasks that lie on the client's machine."""

    @web.authenticated
    @authorized("write", RESOURCE)
    async def post(self) -> None:
        """Keeps one; answers with its id."""
        content = self.request.body
        name = self.get_query_argument("name", "")
        loop = asyncio.get_running_loop()
        number, name = await loop.run_in_executor(None, self.services.uploads.add, name, content)
        self.reply(Upload(id=number, name=name, size=len(content)), 201)


class TasksHandler(Handler):
    """All tasks."""

    @web.authenticated
    @authorized("write", RESOURCE)
    async def post(self) -> None:
        """Starts one; answers with its state."""
        request = self.read(TaskRequest)
        file = await self.file(request.path)
        require_model(file)
        data = (await self.file(request.data)).os_path if request.data else None
        out = ""
        if request.kind == "quantize":
            if not request.out:
                raise OptionError(
                    "bad-name", "The quantized model needs a name.", "A name that ends in .onnx."
                )
            check_name(request.out)
            out = str(Path(file.os_path).parent / request.out)
        against = ""
        if request.kind == "verify":
            if not request.against:
                raise OptionError("no-reference", "There is nothing to verify against.", "Name a reference.")
            against = (await self.file(request.against)).os_path
        profiles, sent = [(await self.file(one)).os_path for one in request.profiles[:_PROFILES]], []
        if request.kind == "profile":
            sent = self.services.uploads.take(request.uploads)
        files = TaskFiles(
            model=file.os_path, data=data, out=out, against=against, profiles=[*profiles, *sent]
        )
        order = Order(request=request, files=files, memory_bytes=self.services.task_memory_bytes)
        try:
            task = self.services.tasks.start(order, lambda: self.services.uploads.release(sent))
        except TooManyTasks:
            self.services.uploads.release(sent)
            raise
        self.set_header("Location", f"{self.request.path.rstrip('/')}/{task.id}")
        self.reply(task, 202)


class TaskHandler(Handler):
    """One task."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, task_id: str) -> None:
        """Its state, and its result when it is done."""
        self.reply(self.services.tasks.get(task_id))

    @web.authenticated
    @authorized("write", RESOURCE)
    async def delete(self, task_id: str) -> None:
        """Stops it."""
        self.services.tasks.cancel(task_id)
        self.set_status(204)
        self.finish()
