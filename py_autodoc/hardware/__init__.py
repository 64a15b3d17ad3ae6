"""Latency estimates: device profiles, kernels of a graph, and the estimate itself."""
