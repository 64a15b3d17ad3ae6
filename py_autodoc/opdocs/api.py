"""``opdocs``: find the quantized operations, run them, recompute them and document them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from py_autodoc.errors import OptionError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.hardware.detect import cpu
from py_autodoc.opdocs import document
from py_autodoc.opdocs.c_node import CNode
from py_autodoc.opdocs.c_operators import c_source, data
from py_autodoc.opdocs.facts import facts
from py_autodoc.opdocs.float_operators import add_float_operators
from py_autodoc.opdocs.integer_operations import QuantizedModel, QuantizedOperation, find_operations
from py_autodoc.opdocs.pages import html, markdown
from py_autodoc.opdocs.picture import picture
from py_autodoc.opdocs.replay import WHAT, ReplayResult, replayed
from py_autodoc.ort import onnxruntime, open_session, read_model
from py_autodoc.outputs import filling
from py_autodoc.outputs.marks import COMMENT, sealed_text
from py_autodoc.outputs.output_files import empty
from py_autodoc.quantize.kernels import current_runtime
from py_autodoc.quantize.reference import Kernel
from py_autodoc.render.svg import svg_picture
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.samples import analysis_at_sizes, check_memory, choose_samples, input_specs
from py_autodoc.version import NAME, version

SAMPLES, GENERATED_SAMPLES = 16, 1
_WEIGHT_ONLY = frozenset({"MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "GatherBlockQuantized"})
"""Operators with quantized weights that compute in float. Not all MatMulNBits can be described."""
VECTOR_BYTES = 1 << 25
"""Total array bytes of an operation above which no test vectors are written."""
Step = Callable[[str, int, int], None]


def opdocs(
    model: PathLike,
    out: PathLike,
    data: Any = None,
    *,
    samples: int | None = None,
    seed: int = 0,
    vectors: bool = True,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    force: bool = False,
    progress: Step | None = None,
) -> document.Operations:
    """Write the operation reference of a quantized model to a folder.

    The folder gets ``operations.json``, ``.md`` and ``.html``, and for each operation an image, a C file and
    test vectors.

    Args:
        model: a quantized ONNX file: QOperator, QDQ or integer operators.
        out: a new or an empty folder.
        data: values of the inputs, as for ``verify``; None uses one generated sample.
        samples: number of samples; None uses 16.
        seed: random seed for synthetic values.
        vectors: write inputs and outputs of the first sample.
        bindings: values of symbolic dimensions; others are taken from the data.
        input_shapes: full shapes of inputs.
        force: write into a folder that is not empty.
        progress: called with each step.

    Raises:
        OptionError: the model has no quantized operation.
        InputError: the model or the data cannot be used.
        RequirementError: ONNX Runtime or latex2mathml is missing.
        ModelRefused: ONNX Runtime refuses the model.
        OutputError: the folder cannot be written.
    """
    report_step = progress or (lambda step, results, total: None)
    runtime = onnxruntime(WHAT)
    empty(Path(out), force)
    report_step("reading", 0, 0)
    analysis = analysis_at_sizes(model, data, bindings, input_shapes)
    proto_with_weights = read_model(model, weights=True)
    quantized = find_operations(proto_with_weights)
    if not quantized.operations:
        blocks = sorted({node.op_type for node in proto_with_weights.graph.node} & _WEIGHT_ONLY)
        if blocks:
            raise OptionError(
                "not-quantized",
                f"{base_name(model)}: weight-only quantization ({', '.join(blocks)}) is not described, and "
                "it has no operation in integers.",
                "Quantize it with --method static for a reference.",
            )
        raise OptionError(
            "not-quantized",
            f"{base_name(model)} has no quantized operation.",
            "Quantize it first: onnx-autodoc quantize MODEL OUT --data FILE.",
        )
    add_float_operators(quantized, analysis)
    inputs, data_text = choose_samples(
        data, input_specs(analysis), samples, seed, (SAMPLES, GENERATED_SAMPLES)
    )
    check_memory(analysis)
    # Stop early if ONNX Runtime rejects the model.
    open_session(model, WHAT)
    kernel: Kernel = "pairs" if current_runtime() == "cpu-avx2" else "exact"
    modules = {node.name: node.tag for node in analysis.model.nodes if node.name}
    proto = read_model(model, weights=False)
    records: dict[int, document.Operation] = {}
    with filling(out, [model], force) as folder:
        for name in ("c", "pictures", *(["vectors"] if vectors else [])):
            (folder / name).mkdir()
        results = replayed(model, proto, quantized.operations, inputs, _sizes(analysis), kernel)
        drawn: dict[int, str] = {}
        for count, (index, replay) in enumerate(results):
            report_step("operations", count, len(quantized.operations))
            operation = quantized.operations[index]
            record = _linked(facts(index + 1, operation, replay, modules.get(operation.name, "")), quantized)
            records[index], drawn[index + 1] = _written(folder, record, operation, replay, vectors)
        graph = folder / "pictures/model.svg"
        graph.write_text(svg_picture(build_payload(analysis)), encoding="utf-8")
        result = _result(
            quantized,
            [records[index] for index in sorted(records)],
            base_name(model),
            len(inputs),
            data_text,
            kernel,
            runtime,
        )
        (folder / "operations.json").write_text(result.to_json(pretty=True), encoding="utf-8")
        (folder / "operations.md").write_text(sealed_text(markdown(result), "markdown"), encoding="utf-8")
        (folder / "operations.html").write_text(html(result, drawn), encoding="utf-8")
    return result


def _result(
    quantized: QuantizedModel,
    records: list[document.Operation],
    name: str,
    samples: int,
    data_text: str,
    kernel: str,
    runtime: Any,
) -> document.Operations:
    floats = [
        document.FloatOperation(node=node, op_type=op_type, reason=why)
        for node, (op_type, why) in quantized.floats.items()
    ]
    return document.Operations(
        model=name,
        samples=samples,
        data=data_text,
        kernel=kernel,
        picture="pictures/model.svg",
        cpu=cpu()["name"],
        versions={"onnxruntime": str(runtime.__version__), NAME: version()},
        operations=records,
        floats=floats,
    )


def _linked(record: document.Operation, quantized: QuantizedModel) -> document.Operation:
    """Return the record with the sources of its operands' codes."""
    operands = []
    for operand in record.operands:
        index, through = (
            (None, ()) if operand.constant or operand.role == "y" else quantized.source(operand.tensor)
        )
        operands.append(
            operand if index is None else replace(operand, source=index + 1, through=list(through))
        )
    return replace(record, operands=operands)


