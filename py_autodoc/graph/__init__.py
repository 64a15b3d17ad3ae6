"""Loads a file into a frozen graph with ids, types and shapes. Higher layers never use ONNX protobufs."""
