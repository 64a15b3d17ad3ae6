"""Operators: how rules read a node, and which parts of ONNX Autodoc support which operator."""
