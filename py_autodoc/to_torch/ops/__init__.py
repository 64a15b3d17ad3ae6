"""Conversion rules by operator family, from one ONNX node to PyTorch code."""
