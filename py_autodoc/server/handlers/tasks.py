"""Start, query and stop tasks, which run or quantize a model."""

from __future__ import annotations

import asyncio
import itertools

import msgspec
from tornado import web

from py_autodoc.errors import OptionError
from py_autodoc.report.schema import TaskRequest, Upload
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import JSON, Handler
from py_autodoc.server.incoming_file import check_name
from py_autodoc.server.paths import refuse_inputs, require_model
from py_autodoc.tasks.kinds import TaskFiles, check_request
from py_autodoc.tasks.manager import TooManyTasks
from py_autodoc.tasks.protocol import Order
from py_autodoc.tasks.uploads import MAX_UPLOAD_BYTES

RESOURCE = "contents"
"""The same permission as for saving files: a task runs the model, or writes a file next to it."""
_NO_RESULT = b"null}"
_MAX_PROFILES = 3
"""Number of paths that are resolved. The task rejects more than two."""


class UploadsHandler(Handler):
    """Files from the client's machine for tasks."""

    max_body_bytes = MAX_UPLOAD_BYTES

    @web.authenticated
    @authorized("write", RESOURCE)
    async def post(self) -> None:
        """Store a file and send its id."""
        content = self.body()
        name = self.get_query_argument("name", "")
        loop = asyncio.get_running_loop()
        number, name = await loop.run_in_executor(None, self.services.uploads.add, name, content)
        self.reply(Upload(id=number, name=name, size=len(content)), 201)


class TasksHandler(Handler):
    """The collection of tasks."""

    @web.authenticated
    @authorized("write", RESOURCE)
    async def post(self) -> None:
        """Start a task and send its state."""
        request = self.read_body(TaskRequest)
        check_request(request)
        file = await self.resolve(request.path)
        require_model(file)
        data = (await self.resolve(request.data)).os_path if request.data else None
        out = ""
        if request.kind == "quantize":
            if not request.out:
                raise OptionError(
                    "bad-name", "The quantized model needs a file name.", "Use a name that ends in .onnx."
                )
            check_name(request.out)
            out = await self.resolve_output(file, request.out)
            inputs = [file.os_path, *([data] if data else [])]
            await asyncio.get_running_loop().run_in_executor(None, refuse_inputs, out, inputs)
        against = ""
        if request.kind == "verify":
            if not request.against:
                raise OptionError("no-reference", "The verification needs a reference.", "Pass a reference.")
            against = (await self.resolve(request.against)).os_path
        profiles = [(await self.resolve(path)).os_path for path in request.profiles[:_MAX_PROFILES]]
        uploads = []
        if request.kind == "profile":
            uploads = self.services.uploads.take(request.uploads)
        files = TaskFiles(
            model=file.os_path, data=data, out=out, against=against, profiles=[*profiles, *uploads]
        )
        order = Order(
            request=request,
            files=files,
            memory_bytes=self.services.task_memory_bytes,
            allow_hidden=self.contents_manager.allow_hidden,
            root=self.writing_root,
        )
        try:
            task = self.services.tasks.start(order, lambda: self.services.uploads.release(uploads))
        except TooManyTasks:
            self.services.uploads.release(uploads)
            raise
        self.set_header("Location", f"{self.request.path.rstrip('/')}/{task.id}")
        self.reply(task, 202)


class TaskHandler(Handler):
    """A task."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, task_id: str) -> None:
        """Send its state, and its result when it is done."""
        task, result = self.services.tasks.get(task_id)
        state = msgspec.json.encode(task)
        if result is None:
            self.finish(state)
            return
        # The result is encoded, and large: it takes the place of ``null``, which ends the state.
        self.set_header("Content-Type", JSON)
        self.set_header("Content-Length", str(len(state) - len(_NO_RESULT) + result.raw_size + 1))
        await self.stream(itertools.chain([state.removesuffix(_NO_RESULT)], result.unpacked(), [b"}"]))

    @web.authenticated
    @authorized("write", RESOURCE)
    async def delete(self, task_id: str) -> None:
        """Stop it."""
        self.services.tasks.cancel(task_id)
        self.set_status(204)
        self.finish()
