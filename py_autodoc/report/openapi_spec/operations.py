"""The operations of the server, one row per method: the wire side of ``py_autodoc/server/routes.py``.

The handlers are bound to these rows there; a server test asserts that the two agree.
"""

from __future__ import annotations

from py_autodoc.report.document.report import Report
from py_autodoc.report.openapi_spec.openapi import Operation
from py_autodoc.report.schema import (
    BatchAnswer,
    ComparisonColumns,
    Extracted,
    ExtractRequest,
    FileStamp,
    GraphPayload,
    Job,
    JobRequest,
    NodeDetails,
    Plans,
    ReportDocument,
    SavedFile,
    Task,
    TaskRequest,
    Upload,
    WeightFile,
    WeightValues,
)

_CONSTANT = {
    "tensor": "Id of the tensor in the payload.",
    "name": "Name of the tensor, instead of its id.",
    "graph": "With a name: the subgraph that has it; empty for the main graph.",
}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/jobs",
        "startJob",
        "Start the analysis of a file, or find the one that runs or is done.",
        {200: Job, 202: Job},
        request=JobRequest,
    ),
    Operation("GET", "/jobs/{id}", "getJob", "State of an analysis.", {200: Job}),
    Operation("DELETE", "/jobs/{id}", "cancelJob", "Cancel an analysis.", {204: None}),
    Operation(
        "GET",
        "/jobs/{id}/ws",
        "watchJob",
        "WebSocket: a Job at once, then one on each change; closes after the last state.",
        {101: Job},
    ),
    Operation("GET", "/jobs/{id}/graph", "getGraph", "What the viewer draws.", {200: GraphPayload}),
    Operation("GET", "/jobs/{id}/report", "getReport", "The whole report.", {200: Report}),
    Operation(
        "GET",
        "/jobs/{id}/sections",
        "getSections",
        "The report as a document: sections of texts, as the model card has them.",
        {200: ReportDocument},
    ),
    Operation(
        "GET",
        "/jobs/{id}/batch",
        "getBatch",
        "Costs at other batches for a model whose batch is fixed, or why there are none.",
        {200: BatchAnswer},
    ),
    Operation(
        "GET",
        "/jobs/{id}/serving",
        "getServing",
        "Text generation with the model on a device: prefill, decode and memory by batch and context.",
        {200: Plans},
        query={"device": "Id of a device."},
        optional={
            "precision": "Default: the stored precision.",
            "runtime": "Runtime of the model. Default: the typical one for the device.",
        },
    ),
    Operation(
        "GET",
        "/jobs/{id}/comparison",
        "getComparison",
        "How the nodes of this model and of another analysed one correspond, by structure.",
        {200: ComparisonColumns},
        query={"other": "Id of the other model's job."},
    ),
    Operation("GET", "/jobs/{id}/nodes/{node_id}", "getNode", "Details of one node.", {200: NodeDetails}),
    Operation(
        "GET",
        "/jobs/{id}/weights",
        "getWeights",
        "Values of one initializer or Constant, by ``tensor`` or by ``name``.",
        {200: WeightValues},
        optional=_CONSTANT,
    ),
    Operation(
        "GET",
        "/jobs/{id}/weights/npy",
        "getWeightFile",
        "All values of one initializer or Constant as a ``.npy`` file, at most 128 MiB of them.",
        {200: WeightFile},
        optional=_CONSTANT,
    ),
    Operation(
        "GET",
        "/jobs/{id}/files/{format}",
        "getFile",
        "The model as ``html``, or its numbers for ``netron`` or ``model-explorer``.",
        {200: SavedFile},
        optional={"metric": "Of ``model-explorer``: the number to show, ``macs`` by default."},
    ),
    Operation(
        "POST",
        "/jobs/{id}/extract",
        "extractNodes",
        "Write nodes as a separate model next to the model.",
        {201: Extracted},
        request=ExtractRequest,
    ),
    Operation(
        "POST",
        "/uploads",
        "uploadFile",
        "Send a profile or TensorRT's layer information for a task: at most 128 MiB, kept for ten minutes.",
        {201: Upload},
        query={"name": "Its name, for messages."},
        raw=True,
    ),
    Operation(
        "POST",
        "/tasks",
        "startTask",
        "Run a model, measure its layers, verify it or write a quantized one, in a process of its own.",
        {202: Task},
        request=TaskRequest,
    ),
    Operation("GET", "/tasks/{id}", "getTask", "State of a task, and its result.", {200: Task}),
    Operation("DELETE", "/tasks/{id}", "cancelTask", "Stop a task.", {204: None}),
    Operation(
        "GET",
        "/files",
        "statFile",
        "Size and time of a file, to notice that it changed.",
        {200: FileStamp},
        query={"path": "Path under the server's root."},
    ),
)