def _sizes(analysis: Analysis) -> dict[str, int]:
    """Return the sizes in bytes of tensors with a known shape, as 32-bit values."""
    sizes: dict[str, int] = {}
    for tensor in analysis.model.tensors:
        shape = analysis.types.shapes[tensor.id] or (None,)
        dims = [size for size in shape if isinstance(size, int)]
        if len(dims) == len(shape):
            sizes[tensor.name] = 4 * prod(dims)
    return sizes


def _written(
    folder: Path,
    record: document.Operation,
    operation: QuantizedOperation,
    replay: ReplayResult,
    vectors: bool,
) -> tuple[document.Operation, str]:
    """Write the files of an operation; return the record with their names, and the image."""
    stem = f"op_{record.number:03d}"
    named: dict[str, str] = {"picture": f"pictures/{stem}.svg"}
    notes = list(record.notes)
    if not replay.fault and replay.outputs:
        node = CNode(operation.op_type, replay.inputs, replay.outputs, operation.attributes)
        text = c_source(stem, node)
        if text is None:
            notes.append("No C file: these shapes have no plain form in C.")
        else:
            named["c"] = f"c/{stem}.c"
            (folder / named["c"]).write_text(f"/* {NAME}: {operation.op_type} */\n{text}", encoding="utf-8")
        if vectors:
            size = sum(value.nbytes for _, value in data(node)) + sum(value.nbytes for value in node.outputs)
            if size > VECTOR_BYTES:
                notes.append(f"No test vectors: they would have {size:,} bytes.")
            else:
                named["vectors"] = f"vectors/{stem}.npz"
                (folder / named["vectors"]).write_bytes(_packed(node))
    drawn = picture(record)
    (folder / named["picture"]).write_text(drawn, encoding="utf-8")
    return replace(record, notes=notes, **named), drawn


def _packed(node: CNode) -> bytes:
    """Return an archive of the arrays by parameter of the C function, marked as written by ONNX Autodoc."""
    names = ["y"] if len(node.outputs) == 1 else ["y", "y_scale", "y_zero_point"]
    arrays = {**dict(data(node)), **dict(zip(names, node.outputs, strict=False))}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = COMMENT
    return buffer.getvalue()
