"""Operators of ai.onnx.ml that ONNX's own inference does not complete."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.shapes.shape_context import FLOAT, INT64, STRING, ShapeContext, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic

ML = "ai.onnx.ml"


def _batch(op: ShapeContext) -> Dim:
    """Return the rows of the input; a vector is one row."""
    shape = op.shape(0)
    return None if shape is None else shape[0] if len(shape) > 1 else 1


@rule("Normalizer", "Scaler", "Imputer", domain=ML)
def to_float(op: ShapeContext) -> None:
    """Shape of the input; float, except that Imputer keeps the type."""
    op.set(0, op.shape(0), op.dtype(0) if op.node.op_type == "Imputer" else FLOAT)


@rule("LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor", domain=ML)
def regressor(op: ShapeContext) -> None:
    """[rows, targets]."""
    name = "n_targets" if op.node.op_type == "TreeEnsembleRegressor" else "targets"
    op.set(0, (_batch(op), op.int_attr(name, 1)), FLOAT)


@rule("TreeEnsembleClassifier", domain=ML)
def classifier(op: ShapeContext) -> None:
    """Labels [rows] and scores [rows, classes]."""
    strings = op.attrs.get("classlabels_strings")
    labels = strings or op.attrs.get("classlabels_int64s") or op.attrs.get("class_ids")
    count = len(labels) if isinstance(labels, (list, tuple)) and labels else None
    if not strings and not op.attrs.get("classlabels_int64s"):
        count = None
    rows = _batch(op)
    op.set(0, (rows,), STRING if strings else INT64)
    op.set(1, (rows, count), FLOAT)


@rule("FeatureVectorizer", domain=ML)
def feature_vectorizer(op: ShapeContext) -> None:
    """Concatenated columns of all inputs."""
    total: Dim = 0
    for i in range(len(op.inputs)):
        shape = op.shape(i)
        total = dim_arithmetic.add(total, None if shape is None or not shape else shape[-1])
    op.set(0, (_batch(op), total), FLOAT)
