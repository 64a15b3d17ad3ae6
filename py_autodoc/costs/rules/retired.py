"""Experimental operators of early ai.onnx opsets that later ones dropped, still found in old files."""

from __future__ import annotations

from py_autodoc.costs.rules._make import movement, nothing, per_output, register, rows_read

register("", "Affine ImageScaler", per_output(2))  # ×, +
register("", "Scale", per_output(1))
register("", "ScaledTanh", per_output(3))  # ×, tanh, ×
register("", "ParametricSoftplus", per_output(5))  # ×, softplus, ×
register("", "Crop DynamicSlice", movement(read=rows_read(0)))
register("", "ConstantFill GivenTensorFill", movement(read=nothing))
