"""One constant tensor as a NumPy array, and as the ``.npy`` file that the viewer saves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, Tensor
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.tensor_data.weight_array import WeightArray
from py_autodoc.graph.tensor_data.weight_array import read_array as read_values
from py_autodoc.graph.tensor_data.weight_view import Check, no_check
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.weights import constant_id, constant_of, model_of
from py_autodoc.report.encode.labels import dtype_name, graph_label, shorten_middle
from py_autodoc.report.pipeline.model_source import normalise_source, open_model
from py_autodoc.report.schema import WeightFile

if TYPE_CHECKING:
    import onnx
    import onnx_ir

    from py_autodoc.graph.tensor_data.tensor_decoding import Array

MAX_NPY_BYTES = 128 << 20
"""Maximum size sent to a viewer; as JSON text it takes a third more."""
_MAX_NAME = 200
"""Longer names are not written into Python code; the id is used instead."""


def read_array(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto | onnx_ir.Model,
    name: str | int,
    *,
    graph: str | None = None,
    limits: Limits = LIBRARY,
) -> Array:
    """Return all values of one initializer or Constant, as a NumPy array of its shape.

    ``name`` and ``graph`` are as in ``read_weights``. Only this tensor is read; the array is fully in memory.
    Types that NumPy lacks are widened without loss: bfloat16, float8 and float4 to float32, int4 and int2 to
    int8, uint4 and uint2 to uint8.

    Raises:
        InputError: the model cannot be read, it has no such constant, its data are missing or damaged, or it
              is text or sparse.
    """
    source, label = normalise_source(model)
    loaded = open_model(source, label, limits)
    built = build(loaded)
    number = constant_id(built, name, graph) if isinstance(name, str) else name
    return read_values(loaded, built, source, constant_of(built, number).id).array()


def weight_file(
    loaded: LoadedModel, model: Model, source: str | bytes, tensor: int, check: Check = no_check
) -> WeightFile:
    """Return the constant with that id as a ``.npy`` file; ``source`` is the path or bytes of ``loaded``.

    ``check`` is called between pieces; an exception it raises aborts the read.

    Raises:
        PathError: there is no such tensor, or it is not a constant.
        LimitError: it exceeds ``MAX_NPY_BYTES``; the hint shows the equivalent ``read_array`` call.
        InputError: see ``read_array``.
    """
    constant = constant_of(model, tensor)
    hint = f'In Python: numpy.save("weight.npy", {_call(loaded, model, constant)}).'
    array = read_values(loaded, model, source, tensor, max_bytes=MAX_NPY_BYTES, hint=hint, check=check)
    return _to_wire(model, constant, array)


def report_weight_file(report: Report, tensor: int) -> WeightFile:
    """Return a constant of the report's model as a ``.npy`` file.

    Raises: as ``weight_file``, and InputError if the model is missing or has changed.
    """
    return weight_file(*model_of(report, "Call py_autodoc.read_array(model, name)."), tensor)


def _call(loaded: LoadedModel, model: Model, constant: Tensor) -> str:
    """Return the Python code that reads the same values."""
    file = loaded.facts.name
    if not constant.name or len(constant.name) > _MAX_NAME:
        return f"py_autodoc.read_array({file!r}, {constant.id})"
    graph = f", graph={graph_label(model, constant.graph)!r}" if constant.graph else ""
    return f"py_autodoc.read_array({file!r}, {constant.name!r}{graph})"


def _to_wire(model: Model, constant: Tensor, array: WeightArray) -> WeightFile:
    return WeightFile(
        tensor=constant.id,
        name=shorten_middle(constant.name),
        graph=graph_label(model, constant.graph),
        elem_type=dtype_name(array.elem_type),
        dtype=array.dtype.name,
        converted=array.converted,
        shape=list(array.shape),
        bytes=len(array.data),
        data=bytes(array.data),
    )
