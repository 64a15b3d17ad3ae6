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
from py_autodoc.opdocs.c_operators import CNode, c_source, data
from py_autodoc.opdocs.facts import facts
from py_autodoc.opdocs.integer_operations import QuantizedModel, QuantizedOperation, found
from py_autodoc.opdocs.pages import html, markdown
from py_autodoc.opdocs.picture import picture
from py_autodoc.opdocs.replay import WHAT, ReplayResult, replayed
from py_autodoc.ort import onnxruntime, open_session, read_model
from py_autodoc.outputs import filling
from py_autodoc.outputs.marks import COMMENT, sealed_text
from py_autodoc.outputs.output_files import empty
from py_autodoc.quantize.recipe import current_runtime
from py_autodoc.quantize.reference import Kernel
from py_autodoc.render.svg import svg_picture
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.samples import analysis_at_sizes, choose_samples, input_specs
from py_autodoc.version import NAME, version

SAMPLES, MADE = 16, 1
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
        AnalysisError: ONNX Runtime rejects the model.
        OutputError: the folder cannot be written.
    """
    tell = progress or (lambda step, done, total: None)
    runtime = onnxruntime(WHAT)
    empty(Path(out), force)
    tell("reading", 0, 0)
    analysis = analysis_at_sizes(model, data, bindings, input_shapes)
    inputs, said = choose_samples(data, input_specs(analysis), samples, seed, (SAMPLES, MADE))
    # Stop early if ONNX Runtime rejects the model.
    open_session(model, WHAT)
    whole = read_model(model, weights=True)
    made = found(whole)
    if not made.operations:
        raise OptionError(
            "not-quantized", f"{base_name(model)} has no quantized operation.",
            "Quantize it first: onnx-autodoc quantize MODEL OUT --data FILE.",
        )  # fmt: skip
    kernel: Kernel = "pairs" if current_runtime() == "cpu-avx2" else "exact"
    modules = {node.name: node.tag for node in analysis.model.nodes if node.name}
    proto = read_model(model, weights=False)
    records: dict[int, document.Operation] = {}
    with filling(out, [model], force) as folder:
        for name in ("c", "pictures", *(["vectors"] if vectors else [])):
            (folder / name).mkdir()
        done = replayed(model, proto, made.operations, inputs, _sizes(analysis), kernel)
        drawn: dict[int, str] = {}
        for count, (at, seen) in enumerate(done):
            tell("operations", count, len(made.operations))
            one = made.operations[at]
            record = _linked(facts(at + 1, one, seen, modules.get(one.name, "")), made)
            records[at], drawn[at + 1] = _written(folder, record, one, seen, vectors)
        graph = folder / "pictures/model.svg"
        graph.write_text(svg_picture(build_payload(analysis)), encoding="utf-8")
        result = _result(
            made,
            [records[at] for at in sorted(records)],
            base_name(model),
            len(inputs),
            said,
            kernel,
            runtime,
        )
        (folder / "operations.json").write_text(result.to_json(pretty=True), encoding="utf-8")
        (folder / "operations.md").write_text(sealed_text(markdown(result), "markdown"), encoding="utf-8")
        (folder / "operations.html").write_text(html(result, drawn), encoding="utf-8")
    return result


def _result(
    made: QuantizedModel,
    records: list[document.Operation],
    name: str,
    samples: int,
    said: str,
    kernel: str,
    runtime: Any,
) -> document.Operations:
    floats = [
        document.FloatOperation(node=node, op_type=op_type, reason=why)
        for node, (op_type, why) in made.floats.items()
    ]
    return document.Operations(
        model=name,
        samples=samples,
        data=said,
        kernel=kernel,
        picture="pictures/model.svg",
        cpu=cpu()["name"],
        versions={"onnxruntime": str(runtime.__version__), NAME: version()},
        operations=records,
        floats=floats,
    )


def _linked(record: document.Operation, made: QuantizedModel) -> document.Operation:
    """Return the record with the sources of its operands' codes."""
    operands = []
    for one in record.operands:
        at, through = (None, ()) if one.constant or one.role == "y" else made.source(one.tensor)
        operands.append(one if at is None else replace(one, source=at + 1, through=list(through)))
    return replace(record, operands=operands)


def _sizes(analysis: Analysis) -> dict[str, int]:
    """Return the sizes in bytes of tensors with a known shape, as 32-bit values."""
    found: dict[str, int] = {}
    for tensor in analysis.model.tensors:
        shape = analysis.types.shapes[tensor.id] or (None,)
        sizes = [size for size in shape if isinstance(size, int)]
        if len(sizes) == len(shape):
            found[tensor.name] = 4 * prod(sizes)
    return found


def _written(
    folder: Path, record: document.Operation, one: QuantizedOperation, seen: ReplayResult, vectors: bool
) -> tuple[document.Operation, str]:
    """Write the files of an operation; return the record with their names, and the image."""
    stem = f"op_{record.number:03d}"
    named: dict[str, str] = {"picture": f"pictures/{stem}.svg"}
    notes = list(record.notes)
    if not seen.fault and seen.outputs:
        node = CNode(one.op_type, seen.inputs, seen.outputs, one.attributes)
        text = c_source(stem, node)
        if text is None:
            notes.append("No C file: these shapes have no plain form in C.")
        else:
            named["c"] = f"c/{stem}.c"
            (folder / named["c"]).write_text(f"/* {NAME}: {one.op_type} */\n{text}", encoding="utf-8")
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
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(held, "a") as archive:
        archive.comment = COMMENT
    return held.getvalue()
