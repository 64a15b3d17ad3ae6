"""Protobuf messages and files before the graph is built: wire format, scan, counts and tensors."""
