"""Operators: how a rule reads a node, and which parts of ONNX Autodoc have rules for which operator."""
