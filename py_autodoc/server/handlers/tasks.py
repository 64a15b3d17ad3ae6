"""Start, look at and stop tasks: what runs a model, or writes one."""

from __future__ import annotations

from pathlib import Path

from tornado import web

from py_autodoc.errors import OptionError
from py_autodoc.report.schema import TaskRequest
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler
from py_autodoc.server.paths import require_model
from py_autodoc.server.saving import check_name
from py_autodoc.tasks.child import Order

RESOURCE = "contents"
"""Whoever may save files may do this: a task writes beside the model, or runs what is in it."""


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
        order = Order(
            request=request, model=file.os_path, data=data, out=out, memory_bytes=self.app.task_memory_bytes
        )
        task = self.app.tasks.start(order)
        self.set_header("Location", f"{self.request.path.rstrip('/')}/{task.id}")
        self.reply(task, 202)


class TaskHandler(Handler):
    """One task."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, task_id: str) -> None:
        """Its state, and its result when it is done."""
        self.reply(self.app.tasks.get(task_id))

    @web.authenticated
    @authorized("write", RESOURCE)
    async def delete(self, task_id: str) -> None:
        """Stops it."""
        self.app.tasks.cancel(task_id)
        self.set_status(204)
        self.finish()
