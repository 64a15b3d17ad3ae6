"""Measurements on this machine with ONNX Runtime."""
