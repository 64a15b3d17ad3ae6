"""Protobuf messages and files before they are a graph: wire format, scan, counts, tensors."""
