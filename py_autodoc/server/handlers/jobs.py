"""Start, query and cancel analyses."""

from __future__ import annotations

import msgspec
from tornado import web

from py_autodoc.jobs.file_stamps import Companion
from py_autodoc.jobs.ipc_frames import NO_THRESHOLDS, AnalysisSpec
from py_autodoc.jobs.job_record import DONE
from py_autodoc.report.schema import JobRequest
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler
from py_autodoc.server.paths import require_model

RESOURCE = "autodoc:jobs"


class JobsHandler(Handler):
    """The collection of jobs."""

    @web.authenticated
    @authorized("execute", RESOURCE)
    async def post(self) -> None:
        """Start an analysis, or find that of the same file and options; send its state."""
        request = self.read_body(JobRequest)
        file = await self.resolve(request.path)
        require_model(file)
        thresholds, thresholds_file = NO_THRESHOLDS, None
        if isinstance(request.thresholds, str):
            settings = await self.resolve(request.thresholds)
            thresholds_file = Companion(settings.os_path, settings.stamp)
        elif request.thresholds is not None:
            # In one order, so that equal thresholds are one job.
            thresholds = msgspec.Raw(msgspec.json.encode(request.thresholds, order="deterministic"))
        spec = AnalysisSpec(
            path=file.os_path,
            stamp=file.stamp,
            bindings=request.bindings,
            input_shapes=request.input_shapes,
            assume=request.assume,
            thresholds=thresholds,
            thresholds_file=thresholds_file,
            read_weights=request.read_weights,
            allow_hidden=self.contents_manager.allow_hidden,
            limits=self.jobs.settings.limits,
        )
        job = await self.jobs.submit(spec)
        self.set_header("Location", f"{self.request.path.rstrip('/')}/{job.id}")
        self.reply(job, 200 if job.state == DONE else 202)


class JobHandler(Handler):
    """A job."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self, job_id: str) -> None:
        """Send its state."""
        self.reply(self.jobs.job(job_id))

    @web.authenticated
    @authorized("execute", RESOURCE)
    async def delete(self, job_id: str) -> None:
        """Withdraw one request. The last one cancels the job."""
        self.jobs.withdraw(job_id)
        self.set_status(204)
        self.finish()
